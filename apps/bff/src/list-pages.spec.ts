import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestBff, type TestMerchant } from '../../../test/support/bff.js';
import type { ProblemDetails } from './auth/problem-details.dto.js';

interface Page {
  data: { id: string }[];
  hasMore: boolean;
  nextCursor?: string;
}

interface Listed {
  path: string;
  table: string;
  /** A key of the merchant's, or the customer's session. */
  as: 'key' | 'session';
  /** Which rows of the table the list has, by the id of their owner. */
  ownedBy: 'merchant_id' | 'customer_id' | 'connection_id';
}

const total = 5;
let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let customerId: string;
let connectionId: string;

const payment = {
  institutionId: 'bank',
  amount: 1,
  currency: 'GBP',
  payee: {
    name: 'Shop',
    accountIdentifications: [
      { type: 'SORT_CODE', identification: '200000' },
      { type: 'ACCOUNT_NUMBER', identification: '55779911' },
    ],
  },
};

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  ({ token, customerId } = await bff.session(merchant, 'ada'));
  bff.aggregator.accounts = Array.from({ length: total }, (_, index) => ({ id: `acc${index}`, currency: 'GBP' }));
  ({ id: connectionId } = await bff.connected(token));
  await bff.synchronise(connectionId);
  for (let made = 1; made < total; made += 1) {
    await bff.connected(token);
    await bff.ask('POST /v1/api-keys', { as: merchant.apiKey, body: {} });
  }
  for (let made = 0; made < total; made += 1) {
    await bff.ask('POST /v1/payments', { as: token, body: payment, headers: { 'idempotency-key': `order-${made}` } });
    await bff.ask(`POST /v1/connections/${connectionId}/renewals`, { as: token, body: {} });
  }
});
afterAll(() => bff.close());

const ask = <Body = Page>({ path, as }: Listed, query: Record<string, string>) => {
  const url = `${path.replace(':connection', connectionId)}?${new URLSearchParams(query).toString()}`;
  return bff.ask<Body>(`GET /${url}`, { as: as === 'key' ? merchant.apiKey : token });
};

/** All rows of a list in pages of two, each told apart by its id. */
async function walk(listed: Listed): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const { body } = await ask(listed, { limit: '2', ...(cursor === undefined ? {} : { cursor }) });
    expect(body.data.length).toBeLessThanOrEqual(2);
    expect(body.hasMore).toBe(body.nextCursor !== undefined);
    ids.push(...body.data.map(({ id }) => id));
    cursor = body.nextCursor;
  } while (cursor !== undefined);
  return ids;
}

const lists: Listed[] = [
  { path: 'v1/connections', table: 'connections', as: 'session', ownedBy: 'customer_id' },
  { path: 'v1/connections/:connection/renewals', table: 'renewals', as: 'session', ownedBy: 'connection_id' },
  { path: 'v1/accounts', table: 'accounts', as: 'session', ownedBy: 'customer_id' },
  { path: 'v1/payments', table: 'payments', as: 'session', ownedBy: 'customer_id' },
  { path: 'v1/api-keys', table: 'api_keys', as: 'key', ownedBy: 'merchant_id' },
];

describe.each(lists)('GET /$path', (listed) => {
  const owner = (): string =>
    ({ merchant_id: merchant.id, customer_id: customerId, connection_id: connectionId })[listed.ownedBy];

  it('has everything once, in pages, whether or not it was made in the same instant', async () => {
    const { body } = await ask(listed, {});
    expect(body).toMatchObject({ hasMore: false });
    expect(new Set(body.data.map(({ id }) => id)).size).toBe(total);
    expect(await walk(listed)).toEqual(body.data.map(({ id }) => id));
    await bff.db.pool.query(`update ${listed.table} set created_at = now() where ${listed.ownedBy} = $1`, [owner()]);
    expect((await walk(listed)).toSorted()).toEqual(body.data.map(({ id }) => id).toSorted());
  });

  it('refuses sizes that it has not, and cursors that it has not given', async () => {
    const other = lists[(lists.indexOf(listed) + 1) % lists.length] ?? listed;
    const { body } = await ask(other, { limit: '1' });
    for (const [name, value] of [
      ['limit', '0'],
      ['limit', '501'],
      ['cursor', 'here'],
      ['cursor', body.nextCursor ?? ''],
    ] as const) {
      const refused = await ask<ProblemDetails>(listed, { [name]: value });
      expect([name, value, refused.status]).toEqual([name, value, 400]);
      expect(refused.body.issues?.[0]?.parameter).toBe(name);
    }
  });
});
