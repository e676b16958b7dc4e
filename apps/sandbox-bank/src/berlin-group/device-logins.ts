import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errors, type Provider } from 'oidc-provider';
import { loginConsentPage } from '../psu-pages.js';
import type { Persona } from '../personas.js';
import type { Outcome, Subject } from '../visits.js';
import type { BerlinContext } from './context.js';

/** A request for a token that waits on a PSU's device. */
export interface WaitingLogin {
  /** Names it in the device's address; not the id by which the TPP asks for the token. */
  id: string;
  psuId: string;
  clientId: string;
}

type Request = InstanceType<Provider['BackchannelAuthenticationRequest']>;

/** The pre-step on the PSU's own device: they let the TPP know who they are, and no account is shared by it yet. */
export class DeviceLogins {
  constructor(
    private readonly context: BerlinContext,
    private readonly provider: Provider,
  ) {}

  /** The open ones, oldest first. */
  async waiting(): Promise<WaitingLogin[]> {
    const found = await Promise.all(this.#ids().map((id) => this.#open(id)));
    return found.filter((each) => each !== undefined).map((each) => toWaiting(each));
  }

  /** What a visit to the device's address is about. */
  async open(_request: FastifyRequest, _reply: FastifyReply, uid: string): Promise<Subject | string> {
    const candidates = await Promise.all(this.#ids().map((id) => this.#open(id)));
    const asked = candidates.find((each) => each !== undefined && nameOf(each) === uid);
    if (asked === undefined) return 'This request has been decided already, or is too old.';
    const tpp = this.context.tpps.find(({ clientId }) => clientId === asked.clientId);
    return {
      tpp: tpp?.name ?? asked.clientId ?? 'A third party',
      refuses: ({ id }) => (id === asked.accountId ? undefined : 'This request is for another customer.'),
      review: (visit) => ({ page: loginConsentPage(visit) }),
      approve: (persona) => this.#approve(asked, persona),
      deny: async (reason) => {
        await this.provider.backchannelResult(asked, new errors.AccessDenied(reason));
        return done;
      },
    };
  }

  async #approve(asked: Request, persona: Persona): Promise<Outcome> {
    const grant = new this.provider.Grant({ accountId: persona.id, clientId: asked.clientId ?? '' });
    grant.addOIDCScope(asked.scope ?? '');
    await grant.save();
    await this.provider.backchannelResult(asked, grant);
    return done;
  }

  #ids(): string[] {
    const { store, bank } = this.context;
    const sql = "SELECT id FROM oidc WHERE bank = ? AND model = 'BackchannelAuthenticationRequest' ORDER BY expiresAt";
    return store.all<{ id: string }>(sql, bank.id).map(({ id }) => id);
  }

  async #open(id: string): Promise<Request | undefined> {
    const asked = await this.provider.BackchannelAuthenticationRequest.find(id);
    const isOpen = asked !== undefined && !asked.grantId && !asked.error;
    return isOpen ? asked : undefined;
  }
}

const done: Outcome = { done: 'The request is confirmed. Go back to where you came from.' };

function toWaiting(asked: Request): WaitingLogin {
  return { id: nameOf(asked), psuId: asked.accountId ?? '', clientId: asked.clientId ?? '' };
}

function nameOf({ jti }: Request): string {
  return createHash('sha256').update(jti).digest('hex').slice(0, 32);
}
