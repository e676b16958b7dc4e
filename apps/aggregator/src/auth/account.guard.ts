import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { readPsuHeaders } from '#libs/contract';
import { inScope } from '#libs/database';
import type { AccountUse } from '../consents/consent-accounts.js';
import { ConsentAccounts } from '../consents/consent-accounts.service.js';
import { consentOf } from './request-consent.js';
import { tenantOf } from './tenant.js';

/** Lets through to an account only under a consent that covers it. Runs after the consent guard, on routes that name one. */
@Injectable()
export class AccountGuard implements CanActivate {
  constructor(private readonly accounts: ConsentAccounts) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Params: { accountId?: string } }>>();
    const { accountId } = request.params;
    if (accountId === undefined) return true;
    const asked = { accountId, use: useOf(request.routeOptions.url ?? ''), psu: readPsuHeaders(request.headers) };
    await inScope(tenantOf(request).scopeIds, () => this.accounts.require(consentOf(request), asked));
    return true;
  }
}

/** What a route reads follows from what stands behind the account in its path. */
function useOf(route: string): AccountUse {
  const [, behind = ''] = route.split('/:accountId');
  if (behind === '') return 'account';
  if (behind === '/balances') return 'balances';
  return behind.includes('/transactions') ? 'transactions' : 'rest';
}
