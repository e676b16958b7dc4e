import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { now, resetClock } from '#libs/server';
import { type TestConnection, WholePath } from '../support/whole-path.js';

const provable = ['meridian', 'tamar', 'thistle', 'lindenhof', 'marais'];
/** Fjordbank tells no balances and Ticino no transactions: nothing can be proven there, and nothing may be reported. */
const silent = ['fjordbank', 'ticino'];
/** Isarkasse is not among them: its embedded way leads to no connection of a merchant yet. */
const banks = [...provable, ...silent];

/** A little more than a day, so that a month of steps meets every hour. */
const stepDays = 25 / 24;

interface Connection extends TestConnection {
  bank: string;
  persona: string;
}

/** Opening + rows = closing, at the sandbox's banks over a month, and what is told when a bank slips. */
describe('balances and rows', { timeout: 60_000 }, () => {
  let path: WholePath;
  beforeAll(async () => {
    path = await WholePath.start();
    await path.flows.sandbox.control('seed', { seed: 'balances', transactions: 300, months: 2 });
  });
  afterAll(async () => {
    resetClock();
    await path?.close();
  });

  const connected = async (bank: string, persona: string): Promise<Connection> => {
    const connection = await path.connect(bank, { persona });
    await path.bff.synchronise(connection.id);
    return { bank, persona, ...connection };
  };
  const syncAfter = async (days: number, { id }: Connection) => {
    await path.pass(days);
    await path.bff.synchronise(id);
  };
  const reports = (connection: Connection) =>
    path.told(connection, 'account.balance-mismatch', 'account.balance-agreed');
  const proofs = async ({ customerId }: Connection): Promise<number> => {
    const { body } = await path.ask<{ data: { balanceProof?: object }[] }>(customerId, 'GET /v1/accounts');
    return body.data.filter(({ balanceProof }) => balanceProof !== undefined).length;
  };

  interface Slip {
    kind: 'lose' | 'double';
    days?: number;
    /** Whether the row is to be one that was pending at the last synchronisation. */
    wasPending?: boolean;
  }
  /** Days pass until the bank has booked something since, in which it slips, and a synchronisation. Answers the row's amount. */
  const slip = async (connection: Connection, { kind, days = 1, wasPending = false }: Slip) => {
    const { banks: all } = await path.flows.sandbox.state();
    const people = all.find(({ id }) => id === connection.bank)?.personas;
    const account = people?.find(({ id }) => id === connection.persona)?.accounts[0]?.id;
    for (let tries = 0; tries < 7; tries += 1) {
      // The banks' clock goes on while ours stands.
      const since = new Date(now().getTime() + 60_000).toISOString();
      const asked = { account, kind, since, ...(wasPending && { madeBy: now().toISOString() }) };
      await path.pass(days);
      const row = await path.flows.sandbox.control<{ amountMinor: number }>('slip', asked).catch(() => undefined);
      await path.bff.synchronise(connection.id);
      if (row) return row.amountMinor / 100;
    }
    throw new Error('Nothing was booked for days');
  };
  /** The one report: how much the balance has moved beyond the rows, and the candidates' own amounts. */
  const reported = async (connection: Connection) => {
    await syncAfter(stepDays, connection);
    const told = await reports(connection);
    expect(told.map(({ type }) => type)).toEqual(['account.balance-mismatch']);
    const { amount = '', candidates = '' } = told[0]?.data ?? {};
    const { rows } = await path.bff.db.pool.query<{ amount: string }>(
      'select amount from transactions where id::text = any($1)',
      [candidates.split(' ')],
    );
    return { amount: Number(amount), candidates: rows.map((row) => Number(row.amount)) };
  };
  const only = (amount: number, atLeast: number) =>
    expect.toSatisfy((amounts: number[]) => amounts.length >= atLeast && amounts.every((each) => each === amount));

  it.each(banks)('agree for a month at %s', async (bank) => {
    const connection = await connected(bank, 'chloe');
    // One of them day by day.
    const every = bank === 'marais' ? 1 : 6;
    for (let day = 0; day < 30; day += every) await syncAfter(every * stepDays, connection);
    expect((await proofs(connection)) > 0).toBe(provable.includes(bank));
    expect(await reports(connection)).toEqual([]);
  });

  it.each(provable)('differ by the one row that is lost at %s, with what it was while pending', async (bank) => {
    const connection = await connected(bank, 'ada');
    const amount = await slip(connection, { kind: 'lose', wasPending: true });
    expect(await reported(connection)).toEqual({ amount, candidates: only(amount, 1) });
  });

  it.each(provable)('differ by the one row that is doubled at %s, with both', async (bank) => {
    const connection = await connected(bank, 'ben');
    const amount = await slip(connection, { kind: 'double' });
    expect(await reported(connection)).toEqual({ amount: -amount, candidates: only(amount, 2) });
  });

  it('differ by a row that was lost before anybody saw it, of which there may be nothing but the amount (tamar)', async () => {
    const connection = await connected('tamar', 'chloe');
    const amount = await slip(connection, { kind: 'lose', days: 4 });
    expect(await reported(connection)).toEqual({ amount, candidates: only(amount, 0) });
  });
});
