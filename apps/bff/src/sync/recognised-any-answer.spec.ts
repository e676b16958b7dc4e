import * as fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Problem, type Transaction } from '#libs/contract';
import type { BffPrisma } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { TransactionCorrections } from '../transactions/transaction-corrections.service.js';
import { RecognisedRows } from './recognised-rows.js';
import { newAccount, record, type RecordedAccount } from './recorded-account.fixture.js';
import { logOf, projected, tableOf } from './replayed-log.fixture.js';
import { StagedAnswer } from './staged-answer.js';

let db: FreshDatabase<BffPrisma>;
let corrections: TransactionCorrections;

beforeAll(async () => {
  db = await freshDatabase('bff');
  corrections = new TransactionCorrections(db.pool);
});
afterAll(() => db.close());

/** Few days and texts, so that twins, changes and disappearances are common. */
const bankRow = fc
  .record({
    id: fc.option(fc.constantFrom('AB-1', 'AB-2'), { nil: undefined, freq: 2 }),
    day: fc.integer({ min: 1, max: 3 }),
    description: fc.constantFrom('Coffee bar London', 'Rent'),
    status: fc.constantFrom('BOOKED', 'BOOKED', 'BOOKED', 'PENDING'),
  })
  .map(({ id, day, description, status }): Transaction => {
    const date = `2026-01-0${day}T00:00:00.000Z`;
    const said = { date, bookingDateTime: date, status, amount: -3.5, currency: 'GBP', description } as const;
    return id === undefined ? said : { id, ...said };
  });
const correction = fc.record({ kind: fc.constantFrom('join', 'split', 'dismiss'), at: fc.nat(3) });
const step = fc.record({
  /** Undefined where the bank answers as it did before. */
  answer: fc.option(fc.array(bankRow, { minLength: 1, maxLength: 8 }), { nil: undefined, freq: 2 }),
  pageSize: fc.integer({ min: 1, max: 3 }),
  correction: fc.option(correction, { nil: undefined, freq: 2 }),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Everything but ids and numbers, in an order of its own. */
async function state({ accountId }: RecordedAccount): Promise<{ id: string; isLive: boolean; rest: string }[]> {
  const { rows } = await db.pool.query<{ id: string; isLive: boolean; rest: string }>(
    `select id, removed_at is null as "isLive", concat_ws(' ', fingerprint, status, flag::json ->> 'reason', removed_at is null, joined_into is null,
       dismissed, cardinality(apart_from)) as rest from transactions where account_id = $1 order by rest, id`,
    [accountId],
  );
  return rows;
}

/** A person's correction, which may be refused. */
async function correct(of: RecordedAccount, { kind, at }: NonNullable<Step['correction']>): Promise<void> {
  const known = (await state(of)).filter(({ isLive }) => isLive);
  const [one, other] = [known[at], known[at + 1]];
  if (!one || (kind === 'join' && !other)) return;
  const work =
    kind === 'join'
      ? corrections.join(of, one.id, other?.id ?? '')
      : kind === 'split'
        ? corrections.split(of, one.id)
        : corrections.dismiss(of, one.id);
  await work.catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error;
  });
}

/** Every answer is read page by page, corrected in between perhaps, and recorded. */
async function play(of: RecordedAccount, steps: Step[]): Promise<unknown> {
  const outcomes: unknown[] = [];
  let rows: Transaction[] = [];
  for (const each of steps) {
    const reading = await StagedAnswer.open(db.pool, of);
    rows = each.answer ?? rows;
    for (let at = 0; at < rows.length; at += each.pageSize) await reading.add(rows.slice(at, at + each.pageSize));
    if (each.correction) await correct(of, each.correction);
    const { proof: _proof, lateness: _lateness, ...counts } = await record(db.pool, of, reading);
    outcomes.push(counts);
    expect(await tableOf(db.pool, of)).toEqual(projected(await logOf(db.pool, of)));
  }
  return { outcomes, state: (await state(of)).map(({ rest }) => rest) };
}

it('recognising rows changes nothing of what is recorded, whatever banks and persons do', async () => {
  const owner = new pg.Client({ connectionString: db.url });
  await owner.connect();
  // Which of several equal transactions is meant goes by their ids: here they rise in the order in which rows come.
  await owner.query(
    `create sequence bff.rising; grant usage on sequence bff.rising to public;
     alter table bff.staged_rows alter new_id set default lpad(to_hex(nextval('bff.rising')), 32, '0')::uuid`,
  );
  await owner.end();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 6 }), async (steps) => {
      const recognising = await play(await newAccount(db.pool), steps);
      const begin = vi.spyOn(RecognisedRows, 'begin');
      begin.mockImplementation((_client, accountId) => Promise.resolve(RecognisedRows.none(accountId)));
      const comparing = await play(await newAccount(db.pool), steps).finally(() => begin.mockRestore());
      expect(recognising).toEqual(comparing);
    }),
    { numRuns: 25 },
  );
}, 120_000);
