import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from '#libs/contract';
import { now } from '#libs/server';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A booked row so many days old. */
function row(days: number): Transaction {
  const at = new Date(now().getTime() - days * dayMs + hourMs).toISOString();
  return { id: `r${days}`, date: at, bookingDateTime: at, status: 'BOOKED', amount: -days - 1, currency: 'GBP' };
}

const refused = { status: 424, body: { error: { institutionError: { httpStatusCode: 400 } } } };

describe('the depth of an institution’s history', () => {
  let bff: TestBff;
  let merchant: TestMerchant;
  let token: string;
  let customers = 0;

  beforeAll(async () => {
    bff = await TestBff.start();
    merchant = await bff.merchant();
    bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
  });
  afterAll(() => bff.close());
  beforeEach(async () => {
    bff.aggregator.transactions = new Map([['acc', [row(0), row(40), row(100), row(400), row(700)]]]);
    bff.aggregator.onTransactions = () => undefined;
    await bff.db.pool.query('delete from institution_reaches');
    await nextCustomer();
  });

  const nextCustomer = async (): Promise<void> => {
    customers += 1;
    ({ token } = await bff.session(merchant, `customer-${customers}`));
    bff.aggregator.calls.length = 0;
  };
  /** A connection whose customer has authorised this very moment, and is there. */
  const connected = async (address = '198.51.100.7'): Promise<string> => {
    const { id } = await bff.connected(token, 'bank', address);
    await bff.db.pool.query('update connections set authorised_at = $2 where id = $1', [id, now()]);
    return id;
  };
  /** The days back that were asked for, null for everything. */
  const asked = (): (number | null)[] =>
    bff.aggregator.callsOf('GET /accounts/:id/transactions').map(({ query }) => {
      const from = query.get('from');
      return from === null ? null : Math.round((now().getTime() - Date.parse(from)) / dayMs);
    });
  const rows = async (id: string): Promise<string[]> => {
    const text = `select t.bank_id from transactions t join accounts a on a.id = t.account_id
      where a.connection_id = $1 and t.removed_at is null order by t.date desc`;
    return (await bff.db.pool.query<{ bank_id: string }>(text, [id])).rows.map(({ bank_id: bankId }) => bankId);
  };
  const learnt = async (): Promise<unknown> =>
    (
      await bff.db.pool.query(
        'select fresh_days, fresh_refused_days, later_days, later_refused_days from institution_reaches',
      )
    ).rows[0];
  /** Refuses whatever begins more than so many days ago. */
  const limitAge = (days: number) => {
    bff.aggregator.onTransactions = (query) => {
      const from = Date.parse(query.get('from') ?? '');
      return Number.isNaN(from) || now().getTime() - from > (days + 0.5) * dayMs ? refused : undefined;
    };
  };

  it('is what it gives where it refuses more twice, and is learnt for the next customer', async () => {
    limitAge(90);
    const id = await connected();
    await bff.synchronise(id);
    expect(asked()).toEqual([null, 365, 90, 365, 180, 180]);
    expect(await rows(id)).toEqual(['r0', 'r40']);
    await nextCustomer();
    const next = await connected();
    await bff.synchronise(next);
    expect(asked()).toEqual([90]);
    expect(await rows(next)).toEqual(['r0', 'r40']);
  });

  it('is put together of parts where it limits a period and not its age, for the next customer, too', async () => {
    bff.aggregator.onTransactions = (query) => {
      const from = Date.parse(query.get('from') ?? '');
      const before = Date.parse(query.get('before') ?? now().toISOString());
      return Number.isNaN(from) || before - from > 366 * dayMs ? refused : undefined;
    };
    for (const expected of [
      [null, 365, null, 730, 1_095],
      [365, 730, 1_095],
    ]) {
      const id = await connected();
      await bff.synchronise(id);
      expect(asked()).toEqual(expected);
      expect(await rows(id)).toEqual(['r0', 'r40', 'r100', 'r400', 'r700']);
      await nextCustomer();
    }
  });

  it('is not learnt from faults that pass: what was refused is asked for again, and all is there', async () => {
    let faults = 2;
    bff.aggregator.onTransactions = () => {
      faults -= 1;
      return faults >= 0 ? refused : undefined;
    };
    const id = await connected();
    await bff.synchronise(id);
    expect(asked()).toEqual([null, 365, 90, 365, null]);
    expect(await rows(id)).toEqual(['r0', 'r40', 'r100', 'r400', 'r700']);
    expect(await learnt()).toBeUndefined();
    const { rows: staged } = await bff.db.pool.query('select 1 from staged_rows');
    expect(staged).toEqual([]);
  });

  it('is no shorter where the first older part met a fault that passes', async () => {
    let isFault = true;
    bff.aggregator.onTransactions = (query) => {
      const from = Date.parse(query.get('from') ?? '');
      const before = Date.parse(query.get('before') ?? now().toISOString());
      if (Number.isNaN(from) || before - from > 366 * dayMs) return refused;
      if (!query.has('before') || !isFault) return undefined;
      isFault = false;
      return refused;
    };
    const id = await connected();
    await bff.synchronise(id);
    expect(asked()).toEqual([null, 365, null, 730, 730, 1_095]);
    expect(await rows(id)).toEqual(['r0', 'r40', 'r100', 'r400', 'r700']);
  });

  it('is not what breaks off at a later page: that is a fault, and read again', async () => {
    bff.aggregator.transactions.set(
      'acc',
      Array.from({ length: 1_001 }, (_, index) => ({ ...row(index % 300), id: `r${index}` })),
    );
    bff.aggregator.onTransactions = (query) => (Number(query.get('offset') ?? 0) > 0 ? refused : undefined);
    const id = await connected();
    await bff.synchronise(id);
    expect(asked()).toEqual([null, null]);
    expect([await rows(id), await learnt()]).toEqual([[], undefined]);
  });

  it('is not learnt where no call is left to ask again', async () => {
    limitAge(30);
    const id = await connected('unknown');
    await bff.synchronise(id);
    expect(asked()).toEqual([null, 365, 90, 30]);
    expect(await rows(id)).toEqual(['r0']);
    expect(await learnt()).toBeUndefined();
  });

  it('does not keep what is new from being read: an audit that is refused is left for a week', async () => {
    const id = await connected();
    await bff.synchronise(id);
    let calls = 0;
    bff.aggregator.onTransactions = (query) => {
      calls += 1;
      if (calls > 1) return { status: 429, body: {}, headers: { 'retry-after': '60' } };
      return query.get('from') === null ? refused : undefined;
    };
    bff.aggregator.calls.length = 0;
    await later(8 * dayMs, () => bff.synchronise(id));
    bff.aggregator.onTransactions = () => undefined;
    await later(9 * dayMs, () => bff.synchronise(id));
    await later(15 * dayMs, () => bff.synchronise(id));
    const [audit, , next, last] = asked();
    expect([audit, last]).toEqual([null, null]);
    expect(next).toBeGreaterThan(0);
  });
});
