import { createHash } from 'node:crypto';
import { AmountError, parseDateTime, toMinor, type Transaction } from '#libs/contract';

/**
 * What the bank says of one transaction, reduced to what the table has columns for. `wire` is the JSON that is served;
 * everything else follows from it, so the change log keeps `wire` alone. Absent values are null, as in the table.
 */
export interface TransactionRow {
  status: 'BOOKED' | 'PENDING';
  /** The bank's own id: trimmed, null when blank. A clue, never a key. */
  bankId: string | null;
  bookedAt: Date | null;
  valueAt: Date | null;
  /** Decimal text in major units; negative is money out. */
  amount: string | null;
  /** In minor units of the currency; null also when the amount is finer than that. */
  amountMinor: bigint | null;
  currency: string | null;
  /** What a person reads, and what likeness is judged by. */
  description: string | null;
  /** Of `wire`: equal fingerprints mean that there is nothing to write. */
  fingerprint: string;
  wire: string;
}

/** The row of a transaction as the interface gives it. Pure; a date that cannot be read is no date. */
export function rowOf(transaction: Transaction): TransactionRow {
  const wire = JSON.stringify(transaction);
  const { amount, currency } = transaction.transactionAmount ?? transaction;
  const payee = transaction.payeeDetails?.name ?? transaction.payerDetails?.name;
  return {
    status: transaction.status === 'PENDING' ? 'PENDING' : 'BOOKED',
    bankId: filled(transaction.id),
    bookedAt: instant(transaction.bookingDateTime ?? transaction.date),
    valueAt: instant(transaction.valueDateTime),
    amount: amount === undefined ? null : String(amount),
    amountMinor: minor(amount, currency),
    currency: filled(currency),
    description: filled(
      transaction.description ?? transaction.reference ?? transaction.merchant?.merchantName ?? payee,
    ),
    fingerprint: fingerprintOf(wire),
    wire,
  };
}

/** 128 bits of SHA-256 over the served JSON, as base64url. */
export function fingerprintOf(wire: string): string {
  return createHash('sha256').update(wire).digest('base64url').slice(0, 22);
}

function filled(text: string | undefined): string | null {
  const trimmed = text?.trim();
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
