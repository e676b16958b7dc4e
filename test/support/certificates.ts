import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { now } from '#libs/server';

/** A certificate and its key, both PEM, and what it takes to sign others with them. */
export interface Certificate {
  certificate: string;
  key: string;
  name: string;
  privateKey: KeyObject;
}

const OIDS = {
  commonName: '550403',
  ecdsaWithSha256: '2a8648ce3d040302',
  basicConstraints: '551d13',
  subjectAltName: '551d11',
};
const DAY_MS = 86_400_000;

/** An authority of its own, which signs itself. */
export function makeAuthority(name: string): Certificate {
  return make(name, { authority: undefined, extensions: [extension(OIDS.basicConstraints, der(0x30, BOOLEAN_TRUE))] });
}

/** A certificate for `name`, good for a server at 127.0.0.1 and for a client (RFC 5280; P-256, a day either way of now). */
export function makeCertificate(name: string, authority: Certificate): Certificate {
  const address = der(0x87, Buffer.from([127, 0, 0, 1]));
  return make(name, { authority, extensions: [extension(OIDS.subjectAltName, der(0x30, address))] });
}

const BOOLEAN_TRUE = Buffer.from([0x01, 0x01, 0xff]);

function make(
  name: string,
  { authority, extensions }: { authority: Certificate | undefined; extensions: Buffer[] },
): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(0x30, oid(OIDS.ecdsaWithSha256));
  const at = now().getTime();
  const toBeSigned = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(15)])),
    algorithm,
    nameOf(authority?.name ?? name),
    der(0x30, timeOf(at - DAY_MS), timeOf(at + DAY_MS)),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, ...extensions)),
  );
  const signature = sign('sha256', toBeSigned, authority?.privateKey ?? privateKey);
  const whole = der(0x30, toBeSigned, algorithm, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').replace(/(.{64})/g, '$1\n');
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.trimEnd()}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    name,
    privateKey,
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

function nameOf(commonName: string): Buffer {
  return der(0x30, der(0x31, der(0x30, oid(OIDS.commonName), der(0x0c, Buffer.from(commonName)))));
}

function timeOf(at: number): Buffer {
  const text = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '');
  return der(0x18, Buffer.from(text));
}

function extension(id: string, value: Buffer): Buffer {
  return der(0x30, oid(id), der(0x04, value));
}
