import type { PoolClient } from 'pg';
/** Bookings of the days that two histories share; the first and the last of these days may be cut and do not count. */
export interface Overlap {
  /** Of the one, of the other, and of both: same day, amount and currency. */
  shown: number;
  known: number;
  both: number;
  /** Different amounts among those of both: two accounts may well pay the same fee on the same days. */
  amounts: number;
}

const amountsMin = 5;
/** Some are booked late, or dated otherwise. */
const shareMin = 0.95;

/** Whether two histories are of one account, whatever it is called. Pure. */
export function isSameHistory({ shown, known, both, amounts }: Overlap): boolean {
  return amounts >= amountsMin && both >= shareMin * Math.max(shown, known);
}

/** What an account shows: an answer that is put aside, or what is recorded of it. */
export interface Shown {
  accountId: string;
  answerId: string | null;
}

/** How what an account shows and the transactions of another one overlap. */
export async function overlapOf(tx: PoolClient, { accountId, answerId }: Shown, knownId: string): Promise<Overlap> {
  const source =
    answerId === null
      ? 'transactions where removed_at is null and $2::uuid is null'
      : 'staged_rows where answer_id = $2';
  const { rows } = await tx.query<Overlap>(
    `with s as (
       select date_trunc('day', coalesce(booked_at, value_at), 'UTC') as day, amount_minor, currency, count(*)::int as n
       from ${source} and account_id = $1 and status = 'BOOKED' and amount_minor is not null
       group by 1, 2, 3
     ), k as (
       select date_trunc('day', coalesce(booked_at, value_at), 'UTC') as day, amount_minor, currency, count(*)::int as n
       from transactions where account_id = $3 and removed_at is null and status = 'BOOKED' and amount_minor is not null
       group by 1, 2, 3
     ), span as (
       select greatest((select min(day) from s), (select min(day) from k)) as first,
         least((select max(day) from s), (select max(day) from k)) as last
     )
     select coalesce(sum(s.n), 0)::int as shown, coalesce(sum(k.n), 0)::int as known,
       coalesce(sum(least(s.n, k.n)) filter (where s.n is not null and k.n is not null), 0)::int as both,
       count(distinct amount_minor) filter (where s.n is not null and k.n is not null)::int as amounts
     from s full join k using (day, amount_minor, currency), span where day > span.first and day < span.last`,
    [accountId, answerId, knownId],
  );
  return rows[0] ?? { shown: 0, known: 0, both: 0, amounts: 0 };
}
