import type { Transaction } from '#libs/contract';
import { rowOf, type TransactionRow } from './transaction-row.js';

/** A bank's text as Postgres can hold it: its text type has no character zero. JSON escapes that one, so only columns need it. */
export function storable<T extends string | null>(text: T): T | string {
  return text === null ? text : text.replaceAll('\u0000', '');
}

/**
 * The JSON that merchants get for a transaction: what the interface said, under our own id, with the account's and the
 * bank's id beside it. Made once, when the row is written, so that a list only has to put texts together.
 */
export function servedText(
  { bankId, body }: Pick<TransactionRow, 'bankId' | 'body'>,
  { id, accountId }: { id: string; accountId: string },
): string {
  const given = bankId === null ? '' : `,"institutionTransactionId":${JSON.stringify(bankId)}`;
  const rest = body === '{}' ? '}' : `,${body.slice(1)}`;
  return `{"id":"${id}","accountId":"${accountId}"${given}${rest}`;
}

/** The same in SQL, of columns `bank_id` and `body` of `row`. */
export function servedSql({ row, id, accountId }: { row: string; id: string; accountId: string }): string {
  return `'{"id":"' || ${id} || '","accountId":"' || ${accountId} || '"'
    || coalesce(',"institutionTransactionId":' || to_json(${row}.bank_id)::text, '')
    || case when ${row}.body = '{}' then '}' else ',' || substr(${row}.body, 2) end`;
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

interface Served extends Omit<Transaction, 'id'> {
  id: string;
  accountId: string;
  institutionTransactionId?: string;
}
