import type { BerlinGroupBank } from '../banks.js';
import type { Naming } from './account-naming.js';
import { daysAfter, startOf } from './bank-day.js';
import { refusals } from './error.js';

/** An account as a TPP names it. The currency tells sub-accounts of one IBAN apart. */
export interface AccountReference {
  iban: string;
  currency?: string;
}

const lists = ['accounts', 'balances', 'transactions'] as const;
type List = (typeof lists)[number];

/** What access a consent asks for: one of the four models of section 6.3. */
export interface AccountAccess {
  accounts?: AccountReference[];
  balances?: AccountReference[];
  transactions?: AccountReference[];
  allPsd2?: 'allAccounts' | 'allAccountsWithOwnerName';
  availableAccounts?: 'allAccounts' | 'allAccountsWithOwnerName';
  availableAccountsWithBalance?: 'allAccounts' | 'allAccountsWithOwnerName';
}

export type AccessModel = 'global' | 'list' | 'bank-offered' | 'dedicated';

export interface ConsentAsk {
  access: AccountAccess;
  recurringIndicator: boolean;
  /** The last day of the consent, in the bank's own calendar. */
  validUntil: string;
  frequencyPerDay: number;
  /** What a fault has made of it; no TPP asks for it. */
  naming?: Naming;
}

const wholes = ['allPsd2', 'availableAccounts', 'availableAccountsWithBalance'] as const;
const mostReadsPerDay = 4;
const mostDays = 180;

export function modelOf(access: AccountAccess): AccessModel {
  if (access.allPsd2) return 'global';
  if (access.availableAccounts ?? access.availableAccountsWithBalance) return 'list';
  return lists.some((name) => (access[name]?.length ?? 0) > 0) ? 'dedicated' : 'bank-offered';
}

/** Every account that a dedicated consent names: balances and transactions imply the account itself. */
export function namedAccounts(access: AccountAccess): AccountReference[] {
  return lists.flatMap((name) => access[name] ?? []);
}

export const isNamed = (
  references: readonly AccountReference[],
  account: { iban: string | null; currency: string },
): boolean =>
  references.some(
    (each) => each.iban === account.iban && (each.currency === undefined || each.currency === account.currency),
  );

/** Reads the body of POST /v1/consents (section 6.3.1); what the bank may shorten, it shortens. */
export function readConsent(bank: BerlinGroupBank, body: unknown, today: string): ConsentAsk {
  const members = membersOf(body, '');
  const flag = (name: string): boolean => {
    const value = members.get(name);
    if (typeof value !== 'boolean') throw refusals.format(name, `${name} must be true or false`);
    return value;
  };
  const access = readAccess(members.get('access'));
  const recurringIndicator = flag('recurringIndicator');
  if (flag('combinedServiceIndicator')) throw refusals.sessions();
  const asked = members.get('frequencyPerDay');
  if (typeof asked !== 'number' || !Number.isInteger(asked) || asked < 1)
    throw refusals.format('frequencyPerDay', 'frequencyPerDay must be a whole number of at least 1');
  if (!recurringIndicator && asked !== 1)
    throw refusals.format('frequencyPerDay', 'frequencyPerDay must be 1 when the access is not recurring');
  const until = members.get('validUntil');
  if (typeof until !== 'string' || startOf(until) === undefined)
    throw refusals.format('validUntil', 'validUntil must be a date');
  if (until < today) throw refusals.format('validUntil', 'validUntil is past');
  checkModel(bank, access, recurringIndicator);
  const last = daysAfter(today, mostDays);
  return {
    access,
    recurringIndicator,
    validUntil: until > last ? last : until,
    frequencyPerDay: Math.min(asked, mostReadsPerDay),
  };
}

function checkModel(bank: BerlinGroupBank, access: AccountAccess, isRecurring: boolean): void {
  const model = modelOf(access);
  if (model === 'bank-offered' && bank.approach === 'embedded')
    throw refusals.service('A bank-offered consent needs pages of the bank, which the embedded approach has not');
  if (model === 'list' && isRecurring) throw refusals.service('A list of accounts is not given on a recurring consent');
  if (!bank.tellsBalances && (access.balances ?? access.availableAccountsWithBalance))
    throw refusals.service('Balances are not offered');
  if (!bank.tellsTransactions && access.transactions) throw refusals.service('Transactions are not offered');
}

function readAccess(value: unknown): AccountAccess {
  const members = membersOf(value, 'access');
  const access: AccountAccess = {};
  for (const name of lists) {
    const list = members.get(name);
    if (list !== undefined) access[name] = readList(list, name);
  }
  for (const name of wholes) {
    const whole = members.get(name);
    if (whole === undefined) continue;
    if (whole !== 'allAccounts' && whole !== 'allAccountsWithOwnerName')
      throw refusals.format(`access.${name}`, `access.${name} must be allAccounts or allAccountsWithOwnerName`);
    access[name] = whole;
  }
  const given = Object.keys(access);
  if (given.length === 0) throw refusals.format('access', 'access must name what is asked for');
  if (given.some((name) => wholes.some((whole) => whole === name)) && given.length > 1)
    throw refusals.inconsistent('access mixes models of consent');
  return access;
}

function readList(list: unknown, name: List): AccountReference[] {
  if (!Array.isArray(list)) throw refusals.format(`access.${name}`, `access.${name} must be a list`);
  return list.map((each: unknown, index) => {
    const path = `access.${name}[${index}]`;
    const members = membersOf(each, path);
    const iban = members.get('iban');
    const currency = members.get('currency');
    if (typeof iban !== 'string' || !/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban))
      throw refusals.format(`${path}.iban`, 'Accounts are named by their IBAN');
    return typeof currency === 'string' ? { iban, currency } : { iban };
  });
}

/** The members of an object that came over the wire. */
export function membersOf(value: unknown, path: string): Map<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refusals.format(path === '' ? 'body' : path, `${path === '' ? 'The body' : path} must be an object`);
  return new Map<string, unknown>(Object.entries(value));
}
