import { AmountError, type AccountBalance, type AccountBalanceType, type Balances, parseDecimal } from '#libs/contract';

/** A balance that can be proven by rows, and which rows it is made of. */
export interface Basis {
  type: AccountBalanceType;
  /** Whether what is pending is part of it. */
  includes: 'booked' | 'booked-and-pending';
  currency: string;
  /** Decimal text. */
  amount: string;
  /** The instant it stands for, where the bank says so. */
  at: string | null;
}

/**
 * The balance types that are made of rows alone, best first (ISO 20022, ExternalBalanceType1Code: interim and closing booked;
 * expected, booked and pending together). Available balances hold overdrafts and reservations, cleared ones lag behind, and
 * nobody knows what is in the others: they are kept and shown, but prove nothing.
 */
const provable: readonly (readonly [AccountBalanceType, Basis['includes']])[] = [
  ['INTERIM_BOOKED', 'booked'],
  ['CLOSING_BOOKED', 'booked'],
  ['EXPECTED', 'booked-and-pending'],
];

/** The balance to be proven; undefined where there is none. What holds a credit line says nothing about rows. */
export function basisOf({ balances }: Balances): Basis | undefined {
  for (const [type, includes] of provable) {
    const found = balances.find((each) => each.type === type && each.creditLineIncluded !== true && isComplete(each));
    const { amount, currency } = found?.balanceAmount ?? {};
    if (amount === undefined || currency === undefined) continue;
    return { type, includes, currency, amount: String(amount), at: found?.dateTime ?? null };
  }
  return undefined;
}

function isComplete({ balanceAmount }: AccountBalance): boolean {
  if (balanceAmount?.amount === undefined || !balanceAmount.currency) return false;
  try {
    return Number.isFinite(parseDecimal(String(balanceAmount.amount)));
  } catch (error) {
    if (error instanceof AmountError) return false;
    throw error;
  }
}

/** What a proof began with, and what is there now; decimals as Postgres gives them. */
export interface Movement {
  balanceBefore: bigint;
  rowsBefore: bigint;
  balance: bigint;
  rows: bigint;
}

/** 1 where balance and rows have one sign, -1 where debt is shown as a positive balance, 0 while that is not known. */
export type Sign = 1 | 0 | -1;

/**
 * Opening + rows = closing. Answers what the balance has moved beyond the rows, in the sign of the rows: money that is missing
 * among the rows, or, negated, that is there once too often.
 */
export function differenceOf(
  { balanceBefore, rowsBefore, balance, rows }: Movement,
  sign: Sign,
): { difference: bigint; sign: Sign } {
  const [moved, explained] = [balance - balanceBefore, rows - rowsBefore];
  if (sign !== 0) return { difference: BigInt(sign) * moved - explained, sign };
  if (moved === 0n && explained === 0n) return { difference: 0n, sign };
  return moved === -explained
    ? { difference: 0n, sign: -1 }
    : { difference: moved - explained, sign: moved === explained ? 1 : 0 };
}
