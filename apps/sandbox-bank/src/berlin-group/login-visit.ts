import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import type { Persona } from '../personas.js';
import type { Outcome, Subject } from '../visits.js';
import { loginConsentPage } from '../psu-pages.js';
import type { BerlinContext } from './context.js';

interface Arrived {
  request: FastifyRequest;
  reply: FastifyReply;
  params: Record<string, unknown>;
}

/** The pre-step's visit: the PSU logs in and lets the TPP speak to the bank. No account is shared by it yet. */
export class LoginVisits {
  constructor(
    private readonly context: BerlinContext,
    private readonly provider: Provider,
  ) {}

  async open(request: FastifyRequest, reply: FastifyReply, uid: string): Promise<Subject | string> {
    const details = await this.provider.interactionDetails(request.raw, reply.raw).catch(() => undefined);
    if (!details || details.uid !== uid) return 'This visit has ended or belongs to another browser.';
    const { params } = details;
    const tpp = this.context.tpps.find((each) => each.clientId === params['client_id']);
    const arrived = { request, reply, params };
    return {
      tpp: tpp?.name ?? String(params['client_id']),
      review: (visit) => ({ page: loginConsentPage(visit) }),
      approve: (persona) => this.#approve(arrived, persona),
      deny: (reason) => this.#finish(arrived, { error: 'access_denied', error_description: reason }),
    };
  }

  async #approve(arrived: Arrived, persona: Persona): Promise<Outcome> {
    const { params } = arrived;
    const grant = new this.provider.Grant({ accountId: persona.id, clientId: String(params['client_id']) });
    grant.addOIDCScope(String(params['scope']));
    const grantId = await grant.save();
    return this.#finish(arrived, {
      login: { accountId: persona.id, amr: ['pwd', 'otp'], remember: false },
      consent: { grantId },
    });
  }

  async #finish({ request, reply }: Arrived, result: Parameters<Provider['interactionResult']>[2]): Promise<Outcome> {
    return {
      next: await this.provider.interactionResult(request.raw, reply.raw, result, { mergeWithLastSubmission: false }),
    };
  }
}
