import type { Transaction } from '#libs/contract';

/** A bank's text as Postgres can hold it: its text type has no character zero. JSON escapes that one, so only columns need it. */
export function storable<T extends string | null>(text: T): T | string {
  return text === null ? text : text.replaceAll('\u0000', '');
}

/**
 * The JSON that merchants get for a transaction: what the interface said, under our own id, with the account's and the
 * bank's id beside it. Made once, when the row is written, so that a list only has to put texts together.
 */
export function servedText(wire: string, { id, accountId }: { id: string; accountId: string }): string {
  const { id: institutionTransactionId, ...rest } = JSON.parse(wire) as Transaction;
  const given = institutionTransactionId?.trim() ? { institutionTransactionId } : {};
  return JSON.stringify({ id, accountId, ...given, ...rest });
}
