import type { Balances } from '#libs/contract';
import type { Queryable } from '#libs/database';

/** Under this name the one balance of an institution that types none is kept. */
const untyped = 'MAIN';

interface Observed {
  accountId: string;
  balances: Balances;
  at: Date;
}

/** Keeps each typed balance whose amount is not the one that was seen last; in the caller's transaction. */
export async function keepBalanceHistory(tx: Queryable, { accountId, balances, at }: Observed): Promise<void> {
  const seen = [...amountsOf(balances)];
  if (seen.length === 0) return;
  await tx.query(
    `insert into balance_records (account_id, type, observed_at, amount, currency)
     select $1, now.type, $2, now.amount, now.currency
     from unnest($3::text[], $4::numeric[], $5::text[]) now(type, amount, currency)
     left join lateral (
       select amount, currency from balance_records where account_id = $1 and type = now.type order by observed_at desc limit 1
     ) last on true
     where (last.amount, last.currency) is distinct from (now.amount, now.currency)
     on conflict (account_id, observed_at, type) do nothing`,
    [
      accountId,
      at,
      seen.map(([type]) => type),
      seen.map(([, { amount }]) => amount),
      seen.map(([, { currency }]) => currency),
    ],
  );
}

/** The amount of each type; the first where an institution gives a type twice, as for several credit lines. */
function amountsOf({ balances, mainBalanceAmount }: Balances): Map<string, { amount: number; currency: string }> {
  const amounts = new Map<string, { amount: number; currency: string }>();
  const given = balances.map(({ type, balanceAmount }) => [type, balanceAmount] as const);
  for (const [type, balance] of given.length > 0 ? given : [[untyped, mainBalanceAmount] as const]) {
    const { amount, currency } = balance ?? {};
    if (type === undefined || amount === undefined || currency === undefined || amounts.has(type)) continue;
    amounts.set(type, { amount, currency });
  }
  return amounts;
}
