import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestBff, type TestMerchant } from '../../../../test/support/bff.js';

interface Connected {
  id: string;
  token: string;
}

/** What may happen to one connection at the same moment, from the worker, its customer and their bank. */
describe.each([1, 2])('everything at once, with %i connections to the same accounts', (connections) => {
  let bff: TestBff;
  let merchant: TestMerchant;
  const all: Connected[] = [];
  let asked = 0;
  const faults: string[] = [];
  const accounts = ['first', 'second', 'third'];

  beforeAll(async () => {
    bff = await TestBff.start();
    merchant = await bff.merchant();
    bff.aggregator.accounts = accounts.map((id, n) => ({
      id,
      currency: 'GBP',
      accountIdentifications: [{ type: 'IBAN', identification: `GB33BUKB2020155555555${n}` }],
    }));
    for (const name of ['ada', 'bob']) {
      const { token } = await bff.session(merchant, name);
      for (let n = 0; n < connections; n += 1) all.push({ id: (await bff.connected(token)).id, token });
    }
    bff.aggregator.onPage = () => {
      asked += 1;
      const at = new Date(Date.UTC(2026, 2, 1) + asked * 60_000).toISOString();
      for (const id of accounts) {
        const rows = bff.aggregator.transactions.get(id) ?? [];
        const row = { id: `${id}-${asked}`, date: at, status: 'BOOKED', amount: -asked, currency: 'GBP' } as const;
        bff.aggregator.transactions.set(id, [...rows.slice(-40), row]);
      }
    };
  });
  afterAll(() => bff.close());

  const ask = async (route: `${string} /${string}`, token: string, body?: object) => {
    const answer = await bff.ask<{ id: string; authorisationUrl?: string; data?: { id: string }[] }>(route, {
      as: token,
      ...(body && { body }),
    });
    if (answer.status >= 500) faults.push(`${route.replaceAll(/[0-9a-f-]{36}/g, 'id')} ${answer.text}`);
    return answer.body;
  };

  const acts: ((one: Connected) => Promise<unknown>)[] = [
    async ({ id, token }) => {
      await ask(`POST /v1/connections/${id}/sync`, token, {});
      await bff.synchronise(id);
    },
    ({ id }) => bff.synchronise(id),
    async ({ id, token }) => {
      const { authorisationUrl } = await ask(`POST /v1/connections/${id}/renewals`, token, {});
      if (authorisationUrl === undefined) return;
      const consent = new URL(authorisationUrl).searchParams.get('consent') ?? '';
      const back = bff.aggregator.approve(consent);
      const answer = await bff.ask(`GET ${back.pathname}${back.search}` as `GET /${string}`);
      if (answer.status >= 500) faults.push(`callback ${answer.text}`);
    },
    ({ id, token }) => ask(`POST /v1/connections/${id}/reconfirmation`, token, {}),
    async ({ token }) => {
      const { data = [] } = await ask('GET /v1/accounts', token);
      if (data[0] && data[1]) await ask(`POST /v1/accounts/${data[0].id}/join`, token, { accountId: data[1].id });
    },
    async (one) => {
      await ask(`DELETE /v1/connections/${one.id}`, one.token);
      one.id = (await bff.connected(one.token)).id;
    },
  ];
  /** How often each: by its place among the acts. */
  const turns = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 4, 5];

  it('waits in turn: nothing that a customer asks for ends in a 5xx, and nothing at all in a deadlock', async () => {
    const until = performance.now() + 5_000;
    let n = 0;
    const worker = async (own: number): Promise<void> => {
      while (performance.now() < until) {
        n += 1;
        const which = turns[(n * 7 + own * 5) % turns.length] ?? 0;
        const one = all[(n * 3 + own) % all.length];
        try {
          if (one) await acts[which]?.(one);
        } catch (error) {
          faults.push(`${which} ${String(error)}`);
        }
      }
    };
    await Promise.all(Array.from({ length: 6 }, (_, own) => worker(own)));
    // Postgres tells its figures a second late.
    await pause(1_100);
    const text = 'select deadlocks::int as n from pg_stat_database where datname = current_database()';
    const { rows } = await bff.db.pool.query<{ n: number }>(text);
    expect([...new Set(faults)]).toEqual([]);
    expect(rows[0]?.n).toBe(0);
    expect(asked).toBeGreaterThan(5);
    // Nothing is left under way: neither of what has ended, nor where another connection has the accounts.
    const open = `select c.id, c.status = 'active' as "isActive" from sync_runs r join connections c on c.id = r.connection_id
      where r.status = 'running'`;
    const under = (await bff.db.pool.query<{ id: string; isActive: boolean }>(open)).rows;
    expect(under.filter(({ isActive }) => !isActive)).toEqual([]);
    for (const { id } of under) await bff.synchronise(id);
    expect((await bff.db.pool.query(open)).rows).toEqual([]);
  }, 60_000);
});
