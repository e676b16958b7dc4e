import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resetClock } from '#libs/server';
import { logOf, projected, tableOf } from '../../apps/bff/src/sync/replayed-log.fixture.js';
import { type TestConnection, WholePath } from '../support/whole-path.js';

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

  const ask = async <Body>({ customerId }: TestConnection, route: `${string} /${string}`, body?: object) => {
    const headers = { 'psu-ip-address': '192.0.2.7' };
    const answer = await path.ask<Body>(customerId, route, { headers, body });
    expect(answer.status).toBeLessThan(300);
    return answer.body;
  };
  const accounts = async (connection: TestConnection): Promise<string[]> =>
    (await ask<{ data: { id: string }[] }>(connection, 'GET /v1/accounts')).data.map(({ id }) => id);
  const rowsOf = async (connection: TestConnection): Promise<Row[]> => {
    const route = 'GET /v1/transactions?limit=500';
    const { data, hasMore } = await ask<{ data: Row[]; hasMore: boolean }>(connection, route);
    expect(hasMore).toBe(false);
    return data;
  };
  const follow = async (connection: TestConnection, { cursor, rows }: Copy): Promise<Copy> => {
    const copy = { cursor, rows: new Map(rows) };
    for (let hasMore = true; hasMore;) {
      const query = copy.cursor === '' ? '' : `?cursor=${encodeURIComponent(copy.cursor)}`;
      const page = await ask<Changes>(connection, `GET /v1/transactions/sync${query}`);
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
  const renew = async (bank: string, connection: TestConnection, fault: string): Promise<void> => {
    await path.pass(20);
    await path.flows.sandbox.fault({ bank, fault });
    const route = `POST /v1/connections/${connection.id}/renewals` as const;
    const renewal = await ask<{ id: string; authorisationUrl: string }>(connection, route, {});
    await path.authorise(bank, renewal);
    await path.bff.synchronise(connection.id);
  };
  const told = async (connection: TestConnection) => {
    const types = ['linked', 'renumbered', 'unresolved', 'joined'].map((type) => `account.${type}`);
    return (await path.told(connection, ...types)).map(({ type, data }): Record<string, string> => ({ type, ...data }));
  };
  /** Whatever was booked is there under its id, newer rows besides, and none twice; log and feed say the same. */
  const expectOneHistory = async (connection: TestConnection, ids: string[], before: Copy): Promise<void> => {
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
    expect(await tableOf(pool, connection)).toEqual(projected(await logOf(pool, connection)));
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
      path.ask<{ id: string }>(connection.customerId, `POST /v1/accounts/${id}/join`, { body: { accountId } });
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
    expect(await path.told(connection, 'account.balance-mismatch')).toEqual([]);
  });
});
