import type { FastifyInstance } from 'fastify';
import type { Account, Entry } from '../account.js';
import { bentRow, heldRows } from '../bent-rows.js';
import { dayMs } from '../clock.js';
import type { EntryDetail } from '../happening.js';
import type { PageQuery } from '../ledger.js';
import type { FaultName } from '../scenarios.js';
import type { Access } from './access.js';
import { amountOf, referenceTo, resourceIdIn, sharedAccount, toBalances } from './account-routes.js';
import { dateOf, daysAfter, startOf } from './bank-day.js';
import { rightsOn, type BerlinConsent } from './consents.js';
import { linkTo, type BerlinContext } from './context.js';
import { refusals, type Link } from './error.js';

const scaWindowMs = 300_000;
const scaWindowReachMs = 90 * dayMs;
const pendingMax = 1000;

interface Asked {
  bookingStatus: 'booked' | 'pending' | 'both';
  /** Instants: from the first of `dateFrom` to the last of `dateTo`. */
  from: number;
  to: number;
  after: PageQuery['after'];
  isLaterPage: boolean;
  isWithBalance: boolean;
}

/** NextGenPSD2 1.3.x, section 6.5.4: transactions, newest first, in linked pages; pending rows stand on the first one. */
export function registerTransactions(app: FastifyInstance, context: BerlinContext, access: Access): void {
  const { bank } = context;
  const path = `/banks/${bank.id}/v1/accounts/:accountId/transactions`;
  app.get(path, async (request) => {
    const consent = await access.toData(request);
    const resourceId = resourceIdIn(request);
    const account = sharedAccount(context, consent, resourceId);
    if (!bank.tellsTransactions) throw refusals.notOffered('Transactions');
    if (!rightsOn(bank, consent, account).transactions)
      throw refusals.consentInvalid('The consent does not cover transactions');
    const query = new URL(request.raw.url ?? '/', 'http://bank').searchParams;
    const asked = readQuery(query, context.clock.now());
    const fault = context.faultOf(request);
    if (fault === 'sca-window') checkWindow(consent, asked, context.clock.now());
    if (!asked.isLaterPage) access.spend(request, consent, `accounts/${account.id}/transactions`);
    return answer(context, { consent, account, resourceId, asked, query, fault });
  });
  app.get(`${path}/:transactionId`, async (request) => {
    const consent = await access.toData(request);
    const account = sharedAccount(context, consent, resourceIdIn(request));
    const { transactionId } = request.params as { transactionId: string };
    const entry = context.ledger.entry(account, transactionId);
    if (!bank.tellsTransactions) throw refusals.notOffered('Transactions');
    if (!rightsOn(bank, consent, account).transactions || !entry) throw refusals.resourceUnknown('The transaction');
    access.spend(request, consent, `accounts/${account.id}/transactions/${entry.id}`);
    return { transactionsDetails: toTransaction(context, account, entry, undefined) };
  });
}

function readQuery(query: URLSearchParams, now: number): Asked {
  const bookingStatus = query.get('bookingStatus');
  if (bookingStatus === null) throw refusals.format('bookingStatus', 'bookingStatus is missing');
  if (bookingStatus !== 'booked' && bookingStatus !== 'pending' && bookingStatus !== 'both')
    throw refusals.parameter('bookingStatus', 'bookingStatus can be booked, pending or both');
  for (const name of ['entryReferenceFrom', 'deltaList'])
    if (query.has(name)) throw refusals.parameter(name, 'Delta access is not offered');
  const date = (name: string): string | undefined => {
    const text = query.get(name) ?? undefined;
    if (text !== undefined && startOf(text) === undefined) throw refusals.format(name, `${name} is no date`);
    return text;
  };
  const dateFrom = date('dateFrom');
  if (dateFrom === undefined) throw refusals.format('dateFrom', 'dateFrom is missing');
  const dateTo = date('dateTo') ?? dateOf(now);
  if (dateTo < dateFrom && query.has('dateTo')) throw refusals.period('dateTo lies before dateFrom');
  const page = query.get('page');
  return {
    bookingStatus,
    from: startOf(dateFrom) ?? 0,
    to: (startOf(daysAfter(dateTo, 1)) ?? now) - 1,
    after: page === null ? undefined : readPage(page),
    isLaterPage: page !== null,
    isWithBalance: query.get('withBalance') === 'true',
  };
}

function readPage(text: string): PageQuery['after'] {
  const match = /^(\d{1,15})\.(\d{1,9})$/.exec(Buffer.from(text, 'base64url').toString());
  if (!match) throw refusals.format('page', 'The page is not known');
  return { bookedAt: Number(match[1]), seq: Number(match[2]) };
}

function checkWindow(consent: BerlinConsent, asked: Asked, now: number): void {
  if (now - (consent.authorisedAt ?? 0) > scaWindowMs && asked.from < now - scaWindowReachMs)
    throw refusals.period(`dateFrom lies before ${dateOf(now - scaWindowReachMs + dayMs)}`);
}

interface Told {
  consent: BerlinConsent;
  account: Account;
  resourceId: string;
  asked: Asked;
  query: URLSearchParams;
  fault: FaultName | undefined;
}

function answer(context: BerlinContext, { consent, account, resourceId, asked, query, fault }: Told): object {
  const { bank, ledger } = context;
  const { bookingStatus, from, to, after } = asked;
  const rows =
    bookingStatus === 'pending'
      ? []
      : ledger.page(account, { from, to, after, status: 'booked', limit: bank.pageSize + 1 });
  const page = fault === 'preparing' ? [] : rows.slice(0, bank.pageSize);
  const last = rows.length > bank.pageSize ? page.at(-1) : undefined;
  // Pending rows have no booking day yet: the day on which they were entered counts.
  const pending =
    bookingStatus === 'booked' || asked.isLaterPage || fault === 'preparing'
      ? []
      : ledger
          .page(account, { status: 'pending', limit: pendingMax })
          .filter(({ madeAt }) => madeAt >= from && madeAt <= to);
  const now = context.clock.now();
  const toWire = (entries: Entry[]): object[] =>
    entries
      .map((entry, place) => bentRow(fault, entry, place, now))
      .filter((entry) => entry !== undefined)
      .map((entry) => toTransaction(context, account, entry, fault));
  const holds = asked.isLaterPage ? [] : heldRows(fault, account, now);
  const link = (cursor: string | undefined): Link => {
    const params = new URLSearchParams([...query].filter(([name]) => name !== 'page'));
    if (cursor !== undefined) params.set('page', cursor);
    return linkTo(context, `/accounts/${resourceId}/transactions?${params.toString()}`);
  };
  const next = last && link(Buffer.from(`${last.bookedAt}.${last.seq}`).toString('base64url'));
  return {
    account: referenceTo(context, consent, account),
    transactions: {
      ...(bookingStatus !== 'pending' && { booked: toWire(page) }),
      ...(bookingStatus !== 'booked' && { pending: toWire([...holds, ...pending]) }),
      _links: {
        account: linkTo(context, `/accounts/${resourceId}`),
        first: link(undefined),
        ...nextLink(fault, link(query.get('page') ?? undefined), next),
      },
    },
    ...(asked.isWithBalance &&
      bank.honoursWithBalance &&
      bank.tellsBalances && { balances: toBalances(context, account) }),
  };
}

function nextLink(fault: FaultName | undefined, here: Link, next: Link | undefined): { next?: Link } {
  if (fault === 'loop-next' || fault === 'preparing') return { next: here };
  if (next === undefined) return {};
  const query = new URLSearchParams(next.href.split('?')[1]);
  if (fault === 'cut-next') return { next: { href: `https://null/v1/accounts?${query.toString()}` } };
  return { next: fault === 'lost-query' ? { href: `?page=${query.get('page')}` } : next };
}

function toTransaction(context: BerlinContext, account: Account, entry: Entry, fault: FaultName | undefined): object {
  const { bank } = context;
  const isBooked = entry.balanceMinor !== null;
  const detail = JSON.parse(entry.detail) as EntryDetail;
  const [family, subFamily] = detail.iso;
  // A bank with the sign wrong: what leaves the account is written as if it came in.
  const minor = fault === 'wrong-sign' ? Math.abs(entry.amountMinor) : entry.amountMinor;
  return {
    ...((isBooked || bank.hasIdsWhilePending) && { transactionId: entry.id }),
    ...(isBooked && { entryReference: fault === 'placeholder-ids' ? entry.id : String(entry.seq + 1) }),
    ...(isBooked && fault !== 'no-dates' && { bookingDate: dateOf(entry.bookedAt) }),
    ...((fault !== 'no-dates' || isBooked) && { valueDate: dateOf(entry.madeAt) }),
    transactionAmount: amountOf(minor, account.currency),
    // What a direct debit refers to is its mandate; everything else carries the reference from end to end.
    ...(detail.reference !== undefined && { [subFamily === 'PMDD' ? 'mandateId' : 'endToEndId']: detail.reference }),
    ...parties(detail, entry.amountMinor),
    remittanceInformationUnstructured: detail.info,
    bankTransactionCode: `PMNT-${family}-${subFamily}`,
    proprietaryBankTransactionCode: detail.code,
    ...(detail.exchange && {
      currencyExchange: [
        {
          sourceCurrency: account.currency,
          targetCurrency: detail.exchange.currency,
          unitCurrency: account.currency,
          exchangeRate: String(detail.exchange.rate),
          quotationDate: dateOf(entry.madeAt),
        },
      ],
    }),
    ...(isBooked && {
      balanceAfterTransaction: {
        balanceType: 'interimBooked',
        balanceAmount: amountOf(entry.balanceMinor ?? 0, account.currency),
      },
    }),
  };
}

/** Who stands on the other side: the creditor of what leaves the account, the debtor of what comes in. */
function parties({ merchant, party }: EntryDetail, amountMinor: number): object {
  const name = merchant?.name ?? party?.name;
  if (name === undefined) return {};
  const iban = party?.scheme?.endsWith('IBAN') ? party.identification : undefined;
  return amountMinor < 0
    ? { creditorName: name, ...(iban !== undefined && { creditorAccount: { iban } }) }
    : { debtorName: name, ...(iban !== undefined && { debtorAccount: { iban } }) };
}
