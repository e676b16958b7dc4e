import type {
  Account,
  AccountBalance,
  Balances,
  CreditLine,
  IsoBankTransactionCode,
  Transaction,
  TransactionBalance,
} from '#libs/contract';
import {
  accountTypeNames,
  accountTypes,
  bankTransactionCodeNames,
  mainBalanceOrder,
  placeholderIds,
} from '../iso-codes.js';
import { instantIfAny, listOf, readable, textOf, toUnsigned } from '../wire.js';
import { accountSubTypes, balanceTypes, bankTransactionCodeOf, creditLineTypes, transactionStatuses } from './codes.js';
import { toAmount, toIdentifications, toParty, toSigned } from './parts.map.js';
import { toBankPayment, toDomesticConsent } from './payments.map.js';
import {
  toBeneficiary,
  toDirectDebit,
  toIdentity,
  toPeriodicPayment,
  toScheduledPayment,
  toStatement,
} from './resources.map.js';
import type { OBAccount6, OBBalance, OBTransaction6 } from './uk-open-banking.types.js';

/** Entries that are not movements of money: a rejected one never was, an informational one never will be. */
const notMovements: ReadonlySet<string> = new Set(['RJCT', 'Rejected', 'INFO']);

const PLACEHOLDER_LENGTH_MAX = Math.max(...[...placeholderIds].map((id) => id.length));

const unknownCode = Object.freeze({ code: 'UNKNOWN', name: 'UNKNOWN' });

function toAccount(raw: OBAccount6): Account {
  const accounts = raw.Account ?? [];
  const names = [
    ...new Set(accounts.map(({ Name }) => Name?.trim()).filter((name) => name !== undefined && name !== '')),
  ];
  const category = raw.AccountCategory ?? raw.AccountType;
  const kind = kindOf(raw);
  const account: Account = { id: textOf(raw.AccountId, 'AccountId') };
  const type = [category, kind.name].filter((part) => part !== undefined).join(' - ');
  if (type) account.type = type;
  if (raw.Description) account.description = raw.Description;
  if (raw.Currency) account.currency = raw.Currency;
  account.usageType = usageOf(category);
  account.accountType = kind.type ?? 'UNKNOWN';
  if (raw.Nickname) account.nickname = raw.Nickname;
  if (names.length) account.accountNames = names.map((name) => ({ name }));
  const identifications = accounts.flatMap(toIdentifications);
  if (identifications.length) account.accountIdentifications = identifications;
  return account;
}

/** v4.0 has a code, v3.1 a word; what we do not know keeps the bank's own as its name. */
function kindOf({ AccountTypeCode: code, AccountSubType: word }: OBAccount6) {
  if (code !== undefined) return { type: accountTypes[code], name: accountTypeNames[code] ?? code };
  return word === undefined ? {} : (accountSubTypes[word] ?? { name: word });
}

function usageOf(category: string | undefined): 'PERSONAL' | 'BUSINESS' | 'UNKNOWN' {
  if (category === 'Personal') return 'PERSONAL';
  return category === 'Business' ? 'BUSINESS' : 'UNKNOWN';
}

function toBalance(raw: OBBalance): AccountBalance {
  const lines = raw.CreditLine ?? [];
  const balance: AccountBalance = { type: balanceTypes[raw.Type] ?? 'UNKNOWN' };
  const dateTime = instantIfAny(raw.DateTime, 'Balance.DateTime');
  if (dateTime) balance.dateTime = dateTime;
  balance.balanceAmount = toSigned(raw.Amount, raw.CreditDebitIndicator, 'Balance');
  if (lines.length === 0) return balance;
  balance.creditLineIncluded = lines.some(({ Included }) => Included);
  balance.creditLines = lines.map(toCreditLine);
  return balance;
}

function toCreditLine(raw: NonNullable<OBBalance['CreditLine']>[number]): CreditLine {
  const type = raw.Type === undefined ? 'UNKNOWN' : (creditLineTypes[raw.Type] ?? 'OTHER');
  return raw.Amount ? { type, creditLineAmount: toAmount(raw.Amount, 'CreditLine') } : { type };
}

/** All balances, and the headline one by the documented order; an unknown order leaves the bank's first. */
function toBalances(raw: OBBalance[] | undefined): Balances {
  const balances = readable(listOf(raw, 'Balance'), toBalance);
  const main = mainBalanceOrder.map((type) => balances.find((balance) => balance.type === type)).find(Boolean);
  const amount = (main ?? balances[0])?.balanceAmount;
  return amount ? { mainBalanceAmount: { ...amount }, balances } : { balances };
}

function toIsoCode(raw: { Code?: string; SubCode?: string }): IsoBankTransactionCode {
  // The standard sends no domain, only the family and what is under it.
  return { domainCode: unknownCode, familyCode: isoCode(raw.Code), subFamilyCode: isoCode(raw.SubCode) };
}

function isoCode(given: string | undefined): { code: string; name: string } {
  if (!given) return unknownCode;
  const name = bankTransactionCodeNames[given];
  if (name !== undefined) return { code: given, name };
  const code = bankTransactionCodeOf(given);
  return code === undefined
    ? { code: given, name: 'UNKNOWN' }
    : { code, name: bankTransactionCodeNames[code] ?? 'UNKNOWN' };
}

function toTransactionBalance(raw: NonNullable<OBTransaction6['Balance']>): TransactionBalance {
  return {
    type: balanceTypes[raw.Type ?? ''] ?? 'UNKNOWN',
    balanceAmount: toSigned(raw.Amount, raw.CreditDebitIndicator, 'Transaction.Balance'),
  };
}

/** The identity a bank gave, or nothing: blanks and placeholders shared by many rows are no identity (Q1, Q2). */
function idOf(raw: OBTransaction6): string | undefined {
  const id = raw.TransactionId?.trim();
  if (!id) return undefined;
  return id.length <= PLACEHOLDER_LENGTH_MAX && placeholderIds.has(id.toUpperCase()) ? undefined : id;
}

/**
 * One `OBTransaction6`. Undefined for entries that are no movement of money. A status we do not know leaves `status`
 * out; the sign comes from the indicator alone, and a contradicting minus is reported under `supplementaryData`.
 */
function toTransaction(raw: OBTransaction6): Transaction | undefined {
  if (notMovements.has(textOf(raw.Status, 'Transaction.Status'))) return undefined;
  const { amount, currency } = toSigned(raw.Amount, raw.CreditDebitIndicator, 'Transaction');
  const booking = instantIfAny(raw.BookingDateTime, 'BookingDateTime');
  const value = raw.ValueDateTime === raw.BookingDateTime ? booking : instantIfAny(raw.ValueDateTime, 'ValueDateTime');
  const status = transactionStatuses[raw.Status];
  const id = idOf(raw);
  const transaction: Transaction = {};
  if (id) transaction.id = id;
  if (booking ?? value) transaction.date = booking ?? value;
  if (booking) transaction.bookingDateTime = booking;
  if (value) transaction.valueDateTime = value;
  if (status) transaction.status = status;
  transaction.amount = amount;
  transaction.currency = currency;
  transaction.transactionAmount = { amount, currency };
  if (raw.CurrencyExchange) addExchange(transaction, raw.CurrencyExchange);
  if (raw.ChargeAmount) transaction.chargeDetails = { chargeAmount: toAmount(raw.ChargeAmount, 'ChargeAmount') };
  if (raw.TransactionReference) transaction.reference = raw.TransactionReference;
  if (raw.StatementReference?.length) {
    transaction.statementReferences = raw.StatementReference.map((reference) => ({ value: reference }));
  }
  if (raw.TransactionInformation) {
    transaction.description = raw.TransactionInformation;
    transaction.transactionInformation = [raw.TransactionInformation];
  }
  if (raw.AddressLine) transaction.addressDetails = { addressLine: raw.AddressLine };
  if (raw.BankTransactionCode) transaction.isoBankTransactionCode = toIsoCode(raw.BankTransactionCode);
  const own = raw.ProprietaryBankTransactionCode;
  if (own?.Code) {
    transaction.proprietaryBankTransactionCode = own.Issuer
      ? { code: own.Code, issuer: own.Issuer }
      : { code: own.Code };
  }
  if (raw.Balance) transaction.balance = toTransactionBalance(raw.Balance);
  addParties(transaction, raw);
  addSupplementary(transaction, raw);
  if (raw.TransactionMutability) transaction.transactionMutability = raw.TransactionMutability;
  else if (status === 'PENDING') transaction.transactionMutability = 'Mutable';
  return transaction;
}

function addExchange(transaction: Transaction, raw: NonNullable<OBTransaction6['CurrencyExchange']>): void {
  const rate = raw.ExchangeRate === undefined ? undefined : toUnsigned(raw.ExchangeRate, 'ExchangeRate');
  transaction.currencyExchange = {
    ...(raw.SourceCurrency ? { sourceCurrency: raw.SourceCurrency } : {}),
    ...(raw.TargetCurrency ? { targetCurrency: raw.TargetCurrency } : {}),
    ...(raw.UnitCurrency ? { unitCurrency: raw.UnitCurrency } : {}),
    ...(rate === undefined ? {} : { exchangeRate: rate }),
  };
}

function addParties(transaction: Transaction, raw: OBTransaction6): void {
  const payee = toParty(raw.CreditorAccount, raw.CreditorAgent);
  const payer = toParty(raw.DebtorAccount, raw.DebtorAgent);
  if (payee) transaction.payeeDetails = payee;
  if (payer) transaction.payerDetails = payer;
  const name = raw.MerchantDetails?.MerchantName;
  const category = raw.MerchantDetails?.MerchantCategoryCode;
  if (name) transaction.merchant = { merchantName: name };
  // The contract has four digits; the standard lets banks drop a leading zero.
  if (category && /^\d{3,4}$/.test(category)) {
    (transaction.merchant ??= {}).merchantCategoryCode = category.padStart(4, '0');
  }
}

const supplementary = [
  'CardInstrument',
  'CategoryPurposeCode',
  'PaymentPurposeCode',
  'UltimateCreditor',
  'UltimateDebtor',
  'ExtendedProprietaryBankTransactionCodes',
] as const;

function addSupplementary(transaction: Transaction, raw: OBTransaction6): void {
  let extra: Record<string, unknown> | undefined = raw.SupplementaryData ? { ...raw.SupplementaryData } : undefined;
  for (const member of supplementary) {
    if (raw[member] !== undefined) (extra ??= {})[member] = raw[member];
  }
  if (raw.Amount.Amount.startsWith?.('-')) (extra ??= {})['signContradictsIndicator'] = true;
  if (extra) transaction.supplementaryData = extra;
}

/** The mapping of a bank that follows the standard. A quirk replaces one entry and ends by calling it. */
export const defaults = {
  toAccount,
  toBalances,
  toTransaction,
  toStatement,
  toBeneficiary,
  toDirectDebit,
  toPeriodicPayment,
  toScheduledPayment,
  toIdentity,
  toDomesticConsent,
  toBankPayment,
};
