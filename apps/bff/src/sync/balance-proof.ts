import type { PoolClient } from 'pg';
import type { Balances } from '#libs/contract';
import { now } from '#libs/server';
import { appendEvent } from '../events/event-log.js';
import { type Basis, basisOf, differenceOf, type Sign } from './balance-basis.js';
import { bookedAfter, isExplained } from './booked-after.js';
import { fromScale, toScale } from './scaled-amount.js';

/** What the balances say about the rows. */
export interface BalanceProof {
  /** Decimal text: what the balance has moved beyond the rows, in the sign of the rows; zero when they agree. */
  difference: string;
  currency: string;
  /** Transactions that may explain it. */
  candidates: string[];
}

interface Proven {
  basis: string;
  currency: string;
  sign: Sign;
  proven_from: Date | null;
  opening: string;
  rows: string;
  difference: string;
  began_at: Date | null;
  checked_at: Date;
}

export interface ProvenAccount {
  customerId: string;
  accountId: string;
  merchantId: string;
}

/** The balances, and what came with them. */
export interface Seen {
  balances: Balances;
  /** When they were asked for, which is before the rows were. */
  readAt: Date;
  /** The number in the customer's log after which the rows of this synchronisation begin. */
  since: string;
}

const candidatesMax = 10;

/**
 * Holds the balance against the rows, in the caller's transaction. The first time only remembers where both stand. A
 * difference is never absorbed: it is stored with the transactions that may explain it and told once, until it changes; when it
 * is gone, that is told too.
 *
 * The balance is read before the rows, so a booking between the two calls is among the rows alone. A difference that is exactly
 * such rows proves nothing: the verdict waits for the next synchronisation, whose balance must hold them (undefined, and nothing
 * is written). No call is spent on it, as the calls of a day are spread without one to spare. A lost row is no row that could
 * explain itself, and a copy does not explain its original, so both are told at once. A booking that the balance holds before the
 * rows show it looks like a lost row: it is told, and taken back when the row is there.
 */
export async function proveBalance(
  tx: PoolClient,
  account: ProvenAccount,
  seen: Seen,
): Promise<BalanceProof | undefined> {
  const basis = basisOf(seen.balances);
  if (!basis) return undefined;
  const before = await provenBefore(tx, account.accountId);
  const kind = `${basis.type} ${basis.includes}`;
  const sums = await sumRows(tx, account.accountId, basis, before?.proven_from ?? null);
  const instant = instantOf(basis, seen.readAt);
  if (!before || before.basis !== kind || before.currency !== basis.currency) {
    await remember(tx, account.accountId, { basis, kind, rows: sums.due, instant });
    return { difference: '0', currency: basis.currency, candidates: [] };
  }
  const verdict = await judge(tx, account, { basis, before, sums, instant, since: seen.since });
  return verdict && settle(tx, account, { basis, before, verdict });
}

/** The bank's word may be about the past, and is never about what came after the call. */
function instantOf({ at }: Basis, readAt: Date): Date {
  return new Date(Math.min(readAt.getTime(), at === null ? Infinity : Date.parse(at)));
}

interface Verdict {
  difference: bigint;
  sign: Sign;
  /** What the remembered rows held beyond the balance that the proof began with. */
  ahead: bigint;
}

/**
 * What the balance has moved beyond the rows; undefined while that may be the order of the calls. Where the proof began between
 * the two, its first verdict finds the balance ahead by those rows, and the proof stands on what was true then.
 */
async function judge(
  tx: PoolClient,
  { customerId, accountId }: ProvenAccount,
  { basis, before, sums, instant, since }: Omit<Seen, 'balances' | 'readAt'> & Judged,
): Promise<Verdict | undefined> {
  // Some banks count what is booked for a day to come, some do not, and some balances are older than the rows.
  const differences = (sign: Sign) =>
    [sums.due, sums.all, sums.until].map((rows) =>
      differenceOf(
        {
          balanceBefore: toScale(before.opening),
          rowsBefore: toScale(before.rows),
          balance: toScale(basis.amount),
          rows: toScale(rows),
        },
        sign,
      ),
    );
  const tries = differences(before.sign);
  const chosen = tries.find(({ difference }) => difference === 0n) ?? tries[0];
  if (!chosen || chosen.difference === 0n) return { difference: 0n, sign: chosen?.sign ?? before.sign, ahead: 0n };
  const asked = { accountId, currency: basis.currency, isPendingCounted: basis.includes === 'booked-and-pending' };
  if (before.began_at !== null) {
    const { began_at: at, checked_at: until } = before;
    const first = await bookedAfter(tx, { ...asked, instant: at, known: { until } });
    const signs: Sign[] = before.sign === 0 ? [1, -1] : [before.sign];
    const ahead = signs.flatMap(differences).find(({ difference }) => isExplained(difference, first));
    if (ahead) return { difference: 0n, sign: ahead.sign, ahead: ahead.difference };
  }
  const told = toScale(before.difference);
  if (chosen.difference === told) return { ...chosen, ahead: 0n };
  const fresh = await bookedAfter(tx, { ...asked, instant, known: { customerId, since } });
  const isOpen = [0n, told].some((standing) => isExplained(standing - chosen.difference, fresh));
  return isOpen ? undefined : { ...chosen, ahead: 0n };
}

interface Judged {
  basis: Basis;
  before: Proven;
  sums: Sums;
  instant: Date;
}

/** Stores the verdict, and tells what has changed. */
async function settle(
  tx: PoolClient,
  account: ProvenAccount,
  { basis, before, verdict: { difference, sign, ahead } }: { basis: Basis; before: Proven; verdict: Verdict },
): Promise<BalanceProof> {
  const { accountId } = account;
  const text = fromScale(difference);
  const candidates = difference === 0n ? [] : await candidatesOf(tx, accountId, { basis, difference: text });
  await tx.query(
    `update balance_proofs set sign = $2, difference = $3, candidates = $4, checked_at = $5, rows = rows - $6::numeric,
       began_at = null where account_id = $1`,
    [accountId, sign, text, JSON.stringify(candidates), now(), fromScale(ahead)],
  );
  const proof = { difference: text, currency: basis.currency, candidates };
  const told = toScale(before.difference);
  if (difference === 0n && told !== 0n) await publishAgreed(tx, account, { ...proof, difference: fromScale(told) });
  if (difference !== 0n && difference !== told) await publish(tx, account, proof);
  return proof;
}

async function provenBefore(tx: PoolClient, accountId: string): Promise<Proven | undefined> {
  const { rows } = await tx.query<Proven>(
    'select basis, currency, sign, proven_from, opening, rows, difference, began_at, checked_at from balance_proofs where account_id = $1',
    [accountId],
  );
  return rows[0];
}

interface Sums {
  due: string;
  all: string;
  until: string;
}

/** The sum of the rows that the balance is made of: those that are due, all, and those until the instant it stands for. */
async function sumRows(
  tx: PoolClient,
  accountId: string,
  { includes, currency, at }: Basis,
  from: Date | null,
): Promise<Sums> {
  const { rows } = await tx.query<Sums>(
    `select coalesce(sum(amount) filter (where date < $4::timestamptz + interval '1 day'), 0) as due, coalesce(sum(amount), 0) as all,
       coalesce(sum(amount) filter (where date <= $4), 0) as until
     from transactions where account_id = $1 and removed_at is null and currency = $2 and (status = 'BOOKED' or $3)
       and ($5::timestamptz is null or date >= $5)`,
    [accountId, currency, includes === 'booked-and-pending', at ?? now(), from],
  );
  return rows[0] ?? { due: '0', all: '0', until: '0' };
}

/** Cards may show debt as a positive balance: which way theirs goes is seen at its first movement. */
async function remember(
  tx: PoolClient,
  accountId: string,
  { basis, kind, rows, instant }: { basis: Basis; kind: string; rows: string; instant: Date },
): Promise<void> {
  await tx.query(
    `insert into balance_proofs (account_id, basis, currency, sign, proven_from, opening, rows, difference, candidates, checked_at, began_at)
     select id, $2, $3, case when type in ('CREDIT_CARD', 'CHARGE_CARD', 'LOAN', 'MORTGAGE') then 0 else 1 end,
       (select min(date) from transactions where account_id = $1 and removed_at is null), $4, $5, 0, '[]', $6, $7
     from accounts where id = $1
     on conflict (account_id) do update set basis = excluded.basis, currency = excluded.currency, sign = excluded.sign,
       proven_from = excluded.proven_from, opening = excluded.opening, rows = excluded.rows, difference = 0,
       candidates = '[]', checked_at = excluded.checked_at, began_at = excluded.began_at`,
    [accountId, kind, basis.currency, basis.amount, rows, now(), instant],
  );
}

/** Rows that are there and may be one too many; rows of the missing amount that are not counted. What is in doubt comes first. */
async function candidatesOf(
  tx: PoolClient,
  accountId: string,
  { basis, difference }: { basis: Basis; difference: string },
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from transactions, lateral (select removed_at is null and (status = 'BOOKED' or $4) as counted) c
     where account_id = $1 and currency = $2 and amount = case when counted then -($3::numeric) else $3::numeric end
     order by flag is not null desc, greatest(first_seen_at, removed_at) desc, id limit ${candidatesMax}`,
    [accountId, basis.currency, difference, basis.includes === 'booked-and-pending'],
  );
  return rows.map(({ id }) => id);
}

async function publish(tx: PoolClient, account: ProvenAccount, proof: BalanceProof): Promise<void> {
  const { merchantId, customerId, accountId } = account;
  await appendEvent(tx, {
    merchantId,
    customerId,
    type: 'account.balance-mismatch',
    data: { accountId, amount: proof.difference, currency: proof.currency, candidates: proof.candidates.join(' ') },
  });
}

/** Takes a difference back that was told. */
async function publishAgreed(tx: PoolClient, account: ProvenAccount, gone: BalanceProof): Promise<void> {
  const { merchantId, customerId, accountId } = account;
  await appendEvent(tx, {
    merchantId,
    customerId,
    type: 'account.balance-agreed',
    data: { accountId, amount: gone.difference, currency: gone.currency },
  });
}
