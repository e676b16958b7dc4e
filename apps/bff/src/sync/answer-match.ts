import type { PoolClient } from 'pg';
import { now } from '#libs/server';
import type { Flag } from './change.js';
import { coverage, dateOf, type Window } from './coverage.js';
import { unrecognisedSql } from './recognised-rows.js';
import type { KnownTransaction, Rest } from './reconcile.js';
import type { StagedRow } from './record-changes.js';
import type { StagedAnswer } from './staged-answer.js';
import type { Comparable } from './transaction-row.js';

/** What rows of an answer and known transactions are compared by, as Postgres gives it. */
interface Columns {
  status: string;
  bank_id: string | null;
  booked_at: Date | null;
  value_at: Date | null;
  amount_minor: string | null;
  currency: string | null;
  description: string | null;
  reference: string | null;
  fingerprint: string;
}

type Side<Prefix extends string> = { [Name in keyof Columns as `${Prefix}${Name}`]: Columns[Name] };

/** One line of the full join: a known transaction, a row, or both. */
type Line = Side<'k_'> &
  Side<'s_'> & {
    k_id: string | null;
    k_flag: string | null;
    k_into: string | null;
    k_apart: string[] | null;
    k_dismissed: Flag['reason'] | null;
    s_ordinal: number | null;
    s_new_id: string;
  };

const compared = [
  'status',
  'bank_id',
  'booked_at',
  'value_at',
  'amount_minor',
  'currency',
  'description',
  'reference',
  'fingerprint',
] as const;

const columns = compared.join(', ');

/** Around a window, as far as a booking may lie from its pending row. */
const marginDays = 35;

const both = (prefix: 'k' | 's') => compared.map((name) => `${prefix}.${name} as ${prefix}_${name}`).join(', ');

/**
 * What a window does not touch is not looked at, unless a row of the answer is equal to it. Each list of ids is put together
 * once: as a join, the planner would go through it again for every row of an account that is newer than its statistics, which
 * it takes for one row.
 */
const withinWindow = `id = any(array(
  select id from transactions where account_id = $1 and fingerprint = any(array(select fingerprint from s))
  union all select id from transactions where account_id = $1 and date >= $3::timestamptz - interval '${marginDays} days'
    and date <= coalesce($4::timestamptz, 'infinity') + interval '${marginDays} days'))`;

/**
 * Pairs the staged rows with known transactions by their fingerprints, as multisets, inside Postgres: what is equal on both
 * sides never leaves it, and what was recognised when it came takes no part. The lines that come out are what has no
 * counterpart, what is pending, what carries a flag and other faces, in the order of their dates.
 */
function joinSql(isWindowed: boolean): string {
  return `with s as (
      select ordinal, new_id, ${columns}, row_number() over (partition by fingerprint order by ordinal) as n
      from staged_rows where account_id = $1 and answer_id = $2
    ), k as (
      select id, flag, joined_into, apart_from, dismissed, ${columns},
        row_number() over (partition by fingerprint order by joined_into is not null, flag is not null, id) as n
      from transactions where account_id = $1 and (removed_at is null or joined_into is not null) and ${unrecognisedSql('$5')}
        ${isWindowed ? `and ${withinWindow}` : 'and $3::timestamptz is null and $4::timestamptz is null'}
    )
    select k.id as k_id, k.flag as k_flag, k.joined_into as k_into, k.apart_from as k_apart, k.dismissed as k_dismissed, ${both('k')}, s.ordinal as s_ordinal, s.new_id as s_new_id, ${both('s')}
    from k full join s on s.fingerprint = k.fingerprint and s.n = k.n
    where k.id is null or s.ordinal is null or s.status = 'PENDING' or k.flag is not null or k.joined_into is not null
    order by coalesce(s.booked_at, s.value_at, k.booked_at, k.value_at), s.ordinal`;
}

/** The lines of one fetch: more than any usual answer changes, and no more than memory bears. */
const linesMax = 20_000;

export interface Part {
  rest: Rest<StagedRow>;
  /** The date up to which this part goes; undefined in the last one. */
  border: Date | undefined;
}

/**
 * What of a staged answer and of the known transactions has to be compared by more than equality. One part as a rule; several,
 * in the order of time, where a bank has changed more rows than should be in memory at once. A day is never cut in two.
 */
export async function* partsOf(
  tx: PoolClient,
  staged: StagedAnswer,
  { window, size = linesMax }: { window: Window; size?: number | undefined },
): AsyncGenerator<Part> {
  const isWindowed = window.from !== null || window.before !== null;
  const from = isWindowed ? (window.from ?? new Date(0)) : null;
  const covers = await coverageOf(tx, staged, window);
  const place = [staged.accountId, staged.id, from, window.before, staged.marks];
  // Sorted and hashed in memory: some 200 bytes a row, and no more than this.
  await tx.query(`set local work_mem = '64MB'`);
  await tx.query(`declare rest no scroll cursor for ${joinSql(isWindowed)}`, place);
  const repeated = new Set<string>();
  let lines: Line[] = [];
  let isLast = false;
  while (!isLast) {
    const { rows: more } = await tx.query<Line>(`fetch ${size} from rest`);
    isLast = more.length < size;
    lines.push(...more);
    const part = lines.splice(0, isLast ? lines.length : startOfLastDay(lines));
    const last = part.at(-1);
    if (!last) continue;
    const rest: Rest<StagedRow> = { known: [], rows: [], same: [], covers, repeated };
    for (const line of part) sortIn(rest, line);
    for (const id of await repeatedIds(tx, staged, rest.rows)) repeated.add(id);
    yield { rest, border: isLast ? undefined : (dateOfLine(last) ?? undefined) };
  }
  await tx.query('close rest');
}

/** Where the lines of the last day begin. Lines without a date come last, and are a day of their own. */
function startOfLastDay(lines: readonly Line[]): number {
  const dayOf = (line: Line | undefined) => (line && dateOfLine(line))?.toISOString().slice(0, 10);
  const day = dayOf(lines.at(-1));
  return lines.findLastIndex((line) => dayOf(line) !== day) + 1;
}

/** Pending rows, and the bookings that could be theirs: what of an account's first answer may belong together. */
export async function beginningOf(tx: PoolClient, staged: StagedAnswer): Promise<Rest<StagedRow>> {
  const { rows: lines } = await tx.query<Line>(
    `with pending as materialized (
       select ordinal, amount_minor, currency, bank_id from staged_rows
       where account_id = $1 and answer_id = $2 and status = 'PENDING' order by ordinal limit ${linesMax}
     )
     select null as k_id, s.ordinal as s_ordinal, s.new_id as s_new_id, ${both('s')} from staged_rows s
     where s.account_id = $1 and s.answer_id = $2 and exists (select from pending)
       and (s.ordinal in (select ordinal from pending) or s.status = 'BOOKED' and (
         (s.amount_minor, s.currency) in (select amount_minor, currency from pending) or s.bank_id in (select bank_id from pending)))
     limit ${2 * linesMax}`,
    [staged.accountId, staged.id],
  );
  const rows = lines.flatMap((line) => stagedOf(line) ?? []);
  return { known: [], rows, same: [], covers: () => false, repeated: await repeatedIds(tx, staged, rows) };
}

/** Pending transactions that were removed before: of the amount of a booking that is not recognised, or candidates of a flag. */
export async function droppedOf(
  tx: PoolClient,
  accountId: string,
  { rows, same }: Pick<Rest<StagedRow>, 'rows' | 'same'>,
): Promise<KnownTransaction[]> {
  const booked = rows.filter(({ status, amountMinor }) => status === 'BOOKED' && amountMinor !== null);
  const candidates = same.flatMap(({ known: { flag } }) => flag?.candidates ?? []);
  if (booked.length === 0 && candidates.length === 0) return [];
  const at = now();
  const amounts = [...new Set(booked.map(({ amountMinor }) => String(amountMinor)))];
  const earliest = booked.reduce((least, row) => Math.min(least, dateOf(row)?.getTime() ?? least), at.getTime());
  const { rows: dropped } = await tx.query<Side<'k_'> & { k_id: string; k_apart: string[] }>(
    `select id as k_id, apart_from as k_apart, ${both('k')} from transactions k
     where id = any(array(select id from transactions where account_id = $1 and date >= $2::timestamptz - interval '${marginDays} days'
         and removed_at >= $3::timestamptz - interval '${marginDays} days' and amount_minor = any($4) and status = 'PENDING'
       union all select id from transactions where id = any($5) and account_id = $1))
       and removed_at is not null and status = 'PENDING' and joined_into is null
     order by id limit ${linesMax}`,
    [accountId, new Date(earliest), at, amounts, candidates],
  );
  return dropped.map(({ k_id: id, k_apart: apartFrom, ...line }) => {
    return { ...comparable(line, 'k_'), id, flag: null, into: null, apartFrom, dismissed: null };
  });
}

/** What lines are ordered by. */
function dateOfLine({ s_booked_at, s_value_at, k_booked_at, k_value_at }: Line): Date | null {
  return s_booked_at ?? s_value_at ?? k_booked_at ?? k_value_at;
}

function sortIn(rest: Rest<StagedRow>, line: Line): void {
  const known = knownOf(line);
  const row = stagedOf(line);
  if (known && row) rest.same.push({ known, row });
  else if (known) rest.known.push(known);
  else if (row) rest.rows.push(row);
}

function comparable<P extends 'k_' | 's_'>(line: Side<P>, prefix: P): Comparable {
  const side = line as Side<'k_'> & Side<'s_'>;
  const get = <N extends keyof Columns>(name: N): Columns[N] => side[`${prefix}${name}`] as Columns[N];
  const minor = get('amount_minor');
  return {
    status: get('status') === 'PENDING' ? 'PENDING' : 'BOOKED',
    bankId: get('bank_id'),
    bookedAt: get('booked_at'),
    valueAt: get('value_at'),
    amountMinor: minor === null ? null : BigInt(minor),
    currency: get('currency'),
    description: get('description'),
    reference: get('reference'),
    fingerprint: get('fingerprint'),
  };
}

function knownOf(line: Line): KnownTransaction | undefined {
  if (line.k_id === null) return undefined;
  const flag = line.k_flag === null ? null : (JSON.parse(line.k_flag) as Flag);
  const { k_id: id, k_into: into, k_apart: apartFrom, k_dismissed: dismissed } = line;
  return { ...comparable(line, 'k_'), id, flag, into, apartFrom: apartFrom ?? [], dismissed };
}

function stagedOf(line: Line): StagedRow | undefined {
  if (line.s_ordinal === null) return undefined;
  return { ordinal: line.s_ordinal, newId: line.s_new_id, ...comparable(line, 's_') };
}

async function coverageOf(
  tx: PoolClient,
  { accountId, given }: StagedAnswer,
  window: Window,
): Promise<(known: Comparable) => boolean> {
  const isEmpty = given.rows === 0;
  const isSuspicious = isEmpty && (await hasBookings(tx, accountId, window));
  return coverage(window, { earliest: given.earliest, isEmpty, isSuspicious });
}

/** Whether bookings are known of the time that was asked for. */
async function hasBookings(tx: PoolClient, accountId: string, { from, before }: Window): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select from transactions where account_id = $1 and removed_at is null and status = 'BOOKED'
       and date >= coalesce($2, '-infinity'::timestamptz) and date <= coalesce($3, 'infinity'::timestamptz) limit 1`,
    [accountId, from, before],
  );
  return rowCount !== 0;
}

async function repeatedIds(
  tx: PoolClient,
  staged: StagedAnswer,
  rows: readonly StagedRow[],
): Promise<ReadonlySet<string>> {
  const ids = rows.flatMap(({ bankId }) => bankId ?? []);
  if (ids.length === 0) return new Set();
  const { rows: repeated } = await tx.query<{ bank_id: string }>(
    `select bank_id from (
       select bank_id from staged_rows where account_id = $1 and answer_id = $2
       union all select bank_id from transactions where account_id = $1 and not (${unrecognisedSql('$4')})
     ) given where bank_id = any($3) group by bank_id having count(*) > 1`,
    [staged.accountId, staged.id, ids, staged.marks],
  );
  return new Set(repeated.map(({ bank_id }) => bank_id));
}
