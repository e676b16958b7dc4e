import type {
  AccountBalanceType,
  AccountType,
  AddressTypeEnum,
  CreditLineType,
  PaymentStatus,
  TransactionStatusEnum,
} from '#libs/contract';
import type { ConsentState } from '../connector.js';
import type { InstitutionErrorKind } from '../institution-error.js';
import { bankTransactionCodeNames, type Table } from '../iso-codes.js';

/**
 * Code tables of the standard (OB_Internal_Codeset, ISO_External_CodeSet) against the contract's words, as data. v4.0
 * has short codes where v3.1 has words; none is spelled like one of the other meaning something else, so a table
 * reads both.
 */

export const transactionStatuses: Table<TransactionStatusEnum> = {
  BOOK: 'BOOKED',
  Booked: 'BOOKED',
  PDNG: 'PENDING',
  Pending: 'PENDING',
  FUTR: 'PENDING',
};

/** OBExternalAccountSubType1Code of v3.1, with the words for `Account.type`. */
export const accountSubTypes: Table<{ type: AccountType; name: string }> = {
  ChargeCard: { type: 'CHARGE_CARD', name: 'Charge Card' },
  CreditCard: { type: 'CREDIT_CARD', name: 'Credit Card' },
  CurrentAccount: { type: 'CURRENT', name: 'Current' },
  EMoney: { type: 'E_MONEY', name: 'E-Money' },
  Loan: { type: 'LOAN', name: 'Loan' },
  Mortgage: { type: 'MORTGAGE', name: 'Mortgage' },
  PrePaidCard: { type: 'PREPAID_CARD', name: 'Pre-Paid Card' },
  Savings: { type: 'SAVINGS', name: 'Savings' },
  Wallet: { type: 'E_MONEY', name: 'Wallet' },
};

export const balanceTypes: Table<AccountBalanceType> = {
  CLAV: 'CLOSING_AVAILABLE',
  CLBD: 'CLOSING_BOOKED',
  FWAV: 'FORWARD_AVAILABLE',
  INFO: 'INFORMATION',
  ITAV: 'INTERIM_AVAILABLE',
  ITBD: 'INTERIM_BOOKED',
  OPAV: 'OPENING_AVAILABLE',
  OPBD: 'OPENING_BOOKED',
  PRCD: 'PREVIOUSLY_CLOSED_BOOKED',
  XPCD: 'EXPECTED',
  ClosingAvailable: 'CLOSING_AVAILABLE',
  ClosingBooked: 'CLOSING_BOOKED',
  ClosingCleared: 'CLOSING_CLEARED',
  Expected: 'EXPECTED',
  ForwardAvailable: 'FORWARD_AVAILABLE',
  Information: 'INFORMATION',
  InterimAvailable: 'INTERIM_AVAILABLE',
  InterimBooked: 'INTERIM_BOOKED',
  InterimCleared: 'INTERIM_CLEARED',
  OpeningAvailable: 'OPENING_AVAILABLE',
  OpeningBooked: 'OPENING_BOOKED',
  OpeningCleared: 'OPENING_CLEARED',
  PreviouslyClosedBooked: 'PREVIOUSLY_CLOSED_BOOKED',
};

export const creditLineTypes: Table<CreditLineType> = {
  Available: 'AVAILABLE',
  Credit: 'CREDIT',
  Emergency: 'EMERGENCY',
  'Pre-Agreed': 'PRE_AGREED',
  Temporary: 'TEMPORARY',
};

const wordOf = (name: string): string => name.replace(/s$/, '').toLowerCase();
const codesByWord = new Map(Object.entries(bankTransactionCodeNames).map(([code, name = '']) => [wordOf(name), code]));

/** The bank transaction code behind a word of v3.1, such as `ReceivedCreditTransfer`: RCDT. */
export function bankTransactionCodeOf(word: string): string | undefined {
  return codesByWord.get(wordOf(word));
}

/** Mandates of direct debits and standing orders. Whatever is no longer collected or paid is inactive. */
export const mandateStatuses: Table<PaymentStatus> = {
  ACTV: 'ACTIVE',
  Active: 'ACTIVE',
  CANC: 'INACTIVE',
  EXPI: 'INACTIVE',
  SUSP: 'INACTIVE',
  Inactive: 'INACTIVE',
};

export const addressTypes: Table<AddressTypeEnum> = {
  BIZZ: 'BUSINESS',
  Business: 'BUSINESS',
  CORR: 'CORRESPONDENCE',
  Correspondence: 'CORRESPONDENCE',
  DLVY: 'DELIVERY_TO',
  DeliveryTo: 'DELIVERY_TO',
  MLTO: 'MAIL_TO',
  MailTo: 'MAIL_TO',
  PBOX: 'PO_BOX',
  POBox: 'PO_BOX',
  ADDR: 'POSTAL',
  Postal: 'POSTAL',
  HOME: 'RESIDENTIAL',
  Residential: 'RESIDENTIAL',
  STAT: 'STATEMENT',
  Statement: 'STATEMENT',
};

/** Where a consent stands. A used payment consent was authorised and is no more than that. */
export const consentStates: Table<ConsentState> = {
  AWAU: 'awaiting',
  AWUP: 'awaiting',
  AwaitingAuthorisation: 'awaiting',
  AwaitingUpload: 'awaiting',
  AUTH: 'authorised',
  Authorised: 'authorised',
  COND: 'authorised',
  Consumed: 'authorised',
  RJCT: 'rejected',
  Rejected: 'rejected',
  CANC: 'revoked',
  Revoked: 'revoked',
  EXPD: 'expired',
};

export const consumedStatuses: ReadonlySet<string> = new Set(['COND', 'Consumed']);

/** Error codes of v3.1 (after `UK.OBIE.`) that mean something to us, by their code in v4.0. */
const errorWords: Table<string> = {
  'Resource.ConsentMismatch': 'U008',
  'Resource.InvalidConsentStatus': 'U009',
  'Resource.NotFound': 'U011',
  Reauthenticate: 'U028',
  'Rules.ResourceAlreadyExists': 'U029',
};

/** A bank's error code as v4.0 has it, where we know what it means; any other as it came. */
export function errorCodeOf(code: string | undefined): string | undefined {
  return code === undefined ? undefined : (errorWords[code.replace(/^UK\.OBIE\./, '')] ?? code);
}

/** What a code says beyond its HTTP status: an unknown id is a 400 in this standard. */
export const errorKinds: Table<InstitutionErrorKind> = { U011: 'not-found' };

const accounts = ['ReadAccountsDetail'];
const balances = ['ReadAccountsDetail', 'ReadBalances'];
const transactions = [
  'ReadAccountsDetail',
  'ReadTransactionsDetail',
  'ReadTransactionsCredits',
  'ReadTransactionsDebits',
];

/** Which permissions a feature needs. `ReadPAN` is not asked for: a masked card number is enough to show. */
export const permissions: Table<readonly string[]> = {
  ACCOUNTS: balances,
  ACCOUNT: balances,
  ACCOUNT_BALANCES: balances,
  ACCOUNTS_WITHOUT_BALANCE: accounts,
  ACCOUNT_WITHOUT_BALANCE: accounts,
  ACCOUNT_TRANSACTIONS: transactions,
  ACCOUNT_TRANSACTIONS_WITH_MERCHANT: transactions,
  ACCOUNT_STATEMENTS: [...accounts, 'ReadStatementsBasic'],
  ACCOUNT_STATEMENT: [...accounts, 'ReadStatementsBasic'],
  ACCOUNT_STATEMENT_FILE: [...accounts, 'ReadStatementsBasic', 'ReadStatementsDetail'],
  ACCOUNT_BENEFICIARIES: [...accounts, 'ReadBeneficiariesDetail'],
  ACCOUNT_DIRECT_DEBITS: [...accounts, 'ReadDirectDebits'],
  ACCOUNT_PERIODIC_PAYMENTS: [...accounts, 'ReadStandingOrdersDetail'],
  ACCOUNT_SCHEDULED_PAYMENTS: [...accounts, 'ReadScheduledPaymentsDetail'],
  IDENTITY: ['ReadPartyPSU'],
};
