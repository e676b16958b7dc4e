import { Injectable } from '@nestjs/common';
import {
  readOffsetPage,
  type AccountIdentification,
  type CursorLinks,
  type PageQuery,
  type PsuHeaders,
  type RealTimeTransaction,
  type Transaction,
} from '#libs/contract';
import { InstitutionError, operation, WalkLimitError, type Institution, type Page } from '#libs/connectors';
import type { ConsentRow } from '../consents/consent.queries.js';
import { BankReads, type Reading } from './bank-reads.service.js';
import { firstPage, RealTimeCursors, type Place, type Position } from './real-time-cursors.js';
import { clipWindow, newestFirst, type Window } from './row-window.js';

/** The query of the first page, and of the later ones: with a cursor, the window is the cursor's. */
export type RealTimeQuery = Pick<PageQuery, 'from' | 'before'> & { cursor?: unknown };

/** A page of the bank's own, and where it stands. */
interface Found {
  position: Position;
  answer: Page<Transaction>;
}

type ReadPage = (cursor: string | undefined) => Promise<Page<Transaction>>;

/** Transactions as the bank pages them: a call here is a call there, and nothing is kept. */
@Injectable()
export class RealTimeService {
  constructor(
    private readonly reads: BankReads,
    private readonly cursors: RealTimeCursors,
  ) {}

  /** One page, newest first, with the links of its neighbours. Throws a Problem for whatever the bank or the consent refuses. */
  async page(
    consent: ConsentRow,
    psu: PsuHeaders,
    { accountId, query }: { accountId: string; query: RealTimeQuery },
  ): Promise<{ rows: RealTimeTransaction[]; links: CursorLinks }> {
    const reading: Reading = { psu, anyOf: ['ACCOUNT_TRANSACTIONS'], demandsPsu: true };
    const institution = this.reads.permit(consent, reading);
    const owner = { consentId: consent.id, accountId };
    const { position, window } = this.placeOf(query, owner);
    const covered = clipWindow(window, consent);
    if (covered === undefined) {
      return { rows: [], links: this.cursors.linksOf({ position: firstPage, window, answer: { items: [] } }, owner) };
    }
    const found = await this.reads.read(consent, reading, ({ connector, call }) => {
      const read: ReadPage = (cursor) =>
        operation(connector, 'ACCOUNT_TRANSACTIONS')(call, accountId, rangeOf(covered, cursor));
      return reach(read, position, institution);
    });
    const rows = newestFirst(found.answer.items, covered, ({ date }) => date).map(toRealTime);
    return { rows, links: this.cursors.linksOf({ ...found, window }, owner) };
  }

  private placeOf({ from, before, cursor }: RealTimeQuery, owner: { consentId: string; accountId: string }): Place {
    if (cursor !== undefined && cursor !== '') return this.cursors.read(cursor, owner);
    const asked = readOffsetPage({ from, before });
    const window = { ...(asked.from ? { from: asked.from } : {}), ...(asked.before ? { before: asked.before } : {}) };
    return { position: firstPage, window };
  }
}

function rangeOf(window: Window, cursor: string | undefined) {
  return { ...window, ...(cursor === undefined ? {} : { cursor }) };
}

/**
 * The page of a position, in one call where the bank's word for it is known. A bank says what comes next and seldom more, so
 * the last page, and one that was skipped, are found by following its links as far as its bounds allow.
 */
async function reach(read: ReadPage, { from, ...target }: Position, institution: Institution): Promise<Found> {
  if (!from) return { position: target, answer: await read(target.cursor) };
  const seen = new Set<string>();
  let position = from;
  let answer = await read(position.cursor);
  while (answer.next !== undefined && (target.page === 'last' || position.page < target.page)) {
    const { next } = answer;
    if (seen.has(next)) throw new InstitutionError('malformed', "The institution's pages lead in a circle");
    if (seen.size >= institution.pageBounds.pages) throw new WalkLimitError('pages', institution.pageBounds.pages);
    seen.add(next);
    position = {
      page: position.page + 1,
      cursor: next,
      ...(position.cursor === undefined ? {} : { back: position.cursor }),
    };
    answer = await read(next);
  }
  return { position, answer };
}

const goneFromRealTime = [
  'amount',
  'currency',
  'enrichment',
  'transactionMutability',
] as const satisfies (keyof Transaction)[];

/** A real-time record is a transaction without what we add to it; its parties have the form of a payment's. */
function toRealTime(transaction: Transaction): RealTimeTransaction {
  const { payeeDetails, payerDetails, ...same } = transaction;
  for (const member of goneFromRealTime) delete same[member];
  const [payee, payer] = [identified(payeeDetails), identified(payerDetails)];
  return {
    ...same,
    ...(payee?.name === undefined ? {} : { payeeDetails: { ...payee, name: payee.name } }),
    ...(payer === undefined ? {} : { payerDetails: payer }),
  };
}

/** A party of a payment has an account, so one of whom the bank names none is not shown. */
function identified(
  party: Transaction['payeeDetails'],
): { name?: string; accountIdentifications: AccountIdentification[] } | undefined {
  const accountIdentifications = (party?.accountIdentifications ?? []).flatMap(({ type, identification }) =>
    type === undefined || identification === undefined ? [] : [{ type, identification }],
  );
  if (!party || accountIdentifications.length === 0) return undefined;
  return { ...(party.name === undefined ? {} : { name: party.name }), accountIdentifications };
}
