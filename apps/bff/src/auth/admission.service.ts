import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import passport from 'passport';
import { problems } from '#libs/contract';
import { constantTimeEqual, hashToken } from '#libs/database';
import { Env } from '../config.js';
import type { Access } from './access.js';
import { apiKeyPrefix } from './api-key.strategy.js';
import { bearerToken } from './bearer.strategy.js';
import { type Admitted, type Caller, notAuthenticated, type Scope } from './caller.js';
import { KnownCustomers } from './known-customers.js';
import { RateLimits } from './rate-limits.js';

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const wanted: Readonly<Record<Access, string>> = {
  operator: 'The operator key is needed',
  merchant: 'A valid merchant API key is needed',
  caller: 'A valid session token or merchant API key is needed',
  customer: 'A valid session token or merchant API key is needed',
};

/** Lets a call in, or does not: who calls, whether they call too often, and which customer's data they may touch. */
@Injectable()
export class AdmissionService {
  constructor(
    private readonly limits: RateLimits,
    private readonly customers: KnownCustomers,
    @Inject(Env) private readonly env: Env,
  ) {}

  async admit(access: Access, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const caller = await this.signIn(access, request, reply);
    if (!caller) throw notAuthenticated(wanted[access]);
    request.caller = caller;
    const { headers, retryAfter } = await this.limits.count(caller);
    reply.headers(headers);
    if (retryAfter !== undefined) throw problems.tooManyRequests({ retryAfter });
    if (access === 'customer') request.scope = await this.scopeOf(caller, request.headers['customer-id']);
    else if (caller.kind === 'session') await this.ownScope(caller);
  }

  private async signIn(access: Access, request: FastifyRequest, reply: FastifyReply): Promise<Admitted | false> {
    const token = bearerToken(request.headers.authorization);
    if (token === undefined) return false;
    if (access === 'operator') return this.isOperator(token) && { kind: 'operator' };
    if (token.startsWith(apiKeyPrefix)) return signedIn('api-key', request, reply);
    return access !== 'merchant' && signedIn('session', request, reply);
  }

  private isOperator(token: string): boolean {
    return constantTimeEqual(hashToken(token), hashToken(this.env.OPERATOR_KEY));
  }

  /**
   * A session's token names the customer itself; a merchant's backend names one of its customers in the header `customer-id`, and a
   * foreign one is as unknown as one that does not exist, or that is being deleted.
   */
  private async scopeOf(caller: Admitted, named: string | string[] | undefined): Promise<Scope> {
    if (caller.kind === 'session') return this.ownScope(caller);
    if (caller.kind === 'operator') throw notAuthenticated(wanted.customer);
    if (typeof named !== 'string' || !uuidForm.test(named)) {
      const message = 'customer-id must be the id of a customer when an API key is used';
      throw problems.unexpectedValue({ parameter: 'customer-id', message });
    }
    const scope = { merchantId: caller.merchantId, customerId: named.toLowerCase() };
    if (await this.customers.has(scope)) return scope;
    throw problems.notFound({ parameter: 'customer-id', message: 'The customer is not known' });
  }

  private async ownScope({ merchantId, customerId }: Scope): Promise<Scope> {
    const scope = { merchantId, customerId };
    if (await this.customers.has(scope)) return scope;
    throw notAuthenticated('The session’s customer is not known any more');
  }
}

/** Asks one of passport's strategies; false where it refuses. */
function signedIn(strategy: 'api-key' | 'session', request: FastifyRequest, reply: FastifyReply) {
  return new Promise<Caller | false>((done, fail) => {
    const answered = (error: Error | null, caller?: Caller | false): void => {
      if (error) fail(error);
      else done(caller ?? false);
    };
    passport.authenticate(strategy, { session: false }, answered)(request, reply, fail);
  });
}
