import {
  createLocalJWKSet,
  errors,
  flattenedVerify,
  FlattenedSign,
  importJWK,
  type JSONWebKeySet,
  type JWK,
} from 'jose';
import type { Call, TppCredentials } from '../connector.js';
import { InstitutionError } from '../institution-error.js';
import type { UkOpenBankingSettings } from './uk-open-banking.types.js';

/**
 * Detached JWS of the standard, section "Message Signing" (`x-jws-signature`, form `header..signature`). Since v3.1.4
 * the payload is base64url in the signing input and `b64` must not appear; `jwsB64` keeps the older rule for old banks.
 */
const IAT = 'http://openbanking.org.uk/iat';
const ISS = 'http://openbanking.org.uk/iss';
const TAN = 'http://openbanking.org.uk/tan';
const CRITICAL = [IAT, ISS, TAN];
const recognised = Object.fromEntries(CRITICAL.map((name) => [name, true]));

/** Clocks differ; a signature must look made in the past to the bank, and may look a little early to us. */
const CLOCK_SKEW_S = 5;
const CLOCK_TOLERANCE_S = 300;

export type Sign = (body: Buffer) => Promise<string>;

/** Signs the exact bytes that go out. The key is imported once. */
export function createSigner(
  credentials: TppCredentials,
  { settings, now }: { settings: UkOpenBankingSettings; now: () => Date },
): Sign {
  const key = once(() => importJWK(credentials.signingKey, 'PS256'));
  return async (body) => {
    const header = {
      alg: 'PS256',
      kid: credentials.kid,
      typ: 'JOSE',
      cty: 'application/json',
      [IAT]: Math.floor(now().getTime() / 1000) - CLOCK_SKEW_S,
      [ISS]: `${credentials.organisationId}/${credentials.softwareStatementId}`,
      [TAN]: settings.trustAnchor,
      ...(settings.jwsB64 ? { b64: false, crit: ['b64', ...CRITICAL] } : { crit: CRITICAL }),
    };
    const jws = await new FlattenedSign(body).setProtectedHeader(header).sign(await key(), { crit: recognised });
    return `${jws.protected}..${jws.signature}`;
  };
}

/** Throws malformed unless `signature` is the bank's over exactly these bytes, by the rules of its settings. */
export async function verifySignature(
  { signature, body }: { signature: string; body: Buffer },
  { keys, settings, now, call }: { keys: BankKeys; settings: UkOpenBankingSettings; now: () => Date; call: Call },
): Promise<void> {
  const [encodedHeader, payload, value, ...rest] = signature.split('.');
  if (!encodedHeader || payload !== '' || !value || rest.length > 0) throw badSignature('form');
  const header = headerOf(encodedHeader);
  checkHeader(header, { settings, now });
  const jws = {
    protected: encodedHeader,
    payload: settings.jwsB64 ? new Uint8Array(body) : body.toString('base64url'),
    signature: value,
  };
  const kid = typeof header.kid === 'string' ? header.kid : '';
  const key = await keys(kid, call);
  if (!key) throw badSignature('kid');
  try {
    await flattenedVerify(jws, await importJWK(key, 'PS256'), { algorithms: ['PS256'], crit: recognised });
  } catch (fault) {
    if (fault instanceof errors.JOSEError || fault instanceof TypeError) throw badSignature('value');
    throw fault;
  }
}

function checkHeader(
  header: Record<string, unknown>,
  { settings, now }: { settings: UkOpenBankingSettings; now: () => Date },
): void {
  if (header['alg'] !== 'PS256') throw badSignature('alg');
  const expected = settings.jwsB64 ? ['b64', ...CRITICAL] : CRITICAL;
  const crit = Array.isArray(header['crit']) ? header['crit'] : [];
  if (crit.length !== expected.length || !expected.every((name) => crit.includes(name))) throw badSignature('crit');
  if (!settings.jwsB64 && 'b64' in header) throw badSignature('b64');
  const issuedAt = header[IAT];
  const latest = now().getTime() / 1000 + CLOCK_TOLERANCE_S;
  if (typeof issuedAt !== 'number' || issuedAt > latest) throw badSignature('iat');
  const issuer = header[ISS];
  if (typeof issuer !== 'string' || (settings.organisationId && issuer !== settings.organisationId)) {
    throw badSignature('iss');
  }
  if (header[TAN] !== settings.trustAnchor) throw badSignature('tan');
}

function headerOf(encoded: string): Record<string, unknown> {
  try {
    const header: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'));
    if (typeof header === 'object' && header !== null) return header as Record<string, unknown>;
  } catch {
    // Falls through to the refusal below: what cannot be read is no header.
  }
  throw badSignature('header');
}

function badSignature(part: string): InstitutionError {
  return new InstitutionError('malformed', `The institution's message signature is not valid (${part})`);
}

/** The bank's public key of a `kid`, or nothing. */
export type BankKeys = (kid: string, call: Call) => Promise<JWK | undefined>;

/** Keys kept for an hour by `now`; an unknown `kid` loads them again, at most once a minute, so nobody can make us ask. */
export function createBankKeys({
  load,
  now,
}: {
  load: (call: Call) => Promise<JSONWebKeySet>;
  now: () => Date;
}): BankKeys {
  let known: { keys: JWK[]; at: number } | undefined;
  let loading: Promise<JWK[]> | undefined;
  const refresh = async (call: Call): Promise<JWK[]> => {
    loading ??= load(call).then((set) => {
      createLocalJWKSet(set);
      known = { keys: set.keys, at: now().getTime() };
      return set.keys;
    });
    try {
      return await loading;
    } finally {
      loading = undefined;
    }
  };
  return async (kid, call) => {
    const age = known ? now().getTime() - known.at : Infinity;
    const fits = (keys: JWK[] | undefined) => keys?.find((key) => key.kid === kid && key.kty === 'RSA');
    const found = age < 3_600_000 ? fits(known?.keys) : undefined;
    if (found || (age >= 0 && age < 60_000)) return found;
    return fits(await refresh(call));
  };
}

/** Runs the work on first use and keeps its promise. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= work());
}
