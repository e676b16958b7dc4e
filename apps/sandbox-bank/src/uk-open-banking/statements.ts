import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Account } from '../account.js';
import { dayMs, fromQueryDate, toWire } from '../clock.js';
import type { EntryDetail } from '../happening.js';
import { toDisplay, toAmount } from '../money.js';
import { accountNumberOf } from '../psu-pages.js';
import { Random } from '../random.js';
import { accountDataOf } from './account-consents.js';
import { accountIdOf, may, need, sharedAccount, type AccountRoutes } from './account-data.js';
import type { Consent } from './consents.js';
import { refusals } from './error.js';
import { toPdf } from './pdf.js';

/** A month's statement. Instants are epoch milliseconds, money is minor units. */
interface Statement {
  id: string;
  month: string;
  start: number;
  end: number;
  openingMinor: number;
  closingMinor: number;
  creditMinor: number;
  debitMinor: number;
}

/** The month some months after `2026-10`. */
function monthAfter(month: string, later: number): string {
  const [year, number] = month.split('-').map(Number);
  return new Date(Date.UTC(year ?? 0, (number ?? 1) - 1 + later, 1)).toISOString().slice(0, 7);
}

/** Midnight of the first by the clock on the bank's wall. */
const startOf = (month: string): number => fromQueryDate(`${month}-01`) ?? 0;

/** Read/Write v4.0, statements of whole calendar months, newest first: the list, one of them, and its PDF. */
export function registerStatements(app: FastifyInstance, routes: AccountRoutes): void {
  const { context, access, ledger } = routes;
  const { bank, resources, clock } = context;
  const api = `/open-banking/${bank.version}/aisp`;
  const path = `/banks/${bank.id}${api}/accounts/:accountId/statements`;
  const open = async (request: FastifyRequest): Promise<{ consent: Consent; account: Account; all: Statement[] }> => {
    const consent = await access.toData(request);
    need(consent, 'ReadStatementsBasic', 'ReadStatementsDetail');
    const account = sharedAccount(ledger, consent, accountIdOf(request));
    return { consent, account, all: within(statementsOf(routes, account, clock.now()), consent) };
  };
  const answer = (account: Account, consent: Consent, shown: Statement[], below = ''): object => ({
    Data: { Statement: shown.map((each) => toBody(account, consent, each)) },
    Links: { Self: `${resources}${api}/accounts/${account.id}/statements${below}` },
    Meta: { TotalPages: 1 },
  });
  const named = (all: Statement[], request: FastifyRequest): Statement => {
    const { statementId } = request.params as { statementId: string };
    const found = all.find((each) => each.id === statementId);
    if (!found) throw refusals.notFound('The statement');
    return found;
  };
  app.get(path, async (request) => {
    const { consent, account, all } = await open(request);
    const query = new URL(request.raw.url ?? '/', 'http://bank').searchParams;
    const from = dateIn(query, 'fromStatementDateTime') ?? 0;
    const to = dateIn(query, 'toStatementDateTime') ?? Number.MAX_SAFE_INTEGER;
    return answer(
      account,
      consent,
      all.filter((each) => each.start >= from && each.end <= to),
    );
  });
  app.get(`${path}/:statementId`, async (request) => {
    const { consent, account, all } = await open(request);
    const statement = named(all, request);
    return answer(account, consent, [statement], `/${statement.id}`);
  });
  app.get(`${path}/:statementId/file`, async (request, reply) => {
    const { consent, account, all } = await open(request);
    need(consent, 'ReadStatementsDetail');
    const statement = named(all, request);
    return reply
      .header('content-type', 'application/pdf')
      .header('content-disposition', `attachment; filename="statement-${statement.month}.pdf"`)
      .send(toPdf(linesOf(routes, account, statement), `${bank.name} ${statement.month}`));
  });
}

function dateIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const at = fromQueryDate(text);
  if (at === undefined) throw refusals.fieldInvalid(name, `${name} is no date and time`);
  return at;
}

function statementsOf({ ledger }: AccountRoutes, account: Account, now: number): Statement[] {
  const statements: Statement[] = [];
  let openingMinor = account.openingMinor;
  let start = account.firstDay * dayMs;
  let month = new Date(start).toISOString().slice(0, 7);
  for (let next = monthAfter(month, 1); startOf(next) <= now; next = monthAfter(month, 1)) {
    const { creditMinor, debitMinor } = ledger.flows(account, start, startOf(next));
    const closingMinor = openingMinor + creditMinor + debitMinor;
    const id = new Random(`statement|${account.id}|${month}`).hex(16);
    const end = startOf(next) - 1000;
    statements.push({ id, month, start, end, openingMinor, closingMinor, creditMinor, debitMinor });
    openingMinor = closingMinor;
    start = startOf(next);
    month = next;
  }
  return statements.toReversed();
}

/** Only statements that lie wholly inside the consent's period are shown. */
function within(statements: Statement[], consent: Consent): Statement[] {
  const { TransactionFromDateTime, TransactionToDateTime } = accountDataOf(consent);
  const from = TransactionFromDateTime === undefined ? 0 : Date.parse(TransactionFromDateTime);
  const to = TransactionToDateTime === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(TransactionToDateTime);
  return statements.filter((each) => each.start >= from && each.end <= to);
}

/** Basic tells the period, Detail also the amounts. */
function toBody(account: Account, consent: Consent, statement: Statement): object {
  const basic = {
    AccountId: account.id,
    StatementId: statement.id,
    StatementReference: statement.month,
    Type: 'RegularPeriodic',
    StartDateTime: toWire(statement.start),
    EndDateTime: toWire(statement.end),
    CreationDateTime: toWire(statement.end + 7_201_000),
    StatementDescription: [`Statement of ${statement.month}`],
    StatementDateTime: [{ DateTime: toWire(startOf(monthAfter(statement.month, 2))), Type: 'UK.OBIE.NextStatement' }],
  };
  if (!may(consent, 'ReadStatementsDetail')) return basic;
  const amount = (Type: string, minor: number): object => ({
    CreditDebitIndicator: minor < 0 ? 'Debit' : 'Credit',
    Type,
    Amount: { Amount: toAmount(minor), Currency: account.currency },
  });
  return {
    ...basic,
    StatementAmount: [
      amount('UK.OBIE.PreviousClosingBalance', statement.openingMinor),
      amount('UK.OBIE.TotalCredits', statement.creditMinor),
      amount('UK.OBIE.TotalDebits', statement.debitMinor),
      amount('UK.OBIE.ClosingBalance', statement.closingMinor),
    ],
  };
}

/** What is printed: the account, the balances, and every row of the month. */
function linesOf({ context, ledger }: AccountRoutes, account: Account, statement: Statement): string[] {
  const money = (minor: number): string => toDisplay(minor, account.currency).replace('−', '-').padStart(14);
  const rows = ledger.page(account, {
    from: statement.start,
    to: statement.end + 999,
    status: 'booked',
    limit: 10_000,
  });
  return [
    context.bank.name,
    `Statement of ${statement.month}`,
    '',
    `${account.holder}, ${account.description}, ${accountNumberOf(account)}`,
    '',
    `Balance brought forward ${money(statement.openingMinor)}`,
    `Money in                ${money(statement.creditMinor)}`,
    `Money out               ${money(statement.debitMinor)}`,
    `Balance carried forward ${money(statement.closingMinor)}`,
    '',
    ...rows.toReversed().map((row) => {
      const { info } = JSON.parse(row.detail) as EntryDetail;
      const day = new Date(row.bookedAt).toISOString().slice(0, 10);
      return `${day}  ${info.slice(0, 44).padEnd(44)} ${money(row.amountMinor)} ${money(row.balanceMinor ?? 0)}`;
    }),
  ];
}
