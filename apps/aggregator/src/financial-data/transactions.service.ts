import { Injectable } from '@nestjs/common';
import {
  transactionWith,
  type OffsetPage,
  type PsuHeaders,
  type Transaction,
  type TransactionDetail,
} from '#libs/contract';
import { operation, transactionIdentities, withIdentities } from '#libs/connectors';
import type { ConsentRow } from '../consents/consent.queries.js';
import { BankReads, type Reading } from './bank-reads.service.js';
import { OffsetPages } from './offset-pages.service.js';
import { newestFirst, type Window } from './row-window.js';
import type { Rows } from './snapshots.service.js';

/** Which transactions are asked for, and what their enrichment is to show besides the hash. */
export interface AskedTransactions {
  accountId: string;
  page: OffsetPage;
  details: ReadonlySet<TransactionDetail>;
}

/** Transactions by offset. */
@Injectable()
export class TransactionsService {
  constructor(
    private readonly reads: BankReads,
    private readonly pages: OffsetPages,
  ) {}

  /** One page, each row the JSON text of a transaction. Throws a Problem for whatever the bank or the consent refuses. */
  async page(consent: ConsentRow, psu: PsuHeaders, { accountId, page, details }: AskedTransactions): Promise<Rows> {
    const reading: Reading = { psu, anyOf: ['ACCOUNT_TRANSACTIONS'], demandsPsu: true };
    this.reads.permit(consent, reading);
    return this.pages.page(consent, {
      page,
      parts: ['transactions', accountId, ...[...details].toSorted()],
      walk: async (window) => {
        const found = await this.walk(consent, reading, { accountId, window });
        return toRows(accountId, found, details);
      },
    });
  }

  private async walk(
    consent: ConsentRow,
    reading: Reading,
    { accountId, window }: { accountId: string; window: Window },
  ): Promise<Transaction[]> {
    const found = await this.reads.walk(consent, reading, ({ connector, call }, cursor) => {
      const range = { ...window, ...(cursor === undefined ? {} : { cursor }) };
      return operation(connector, 'ACCOUNT_TRANSACTIONS')(call, accountId, range);
    });
    return newestFirst(withIdentities(accountId, found), window, ({ date }) => date);
  }
}

/** The wire text of every row, with the hash by which Data Plus knows it: content, and which of its equals it is. */
function toRows(
  accountId: string,
  transactions: readonly Transaction[],
  details: ReadonlySet<TransactionDetail>,
): string[] {
  const identityOf = transactionIdentities(accountId);
  return transactions.map((transaction) => {
    const transactionHash = { hash: identityOf(transaction) };
    // Most banks enrich nothing, and then there is nothing to choose from.
    if (!transaction.enrichment) return JSON.stringify({ ...transaction, enrichment: { transactionHash } });
    return JSON.stringify(
      transactionWith(details, { ...transaction, enrichment: { ...transaction.enrichment, transactionHash } }),
    );
  });
}
