import { createHash } from 'node:crypto';
import type { Call, Consented, Grant } from '../connector.js';
import { InstitutionError } from '../institution-error.js';
import { errorCodeOf } from './codes.js';
import type { Authorised } from './uk-open-banking.exchange.js';
import type { OpenId, Scope, Tokens } from './uk-open-banking.openid.js';
import type { OBDomesticInitiation, OBRisk1, Version } from './uk-open-banking.types.js';

/**
 * What a grant keeps: the tokens, the version its consent was made on, when the PSU authenticated (milliseconds since
 * the epoch), and for a payment exactly what was authorised.
 */
export interface GrantState extends Tokens {
  scope: Scope;
  version?: Version;
  authorisedAt?: number;
  payment?: { initiation: OBDomesticInitiation; risk: OBRisk1 };
}

/** One renewal, in flight or done, filed under the refresh token it used. */
interface Renewal {
  /** The access token it replaces. */
  from: string;
  renewed: Promise<Grant>;
  /** Set while `keep` runs, so that several waiting calls store once. */
  keeping?: Promise<void> | undefined;
  /** False until `keep` has stored what the bank gave; the next call that comes by then keeps it again. */
  kept: boolean;
}

const REMEMBERED_MAX = 5_000;

/**
 * Runs work under a consent's access token. An expired or refused token is renewed once; however many calls wait, the
 * bank is asked once (quirk Q19), and the new grant is kept before any of them goes on.
 */
export class Access {
  readonly #openid: OpenId;
  readonly #now: () => Date;
  readonly #isAlive: (call: Call, grant: Grant) => Promise<boolean>;
  readonly #probe: (call: Authorised) => Promise<unknown>;
  readonly #version: Version;
  readonly #renewals = new Map<string, Renewal>();

  constructor(parts: {
    openid: OpenId;
    now: () => Date;
    /** The version of grants that do not name one. */
    version: Version;
    isAlive: (call: Call, grant: Grant) => Promise<boolean>;
    /** A read that every token of account access is good for. */
    probe: (call: Authorised) => Promise<unknown>;
  }) {
    this.#openid = parts.openid;
    this.#now = parts.now;
    this.#version = parts.version;
    this.#isAlive = parts.isAlive;
    this.#probe = parts.probe;
  }

  /** `work` may run twice: it must be a read, or carry an idempotency key. */
  async with<T>(call: Consented, work: (authorised: Authorised) => Promise<T>): Promise<T> {
    try {
      const grant = await this.#current(call);
      try {
        return await work(this.#authorised(call, grant));
      } catch (fault) {
        if (!(fault instanceof InstitutionError) || fault.httpStatus !== 401) throw fault;
        // Where the bank gave nothing to renew it with, the same token is tried once more: see `#again`.
        const renewed = (await this.#renew(call, grant)) ?? grant;
        return await this.#again(renewed, { ...this.#authorised(call, renewed), isRenewed: true }, work);
      }
    } catch (fault) {
      throw await this.#explain(call, fault);
    }
  }

  /**
   * A token that is refused as soon as it is issued says that its user has to come back (RFC 6750, section 3.1), unless it
   * opens other doors: then the bank has something against this one account (quirk Q26).
   */
  async #again<T>(grant: Grant, authorised: Authorised, work: (authorised: Authorised) => Promise<T>): Promise<T> {
    try {
      return await work(authorised);
    } catch (fault) {
      if (!(fault instanceof InstitutionError) || fault.httpStatus !== 401) throw fault;
      const details = { httpStatus: 401, code: fault.code };
      if (await this.#opensOthers(grant, authorised)) throw new InstitutionError('rejected', fault.message, details);
      throw new InstitutionError('unauthorised', fault.message, { ...details, code: 'invalid_token' });
    }
  }

  async #opensOthers(grant: Grant, authorised: Authorised): Promise<boolean> {
    if (stateOf(grant).scope !== 'accounts') return false;
    try {
      await this.#probe(authorised);
      return true;
    } catch (fault) {
      if (!(fault instanceof InstitutionError)) throw fault;
      return false;
    }
  }

  #authorised(call: Consented, grant: Grant): Authorised {
    const { accessToken: token, version = this.#version } = stateOf(grant);
    return { ...call, token, version };
  }

  async #current(call: Consented): Promise<Grant> {
    let grant = call.grant;
    // A call that loaded its grant before another renewed it holds tokens that the bank may have ended.
    for (let known = this.#renewalOf(grant); known; known = this.#renewalOf(grant))
      grant = await this.#settle(call, known);
    if (stateOf(grant).accessTokenExpiresAt > this.#now().getTime()) return grant;
    return (await this.#renew(call, grant)) ?? grant;
  }

  /** Undefined when the bank gave no refresh token. */
  async #renew(call: Consented, grant: Grant): Promise<Grant | undefined> {
    const { refreshToken } = stateOf(grant);
    if (!refreshToken) return undefined;
    return this.#settle(call, this.#renewalOf(grant) ?? this.#begin(call, grant, refreshToken));
  }

  #renewalOf(grant: Grant): Renewal | undefined {
    const { refreshToken, accessToken } = stateOf(grant);
    const renewal = refreshToken ? this.#renewals.get(keyOf(refreshToken)) : undefined;
    return renewal?.from === accessToken ? renewal : undefined;
  }

  #begin(call: Consented, grant: Grant, refreshToken: string): Renewal {
    const renewal: Renewal = { from: stateOf(grant).accessToken, renewed: Promise.resolve(grant), kept: false };
    renewal.renewed = this.#refresh(call, grant, renewal);
    const key = keyOf(refreshToken);
    this.#renewals.delete(key);
    this.#renewals.set(key, renewal);
    renewal.renewed.catch(() => {
      if (this.#renewals.get(key) === renewal) this.#renewals.delete(key);
    });
    if (this.#renewals.size > REMEMBERED_MAX) {
      const [oldest] = this.#renewals.keys();
      if (oldest !== undefined) this.#renewals.delete(oldest);
    }
    return renewal;
  }

  /** The renewed grant, once it is kept. */
  async #settle(call: Consented, renewal: Renewal): Promise<Grant> {
    const renewed = await renewal.renewed;
    if (!renewal.kept) await this.#keep(call, renewal, renewed);
    return renewed;
  }

  async #keep(call: Consented, renewal: Renewal, renewed: Grant): Promise<void> {
    renewal.keeping ??= call.keep(renewed).finally(() => {
      renewal.keeping = undefined;
    });
    await renewal.keeping;
    renewal.kept = true;
  }

  async #refresh(call: Consented, grant: Grant, renewal: Renewal): Promise<Grant> {
    const work = async (stored: Grant): Promise<Grant> => {
      const { accessToken, refreshToken } = stateOf(stored);
      const isRenewedElsewhere = accessToken !== renewal.from;
      if (isRenewedElsewhere) renewal.kept = true;
      if (isRenewedElsewhere || !refreshToken) return stored;
      const { grant: renewed, trusted } = await this.#exchange(call, stored, refreshToken);
      // Kept while we are still alone. If that fails, `#settle` tries again and tells its caller.
      await this.#keep(call, renewal, renewed).catch(() => undefined);
      if (trusted) return renewed;
      throw new InstitutionError('malformed', "The institution's renewed tokens failed their checks");
    };
    return call.alone ? call.alone(work) : work(grant);
  }

  /** New tokens are the consent's even when they fail their checks (quirk Q20): the old refresh token may be dead. */
  async #exchange(call: Consented, grant: Grant, refreshToken: string): Promise<{ grant: Grant; trusted: boolean }> {
    const { tokens, verified } = await this.#ask(call, refreshToken);
    const before = stateOf(grant);
    const state: GrantState = { ...before, refreshToken, ...tokens };
    const isSamePsu = !before.subject || !tokens.subject || before.subject === tokens.subject;
    return { grant: { ...grant, state }, trusted: verified && isSamePsu };
  }

  async #ask(call: Consented, refreshToken: string): ReturnType<OpenId['refresh']> {
    try {
      return await this.#openid.refresh(call, refreshToken);
    } catch (fault) {
      // The bank may have burnt the token although its answer was lost: once more, at once, with the same one (Q19).
      if (fault instanceof InstitutionError && (fault.kind === 'unavailable' || fault.kind === 'timeout')) {
        return this.#openid.refresh(call, refreshToken);
      }
      throw fault;
    }
  }

  /** A refusal is asked after: is it this call, or has the customer taken the consent back? */
  async #explain(call: Consented, fault: unknown): Promise<unknown> {
    if (!(fault instanceof InstitutionError)) return fault;
    const refused = fault.httpStatus === 401 || fault.httpStatus === 403;
    const code = errorCodeOf(fault.code);
    const ended = code === 'invalid_grant' || code === 'U009';
    if (!refused && !ended) return fault;
    const details = { httpStatus: fault.httpStatus, code: fault.code };
    try {
      if (!(await this.#isAlive(call, call.grant))) {
        return new InstitutionError('consent-gone', 'The consent has ended at the institution', details);
      }
    } catch (unsure) {
      if (!(unsure instanceof InstitutionError)) throw unsure;
    }
    // U028 and a dead refresh token ask for strong customer authentication again.
    const again = code === 'U028' || code === 'invalid_grant';
    return again ? new InstitutionError('unauthorised', fault.message, details) : fault;
  }
}

/** The connector's own part of a grant. Anything else in it is our bug, not the bank's. */
export function stateOf(grant: Grant): GrantState {
  const state = grant.state as Partial<GrantState> | null;
  if (typeof state?.accessToken !== 'string' || typeof state.accessTokenExpiresAt !== 'number' || !state.scope) {
    throw new TypeError('The grant is not one of this connector, or its authorisation never finished');
  }
  return state as GrantState;
}

function keyOf(refreshToken: string): string {
  return createHash('sha256').update(refreshToken).digest('hex');
}
