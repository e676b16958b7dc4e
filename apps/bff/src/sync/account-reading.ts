import type { Pool } from 'pg';
import { type AggregatorClient, ClientError } from '#libs/client';
import type { Balances, PsuHeaders } from '#libs/contract';
import { type Lease, renewLease } from '#libs/database';
import { now } from '#libs/server';
import { isUnsupported } from '../aggregator/refusal.js';
import { keepInHand, leaveAudit } from './account-schedule.js';
import { SyncScope } from './call-budget.js';
import { enterCall, NotDueYet, strikeCall, type Subject } from './call-ledger.js';
import type { Window } from './coverage.js';
import { fetchTransactions } from './fetch-transactions.js';
import { learnDepth, learnRefusal, readReach } from './institution-reach.js';
import { depths, fromOf, planReading, type Reading, type Standing, wholeDays } from './reading-window.js';
import { StagedAnswer } from './staged-answer.js';
import { faultOf, mayBeTooLong } from './sync-fault.js';
import { countRun, type OpenRun } from './sync-run.js';

/** Longer than any one call to the aggregator; renewed with every answer, so a crashed worker is replaced soon. */
export const leaseMs = 45_000;

/** What one account's reading works with. */
export interface AccountWork {
  pool: Pool;
  client: AggregatorClient;
  /** The consent token. */
  token: string;
  subject: Subject;
  aggregatorAccountId: string;
  standing: Omit<Standing, 'overlapDays' | 'attended'>;
  lease: Lease;
  run: OpenRun;
  psu: PsuHeaders | undefined;
  signal: AbortSignal | undefined;
}

/** In place of what the institution does not offer at all, which is no fault. */
export const notOffered = Symbol('not offered');

/** A complete answer, put aside, and what it was asked for. */
export interface StagedReading {
  staged: StagedAnswer;
  window: Window;
  reading: Reading;
}

/** What one reading of an account found. */
export interface AccountReading {
  balances: Balances | NotDueYet | typeof notOffered;
  /** When they were asked for. */
  balancesAt: Date;
  transactions: StagedReading | typeof notOffered;
}

const dayMs = 24 * 3_600_000;
/** Older parts that are asked for one by one where an institution gives only so many days at a time. */
const chunksMax = 8;

/** Stops where the job was given up, and stays in hand where it was not. */
async function goOn({ pool, lease, subject, signal }: AccountWork): Promise<void> {
  signal?.throwIfAborted();
  await renewLease(pool, lease, leaseMs);
  await keepInHand(pool, subject.id);
}

/** Makes a call that counts, unless the customer is present. One that did not reach the institution is struck out again. */
async function spend<T>(work: AccountWork, scope: SyncScope, call: () => Promise<T>): Promise<T> {
  await goOn(work);
  if (work.run.attended) return call();
  const entered = await enterCall(work.pool, work.subject, scope);
  try {
    return await call();
  } catch (error) {
    if (error instanceof ClientError && (faultOf(error).isUncounted || isUnsupported(error)))
      await strikeCall(work.pool, work.subject, scope, entered);
    throw error;
  }
}

/** What was read, or that the institution does not offer it. */
async function orNotOffered<T>(reading: Promise<T>): Promise<T | typeof notOffered> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ClientError && isUnsupported(error)) return notOffered;
    throw error;
  }
}

/** Everything that is told of the account: the balances first, so that no balance is newer than the rows. */
export async function readAccount(work: AccountWork): Promise<AccountReading> {
  const balancesAt = now();
  const balances = await orNotOffered(readBalances(work));
  return { balances, balancesAt, transactions: await orNotOffered(readTransactions(work)) };
}

/** The balances, or that the calls for them are spent. Any other failure is thrown: a balance is never made up. */
async function readBalances(work: AccountWork): Promise<Balances | NotDueYet> {
  const { client, token, aggregatorAccountId, psu } = work;
  try {
    return await spend(work, SyncScope.balances, async () => {
      return (await client.getAccountBalances(token, aggregatorAccountId, psu)).data;
    });
  } catch (error) {
    if (error instanceof NotDueYet) return error;
    throw error;
  }
}

/**
 * Reads transactions as far back as planned, page by page into the database. Where the institution refuses the depth, less
 * is asked for until it is given, and the institution's true depth is learnt. Nothing is left of a reading that fails.
 */
async function readTransactions(work: AccountWork): Promise<StagedReading> {
  const at = now();
  const { pool, subject, standing, run } = work;
  const { overlapDays } = await readReach(pool, subject.institutionId, 'later');
  const reading = planReading({ ...standing, overlapDays, attended: run.attended }, at);
  const staged = await StagedAnswer.open(pool, { accountId: subject.id });
  try {
    return { ...(await descend(work, staged, { reading, overlapDays, at })), reading };
  } catch (error) {
    await staged.discard();
    throw error;
  }
}

/** What an institution gave, and from when on. */
interface Given {
  staged: StagedAnswer;
  window: Window;
}

interface Descent {
  reading: Reading;
  overlapDays: number | null;
  at: Date;
}

/** The depths to try, in days back from now; null is everything. */
async function candidates(work: AccountWork, { reading, overlapDays, at }: Descent): Promise<(number | null)[]> {
  const { pool, subject, standing } = work;
  const recent = planReading({ ...standing, auditedAt: at, authorisedAt: null, overlapDays, attended: true }, at);
  const recentDays = recent.kind === 'recent' ? (at.getTime() - recent.from.getTime()) / dayMs : null;
  const stage = reading.kind === 'whole' ? reading.stage : 'later';
  const known = depths(await readReach(pool, subject.institutionId, stage));
  if (recentDays === null) return known;
  const shorter = known.filter((days): days is number => days !== null && days < recentDays);
  // What fills the gap is a must; an audit that is refused must not use up the calls for it.
  return reading.kind === 'recent' ? [recentDays, ...shorter] : [...known.slice(0, 1), recentDays, ...shorter];
}

async function descend(work: AccountWork, staged: StagedAnswer, descent: Descent): Promise<Given> {
  const tries = await candidates(work, descent);
  for (const [index, days] of tries.entries()) {
    try {
      await walk(work, staged, { from: fromOf(days, descent.at), before: null });
    } catch (error) {
      if (!isTooLong(error, staged) || index === tries.length - 1) throw error;
      // An audit that is refused must not use up the calls for what is new.
      const isAudit = descent.reading.kind === 'whole' && descent.reading.stage === 'later';
      if (isAudit && work.standing.readAt !== null) await leaveAudit(work.pool, work.subject.id);
      await staged.discard();
      continue;
    }
    return climb(work, { staged, days }, { ...descent, refused: tries.slice(0, index) });
  }
  throw new Error('There is no depth to ask for');
}

/**
 * A refusal may have been a passing fault of the institution, and what is learnt from it holds for all of its customers. So the depth
 * that was refused last is asked for again now that the institution gives something: what it gives is taken, and the next deeper one
 * asked for; what it refuses once more is too deep. Where no call is left for it, nothing is learnt.
 */
async function climb(
  work: AccountWork,
  { staged, days }: { staged: StagedAnswer; days: number | null },
  descent: Descent & { refused: (number | null)[] },
): Promise<Given> {
  const { at, refused } = descent;
  const window = { from: fromOf(days, at), before: null };
  if (days === null) return { staged, window };
  const [deeper] = refused.slice(-1);
  if (deeper === undefined) return { staged, window: await deepen(work, staged, { ...descent, days }) };
  const again = await StagedAnswer.another(work.pool, { accountId: work.subject.id });
  try {
    await walk(work, again, { from: fromOf(deeper, at), before: null });
  } catch (error) {
    const isRefused = isTooLong(error, again);
    await again.discard();
    if (error instanceof NotDueYet) return { staged, window };
    if (isRefused) {
      await learn(work, descent.reading, { days, refused: deeper });
      return { staged, window: await deepen(work, staged, { ...descent, days }) };
    }
    await staged.discard();
    throw error;
  }
  await staged.discard();
  return climb(work, { staged: again, days: deeper }, { ...descent, refused: refused.slice(0, -1) });
}

async function learn(
  { pool, subject: { institutionId } }: AccountWork,
  reading: Reading,
  { days, refused }: { days: number; refused: number | null },
): Promise<void> {
  const stage = reading.kind === 'whole' ? reading.stage : 'later';
  await learnDepth(pool, institutionId, stage, Math.floor(days));
  await learnRefusal(pool, institutionId, stage, refused === null ? wholeDays : Math.floor(refused));
}

/**
 * Institutions that limit the length of a period, and not its age, give the older parts one by one. One that has refused the day before
 * what it gives limits the age.
 */
async function deepen(
  work: AccountWork,
  staged: StagedAnswer,
  { days, at, reading }: Descent & { days: number },
): Promise<Window> {
  const { pool, subject } = work;
  let from = new Date(at.getTime() - days * dayMs);
  const isAsked = reading.kind === 'whole' && reading.stage === 'fresh';
  const ageLimit = Math.floor(days) + 1;
  if (!isAsked || (await readReach(pool, subject.institutionId, 'fresh')).refusedDays === ageLimit)
    return { from, before: null };
  for (let chunk = 0; chunk < chunksMax; chunk += 1) {
    const part = { from: new Date(from.getTime() - days * dayMs), before: new Date(from.getTime() - 1) };
    const rows = await takePart(work, staged, part);
    if (rows === 'refused' && chunk === 0) await learnRefusal(pool, subject.institutionId, 'fresh', ageLimit);
    if (rows === 'refused' || rows === 'no call left' || rows === 0) break;
    from = part.from;
  }
  return { from, before: null };
}

/** The rows of an older part, put aside with the rest; a refusal that comes again is one. */
async function takePart(
  work: AccountWork,
  staged: StagedAnswer,
  part: { from: Date; before: Date },
): Promise<number | 'refused' | 'no call left'> {
  for (let isAgain = false; ; isAgain = true) {
    const { rows } = staged.given;
    try {
      return await walk(work, staged, part);
    } catch (error) {
      if (error instanceof NotDueYet) return 'no call left';
      if (!isTooLong(error, staged, rows)) throw error;
      if (isAgain) return 'refused';
    }
  }
}

/** Whether a walk was refused for its length, which an institution does at its first page: what breaks off later is a fault. */
function isTooLong(error: unknown, { given }: StagedAnswer, rowsBefore = 0): boolean {
  return error instanceof ClientError && mayBeTooLong(error) && given.rows === rowsBefore;
}

/** One walk over the pages of a period: one call, as institutions count. */
function walk(
  work: AccountWork,
  staged: StagedAnswer,
  period: { from: Date | null; before: Date | null },
): Promise<number> {
  const { pool, client, token, aggregatorAccountId, psu, run } = work;
  return spend(work, SyncScope.transactions, () => {
    let expected = 0;
    const asked = { token, accountId: aggregatorAccountId, psu, ...period };
    return fetchTransactions(client, asked, async ({ rows, totalCount }) => {
      const more = totalCount - expected;
      expected = totalCount;
      await goOn(work);
      await staged.add(rows);
      await countRun(pool, run.id, { pages: 1, rows_read: rows.length, rows_expected: more });
    });
  });
}
