import { createHash } from 'node:crypto';
import { CompactSign, flattenedVerify, importJWK, type CryptoKey, type JWK } from 'jose';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { wallClock } from '../clock.js';
import type { BankContext } from '../oidc/authorisation-server.js';
import type { FaultName } from '../scenarios.js';
import { refusals } from './error.js';
import { rawBodyOf } from './raw-body.js';

const claim = {
  iat: 'http://openbanking.org.uk/iat',
  iss: 'http://openbanking.org.uk/iss',
  tan: 'http://openbanking.org.uk/tan',
} as const;
const critical: readonly string[] = [claim.iat, claim.iss, claim.tan];
const trustAnchor = 'openbanking.org.uk';
/** Signatures say they are a few seconds old, so that a verifier whose clock is behind does not see the future. */
const skewSeconds = 3;

/** Detached JWS of Read/Write v4.0 (section "Message signing"): verifies what TPPs sign, signs what the bank answers. */
export class MessageSigner {
  readonly #tppKeys = new Map<string, Promise<CryptoKey>>();

  constructor(private readonly context: BankContext) {}

  /** Throws the refusal that fits: missing, malformed, a claim missing or wrong, or not signed by this TPP's key. */
  async verify(request: FastifyRequest, clientId: string): Promise<void> {
    const signature = request.headers['x-jws-signature'];
    if (typeof signature !== 'string' || signature === '') throw refusals.signatureMissing();
    const match = /^([\w-]+)\.\.([\w-]+)$/.exec(signature);
    if (!match?.[1] || !match[2]) throw refusals.signatureMalformed();
    const tpp = this.context.tpps.find((each) => each.clientId === clientId);
    const header = readHeader(match[1]);
    checkHeader(header, `${tpp?.organisationId}/${tpp?.softwareStatementId}`);
    const jwk = tpp?.jwks.keys.find((key) => key.kid === header.get('kid'));
    if (!jwk) throw refusals.signatureClaimInvalid('kid');
    const payload = rawBodyOf(request).toString('base64url');
    const known = { [claim.iat]: true, [claim.iss]: true, [claim.tan]: true };
    await flattenedVerify({ protected: match[1], payload, signature: match[2] }, await this.#key(jwk), {
      algorithms: ['PS256'],
      crit: known,
    }).catch(() => {
      throw refusals.signatureInvalid('The signature does not fit the body');
    });
  }

  /** Signs the exact text that goes out; answers without a body stay unsigned. */
  async attach(
    _request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    fault: FaultName | undefined,
  ): Promise<unknown> {
    const body = typeof payload === 'string' ? payload : '';
    if (body !== '' && fault !== 'no-signature')
      reply.header('x-jws-signature', await this.sign(fault === 'wrong-signature' ? `${body} ` : body));
    return payload;
  }

  /** `header..signature` over the text. */
  async sign(body: string): Promise<string> {
    const { bank, keys } = this.context;
    const compact = await new CompactSign(Buffer.from(body))
      .setProtectedHeader({
        alg: 'PS256',
        kid: keys.kid,
        typ: 'JOSE',
        cty: 'application/json',
        crit: [...critical],
        [claim.iat]: Math.floor(wallClock() / 1000) - skewSeconds,
        [claim.iss]: bank.organisationId,
        [claim.tan]: trustAnchor,
      })
      .sign(keys.privateKey, { crit: { [claim.iat]: true, [claim.iss]: true, [claim.tan]: true } });
    const [header, , signature] = compact.split('.');
    return `${header}..${signature}`;
  }

  #key(jwk: JWK): Promise<CryptoKey> {
    const id = createHash('sha256').update(`${jwk.kid}|${jwk.n}`).digest('hex');
    let key = this.#tppKeys.get(id);
    if (!key) {
      key = importJWK(jwk, 'PS256') as Promise<CryptoKey>;
      this.#tppKeys.set(id, key);
    }
    return key;
  }
}

function readHeader(encoded: string): Map<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'));
    if (typeof parsed === 'object' && parsed !== null) return new Map(Object.entries(parsed));
  } catch {
    throw refusals.signatureMalformed();
  }
  throw refusals.signatureMalformed();
}

/** The header rules of v3.1.4 and later: `b64` must not appear, `crit` names exactly the three claims. */
function checkHeader(header: Map<string, unknown>, issuer: string): void {
  if (header.get('alg') !== 'PS256') throw refusals.signatureClaimInvalid('alg');
  if (typeof header.get('kid') !== 'string') throw refusals.signatureClaimMissing('kid');
  if (header.has('b64')) throw refusals.signatureClaimInvalid('b64');
  if (header.has('typ') && header.get('typ') !== 'JOSE') throw refusals.signatureClaimInvalid('typ');
  if (header.has('cty') && !['json', 'application/json'].includes(String(header.get('cty'))))
    throw refusals.signatureClaimInvalid('cty');
  const crit = header.get('crit');
  if (crit === undefined) throw refusals.signatureClaimMissing('crit');
  const names = new Set(Array.isArray(crit) ? crit : []);
  if (names.size !== critical.length || !critical.every((name) => names.has(name)))
    throw refusals.signatureClaimInvalid('crit');
  for (const name of critical) if (!header.has(name)) throw refusals.signatureClaimMissing(name);
  const iat = header.get(claim.iat);
  if (typeof iat !== 'number' || iat > wallClock() / 1000) throw refusals.signatureClaimInvalid(claim.iat);
  if (header.get(claim.iss) !== issuer) throw refusals.signatureClaimInvalid(claim.iss);
  if (header.get(claim.tan) !== trustAnchor) throw refusals.signatureClaimInvalid(claim.tan);
}
