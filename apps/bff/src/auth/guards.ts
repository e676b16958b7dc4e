import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Pool } from 'pg';
import { problems } from '#libs/contract';
import { constantTimeEqual, hashToken, POOL } from '#libs/database';
import { Env } from '../config.js';
import { bearerToken } from './api-key.strategy.js';
import { type Caller, type GuardedRequest, notAuthenticated } from './caller.js';

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function signedIn<T>(error: Error | null, user: T | false | null, wanted: string): T {
  if (error) throw error;
  if (!user) throw notAuthenticated(wanted);
  return user;
}

/** For what only a merchant's backend may do. */
@Injectable()
export class MerchantGuard extends AuthGuard('api-key') {
  override handleRequest<TUser = Caller>(error: Error | null, user: TUser | false): TUser {
    return signedIn(error, user, 'A valid merchant API key is needed');
  }
}

/** For what any merchant or customer may see. */
@Injectable()
export class CallerGuard extends AuthGuard(['session', 'api-key']) {
  override handleRequest<TUser = Caller>(error: Error | null, user: TUser | false): TUser {
    return signedIn(error, user, 'A valid session token or merchant API key is needed');
  }
}

/**
 * For everything that belongs to one customer. A session's token names the customer itself; a merchant's backend
 * names one of its customers in the header `customer-id`, and a foreign one is as unknown as one that does not exist.
 */
@Injectable()
export class CustomerGuard extends CallerGuard {
  @Inject(POOL) private readonly pool!: Pool;

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    await super.canActivate(context);
    const request = context.switchToHttp().getRequest<GuardedRequest>();
    const caller = request.user;
    if (!caller) throw notAuthenticated('A valid session token or merchant API key is needed');
    request.scope =
      caller.kind === 'session'
        ? { merchantId: caller.merchantId, customerId: caller.customerId }
        : {
            merchantId: caller.merchantId,
            customerId: await this.named(caller.merchantId, request.headers['customer-id']),
          };
    return true;
  }

  private async named(merchantId: string, customerId: string | string[] | undefined): Promise<string> {
    if (typeof customerId !== 'string' || !uuidForm.test(customerId)) {
      const message = 'customer-id must be the id of a customer when an API key is used';
      throw problems.unexpectedValue({ parameter: 'customer-id', message });
    }
    const { rowCount } = await this.pool.query('select 1 from customers where id = $1 and merchant_id = $2', [
      customerId,
      merchantId,
    ]);
    if (rowCount === 0) throw problems.notFound({ parameter: 'customer-id', message: 'The customer is not known' });
    return customerId.toLowerCase();
  }
}

/** For the operator of this installation. */
@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(@Inject(Env) private readonly env: Env) {}

  canActivate(context: ExecutionContext): boolean {
    const { authorization } = context.switchToHttp().getRequest<{ headers: { authorization?: string } }>().headers;
    const token = bearerToken(authorization);
    if (token !== undefined && constantTimeEqual(hashToken(token), hashToken(this.env.OPERATOR_KEY))) return true;
    throw notAuthenticated('The operator key is needed');
  }
}
