import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resetClock } from '#libs/server';
import { logOf, projected, tableOf } from '../../apps/bff/src/sync/replayed-log.fixture.js';
import { WholePath } from '../support/whole-path.js';

interface Connection {
  id: string;
  token: string;
}

interface Row {
  id: string;
  accountId: string;
  status: string;
  institutionTransactionId?: string;
}

interface Changes {
  added: Row[];
  modified: Row[];
  removed: Pick<Row, 'id'>[];
  nextCursor: string;
  hasMore: boolean;
}

/** A merchant's copy of a customer's transactions, kept by the change feed alone. */
interface Copy {
  cursor: string;
  rows: Map<string, Row>;
}

/** Banks that call accounts otherwise when a consent is given anew, and merchants that see one account with one history. */
describe('an account over a renewed consent', { timeout: 60_000 }, () => {
  let path: WholePath;
  beforeAll(async () => {
    path = await WholePath.start();
    await path.flows.sandbox.control('seed', { seed: 'identity', transactions: 100, months: 2 });
  });
  afterAll(async () => {
    resetClock();
    await path?.close();
  });

  const ask = async <Body>(route: `${string} /${string}`, as: string, body?: object): Promise<Body> => {
    const headers = { 'psu-ip-address': '192.0.2.7' };
    const answer = await path.bff.ask<Body>(route, { as, headers, ...(body && { body }) });
    expect(answer.status).toBeLessThan(300);
    return answer.body;
  };
  const accounts = async ({ token }: Connection): Promise<string[]> =>
    (await ask<{ data: { id: string }[] }>('GET /v1/accounts', token)).data.map(({ id }) => id);
  const rowsOf = async ({ token }: Connection): Promise<Row[]> => {
    const { data, hasMore } = await ask<{ data: Row[]; hasMore: boolean }>('GET /v1/transactions?limit=500', token);
    expect(hasMore).toBe(false);
    return data;
  };
  const follow = async ({ token }: Connection, { cursor, rows }: Copy): Promise<Copy> => {
    const copy = { cursor, rows: new Map(rows) };
    for (let hasMore = true; hasMore;) {
      const query = copy.cursor === '' ? '' : `?cursor=${encodeURIComponent(copy.cursor)}`;
      const page = await ask<Changes>(`GET /v1/transactions/sync${query}`, token);
      for (const row of [...page.added, ...page.modified]) copy.rows.set(row.id, row);
      for (const { id } of page.removed) copy.rows.delete(id);
      [copy.cursor, hasMore] = [page.nextCursor, page.hasMore];
    }
    return copy;
  };
  /** A connection that has been read, and what it showed. */
  const connected = async (bank: string) => {
    const connection = await path.connect(bank);
    await path.bff.synchronise(connection.id);
    const before = await follow(connection, { cursor: '', rows: new Map() });
    return { connection, ids: await accounts(connection), before };
  };
  /** Days later the customer gives a new consent, in whose making the bank's fault is on, and everything is read. */
  const renew = async (bank: string, { id, token }: Connection, fault: string): Promise<void> => {
    await path.pass(20);
    await path.flows.sandbox.fault({ bank, fault });
    const renewal = await ask<{ id: string; authorisationUrl: string }>(
      `POST /v1/connections/${id}/renewals`,
      token,
      {},
    );
    await path.authorise(bank, renewal);
    await path.bff.synchronise(id);
  };
  const told = async ({ token }: Connection) => {
    const types = ['linked', 'renumbered', 'unresolved', 'joined'].map((type) => `account.${type}`);
    return (await path.told(token, ...types)).map(({ type, data }): Record<string, string> => ({ type, ...data }));
  };
  /** Whatever was booked is there under its id, newer rows besides, and none twice; log and feed say the same. */
  const expectOneHistory = async (connection: Connection, ids: string[], before: Copy): Promise<void> => {
    expect(await accounts(connection)).toEqual(ids);
    const after = await rowsOf(connection);
    const booked = (rows: Iterable<Row>) => [...rows].filter(({ status }) => status === 'BOOKED');
    expect(booked(after).length).toBeGreaterThan(booked(before.rows.values()).length);
    const known = new Map(after.map((row) => [row.id, row]));
    for (const { id, accountId } of booked(before.rows.values())) expect(known.get(id)?.accountId).toBe(accountId);
    expect((await follow(connection, before)).rows).toEqual(known);
    const named = after.flatMap(({ institutionTransactionId }) => institutionTransactionId ?? []);
    expect(named.length).toBe(new Set(named).size);
    expect(ids).toEqual(expect.arrayContaining(after.map(({ accountId }) => accountId)));
    const { pool } = path.bff.db;
    const [customer] = (
      await pool.query<{ customer_id: string }>('select customer_id from connections where id = $1', [connection.id])
    ).rows;
    const whose = { customerId: customer?.customer_id ?? '' };
    expect(await tableOf(pool, whose)).toEqual(projected(await logOf(pool, whose)));
  };

  it.each([
    ['lindenhof', 'new-account-ids', 'new-id'],
    ['marais', 'new-account-ids', 'new-id'],
    ['marais', 'more-account-numbers', 'new-identifier'],
  ])('is known by its numbers (%s, %s)', async (bank, fault, reason) => {
    const { connection, ids, before } = await connected(bank);
    await renew(bank, connection, fault);
    await expectOneHistory(connection, ids, before);
    const linked = ids.map((accountId) => ({ type: 'account.linked', accountId, reason }));
    const events = await told(connection);
    expect(events).toHaveLength(linked.length);
    expect(events).toEqual(expect.arrayContaining(linked));
  });

  it('is known by its transactions where all its numbers are new, and joined by a person where they are too few', async () => {
    const { connection, ids, before } = await connected('marais');
    await renew('marais', connection, 'new-account-numbers');
    const events = await told(connection);
    const proven = events.find(({ type }) => type === 'account.joined');
    const left = (await accounts(connection)).find((id) => !ids.includes(id));
    expect(proven).toMatchObject({ by: 'transactions', accountId: expect.toSatisfy((id) => ids.includes(id)) });
    const own = ids.find((id) => id !== proven?.['accountId']);
    expect(events).toContainEqual({ type: 'account.unresolved', accountId: left, candidates: own });

    const join = (id = '', accountId = '') =>
      path.bff.ask<{ id: string }>(`POST /v1/accounts/${id}/join`, { as: connection.token, body: { accountId } });
    expect((await join(proven?.['accountId'], left)).status).toBe(409);
    expect(await join(own, left)).toMatchObject({ status: 200, body: { id: own } });
    expect(await told(connection)).toContainEqual({
      type: 'account.joined',
      accountId: own,
      joinedAccountId: left,
      by: 'person',
    });
    await expectOneHistory(connection, ids, before);
    expect((await join(own, left)).status).toBe(400);
    expect((await join(left, own)).status).toBe(404);

    const soFar = (await told(connection)).length;
    await path.pass(2);
    await path.bff.synchronise(connection.id);
    await expectOneHistory(connection, ids, before);
    expect(await told(connection)).toHaveLength(soFar);
    expect(await path.told(connection.token, 'account.balance-mismatch')).toEqual([]);
  });
});
