import type { FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import { isBoundElsewhere } from '../client-certificate.js';
import type { BankContext } from '../oidc/authorisation-server.js';
import { isAuthorised, isWithdrawn, type ConsentFamily } from './consent-state.js';
import type { Consent } from './consents.js';
import { refusals } from './error.js';

const scopes: Record<ConsentFamily, string> = { account: 'accounts', payment: 'payments' };

/** Which token a call takes is a table of the standard (section 2.1): the TPP's own, or one that a PSU stands behind. */
export class Access {
  constructor(
    private readonly context: BankContext,
    private readonly provider: Provider,
  ) {}

  /** A client-credentials token with the family's scope: who is calling. */
  async asTpp(request: FastifyRequest, family: ConsentFamily): Promise<{ clientId: string }> {
    const value = bearerOf(request);
    const token = await this.provider.ClientCredentials.find(value);
    if (!token?.clientId) {
      if (await this.provider.AccessToken.find(value))
        throw refusals.forbidden('This call takes a client credentials token');
      throw refusals.unauthorised();
    }
    if (isBoundElsewhere(token, request.raw)) throw refusals.unauthorised();
    if (!token.scopes.has(scopes[family])) throw refusals.forbidden(`The token lacks the scope ${scopes[family]}`);
    return { clientId: token.clientId };
  }

  /** A token from an authorisation: the consent that it is bound to, which has to be authorised. */
  async asPsu(request: FastifyRequest, family: ConsentFamily): Promise<{ clientId: string; consent: Consent }> {
    const value = bearerOf(request);
    const token = await this.provider.AccessToken.find(value);
    if (!token?.clientId || token.grantId === undefined) {
      if (await this.provider.ClientCredentials.find(value))
        throw refusals.forbidden('This call takes a token that a PSU authorised');
      throw refusals.unauthorised();
    }
    if (isBoundElsewhere(token, request.raw)) throw refusals.unauthorised();
    const consent = this.context.consents.findByGrant(this.context.bank.id, token.grantId);
    if (!consent) throw refusals.unauthorised();
    if (consent.family !== family || !token.scopes.has(scopes[family]))
      throw refusals.forbidden(`The token lacks the scope ${scopes[family]}`);
    return { clientId: token.clientId, consent };
  }

  /** As `asPsu`, for account data: the consent has to be authorised still. */
  async toData(request: FastifyRequest): Promise<Consent> {
    const { consent } = await this.asPsu(request, 'account');
    // v3.1 knows no withdrawn consent: the token dies.
    if (isWithdrawn(consent.status))
      throw this.context.bank.version === 'v3.1' ? refusals.unauthorised() : refusals.reauthenticate();
    if (!isAuthorised(consent.status)) throw refusals.forbidden('The consent is not authorised');
    this.context.payments.settle(this.context.bank.id);
    return consent;
  }
}

function bearerOf(request: FastifyRequest): string {
  const value = /^Bearer ([\w.~+/-]+=*)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (value === undefined) throw refusals.unauthorised();
  return value;
}
