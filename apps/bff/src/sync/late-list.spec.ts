import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '#libs/database';
import { TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { openRun } from './sync-run.js';
import { SyncService } from './sync.service.js';

describe('a list of accounts that comes late', () => {
  let bff: TestBff;
  let merchant: TestMerchant;
  let token: string;
  let customers = 0;

  beforeAll(async () => {
    bff = await TestBff.start();
    merchant = await bff.merchant();
  });
  afterAll(() => bff.close());
  beforeEach(async () => {
    customers += 1;
    ({ token } = await bff.session(merchant, `customer-${customers}`));
    bff.aggregator.accounts = [{ id: 'old', currency: 'GBP' }];
    bff.aggregator.transactions = new Map();
  });

  /** What happens, once, while the next list is under way. */
  const meanwhile = (work: () => Promise<void>): void => {
    bff.aggregator.onAccounts = async () => {
      bff.aggregator.onAccounts = () => {};
      await work();
    };
  };

  const accountsOf = async (id: string): Promise<unknown[]> => {
    const text = `select a.aggregator_account_id as name, s.due_at is not null as "isDue"
      from accounts a left join account_schedules s on s.account_id = a.id where a.connection_id = $1`;
    return (await bff.db.pool.query(text, [id])).rows;
  };

  const isListDue = async (id: string): Promise<boolean> => {
    const text = 'select next_sync_at <= now() as due from connections where id = $1';
    return (await bff.db.pool.query<{ due: boolean }>(text, [id])).rows[0]?.due ?? false;
  };

  it('after its consent was renewed changes nothing: the new one is asked at once', async () => {
    const { id } = await bff.connected(token);
    meanwhile(async () => {
      bff.aggregator.accounts = [{ id: 'new', currency: 'GBP' }];
      const { body } = await bff.ask<{ authorisationUrl: string }>(`POST /v1/connections/${id}/renewals`, {
        as: token,
        body: {},
      });
      const back = bff.aggregator.approve(new URL(body.authorisationUrl).searchParams.get('consent') ?? '');
      await bff.ask(`GET ${back.pathname}${back.search}` as `GET /${string}`);
    });
    await bff.synchronise(id);
    expect(await accountsOf(id)).toEqual([]);
    expect(await isListDue(id)).toBe(true);
    await bff.synchronise(id);
    expect(await accountsOf(id)).toEqual([{ name: 'new', isDue: true }]);
  });

  it('after its connection was ended puts nothing on the schedule', async () => {
    const { id } = await bff.connected(token);
    meanwhile(async () => void (await bff.ask(`DELETE /v1/connections/${id}`, { as: token })));
    await bff.synchronise(id);
    expect(await accountsOf(id)).toEqual([]);
    expect(await isListDue(id)).toBe(false);
  });

  it('opens no run of a connection that was ended since it was looked at', async () => {
    const { id } = await bff.connected(token);
    await bff.synchronise(id);
    await bff.ask(`DELETE /v1/connections/${id}`, { as: token });
    expect(await transaction(bff.db.pool, (tx) => openRun(tx, id))).toBeUndefined();
  });

  it('ends the run of an earlier connection that has lost all of its accounts to it', async () => {
    const former = await bff.connected(token);
    await bff.get(SyncService).run(former.id);
    bff.aggregator.terms = { authorizedAt: '2026-02-01T00:00:00.000Z' };
    await bff.get(SyncService).run((await bff.connected(token)).id);
    const text = 'select status, problem, accounts from sync_runs where connection_id = $1';
    const { rows } = await bff.db.pool.query(text, [former.id]);
    expect(rows).toEqual([{ status: 'completed', problem: null, accounts: 0 }]);
  });
});
