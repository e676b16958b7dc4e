import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Transaction } from '#libs/contract';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import type { TransactionChanges, TransactionPage, TransactionView } from './transaction.dto.js';

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let connectionId: string;
let accountId: string;

const rows: Transaction[] = Array.from({ length: 23 }, (_, index) => {
  // Several on one instant: the order must not depend on it.
  const at = new Date(Date.parse('2026-03-01T00:00:00Z') + Math.floor(index / 4) * 86_400_000).toISOString();
  return {
    id: `b${index}`,
    date: at,
    bookingDateTime: at,
    status: index > 20 ? 'PENDING' : 'BOOKED',
    amount: index,
    currency: 'GBP',
    description: `Row ${index} "ü"`,
    ...(index === 3 ? { merchant: { merchantCategoryCode: '5411' } } : {}),
    ...(index === 5 ? { reference: 'Invoice 77%' } : {}),
    ...(index === 4 ? { isoBankTransactionCode: { familyCode: { code: 'CCRD' } } } : {}),
  };
});

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  ({ token } = await bff.session(merchant, 'ada'));
  bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
  bff.aggregator.transactions = new Map([['acc', rows]]);
  connectionId = (await bff.connected(token)).id;
  await bff.synchronise(connectionId);
  accountId = (await bff.ask<{ data: { id: string }[] }>('GET /v1/accounts', { as: token })).body.data[0]?.id ?? '';
});
afterAll(() => bff.close());

const list = (query = '', as = token) => bff.ask<TransactionPage>(`GET /v1/transactions${query}`, { as });

async function walk(query: string): Promise<TransactionView[]> {
  const all: TransactionView[] = [];
  let cursor = '';
  for (let pages = 0; pages < 50; pages += 1) {
    const { body } = await list(`?${query}${cursor}`);
    all.push(...body.data);
    if (!body.hasMore) return all;
    cursor = `&cursor=${body.nextCursor}`;
  }
  throw new Error('the list does not end');
}

describe('GET /v1/transactions', () => {
  it('gives every row once, newest first, whatever the size of a page', async () => {
    for (const limit of [1, 4, 7, 22, 23, 24]) {
      const all = await walk(`limit=${limit}`);
      expect(all).toHaveLength(rows.length);
      expect(new Set(all.map(({ institutionTransactionId }) => institutionTransactionId))).toEqual(
        new Set(rows.map(({ id }) => id)),
      );
      const dates = all.map(({ date }) => date ?? '');
      expect(dates).toEqual(dates.toSorted().toReversed());
    }
  });

  it('shows the interface’s members under our ids', async () => {
    const { body, headers } = await list('?limit=1');
    expect(headers['content-type']).toContain('application/json');
    const [first] = body.data;
    expect(first).toMatchObject({
      accountId,
      currency: 'GBP',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(first?.description).toContain('"ü"');
  });

  it('filters by time, with both ends, and by status', async () => {
    expect(await walk('from=2026-03-02T00:00:00.000Z&before=2026-03-03T00:00:00.000Z')).toHaveLength(8);
    expect(await walk('status=PENDING')).toHaveLength(2);
    expect((await walk('status=BOOKED&limit=5')).length).toBe(21);
  });

  it('names every faulty parameter', async () => {
    for (const [query, name] of [
      ['limit=0', 'limit'],
      ['limit=501', 'limit'],
      ['limit=x', 'limit'],
      ['from=yesterday', 'from'],
      ['status=ODD', 'status'],
      ['cursor=AAAA', 'cursor'],
      ['before=2026-13-01T00:00:00Z', 'before'],
    ]) {
      const answer = await list(`?${query}`);
      expect({ query, status: answer.status }).toEqual({ query, status: 400 });
      expect(answer.text).toContain(`"parameter":"${name}"`);
    }
  });

  it('is one account’s list below the account', async () => {
    const { body } = await bff.ask<TransactionPage>(`GET /v1/accounts/${accountId}/transactions?limit=500`, {
      as: token,
    });
    expect(body.data).toHaveLength(23);
    expect(body.hasMore).toBe(false);
  });

  it('shows nothing of another customer’s, nor that it exists', async () => {
    const bob = await bff.session(merchant, 'bob');
    const eve = await bff.session(await bff.merchant('Other Shop'), 'ada');
    const cursor = (await list('?limit=1')).body.nextCursor;
    for (const { token: as } of [bob, eve]) {
      expect((await list('', as)).body.data).toEqual([]);
      expect((await list(`?cursor=${cursor}`, as)).body.data).toEqual([]);
      expect((await bff.ask(`GET /v1/accounts/${accountId}/transactions`, { as })).status).toBe(404);
      expect((await bff.ask(`GET /v1/accounts/${accountId}`, { as })).status).toBe(404);
      expect((await bff.ask<TransactionChanges>('GET /v1/transactions/sync', { as })).body).toMatchObject({
        added: [],
        modified: [],
        removed: [],
        hasMore: false,
      });
    }
  });
});

describe('the filters of a list', () => {
  it('choose by amount, with both ends, and by text in any case', async () => {
    expect(await walk('amountMin=5&amountMax=7&limit=2')).toHaveLength(3);
    expect(await walk('amountMin=20.5')).toHaveLength(2);
    expect(await walk('text=ROW%202')).toHaveLength(4);
    expect(await walk('text=%22%C3%BC%22&amountMax=1')).toHaveLength(2);
    expect((await walk('text=invoice%2077%25')).map(({ amount }) => amount)).toEqual([5]);
    for (const none of ['%25%25', '_', '%5C', 'row%25']) expect(await walk(`text=${none}`)).toEqual([]);
  });

  it('choose by a code of the bank or of the merchant, and by doubt', async () => {
    expect((await walk('category=5411')).map(({ amount }) => amount)).toEqual([3]);
    expect((await walk('category=CCRD')).map(({ amount }) => amount)).toEqual([4]);
    expect(await walk('category=541')).toEqual([]);
    expect(await walk('category=%22%7D')).toEqual([]);
    expect(await walk('flagged=true')).toEqual([]);
    expect(await walk('flagged=false')).toHaveLength(rows.length);
  });

  it('hold together with a cursor, which is worth nothing in another list', async () => {
    const { body } = await list('?limit=1&amountMin=5');
    const cursor = body.nextCursor ?? '';
    expect((await list(`?limit=1&amountMin=5&cursor=${cursor}`)).status).toBe(200);
    for (const other of ['', '&amountMin=6', '&amountMin=5&status=BOOKED']) {
      const refused = await list(`?limit=1${other}&cursor=${cursor}`);
      expect(refused.status).toBe(400);
      expect(refused.text).toContain('"parameter":"cursor"');
    }
  });
});

describe('GET /v1/transactions/{transactionId}', () => {
  it('gives the transaction as the list does, to its customer alone', async () => {
    const [first] = (await list('?limit=1')).body.data;
    const path = `GET /v1/transactions/${first?.id}` as const;
    expect((await bff.ask(path, { as: token })).body).toEqual(first);
    const { token: other } = await bff.session(merchant, 'bob');
    expect((await bff.ask(path, { as: other })).status).toBe(404);
  });

  it('has no flag while nothing is in doubt', async () => {
    const [first] = (await list('?limit=1')).body.data;
    expect((await bff.ask(`GET /v1/transactions/${first?.id}/flag`, { as: token })).status).toBe(404);
  });
});

const changes = (query = '') => bff.ask<TransactionChanges>(`GET /v1/transactions/sync${query}`, { as: token });

describe('GET /v1/transactions/sync', () => {
  it('leads whoever follows it to what is stored, also over a change in between', async () => {
    const mine = new Map<string, TransactionView>();
    const follow = async (cursor: string, limit: number): Promise<string> => {
      let next = cursor;
      for (let pages = 0; pages < 100; pages += 1) {
        const { body } = await changes(`?limit=${limit}${next && `&cursor=${next}`}`);
        for (const each of [...body.added, ...body.modified]) mine.set(each.id, each);
        for (const { id } of body.removed) mine.delete(id);
        next = body.nextCursor;
        if (!body.hasMore) return next;
      }
      throw new Error('the feed does not end');
    };
    const cursor = await follow('', 5);
    expect(mine.size).toBe(23);
    bff.aggregator.transactions.set('acc', [
      ...rows.slice(0, 22),
      { ...rows[0], id: 'new', amount: 99, description: 'Something else' },
    ]);
    // After a week everything is read again, however old.
    await later(8 * 86_400_000, () => bff.synchronise(connectionId));
    const { body } = await changes(`?cursor=${cursor}`);
    expect(body).toMatchObject({
      added: [{ institutionTransactionId: 'new' }],
      modified: [],
      removed: [{ accountId }],
      hasMore: false,
    });
    await follow(cursor, 1);
    const all = await walk('limit=500');
    expect([...mine.values()].toSorted((left, right) => left.id.localeCompare(right.id))).toEqual(
      all.toSorted((left, right) => left.id.localeCompare(right.id)),
    );
    expect((await changes(`?cursor=${await follow(cursor, 3)}`)).body).toMatchObject({
      added: [],
      modified: [],
      removed: [],
      hasMore: false,
    });
  });

  it('refuses a cursor that it has not given', async () => {
    for (const cursor of ['x', 'AAAA', (await list('?limit=1')).body.nextCursor ?? '']) {
      const answer = await changes(`?cursor=${cursor}`);
      expect(answer.status).toBe(400);
      expect(answer.text).toContain('"parameter":"cursor"');
    }
  });
});
