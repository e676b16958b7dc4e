import { Injectable } from '@nestjs/common';
import { problems, type OffsetPage, type PsuHeaders, type Transaction } from '#libs/contract';
import { operation, transactionIdentity, walkPages, WalkLimitError, withIdentities } from '#libs/connectors';
import { now } from '#libs/server';
import { BankCalls } from '../consents/bank-calls.service.js';
import { requireFeature } from '../consents/consent-scope.js';
import type { ConsentRow } from '../consents/consent.queries.js';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { orNotFound } from './accounts.service.js';
import { SnapshotsService, type Rows } from './snapshots.service.js';
import { clipWindow, newestFirst, rowsOfPage, type Window } from './transaction-window.js';

/**
 * Transactions by offset. Offset 0 always walks the bank's pages to the end of the window, so asking again is the way to
 * refresh; what it finds is kept for ten minutes, and later offsets are served from that without touching the bank.
 */
@Injectable()
export class TransactionsService {
  /** Walks under way in this process: calls that ask the same thing at once share one. */
  private readonly walks = new Map<string, Promise<string[]>>();

  constructor(
    private readonly banks: BankCalls,
    private readonly institutions: InstitutionsService,
    private readonly snapshots: SnapshotsService,
  ) {}

  /** One page, each row the JSON text of a transaction. Throws a Problem for whatever the bank or the consent refuses. */
  async page(consent: ConsentRow, psu: PsuHeaders, accountId: string, page: OffsetPage): Promise<Rows> {
    const { features } = this.institutions.require(consent.institutionId);
    requireFeature(['ACCOUNT_TRANSACTIONS'], { offered: features, scope: consent.featureScope });
    const window = clipWindow(page, consent);
    if (window === undefined) return { rows: [], total: 0 };
    const key = this.snapshots.keyOf(consent.id, [accountId, window.from?.toISOString(), window.before?.toISOString()]);
    if (page.offset > 0) {
      const kept = await this.snapshots.read(key, (total) => rowsOfPage(page, total));
      if (kept !== undefined) return pageOrder(kept, page);
    }
    const rows = await this.once(`${key.consentId}:${key.queryKey}`, async () => {
      const all = await this.walk(consent, psu, accountId, window);
      // An answer that fits the asked page has no later offsets; keeping nothing also removes what was kept before.
      await this.snapshots.keep(key, consent.applicationId, all.length > page.limit ? all : []);
      return all;
    });
    const { from, to } = rowsOfPage(page, rows.length);
    return pageOrder({ rows: rows.slice(from, to), total: rows.length }, page);
  }

  private async once(key: string, walk: () => Promise<string[]>): Promise<string[]> {
    const underway = this.walks.get(key);
    if (underway !== undefined) return underway;
    const started = walk().finally(() => this.walks.delete(key));
    this.walks.set(key, started);
    return started;
  }

  private async walk(consent: ConsentRow, psu: PsuHeaders, accountId: string, window: Window): Promise<string[]> {
    const { data } = this.institutions.require(consent.institutionId);
    const { connector, call } = this.banks.openGranted(consent, { psu, timeoutMs: data.pageBounds.ms });
    const read = operation(connector, 'ACCOUNT_TRANSACTIONS');
    const found = await this.banks.ask(consent, async () => {
      try {
        return await walkPages(
          (cursor) => orNotFound(read(call, accountId, { ...window, ...(cursor === undefined ? {} : { cursor }) })),
          { bounds: data.pageBounds, now },
        );
      } catch (error) {
        if (error instanceof WalkLimitError)
          throw problems.tooManyRecords({ parameter: 'from', message: error.message });
        throw error;
      }
    });
    return toRows(accountId, newestFirst(withIdentities(accountId, found), window));
  }
}

/** The snapshot is newest first; a page that asks for the oldest first is cut from its end and turned round. */
function pageOrder({ rows, total }: Rows, page: OffsetPage): Rows {
  return { rows: page.sort === 'date' ? rows.toReversed() : rows, total };
}

/** The wire text of every row, with the hash by which Data Plus knows it: content, and which of its equals it is. */
function toRows(accountId: string, transactions: readonly Transaction[]): string[] {
  const seen = new Map<string, number>();
  return transactions.map((transaction) => {
    const content = transactionIdentity(accountId, transaction, 0);
    const occurrence = (seen.get(content) ?? 0) + 1;
    seen.set(content, occurrence);
    const hash = transactionIdentity(accountId, transaction, occurrence);
    return JSON.stringify({ ...transaction, enrichment: { ...transaction.enrichment, transactionHash: { hash } } });
  });
}
