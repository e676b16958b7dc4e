import type {
  Account,
  AccountBalance,
  AccountIdentification,
  Amount,
  Balances,
  CreditLine,
  IsoBankTransactionCode,
  Transaction,
  TransactionBalance,
  TransactionParty,
  TransactionStatusEnum,
} from '#libs/contract';
import {
  accountTypeNames,
  accountTypes,
  bankTransactionCodeNames,
  mainBalanceOrder,
  placeholderIds,
} from '../iso-codes.js';
import { instantIfAny, listOf, textOf, toUnsigned, unreadable } from '../wire.js';
import { balanceTypes, creditLineTypes } from './codes.js';
import { toBankPayment, toDomesticConsent } from './payments.map.js';
import type {
  OBAccount6,
  OBAmount,
  OBBalance,
  OBBranchAndFinancialInstitutionIdentification,
  OBCashAccount,
  OBTransaction6,
} from './uk-open-banking.types.js';

const SCHEME_PREFIX = /^UK\.OBIE\./;
const signs: Readonly<Record<string, 1 | -1 | undefined>> = { Credit: 1, CRDT: 1, Debit: -1, DBIT: -1 };
const statuses: Readonly<Record<string, TransactionStatusEnum | undefined>> = {
  BOOK: 'BOOKED',
  Booked: 'BOOKED',
  PDNG: 'PENDING',
  Pending: 'PENDING',
  FUTR: 'PENDING',
};
/** Entries that are not movements of money: a rejected one never was, an informational one never will be. */
const notMovements: ReadonlySet<string> = new Set(['RJCT', 'Rejected', 'INFO']);

const PLACEHOLDER_LENGTH_MAX = Math.max(...[...placeholderIds].map((id) => id.length));

const unknownCode = Object.freeze({ code: 'UNKNOWN', name: 'UNKNOWN' });

/** Amounts are unsigned in the standard; the indicator alone says which way the money went. */
function toSigned(amount: OBAmount | undefined, indicator: unknown, member: string): Amount {
  const sign = typeof indicator === 'string' ? signs[indicator] : undefined;
  if (sign === undefined) throw unreadable(`${member}.CreditDebitIndicator`);
  const value = toAmount(amount, member);
  if (sign === -1 && value.amount !== 0) value.amount = -value.amount;
  return value;
}

function toAmount(amount: OBAmount | undefined, member: string): Amount {
  if (!amount) throw unreadable(`${member}.Amount`);
  const { Amount: text, Currency: currency } = amount;
  if (typeof currency !== 'string' || currency.length !== 3) throw unreadable(`${member}.Currency`);
  return { amount: toUnsigned(text, `${member}.Amount`), currency };
}

/** One `OBCashAccount` as the contract's identifications: a sort code and account number come as one value of 14 digits. */
function toIdentifications(account: OBCashAccount | undefined): AccountIdentification[] {
  const identification = account?.Identification?.trim();
  if (!account || !identification) return [];
  const secondary = account.SecondaryIdentification?.trim();
  const found = bySchemeName((account.SchemeName ?? '').replace(SCHEME_PREFIX, ''), identification);
  return secondary ? [...found, { type: 'ROLL_NUMBER', identification: secondary }] : found;
}

function bySchemeName(scheme: string, identification: string): AccountIdentification[] {
  switch (scheme) {
    case 'SortCodeAccountNumber': {
      const digits = identification.replace(/[ -]/g, '');
      if (!/^\d{14}$/.test(digits)) return [{ type: 'ACCOUNT_NUMBER', identification }];
      return [
        { type: 'SORT_CODE', identification: digits.slice(0, 6) },
        { type: 'ACCOUNT_NUMBER', identification: digits.slice(6) },
      ];
    }
    case 'IBAN':
      return [{ type: 'IBAN', identification: identification.replace(/ /g, '') }];
    case 'PAN':
      return [{ type: /^\d+$/.test(identification) ? 'PAN' : 'MASKED_PAN', identification }];
    case 'BBAN':
      return [{ type: 'BBAN', identification }];
    case 'Paym':
      return [{ type: 'MSISDN', identification }];
    default:
      return [];
  }
}

function toAccount(raw: OBAccount6): Account {
  const code = raw.AccountTypeCode;
  const accounts = raw.Account ?? [];
  const names = [
    ...new Set(accounts.map(({ Name }) => Name?.trim()).filter((name) => name !== undefined && name !== '')),
  ];
  const kind = [raw.AccountCategory, code === undefined ? undefined : (accountTypeNames[code] ?? code)];
  const account: Account = { id: textOf(raw.AccountId, 'AccountId') };
  const type = kind.filter((part) => part !== undefined).join(' - ');
  if (type) account.type = type;
  if (raw.Description) account.description = raw.Description;
  if (raw.Currency) account.currency = raw.Currency;
  account.usageType = usageOf(raw.AccountCategory);
  account.accountType = (code === undefined ? undefined : accountTypes[code]) ?? 'UNKNOWN';
  if (raw.Nickname) account.nickname = raw.Nickname;
  if (names.length) account.accountNames = names.map((name) => ({ name }));
  const identifications = accounts.flatMap(toIdentifications);
  if (identifications.length) account.accountIdentifications = identifications;
  return account;
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
  const balances = listOf(raw, 'Balance').map(toBalance);
  const main = mainBalanceOrder.map((type) => balances.find((balance) => balance.type === type)).find(Boolean);
  const amount = (main ?? balances[0])?.balanceAmount;
  return amount ? { mainBalanceAmount: { ...amount }, balances } : { balances };
}

function toParty(
  account: OBCashAccount | undefined,
  agent: OBBranchAndFinancialInstitutionIdentification | undefined,
): TransactionParty | undefined {
  if (!account && !agent) return undefined;
  const identifications = toIdentifications(account);
  const bic = agent?.SchemeName?.endsWith('BICFI') ? agent.Identification?.trim() : undefined;
  if (bic) identifications.push({ type: 'BIC', identification: bic });
  const name = account?.Name?.trim();
  if (!name && identifications.length === 0) return undefined;
  return {
    ...(name ? { name } : {}),
    ...(identifications.length ? { accountIdentifications: identifications } : {}),
  };
}

function toIsoCode(raw: { Code?: string; SubCode?: string }): IsoBankTransactionCode {
  // The standard sends no domain, only the family and what is under it.
  return { domainCode: unknownCode, familyCode: isoCode(raw.Code), subFamilyCode: isoCode(raw.SubCode) };
}

function isoCode(code: string | undefined): { code: string; name: string } {
  return code ? { code, name: bankTransactionCodeNames[code] ?? 'UNKNOWN' } : unknownCode;
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
  const status = statuses[raw.Status];
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
export const defaults = { toAccount, toBalances, toTransaction, toDomesticConsent, toBankPayment };
