import { hash } from 'node:crypto';
import { AmountError, parseDateTime, toMinor, type Transaction } from '#libs/contract';

/**
 * What the bank says of one transaction, reduced to what the table has columns for. All of it follows from the bank's id and
 * `body`, so the change log keeps these alone. Absent values are null, as in the table.
 */
export interface TransactionRow extends Comparable {
  /** Decimal text in major units; negative is money out. */
  amount: string | null;
  /** The interface's JSON without the bank's id. */
  body: string;
}

/** What rows are compared by. */
export interface Comparable {
  status: 'BOOKED' | 'PENDING';
  /** The bank's own id: trimmed, null when blank. A clue, never a key. */
  bankId: string | null;
  bookedAt: Date | null;
  valueAt: Date | null;
  /** In minor units of the currency; null also when the amount is finer than that. */
  amountMinor: bigint | null;
  currency: string | null;
  /** What a person reads, and what likeness is judged by. */
  description: string | null;
  /** What payer, payee or scheme call it; it often outlives the bank's id. */
  reference: string | null;
  /** Of id and `body`: equal fingerprints mean that there is nothing to write. */
  fingerprint: string;
}

export function isPending({ status }: Pick<Comparable, 'status'>): boolean {
  return status === 'PENDING';
}

/** With its sign and currency; equal texts mean equal amounts. */
export function amountOf({ amountMinor, currency }: Comparable): string {
  return `${amountMinor} ${currency}`;
}

/** Everything by which a person tells one purchase from another; neither the bank's id nor whether it is booked. */
export function purchaseOf({ bookedAt, valueAt, amountMinor, currency, description }: Comparable): string {
  return `${bookedAt?.getTime()} ${valueAt?.getTime()} ${amountMinor} ${currency} ${description}`;
}

/** What tells whether two rows are equal, and where in time a row belongs. */
export type RowIdentity = Pick<TransactionRow, 'bankId' | 'bookedAt' | 'valueAt' | 'fingerprint' | 'body'>;

/** Pure. */
export function identityOf({ id, ...rest }: Transaction): RowIdentity {
  const body = JSON.stringify(rest);
  const bankId = filled(id);
  return { bankId, ...datesOf(rest), fingerprint: fingerprintOf(bankId, body), body };
}

/** A date that cannot be read is no date. */
export function datesOf(
  told: Pick<Transaction, 'bookingDateTime' | 'date' | 'valueDateTime'>,
): Pick<RowIdentity, 'bookedAt' | 'valueAt'> {
  return { bookedAt: instant(told.bookingDateTime ?? told.date), valueAt: instant(told.valueDateTime) };
}

/** The row of a transaction as the interface gives it. Pure. */
export function rowOf(transaction: Transaction, identity = identityOf(transaction)): TransactionRow {
  const { transactionAmount, payeeDetails, payerDetails, status, reference, description, merchant } = transaction;
  const { amount, currency } = transactionAmount ?? transaction;
  const payee = payeeDetails?.name ?? payerDetails?.name;
  return {
    ...identity,
    status: status === 'PENDING' ? 'PENDING' : 'BOOKED',
    amount: amount === undefined ? null : String(amount),
    amountMinor: minor(amount, currency),
    currency: filled(currency),
    description: filled(description ?? reference ?? merchant?.merchantName ?? payee),
    reference: filled(reference ?? transaction.statementReferences?.[0]?.value),
  };
}

/** 128 bits of SHA-256 over what the bank says, as base64url. */
export function fingerprintOf(bankId: string | null, body: string): string {
  return hash('sha256', `${bankId ?? ''}\n${body}`, 'base64url').slice(0, 22);
}

/** Trimmed, and as Postgres can hold it: its text has no character zero and no half of a surrogate pair. */
function filled(text: string | undefined): string | null {
  const trimmed = text?.replaceAll('\u0000', '').toWellFormed().trim();
  return trimmed ? trimmed : null;
}

function instant(text: string | undefined): Date | null {
  return text === undefined ? null : (parseDateTime(text) ?? null);
}

function minor(amount: number | undefined, currency: string | undefined): bigint | null {
  if (amount === undefined) return null;
  try {
    return toMinor(amount, currency);
  } catch (error) {
    if (error instanceof AmountError) return null;
    throw error;
  }
}
