import type { Transaction } from '#libs/contract';
import { datesOf, rowOf, type TransactionRow } from './transaction-row.js';

/** A bank's text as Postgres can hold it: its text type has no character zero. JSON escapes that one, so only columns need it. */
export function storable<T extends string | null>(text: T): T | string {
  return text === null ? text : text.replaceAll('\u0000', '');
}

/**
 * The JSON that merchants get for a transaction: what the interface said, under our own id, with the account's and the
 * bank's id beside it. Made once, when the row is written, so that a list only has to put texts together.
 */
export function servedText(
  row: Pick<TransactionRow, 'bankId' | 'body'>,
  { id, accountId }: { id: string; accountId: string },
): string {
  return `{"id":"${id}","accountId":"${accountId}"${servedRest(row)}`;
}

/** What follows our own ids in it. */
export function servedRest({ bankId, body }: Pick<TransactionRow, 'bankId' | 'body'>): string {
  const given = bankId === null ? '' : `,"institutionTransactionId":${JSON.stringify(bankId)}`;
  return given + (body === '{}' ? '}' : `,${body.slice(1)}`);
}

/** The text in SQL, of a column with its rest: Postgres only has to put texts together, since it is slow to cut them. */
export function servedSql({ rest, id, accountId }: { rest: string; id: string; accountId: string }): string {
  return `'{"id":"' || ${id} || '","accountId":"' || ${accountId} || '"' || ${rest}`;
}

const accountIdAt = '{"id":"00000000-0000-4000-8000-000000000000","accountId":"'.length + 1;

/** A served text under another account, in SQL. */
export function movedSql({ wire, accountId }: { wire: string; accountId: string }): string {
  return `overlay(${wire} placing ${accountId} from ${accountIdAt} for 36)`;
}

/** What the interface said, behind a served text. */
export function transactionOf(served: string): Transaction {
  const { id: _id, accountId: _accountId, institutionTransactionId, ...rest } = JSON.parse(served) as Served;
  return institutionTransactionId === undefined ? rest : { id: institutionTransactionId, ...rest };
}

/** The row behind a served text: both say the same. */
export function rowOfServed(served: string): TransactionRow {
  return rowOf(transactionOf(served));
}

/** Where the row behind a served text stands in lists; without a date of the bank's, the row alone knows since when it is there. */
export function placeOfServed(served: string): { id: string; date: Date | null } {
  const told = JSON.parse(served) as Served;
  const { bookedAt, valueAt } = datesOf(told);
  return { id: told.id, date: bookedAt ?? valueAt };
}

interface Served extends Omit<Transaction, 'id'> {
  id: string;
  accountId: string;
  institutionTransactionId?: string;
}
