import type { PoolClient } from 'pg';
import type { Balances } from '#libs/contract';
import { now } from '#libs/server';
import { appendEvent } from '../events/event-log.js';
import { type Basis, basisOf, differenceOf, type Sign } from './balance-basis.js';

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
}

export interface ProvenAccount {
  customerId: string;
  accountId: string;
  merchantId: string;
}

const candidatesMax = 10;
/** Amounts are compared in millionths, the scale of the columns. */
const scale = 6;

/**
 * Holds the balance against the rows, in the caller's transaction. The first time only remembers where both stand. A
 * difference is never absorbed: it is stored with the transactions that may explain it and told once, until it changes.
 */
export async function proveBalance(
  tx: PoolClient,
  account: ProvenAccount,
  balances: Balances,
): Promise<BalanceProof | undefined> {
  const basis = basisOf(balances);
  if (!basis) return undefined;
  const before = await provenBefore(tx, account.accountId);
  const kind = `${basis.type} ${basis.includes}`;
  const sums = await sumRows(tx, account.accountId, basis, before?.proven_from ?? null);
  if (!before || before.basis !== kind || before.currency !== basis.currency) {
    await remember(tx, account.accountId, { basis, kind, rows: sums.due });
    return { difference: '0', currency: basis.currency, candidates: [] };
  }
  const [due, all] = [sums.due, sums.all].map((rows) =>
    differenceOf(
      {
        balanceBefore: toScale(before.opening),
        rowsBefore: toScale(before.rows),
        balance: toScale(basis.amount),
        rows: toScale(rows),
      },
      before.sign,
    ),
  );
  // Some banks count what is booked for a day to come, some do not.
  const { difference, sign } = all?.difference === 0n || !due ? (all ?? { difference: 0n, sign: before.sign }) : due;
  const text = fromScale(difference);
  const candidates = difference === 0n ? [] : await candidatesOf(tx, account.accountId, { basis, difference: text });
  await tx.query(
    'update balance_proofs set sign = $2, difference = $3, candidates = $4, checked_at = $5 where account_id = $1',
    [account.accountId, sign, text, JSON.stringify(candidates), now()],
  );
  const isNew = difference !== 0n && difference !== toScale(before.difference);
  if (isNew) await publish(tx, account, { difference: text, currency: basis.currency, candidates });
  return { difference: text, currency: basis.currency, candidates };
}

async function provenBefore(tx: PoolClient, accountId: string): Promise<Proven | undefined> {
  const { rows } = await tx.query<Proven>(
    'select basis, currency, sign, proven_from, opening, rows, difference from balance_proofs where account_id = $1',
    [accountId],
  );
  return rows[0];
}

/** The sum of the rows that the balance is made of: those that are due, and all. */
async function sumRows(
  tx: PoolClient,
  accountId: string,
  { includes, currency, at }: Basis,
  from: Date | null,
): Promise<{ due: string; all: string }> {
  const { rows } = await tx.query<{ due: string; all: string }>(
    `select coalesce(sum(amount) filter (where date < $4::timestamptz + interval '1 day'), 0) as due, coalesce(sum(amount), 0) as all
     from transactions where account_id = $1 and removed_at is null and currency = $2 and (status = 'BOOKED' or $3)
       and ($5::timestamptz is null or date >= $5)`,
    [accountId, currency, includes === 'booked-and-pending', at ?? now(), from],
  );
  return rows[0] ?? { due: '0', all: '0' };
}

/** Cards may show debt as a positive balance: which way theirs goes is seen at its first movement. */
async function remember(
  tx: PoolClient,
  accountId: string,
  { basis, kind, rows }: { basis: Basis; kind: string; rows: string },
): Promise<void> {
  await tx.query(
    `insert into balance_proofs (account_id, basis, currency, sign, proven_from, opening, rows, difference, candidates, checked_at)
     select id, $2, $3, case when type in ('CREDIT_CARD', 'CHARGE_CARD', 'LOAN', 'MORTGAGE') then 0 else 1 end,
       (select min(date) from transactions where account_id = $1 and removed_at is null), $4, $5, 0, '[]', $6
     from accounts where id = $1
     on conflict (account_id) do update set basis = excluded.basis, currency = excluded.currency, sign = excluded.sign,
       proven_from = excluded.proven_from, opening = excluded.opening, rows = excluded.rows, difference = 0,
       candidates = '[]', checked_at = excluded.checked_at`,
    [accountId, kind, basis.currency, basis.amount, rows, now()],
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

function toScale(decimal: string): bigint {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  const units = BigInt(whole + fraction.padEnd(scale, '0').slice(0, scale));
  return sign === '-' ? -units : units;
}

function fromScale(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -scale)}${fraction ? `.${fraction}` : ''}`;
}
