import pg from 'pg';
import { changesChannel, RowChanges } from '#libs/database';
import type {
  AccountAuthorisationResponse,
  Envelope,
  PaymentAuthorisationRequestResponse,
  PaymentRequest,
} from '#libs/contract';
import {
  ApplicationKeysService,
  type IssuedKey,
} from '../../apps/aggregator/src/applications/application-keys.service.js';
import type { TestAggregator } from './aggregator.js';
import { scriptedInstitution } from './scripted-connector.js';

/** The callback that the applications of these tests have registered. */
export const callback = 'https://shop.test/cb';

/** A consent that its user has granted at the scripted bank. */
export interface Granted {
  id: string;
  token: string;
  state: string;
}

/** An application that may be called back. */
export function applicationWithCallback(aggregator: TestAggregator, rootApplicationId?: string): Promise<IssuedKey> {
  const parent = rootApplicationId === undefined ? {} : { rootApplicationId };
  return aggregator.get(ApplicationKeysService).create({ name: 'Shop', callbackUrls: [callback], ...parent });
}

/** What the bank sends the browser back with: to the query, or as the lifted form. Nothing is followed. */
export async function comeBack(
  aggregator: TestAggregator,
  answer: Record<string, string>,
  how: 'query' | 'form' = 'query',
): Promise<{ status: number; location?: URL; page: string; headers: Record<string, unknown> }> {
  const text = new URLSearchParams(answer).toString();
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await aggregator.app.inject(
    how === 'query'
      ? { method: 'GET', url: `/callback?${text}` }
      : { method: 'POST', url: '/callback', headers: form, payload: text },
  );
  const { location } = response.headers;
  const seen = { status: response.statusCode, page: response.payload, headers: { ...response.headers } };
  return typeof location === 'string' ? { ...seen, location: new URL(location) } : seen;
}

/** An account consent, granted. `request` changes what is asked. */
export async function grantedAccount(
  aggregator: TestAggregator,
  as: IssuedKey,
  request: object = {},
): Promise<Granted> {
  const { body } = await aggregator.ask<Envelope<AccountAuthorisationResponse>>('POST /account-auth-requests', {
    as,
    body: { institutionId: scriptedInstitution.id, applicationUserId: 'ann', callback, ...request },
  });
  return granted(aggregator, body.data);
}

/** A payment consent, granted. */
export async function grantedPayment(
  aggregator: TestAggregator,
  as: IssuedKey,
  paymentRequest: PaymentRequest,
): Promise<Granted> {
  const { body } = await aggregator.ask<Envelope<PaymentAuthorisationRequestResponse>>('POST /payment-auth-requests', {
    as,
    body: { institutionId: scriptedInstitution.id, applicationUserId: 'ann', callback, paymentRequest },
  });
  return granted(aggregator, body.data);
}

async function granted(aggregator: TestAggregator, begun: { id: string; state?: string }): Promise<Granted> {
  const { id, state = '' } = begun;
  const { location, status } = await comeBack(aggregator, { code: 'c-1', state });
  const token = location?.searchParams.get('consent');
  if (typeof token !== 'string') throw new Error(`The callback answered ${status} without a consent token`);
  return { id, token, state };
}

/** Runs SQL as the database's owner, past row level security: to look at what is stored, or to break it. */
export async function asOwner(aggregator: TestAggregator, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: aggregator.db.url });
  client.on('notification', ({ payload = '' }) => aggregator.get(RowChanges).hear(payload));
  await client.connect();
  try {
    await client.query(`LISTEN ${changesChannel}`);
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return rows;
  } finally {
    await client.end();
  }
}

/** A domestic payment in good order. */
export function domesticPayment(paymentIdempotencyId: string): PaymentRequest {
  return {
    paymentIdempotencyId,
    type: 'DOMESTIC_PAYMENT',
    amount: { amount: 12.5, currency: 'GBP' },
    reference: 'Order 7',
    payee: {
      name: 'Shop',
      accountIdentifications: [
        { type: 'SORT_CODE', identification: '400100' },
        { type: 'ACCOUNT_NUMBER', identification: '12345678' },
      ],
    },
  };
}
