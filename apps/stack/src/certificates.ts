import { createPrivateKey, generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { now } from '#libs/server';

/** A certificate and its private key, both PEM. */
export interface Certificate {
  certificate: string;
  key: string;
}

/** Who a certificate is about. `organisationIdentifier` is how an eIDAS certificate of a TPP names it (ETSI TS 119 495). */
export interface Subject {
  country?: string;
  organisation?: string;
  organisationIdentifier?: string;
  commonName: string;
}

/** A certificate that signs others, and the name that they carry as their issuer's. */
export interface Authority extends Certificate {
  subject: Subject;
}

/** What a certificate is for: a client's, or the server's at these names and addresses. Days are counted from now. */
export interface Purpose {
  hosts?: string[];
  fromDay?: number;
  untilDay?: number;
}

const DAY_MS = 86_400_000;
/** Object identifiers as they are encoded. */
const OIDS = {
  country: '550406',
  organisation: '55040a',
  organisationIdentifier: '550461',
  commonName: '550403',
  ecdsaWithSha256: '2a8648ce3d040302',
  basicConstraints: '551d13',
  keyUsage: '551d0f',
  extendedKeyUsage: '551d25',
  subjectAltName: '551d11',
  serverAuth: '2b06010505070301',
  clientAuth: '2b06010505070302',
};
const BOOLEAN_TRUE = Buffer.from([0x01, 0x01, 0xff]);

/** An authority of its own, which signs itself and then others, but no further authorities. */
export function makeAuthority(subject: Subject, untilDay = 3_650): Authority {
  const extensions = [
    extension(OIDS.basicConstraints, der(0x30, BOOLEAN_TRUE, der(0x02, Buffer.from([0]))), 'critical'),
    extension(OIDS.keyUsage, bits(2, 0x04), 'critical'),
  ];
  return { ...make(subject, { purpose: { untilDay }, extensions }), subject };
}

/** A certificate on P-256 by this authority (RFC 5280). Without `hosts` it is a client's. */
export function makeCertificate(subject: Subject, authority: Authority, purpose: Purpose = {}): Certificate {
  const { hosts } = purpose;
  const extensions = [
    extension(OIDS.basicConstraints, der(0x30), 'critical'),
    extension(OIDS.keyUsage, bits(7, 0x80), 'critical'),
    extension(OIDS.extendedKeyUsage, der(0x30, oid(hosts ? OIDS.serverAuth : OIDS.clientAuth))),
    ...(hosts ? [extension(OIDS.subjectAltName, der(0x30, ...hosts.map(nameOfHost)))] : []),
  ];
  return make(subject, { authority, purpose, extensions });
}

/** Its subject in one line, as a registration for `tls_client_auth` names it (RFC 4514). */
export function distinguishedName({ certificate }: Pick<Certificate, 'certificate'>): string {
  return new X509Certificate(certificate).subject.split('\n').toReversed().join(',');
}

/** Whether it ends within so many days. */
export function endsWithin(days: number, { certificate }: Certificate): boolean {
  return new X509Certificate(certificate).validToDate.getTime() < now().getTime() + days * DAY_MS;
}

interface Making {
  authority?: Authority;
  purpose: Purpose;
  extensions: Buffer[];
}

function make(subject: Subject, { authority, purpose, extensions }: Making): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(0x30, oid(OIDS.ecdsaWithSha256));
  const at = now().getTime();
  // A day of grace for clocks that are not quite together.
  const { fromDay = -1, untilDay = 365 } = purpose;
  const toBeSigned = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(15)])),
    algorithm,
    nameOf(authority?.subject ?? subject),
    der(0x30, timeOf(at + fromDay * DAY_MS), timeOf(at + untilDay * DAY_MS)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, ...extensions)),
  );
  const signature = sign('sha256', toBeSigned, authority ? createPrivateKey(authority.key) : privateKey);
  const whole = der(0x30, toBeSigned, algorithm, bits(0, signature));
  return {
    certificate: new X509Certificate(whole).toString(),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** One value of the Distinguished Encoding Rules (X.690): tag, length, contents. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const body = Buffer.concat(contents);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length = Buffer.from(body.length.toString(16).padStart(4, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 + length.length]), length, body]);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

/** A string of bits, of which the last so many are unused. */
function bits(unused: number, value: number | Buffer): Buffer {
  return der(0x03, Buffer.from([unused]), typeof value === 'number' ? Buffer.from([value]) : value);
}

function nameOf({ country, organisation, organisationIdentifier, commonName }: Subject): Buffer {
  const part = (id: string, text: string | undefined, tag = 0x0c): Buffer[] =>
    text === undefined ? [] : [der(0x31, der(0x30, oid(id), der(tag, Buffer.from(text))))];
  return der(
    0x30,
    ...part(OIDS.country, country, 0x13),
    ...part(OIDS.organisation, organisation),
    ...part(OIDS.organisationIdentifier, organisationIdentifier),
    ...part(OIDS.commonName, commonName),
  );
}

/** Years up to 2049 are written with two digits (RFC 5280, section 4.1.2.5). */
function timeOf(at: number): Buffer {
  const text = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '');
  return text < '2050' ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text));
}

function nameOfHost(host: string): Buffer {
  return isIP(host) === 4 ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
}

function extension(id: string, value: Buffer, critical?: 'critical'): Buffer {
  return der(0x30, oid(id), ...(critical ? [BOOLEAN_TRUE] : []), der(0x04, value));
}
