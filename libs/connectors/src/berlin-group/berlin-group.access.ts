import { createHash } from 'node:crypto';
import type { Call, Consented, Grant } from '../connector.js';
import { InstitutionError } from '../institution-error.js';
import type { Sender } from './berlin-group.api.js';
import type { OAuth, Tokens } from './berlin-group.openid.js';

/** What a grant keeps. Banks without OAuth know us by the consent alone. */
export interface GrantState {
  protocol: 'berlin-group';
  tokens?: Tokens;
}

/** One renewal, filed under the refresh token it used. A token that the bank gave is never lost: it is kept until it is stored. */
interface Renewal {
  /** The access token it replaces. */
  from: string;
  given?: Grant;
  isKept: boolean;
  running?: Promise<Grant> | undefined;
}

const REMEMBERED_MAX = 5_000;

/**
 * Runs work under a consent. Where there is a token, an expired or refused one is renewed once; however many calls
 * wait, the bank is asked once (quirk Q19), and the new grant is kept before any of them goes on.
 */
export class Access {
  readonly #oauth: OAuth;
  readonly #now: () => Date;
  readonly #isAlive: (sender: Sender) => Promise<boolean>;
  readonly #renewals = new Map<string, Renewal>();

  constructor(parts: { oauth: OAuth; now: () => Date; isAlive: (sender: Sender) => Promise<boolean> }) {
    this.#oauth = parts.oauth;
    this.#now = parts.now;
    this.#isAlive = parts.isAlive;
  }

  /** `work` may run twice: it must be a read, or harmless when repeated. */
  async with<T>(call: Consented, work: (sender: Sender) => Promise<T>): Promise<T> {
    let grant = await this.#current(call);
    try {
      try {
        return await work(senderOf(call, grant));
      } catch (fault) {
        if (!isTokenRefused(fault) || !stateOf(grant).tokens) throw fault;
        grant = await this.#renew(call, grant);
        return await work({ ...senderOf(call, grant), isRenewed: true });
      }
    } catch (fault) {
      throw await this.#explain(senderOf(call, grant), fault);
    }
  }

  async #current(call: Consented): Promise<Grant> {
    let grant = call.grant;
    // A call that loaded its grant before another renewed it holds tokens that the bank may have ended.
    while (this.#renewalOf(grant)) grant = await this.#renew(call, grant);
    const { tokens } = stateOf(grant);
    return tokens && tokens.accessTokenExpiresAt <= this.#now().getTime() ? this.#renew(call, grant) : grant;
  }

  #renewalOf(grant: Grant): Renewal | undefined {
    const { tokens } = stateOf(grant);
    const renewal = tokens?.refreshToken ? this.#renewals.get(keyOf(tokens.refreshToken)) : undefined;
    return renewal?.from === tokens?.accessToken ? renewal : undefined;
  }

  /** The same grant when the bank gave no refresh token. */
  async #renew(call: Consented, grant: Grant): Promise<Grant> {
    const { tokens } = stateOf(grant);
    if (!tokens?.refreshToken) return grant;
    const key = keyOf(tokens.refreshToken);
    const renewal = this.#renewalOf(grant) ?? { from: tokens.accessToken, isKept: false };
    this.#renewals.delete(key);
    this.#renewals.set(key, renewal);
    if (this.#renewals.size > REMEMBERED_MAX) {
      const [oldest = ''] = this.#renewals.keys();
      this.#renewals.delete(oldest);
    }
    renewal.running ??= this.#run(call, grant, renewal).finally(() => {
      renewal.running = undefined;
      if (!renewal.given && this.#renewals.get(key) === renewal) this.#renewals.delete(key);
    });
    return renewal.running;
  }

  async #run(call: Consented, grant: Grant, renewal: Renewal): Promise<Grant> {
    if (renewal.given && renewal.isKept) return renewal.given;
    const work = async (stored: Grant): Promise<Grant> => {
      const { tokens } = stateOf(stored);
      if (!renewal.given && tokens?.accessToken !== renewal.from) {
        renewal.isKept = true;
        renewal.given = stored;
      }
      renewal.given ??= await this.#exchange(call, stored);
      if (!renewal.isKept) await call.keep(renewal.given);
      renewal.isKept = true;
      return renewal.given;
    };
    return call.alone ? call.alone(work) : work(grant);
  }

  async #exchange(call: Call, grant: Grant): Promise<Grant> {
    const { tokens } = stateOf(grant);
    if (!tokens?.refreshToken) return grant;
    const held = { metadataUrl: tokens.metadataUrl, refreshToken: tokens.refreshToken };
    // Several calls wait for it, so it must not die with the one that began it.
    const unhurried = { ...call, signal: new AbortController().signal };
    const renewed = await this.#oauth.refresh(unhurried, held).catch((fault: unknown) => {
      const isLost = fault instanceof InstitutionError && (fault.kind === 'unavailable' || fault.kind === 'timeout');
      // The bank may have burnt the token although its answer was lost: once more, with the same one (Q19).
      if (isLost) return this.#oauth.refresh(unhurried, held);
      throw fault;
    });
    const state: GrantState = { protocol: 'berlin-group', tokens: renewed };
    return { ...grant, state };
  }

  /** A refusal is asked after: is it this call (quirk Q26), or has the consent ended? */
  async #explain(sender: Sender, fault: unknown): Promise<unknown> {
    if (!(fault instanceof InstitutionError) || (fault.httpStatus !== 401 && fault.httpStatus !== 403)) return fault;
    if (fault.kind === 'consent-gone') return fault;
    const { httpStatus, code } = fault;
    try {
      if (await this.#isAlive(sender)) return fault;
    } catch (unsure) {
      if (!(unsure instanceof InstitutionError)) throw unsure;
      if (unsure.kind !== 'consent-gone') return fault;
    }
    return new InstitutionError('consent-gone', 'The consent has ended at the institution', { httpStatus, code });
  }
}

function isTokenRefused(fault: unknown): boolean {
  if (!(fault instanceof InstitutionError) || fault.httpStatus !== 401) return false;
  return fault.code === undefined || fault.code.startsWith('TOKEN_');
}

function senderOf(call: Call, grant: Grant): Sender {
  const { tokens } = stateOf(grant);
  const { institutionConsentId: consentId } = grant;
  return { ...call, consentId, ...(tokens ? { token: tokens.accessToken } : {}) };
}

/** The connector's own part of a grant. Anything else in it is our bug, not the bank's. */
export function stateOf(grant: Grant): GrantState {
  const state = grant.state as Partial<GrantState> | null;
  if (state?.protocol !== 'berlin-group') throw new TypeError('The grant is not one of this connector');
  return state as GrantState;
}

function keyOf(refreshToken: string): string {
  return createHash('sha256').update(refreshToken).digest('hex');
}
