import type { FastifyInstance, FastifyRequest } from 'fastify';
import { dayMs, toWire } from '../clock.js';
import type { Account } from '../account.js';
import type { Ledger } from '../ledger.js';
import { toAmount } from '../money.js';
import type { BankContext } from '../oidc/authorisation-server.js';
import type { Access } from './access.js';
import { accountDataOf } from './account-consents.js';
import type { Consent } from './consents.js';
import { refusals } from './error.js';

const accountTypes: Record<string, string> = { current: 'CACC', savings: 'SVGS', card: 'CARD', euro: 'CACC' };

export function need(consent: Consent, ...anyOf: string[]): void {
  const { Permissions } = accountDataOf(consent);
  if (!anyOf.some((permission) => Permissions.includes(permission)))
    throw refusals.forbidden(`The consent lacks ${anyOf.join(' or ')}`);
}

export function may(consent: Consent, permission: string): boolean {
  return accountDataOf(consent).Permissions.includes(permission);
}

/** The account, when the PSU shared it and it is not closed; anything else is unknown, which the standard answers with 400. */
export function sharedAccount(ledger: Ledger, consent: Consent, id: string): Account {
  const account = consent.accountIds.includes(id) ? ledger.account(id) : undefined;
  if (!account || ledger.isClosed(account)) throw refusals.notFound('The account');
  return account;
}

/** The accounts that can be looked into. */
export function sharedAccounts(ledger: Ledger, consent: Consent): Account[] {
  return listedAccounts(ledger, consent).filter((account) => !ledger.isClosed(account));
}

/** Closed ones stay on the list. */
function listedAccounts(ledger: Ledger, consent: Consent): Account[] {
  return consent.accountIds.map((id) => ledger.account(id)).filter((account) => account !== undefined);
}

/** What the resources of account data are put together from. */
export interface AccountRoutes {
  context: BankContext;
  access: Access;
  ledger: Ledger;
}

export const accountIdOf = (request: FastifyRequest): string => (request.params as { accountId: string }).accountId;

/** Read/Write v4.0, accounts and balances, with a token that a PSU authorised. */
export function registerAccountData(app: FastifyInstance, context: BankContext, access: Access, ledger: Ledger): void {
  const { bank, resources } = context;
  const path = `/banks/${bank.id}/open-banking/${bank.version}/aisp`;
  const answer = (Data: object, self: string): object => ({
    Data,
    Links: { Self: `${resources}/open-banking/${bank.version}/aisp${self}` },
    Meta: { TotalPages: 1 },
  });
  const balancesOf = (account: Account): object[] => toBalances(account, ledger.balances(account), context.clock.now());

  app.get(`${path}/accounts`, async (request) => {
    const consent = await access.toData(request);
    return answer(
      {
        Account: listedAccounts(ledger, consent).map((account) => ({
          ...toAccount(account, consent, context),
          ...(ledger.isClosed(account) && { Status: 'Deleted' }),
        })),
      },
      '/accounts',
    );
  });
  app.get(`${path}/accounts/:accountId`, async (request) => {
    const consent = await access.toData(request);
    const account = sharedAccount(ledger, consent, accountIdOf(request));
    return answer({ Account: [toAccount(account, consent, context)] }, `/accounts/${account.id}`);
  });
  app.get(`${path}/accounts/:accountId/balances`, async (request) => {
    const consent = await access.toData(request);
    need(consent, 'ReadBalances');
    const account = sharedAccount(ledger, consent, accountIdOf(request));
    return answer({ Balance: balancesOf(account) }, `/accounts/${account.id}/balances`);
  });
  app.get(`${path}/balances`, async (request) => {
    const consent = await access.toData(request);
    need(consent, 'ReadBalances');
    return answer({ Balance: sharedAccounts(ledger, consent).flatMap((account) => balancesOf(account)) }, '/balances');
  });
}

/** Basic shows what the account is, Detail also whose it is and its numbers (section 2.6). */
function toAccount(account: Account, consent: Consent, { bank }: BankContext): object {
  const basic = {
    AccountId: account.id,
    Status: 'Enabled',
    StatusUpdateDateTime: toWire(account.openedAt),
    Currency: account.currency,
    AccountCategory: 'Personal',
    AccountTypeCode: accountTypes[account.kind] ?? 'OTHR',
    Description: account.description,
    Nickname: account.nickname,
    OpeningDate: toWire(account.openedAt),
  };
  if (!may(consent, 'ReadAccountsDetail')) return basic;
  const Name = account.holder;
  const identifications = [
    ...(account.sortCode !== null && account.accountNumber !== null
      ? [
          {
            SchemeName: 'UK.OBIE.SortCodeAccountNumber',
            Identification: `${account.sortCode}${account.accountNumber}`,
            Name,
          },
        ]
      : []),
    ...(account.iban === null ? [] : [{ SchemeName: 'UK.OBIE.IBAN', Identification: account.iban, Name }]),
    ...(account.maskedPan === null ? [] : [{ SchemeName: 'UK.OBIE.PAN', Identification: account.maskedPan, Name }]),
  ];
  return {
    ...basic,
    Account: identifications,
    Servicer: { SchemeName: 'UK.OBIE.BICFI', Identification: `${bank.bankCode}GB2LXXX`, Name: bank.name },
  };
}

/** Interim figures of now, and the booked close of last midnight. A zero balance counts as credit. */
function toBalances(
  account: Account,
  figures: { bookedMinor: number; availableMinor: number; closedMinor: number },
  now: number,
): object[] {
  const { id, currency, creditLimitMinor, kind } = account;
  const midnight = Math.floor(now / dayMs) * dayMs;
  const balance = (Type: string, minor: number, at: number, CreditLine?: object[]): object => ({
    AccountId: id,
    CreditDebitIndicator: minor < 0 ? 'Debit' : 'Credit',
    Type,
    DateTime: toWire(at),
    Amount: { Amount: toAmount(minor), Currency: currency },
    ...(CreditLine && { CreditLine }),
  });
  const line =
    creditLimitMinor > 0
      ? [
          {
            Included: false,
            Type: kind === 'card' ? 'Credit' : 'Pre-Agreed',
            Amount: { Amount: toAmount(creditLimitMinor), Currency: currency },
          },
        ]
      : undefined;
  return [
    balance('ITAV', figures.availableMinor, now, line),
    balance('ITBD', figures.bookedMinor, now),
    balance('CLBD', figures.closedMinor, midnight),
  ];
}
