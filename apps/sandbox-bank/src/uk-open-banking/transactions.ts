import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bentRow, heldRows } from '../bent-rows.js';
import { dayMs, fromQueryDate, toWire } from '../clock.js';
import type { Account, Entry } from '../account.js';
import type { Ledger, PageQuery } from '../ledger.js';
import type { EntryDetail } from '../happening.js';
import { toAmount } from '../money.js';
import type { BankContext } from '../oidc/authorisation-server.js';
import type { FaultName } from '../scenarios.js';
import type { Access } from './access.js';
import { accountIdOf, may, need, sharedAccount, sharedAccounts } from './account-data.js';
import { accountDataOf } from './account-consents.js';
import type { Consent } from './consents.js';
import { refusals } from './error.js';

const scaWindowMs = 300_000;
const scaWindowReachMs = 90 * dayMs;

type Cursor = { bookedAt: number; seq: number; account: string };

/** Read/Write v4.0, transactions: newest first, in linked pages. How a page is addressed is the bank's own matter. */
export function registerTransactions(
  app: FastifyInstance,
  context: BankContext,
  access: Access,
  ledger: Ledger,
  faultOf: (request: FastifyRequest) => FaultName | undefined,
): void {
  const { bank } = context;
  const path = `/banks/${bank.id}/open-banking/${bank.version}/aisp`;
  const read = async (
    request: FastifyRequest,
    accountsOf: (consent: Consent) => Account[],
    self: string,
  ): Promise<object> => {
    const consent = await access.toData(request);
    need(consent, 'ReadTransactionsBasic', 'ReadTransactionsDetail');
    const accounts = accountsOf(consent);
    return answerPage({ context, ledger, consent, accounts, self, fault: faultOf(request), query: queryOf(request) });
  };
  app.get(`${path}/accounts/:accountId/transactions`, (request) =>
    read(
      request,
      (consent) => [sharedAccount(ledger, consent, accountIdOf(request))],
      `/accounts/${accountIdOf(request)}/transactions`,
    ),
  );
  app.get(`${path}/transactions`, (request) =>
    read(request, (consent) => sharedAccounts(ledger, consent), '/transactions'),
  );
}

interface Asked {
  context: BankContext;
  ledger: Ledger;
  consent: Consent;
  accounts: Account[];
  self: string;
  fault: FaultName | undefined;
  query: URLSearchParams;
}

function queryOf(request: FastifyRequest): URLSearchParams {
  return new URL(request.raw.url ?? '/', 'http://bank').searchParams;
}

function answerPage(asked: Asked): object {
  const { context, ledger, consent, accounts, self, fault, query } = asked;
  const { bank, resources, clock } = context;
  const range = rangeOf(query, consent);
  if (
    fault === 'sca-window' &&
    clock.now() - (consent.authorisedAt ?? 0) > scaWindowMs &&
    (range.from ?? 0) < clock.now() - scaWindowReachMs
  )
    throw refusals.reauthenticate();
  const cursor = cursorOf(query, accounts);
  if (fault === 'lost-query' && cursor && !query.has('fromBookingDateTime'))
    throw refusals.fieldInvalid('fromBookingDateTime', 'The query of the first page is missing');
  const rows: { account: Account; entry: Entry }[] = [];
  let index = cursor ? accounts.findIndex((account) => account.id === cursor.account) : 0;
  let after: PageQuery['after'] = cursor;
  // The bulk resource walks one account after the other; one row more than a page shows whether there is a next one.
  for (; index < accounts.length && rows.length <= bank.pageSize; index += 1) {
    const account = accounts[index] as Account;
    const found = ledger.page(account, {
      ...range,
      direction: directionOf(consent),
      after,
      limit: bank.pageSize + 1 - rows.length,
    });
    rows.push(...found.map((entry) => ({ account, entry })));
    after = undefined;
  }
  const page = fault === 'preparing' ? [] : rows.slice(0, bank.pageSize);
  const last = rows.length > bank.pageSize ? page.at(-1) : undefined;
  const link = (page_: string | undefined): string => {
    const params = new URLSearchParams([...query].filter(([name]) => name !== 'page'));
    if (page_ !== undefined) params.set('page', page_);
    return `${resources}/open-banking/${bank.version}/aisp${self}${params.size > 0 ? `?${params.toString()}` : ''}`;
  };
  const here = link(query.get('page') ?? undefined);
  const next = last && link(toCursor({ bookedAt: last.entry.bookedAt, seq: last.entry.seq, account: last.account.id }));
  const holds = cursor
    ? []
    : accounts.flatMap((account) => heldRows(fault, account, clock.now()).map((entry) => ({ account, entry })));
  const shown = [...holds, ...page].flatMap(({ account, entry }, place) => {
    const bent = bentRow(fault, entry, place, clock.now());
    return bent ? [{ account, entry: bent }] : [];
  });
  const firstDay = Math.min(...accounts.map((account) => account.firstDay));
  return {
    Data: { Transaction: shown.map(({ account, entry }) => toTransaction(account, entry, consent, context, fault)) },
    Links: { Self: here, First: link(undefined), ...nextLink(fault, here, next) },
    Meta: {
      ...(Number.isFinite(firstDay) && { FirstAvailableDateTime: toWire(firstDay * dayMs) }),
      LastAvailableDateTime: toWire(clock.now()),
    },
  };
}

function nextLink(fault: FaultName | undefined, here: string, next: string | undefined): { Next?: string } {
  if (fault === 'loop-next' || fault === 'preparing') return { Next: here };
  if (next === undefined) return {};
  const { search, searchParams } = new URL(next);
  if (fault === 'cut-next') return { Next: `https://null/open-banking/v4.0/aisp/accounts${search}` };
  return { Next: fault === 'lost-query' ? `?page=${searchParams.get('page')}` : next };
}

/** What is asked for, within what the consent allows: a range outside is no error, the allowed part of it is returned. */
function rangeOf(query: URLSearchParams, consent: Consent): { from?: number; to?: number } {
  const asked = (name: string): number | undefined => {
    const text = query.get(name);
    if (text === null) return undefined;
    const at = fromQueryDate(text);
    if (at === undefined) throw refusals.fieldInvalid(name, `${name} is no date and time`);
    return at;
  };
  const { TransactionFromDateTime, TransactionToDateTime } = accountDataOf(consent);
  const froms = [asked('fromBookingDateTime'), TransactionFromDateTime && Date.parse(TransactionFromDateTime)].filter(
    (at) => typeof at === 'number',
  );
  const tos = [asked('toBookingDateTime'), TransactionToDateTime && Date.parse(TransactionToDateTime)].filter(
    (at) => typeof at === 'number',
  );
  return { ...(froms.length > 0 && { from: Math.max(...froms) }), ...(tos.length > 0 && { to: Math.min(...tos) }) };
}

function directionOf(consent: Consent): PageQuery['direction'] {
  const credits = may(consent, 'ReadTransactionsCredits');
  const debits = may(consent, 'ReadTransactionsDebits');
  if (credits && debits) return undefined;
  return credits ? 'credits' : 'debits';
}

function toCursor({ bookedAt, seq, account }: Cursor): string {
  return Buffer.from(`${account}.${bookedAt}.${seq}`).toString('base64url');
}

function cursorOf(query: URLSearchParams, accounts: Account[]): Cursor | undefined {
  const text = query.get('page');
  if (text === null) return undefined;
  const match = /^([0-9a-f]{24})\.(\d{1,15})\.(\d{1,9})$/.exec(Buffer.from(text, 'base64url').toString());
  if (!match || !accounts.some((account) => account.id === match[1]))
    throw refusals.fieldInvalid('page', 'The page is not known');
  return { account: match[1] ?? '', bookedAt: Number(match[2]), seq: Number(match[3]) };
}

const indicator = (minor: number): string => (minor < 0 ? 'Debit' : 'Credit');

function toTransaction(
  account: Account,
  entry: Entry,
  consent: Consent,
  context: BankContext,
  fault: FaultName | undefined,
): object {
  const isBooked = entry.balanceMinor !== null;
  const detail = JSON.parse(entry.detail) as EntryDetail;
  const Amount = toAmount(entry.amountMinor);
  const basic = {
    AccountId: account.id,
    TransactionId: entry.id,
    ...(detail.reference !== undefined && { TransactionReference: detail.reference }),
    CreditDebitIndicator: indicator(entry.amountMinor),
    Status: isBooked ? 'BOOK' : 'PDNG',
    TransactionMutability: isBooked ? 'Immutable' : 'Mutable',
    ...(fault !== 'no-dates' && { BookingDateTime: toWire(entry.bookedAt) }),
    ...((fault !== 'no-dates' || isBooked) && { ValueDateTime: toWire(entry.madeAt) }),
    Amount: {
      Amount: fault === 'wrong-sign' && entry.amountMinor < 0 ? `-${Amount}` : Amount,
      Currency: account.currency,
    },
    BankTransactionCode: { Code: detail.iso[0], SubCode: detail.iso[1] },
    ProprietaryBankTransactionCode: { Code: detail.code, Issuer: context.bank.name },
  };
  if (!may(consent, 'ReadTransactionsDetail')) return basic;
  return {
    ...basic,
    TransactionInformation: detail.info,
    ...(entry.balanceMinor !== null && {
      Balance: {
        CreditDebitIndicator: indicator(entry.balanceMinor),
        Type: 'ITBD',
        Amount: { Amount: toAmount(entry.balanceMinor), Currency: account.currency },
      },
    }),
    ...parties(detail, entry.amountMinor),
    ...(detail.card && { CardInstrument: { CardSchemeName: 'MasterCard', AuthorisationType: detail.card } }),
    ...(detail.exchange && {
      CurrencyExchange: {
        SourceCurrency: account.currency,
        TargetCurrency: detail.exchange.currency,
        UnitCurrency: account.currency,
        ExchangeRate: detail.exchange.rate,
        InstructedAmount: { Amount: toAmount(detail.exchange.amountMinor), Currency: detail.exchange.currency },
      },
    }),
  };
}

function parties({ merchant, party }: EntryDetail, amountMinor: number): object {
  if (merchant) return { MerchantDetails: { MerchantName: merchant.name, MerchantCategoryCode: merchant.mcc } };
  if (!party) return {};
  const other = {
    Name: party.name,
    ...(party.scheme !== undefined && { SchemeName: party.scheme, Identification: party.identification }),
  };
  return amountMinor < 0 ? { CreditorAccount: other } : { DebtorAccount: other };
}
