import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { now } from '#libs/server';
import { TestBff } from '../../../../test/support/bff.js';
import { until } from '../../../../test/support/receiver.js';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import { callbackClaimMs } from './callback-claim.js';

let bff: TestBff;
let token: string;

beforeAll(async () => {
  bff = await TestBff.start();
  ({ token } = await bff.session(await bff.merchant(), 'ada'));
});
afterAll(() => bff.close());

const payee = { name: 'Shop', accountIdentifications: [{ type: 'IBAN', identification: 'GB33BUKB20201555555555' }] };

interface Asked {
  id: string;
  authorisationUrl: string;
}

const ask = async (route: `POST /${string}`, body: object): Promise<Asked> =>
  (await bff.ask<Asked>(route, { as: token, body, headers: { 'idempotency-key': randomUUID() } })).body;

it.each([
  ['a connection', 'connections', 'next_sync_at', () => ask('POST /v1/connections', { institutionId: 'bank' })],
  [
    'a renewal',
    'renewals',
    'next_look_at',
    async () => ask(`POST /v1/connections/${(await bff.connected(token)).id}/renewals`, {}),
  ],
  [
    'a payment',
    'payments',
    'next_poll_at',
    () => ask('POST /v1/payments', { institutionId: 'bank', amount: 5, currency: 'GBP', payee }),
  ],
] as const)('of %s that a crash cuts off is looked after half a minute later', async (_, table, column, begin) => {
  const { id, authorisationUrl } = await begin();
  const { pathname, search } = bff.aggregator.approve(new URL(authorisationUrl).searchParams.get('consent') ?? '');
  const asked = vi.spyOn(bff.get(MerchantAggregator), 'of').mockImplementationOnce(() => new Promise(() => {}));
  // The process is gone: whoever waits for this answer never gets it.
  void bff.ask(`GET ${pathname}${search}` as `GET /${string}`);
  await until(() => asked.mock.calls.length === 1);
  const at = new Date(now().getTime() + callbackClaimMs);
  const { rows } = await bff.db.pool.query(`select id from ${table} where ${column} <= $1`, [at]);
  expect(rows).toContainEqual({ id });
  asked.mockRestore();
});
