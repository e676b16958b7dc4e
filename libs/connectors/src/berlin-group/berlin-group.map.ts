import type {
  Account,
  AccountBalance,
  AccountBalanceType,
  AccountIdentification,
  Amount,
  Balances,
  IsoBankTransactionCode,
  Transaction,
  TransactionParty,
} from '#libs/contract';
import {
  accountTypeNames,
  accountTypes,
  bankTransactionCodeNames,
  mainBalanceOrder,
  placeholderIds,
  type Table,
} from '../iso-codes.js';
import { instantIfAny, listOf, readable, textOf, toSigned, unreadable } from '../wire.js';
import { toConsents } from './consents.map.js';
import type {
  AccountDetails,
  AccountReference,
  AmountType,
  Balance,
  BerlinGroupQuirks,
  BookingStatus,
  RemittanceInformationStructured,
  TransactionDetails,
} from './berlin-group.types.js';

const balanceTypes: Table<AccountBalanceType> = {
  closingBooked: 'CLOSING_BOOKED',
  expected: 'EXPECTED',
  forwardAvailable: 'FORWARD_AVAILABLE',
  interimAvailable: 'INTERIM_AVAILABLE',
  interimBooked: 'INTERIM_BOOKED',
  // Of a card: spent and not yet invoiced. The contract has no word for it.
  nonInvoiced: 'OTHER',
  openingBooked: 'OPENING_BOOKED',
};

/** Domains of ISO 20022 bank transaction codes. */
const domainNames: Table<string> = {
  ACMT: 'AccountManagement',
  CAMT: 'CashManagement',
  FORX: 'ForeignExchange',
  LDAS: 'LoansDepositsAndSyndications',
  PMNT: 'Payments',
  SECU: 'Securities',
  XTND: 'ExtendedDomain',
};

const unknownCode = Object.freeze({ code: 'UNKNOWN', name: 'UNKNOWN' });

function toAmount(raw: AmountType | undefined, member: string): Amount {
  if (!raw) throw unreadable(member);
  const { currency } = raw;
  if (typeof currency !== 'string' || currency.length !== 3) throw unreadable(`${member}.currency`);
  return { amount: toSigned(raw.amount, `${member}.amount`), currency };
}

function toIdentifications(raw: AccountReference | undefined): AccountIdentification[] {
  if (!raw) return [];
  const found: AccountIdentification[] = [];
  const add = (type: AccountIdentification['type'], text: string | undefined): void => {
    const identification = text?.trim();
    if (identification) found.push({ type, identification });
  };
  add('IBAN', raw.iban?.replace(/\s/g, ''));
  add('BBAN', raw.bban);
  add('PAN', raw.pan);
  add('MASKED_PAN', raw.maskedPan);
  add('MSISDN', raw.msisdn);
  return found;
}

/** `accountDetails`. Balances, where the list holds them, are added by whoever knows whether to read them elsewhere. */
function toAccount(raw: AccountDetails): Account {
  const code = raw.cashAccountType;
  const account: Account = { id: textOf(raw.resourceId, 'resourceId').trim() };
  const type = raw.product?.trim() || (code === undefined ? undefined : (accountTypeNames[code] ?? code));
  if (type) account.type = type;
  if (raw.name?.trim()) account.description = raw.name;
  // A multi-currency account has no currency of its own: its parts are accounts too.
  if (raw.currency && raw.currency !== 'XXX') account.currency = raw.currency;
  account.usageType = raw.usage === 'PRIV' ? 'PERSONAL' : raw.usage === 'ORGA' ? 'BUSINESS' : 'UNKNOWN';
  account.accountType = (code === undefined ? undefined : accountTypes[code]) ?? 'UNKNOWN';
  if (raw.displayName?.trim()) account.nickname = raw.displayName;
  if (raw.details?.trim()) account.details = raw.details;
  if (raw.ownerName?.trim()) account.accountNames = [{ name: raw.ownerName.trim() }];
  const identifications = toIdentifications(raw);
  const bic = raw.bic?.trim();
  if (bic) identifications.push({ type: 'BIC', identification: bic });
  if (identifications.length) account.accountIdentifications = identifications;
  return account;
}

function toBalance(raw: Balance): AccountBalance {
  const balance: AccountBalance = { type: balanceTypes[raw.balanceType ?? ''] ?? 'UNKNOWN' };
  const dateTime =
    instantIfAny(raw.lastChangeDateTime, 'lastChangeDateTime') ?? instantIfAny(raw.referenceDate, 'referenceDate');
  if (dateTime) balance.dateTime = dateTime;
  balance.balanceAmount = toAmount(raw.balanceAmount, 'balanceAmount');
  if (raw.creditLimitIncluded !== undefined) balance.creditLineIncluded = raw.creditLimitIncluded;
  return balance;
}

/** All balances, and the headline one by the documented order; an unknown order leaves the bank's first. */
function toBalances(raw: Balance[] | undefined): Balances {
  const balances = readable(listOf(raw, 'balances'), toBalance);
  const main = mainBalanceOrder.map((type) => balances.find((balance) => balance.type === type)).find(Boolean);
  const amount = (main ?? balances[0])?.balanceAmount;
  return amount ? { mainBalanceAmount: { ...amount }, balances } : { balances };
}

/** The text a bank meant, or nothing: blanks and placeholders shared by many rows say nothing (Q1, Q2). */
function meant(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed && !placeholderIds.has(trimmed.toUpperCase()) ? trimmed : undefined;
}

/** One entry of a report; `status` is the array it stood in. The sign is the bank's, and so is every missing member. */
function toTransaction(raw: TransactionDetails, status: BookingStatus): Transaction {
  const { amount, currency } = toAmount(raw.transactionAmount, 'transactionAmount');
  const booking = instantIfAny(raw.bookingDate, 'bookingDate');
  const value = instantIfAny(raw.valueDate, 'valueDate');
  const id = meant(raw.transactionId) ?? meant(raw.entryReference);
  const transaction: Transaction = {};
  if (id) transaction.id = id;
  if (booking ?? value) transaction.date = booking ?? value;
  if (booking) transaction.bookingDateTime = booking;
  if (value) transaction.valueDateTime = value;
  transaction.status = status === 'booked' ? 'BOOKED' : 'PENDING';
  transaction.amount = amount;
  transaction.currency = currency;
  transaction.transactionAmount = { amount, currency };
  addExchange(transaction, raw);
  const reference = meant(raw.endToEndId) ?? structuredReference(raw);
  if (reference) transaction.reference = reference;
  const lines = raw.remittanceInformationUnstructuredArray?.filter((line) => line.trim() !== '') ?? [];
  const description = raw.remittanceInformationUnstructured?.trim()
    ? raw.remittanceInformationUnstructured
    : lines.join(' ') || raw.additionalInformation;
  if (description) transaction.description = description;
  if (lines.length > 0) transaction.transactionInformation = lines;
  else if (description) transaction.transactionInformation = [description];
  if (raw.bankTransactionCode) transaction.isoBankTransactionCode = toIsoCode(raw.bankTransactionCode);
  if (raw.proprietaryBankTransactionCode) {
    transaction.proprietaryBankTransactionCode = { code: raw.proprietaryBankTransactionCode };
  }
  const after = raw.balanceAfterTransaction;
  if (after) {
    const type = balanceTypes[after.balanceType ?? ''] ?? 'UNKNOWN';
    transaction.balance = { type, balanceAmount: toAmount(after.balanceAmount, 'balanceAfterTransaction') };
  }
  addParties(transaction, raw);
  addSupplementary(transaction, raw, description);
  transaction.transactionMutability = status === 'booked' ? 'Immutable' : 'Mutable';
  return transaction;
}

/** The first exchange is the entry's; a rate that is no plain number stays with the rest of what the bank said. */
function addExchange(transaction: Transaction, raw: TransactionDetails): void {
  const exchange = raw.currencyExchange?.[0];
  if (!exchange) return;
  const { sourceCurrency, targetCurrency, unitCurrency, exchangeRate } = exchange;
  transaction.currencyExchange = {
    ...(sourceCurrency ? { sourceCurrency } : {}),
    ...(targetCurrency ? { targetCurrency } : {}),
    ...(unitCurrency ? { unitCurrency } : {}),
    ...(exchangeRate ? { exchangeRate: toSigned(exchangeRate, 'exchangeRate') } : {}),
  };
}

/** The data model has it as a text, as an object and as a list of objects; banks mix them. */
function structuredReference(raw: TransactionDetails): string | undefined {
  const one = raw.remittanceInformationStructured;
  const all: (string | RemittanceInformationStructured | undefined)[] = [
    one,
    ...(raw.remittanceInformationStructuredArray ?? []),
  ];
  return all.map((each) => meant(typeof each === 'string' ? each : each?.reference)).find(Boolean);
}

/** `PMNT-RCDT-ESCT`: domain, family, sub-family; some banks add a code of their own behind them. */
function toIsoCode(code: string): IsoBankTransactionCode {
  const [domain, family, subFamily] = code.split('-').map((part) => part.trim());
  return {
    domainCode: named(domain, domainNames),
    familyCode: named(family, bankTransactionCodeNames),
    subFamilyCode: named(subFamily, bankTransactionCodeNames),
  };
}

function named(part: string | undefined, names: Table<string>): { code: string; name: string } {
  return part ? { code: part, name: names[part] ?? 'UNKNOWN' } : unknownCode;
}

function addParties(transaction: Transaction, raw: TransactionDetails): void {
  const payee = toParty({ name: raw.creditorName, account: raw.creditorAccount, agent: raw.creditorAgent });
  const payer = toParty({ name: raw.debtorName, account: raw.debtorAccount, agent: raw.debtorAgent });
  if (payee) transaction.payeeDetails = payee;
  if (payer) transaction.payerDetails = payer;
}

function toParty(raw: {
  name: string | undefined;
  account: AccountReference | undefined;
  agent: string | undefined;
}): TransactionParty | undefined {
  const name = meant(raw.name);
  const identifications = toIdentifications(raw.account);
  const bic = meant(raw.agent);
  if (bic) identifications.push({ type: 'BIC', identification: bic });
  if (!name && identifications.length === 0) return undefined;
  return {
    ...(name ? { name } : {}),
    ...(identifications.length ? { accountIdentifications: identifications } : {}),
  };
}

const supplementary = [
  'mandateId',
  'creditorId',
  'checkId',
  'purposeCode',
  'ultimateCreditor',
  'ultimateDebtor',
  'entryDetails',
  'additionalInformationStructured',
  'batchIndicator',
  'batchNumberOfTransactions',
] as const;

function addSupplementary(transaction: Transaction, raw: TransactionDetails, description: string | undefined): void {
  const extra: Record<string, unknown> = {};
  for (const member of supplementary) if (raw[member] !== undefined) extra[member] = raw[member];
  const { additionalInformation, currencyExchange } = raw;
  if (additionalInformation && additionalInformation !== description)
    extra['additionalInformation'] = additionalInformation;
  if (currencyExchange && currencyExchange.length > 1) extra['currencyExchange'] = currencyExchange;
  if (Object.keys(extra).length > 0) transaction.supplementaryData = extra;
}

/** The mapping of a bank that follows the standard. A quirk replaces one entry and ends by calling it. */
export const defaults: BerlinGroupQuirks = { toConsents, toAccount, toBalances, toTransaction };
