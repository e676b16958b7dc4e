import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Account } from '../account.js';
import type { BalanceType } from '../banks.js';
import { dayMs } from '../clock.js';
import { toAmount } from '../money.js';
import type { Access } from './access.js';
import { numbersIn } from './account-naming.js';
import { dateOf } from './bank-day.js';
import { modelOf } from './consent-request.js';
import { resourceIdOf, rightsOn, type BerlinConsent } from './consents.js';
import { linkTo, type BerlinContext } from './context.js';
import { refusals } from './error.js';

/** A signed amount: the framework writes the sign into the text. */
export function amountOf(minor: number, currency: string): { currency: string; amount: string } {
  return { currency, amount: `${minor < 0 ? '-' : ''}${toAmount(minor)}` };
}

/** The account that a consent calls by this id; anything else is unknown. */
export function sharedAccount({ bank, ledger }: BerlinContext, consent: BerlinConsent, resourceId: string): Account {
  const id = consent.accountIds.find((each) => resourceIdOf(bank, consent, each) === resourceId);
  const account = id === undefined ? undefined : ledger.account(id);
  if (!account || ledger.isClosed(account) || modelOf(consent.ask.access) === 'list')
    throw refusals.resourceUnknown('The account');
  return account;
}

export const resourceIdIn = (request: FastifyRequest): string => (request.params as { accountId: string }).accountId;

/** An account as the consent names it. */
export function referenceTo(
  { bank }: BerlinContext,
  { ask }: BerlinConsent,
  account: Account,
): { iban: string; maskedPan?: string; currency: string } {
  return { ...numbersIn(bank, ask.naming, account), currency: account.currency };
}

/** NextGenPSD2 1.3.x, sections 6.5.1 to 6.5.3: accounts, one account, its balances. */
export function registerAccounts(app: FastifyInstance, context: BerlinContext, access: Access): void {
  const { bank, ledger } = context;
  const path = `/banks/${bank.id}/v1/accounts`;
  const isWithBalance = (request: FastifyRequest): boolean =>
    (request.query as { withBalance?: string }).withBalance === 'true';

  app.get(path, async (request) => {
    const consent = await access.toData(request);
    access.spend(request, consent, 'accounts');
    const accounts = consent.accountIds.map((id) => ledger.account(id)).filter((account) => account !== undefined);
    return { accounts: accounts.map((account) => toDetails(context, consent, account, isWithBalance(request))) };
  });
  app.get(`${path}/:accountId`, async (request) => {
    const consent = await access.toData(request);
    const account = sharedAccount(context, consent, resourceIdIn(request));
    access.spend(request, consent, `accounts/${account.id}`);
    return { account: toDetails(context, consent, account, isWithBalance(request)) };
  });
  app.get(`${path}/:accountId/balances`, async (request) => {
    const consent = await access.toData(request);
    const account = sharedAccount(context, consent, resourceIdIn(request));
    if (!bank.tellsBalances) throw refusals.notOffered('Balances');
    if (!rightsOn(bank, consent, account).balances)
      throw refusals.consentInvalid('The consent does not cover balances');
    access.spend(request, consent, `accounts/${account.id}/balances`);
    return { account: referenceTo(context, consent, account), balances: toBalances(context, account) };
  });
}

function toDetails(context: BerlinContext, consent: BerlinConsent, account: Account, isWithBalance: boolean): object {
  const { bank, ledger } = context;
  const isClosed = ledger.isClosed(account);
  const { access } = consent.ask;
  const rights = rightsOn(bank, consent, account);
  const isList = modelOf(access) === 'list';
  const resourceId = resourceIdOf(bank, consent, account.id);
  const isNamedOwner = [access.allPsd2, access.availableAccounts, access.availableAccountsWithBalance].includes(
    'allAccountsWithOwnerName',
  );
  const hasBalances = rights.balances && !isClosed && ((isWithBalance && bank.honoursWithBalance) || isList);
  return {
    ...(!isList && { resourceId }),
    ...referenceTo(context, consent, account),
    name: account.nickname,
    product: account.description,
    cashAccountType: account.kind === 'savings' ? 'SVGS' : 'CACC',
    status: isClosed ? 'deleted' : 'enabled',
    bic: `${bank.bankCode}${bank.country}2LXXX`,
    usage: 'PRIV',
    ...(isNamedOwner && { ownerName: account.holder }),
    ...(hasBalances && { balances: toBalances(context, account) }),
    ...(!isList &&
      !isClosed && {
        _links: {
          ...(rights.balances && { balances: linkTo(context, `/accounts/${resourceId}/balances`) }),
          ...(rights.transactions && { transactions: linkTo(context, `/accounts/${resourceId}/transactions`) }),
        },
      }),
  };
}

/** The kinds of balance that this bank shows. A credit line is never counted in. */
export function toBalances({ bank, ledger, clock }: BerlinContext, account: Account): object[] {
  const figures = ledger.balances(account);
  const now = clock.now();
  const changed = { lastChangeDateTime: new Date(account.lastBookedAt).toISOString() };
  const lastNight = { referenceDate: dateOf(Math.floor(now / dayMs) * dayMs - dayMs) };
  const kinds: Record<BalanceType, [minor: number, more: object]> = {
    closingBooked: [figures.closedMinor, lastNight],
    expected: [figures.availableMinor, { referenceDate: dateOf(now) }],
    interimAvailable: [figures.availableMinor, { creditLimitIncluded: false, ...changed }],
    interimBooked: [figures.bookedMinor, changed],
  };
  return bank.balanceTypes.map((balanceType) => {
    const [minor, more] = kinds[balanceType];
    return { balanceType, balanceAmount: amountOf(minor, account.currency), ...more };
  });
}
