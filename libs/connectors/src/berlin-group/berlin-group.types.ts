import type { Account, Balances, Transaction } from '#libs/contract';
import type { AccountAccess } from '../connector.js';

/** Raw wire types, named as the data model of NextGenPSD2 1.3.11 names them. Every member may be missing: banks leave out what they must send. */

export interface HrefType {
  href?: string;
}
export type Links = Record<string, HrefType | undefined>;

export type ConsentStatus =
  | 'received'
  | 'partiallyAuthorised'
  | 'valid'
  | 'rejected'
  | 'revokedByPsu'
  | 'expired'
  | 'terminatedByTpp';

export interface AccountReference {
  iban?: string;
  bban?: string;
  pan?: string;
  maskedPan?: string;
  msisdn?: string;
  currency?: string;
}

/** `accountAccess`. */
export interface AccountAccessType {
  accounts?: AccountReference[];
  balances?: AccountReference[];
  transactions?: AccountReference[];
  allPsd2?: 'allAccounts' | 'allAccountsWithOwnerName';
}

export interface Consents {
  access: AccountAccessType;
  recurringIndicator: boolean;
  /** A day, inclusive, on the bank's calendar. */
  validUntil: string;
  frequencyPerDay: number;
  combinedServiceIndicator: boolean;
}

export interface AuthenticationObject {
  authenticationType?: string;
  authenticationVersion?: string;
  authenticationMethodId?: string;
  name?: string;
  explanation?: string;
}

export interface ChallengeData {
  /** PNG in base64. */
  image?: string;
  data?: string | string[];
  imageLink?: string;
  otpMaxLength?: number | string;
  otpFormat?: string;
  additionalInformation?: string;
}

/** What every answer of an authorisation may hold (`consentsResponse-201`, `startScaprocessResponse`, `updatePsu…Response`, `scaStatusResponse`). */
export interface ScaProcess {
  consentStatus?: string;
  consentId?: string;
  scaStatus?: string;
  authorisationId?: string;
  scaMethods?: AuthenticationObject[];
  chosenScaMethod?: AuthenticationObject;
  challengeData?: ChallengeData;
  psuMessage?: string;
  _links?: Links;
}

/** `consentInformationResponse-200_json`. */
export interface ConsentInformationResponse {
  consentStatus?: string;
  validUntil?: string;
  recurringIndicator?: boolean;
  frequencyPerDay?: number;
  _links?: Links;
}

export interface ConsentStatusResponse {
  consentStatus?: string;
  psuMessage?: string;
}

export interface AmountType {
  amount?: string;
  currency?: string;
}

export interface Balance {
  balanceAmount?: AmountType;
  balanceType?: string;
  creditLimitIncluded?: boolean;
  lastChangeDateTime?: string;
  referenceDate?: string;
}

export interface AccountDetails extends AccountReference {
  resourceId?: string;
  name?: string;
  displayName?: string;
  ownerName?: string;
  product?: string;
  cashAccountType?: string;
  status?: string;
  bic?: string;
  usage?: string;
  details?: string;
  balances?: Balance[];
  _links?: Links;
}

export interface AccountList {
  accounts?: AccountDetails[];
}

export interface ReadAccountResponse {
  account?: AccountDetails;
}

export interface ReadAccountBalanceResponse {
  account?: AccountReference;
  balances?: Balance[];
}

export interface ReportExchangeRate {
  sourceCurrency?: string;
  exchangeRate?: string;
  unitCurrency?: string;
  targetCurrency?: string;
  quotationDate?: string;
  contractIdentification?: string;
}

export interface RemittanceInformationStructured {
  reference?: string;
  referenceType?: string;
  referenceIssuer?: string;
}

/** `transactions`: one entry of a report. Only `transactionAmount` is promised. */
export interface TransactionDetails {
  transactionId?: string;
  entryReference?: string;
  endToEndId?: string;
  mandateId?: string;
  checkId?: string;
  creditorId?: string;
  bookingDate?: string;
  valueDate?: string;
  transactionAmount?: AmountType;
  currencyExchange?: ReportExchangeRate[];
  creditorName?: string;
  creditorAccount?: AccountReference;
  creditorAgent?: string;
  ultimateCreditor?: string;
  debtorName?: string;
  debtorAccount?: AccountReference;
  debtorAgent?: string;
  ultimateDebtor?: string;
  remittanceInformationUnstructured?: string;
  remittanceInformationUnstructuredArray?: string[];
  remittanceInformationStructured?: string | RemittanceInformationStructured;
  remittanceInformationStructuredArray?: RemittanceInformationStructured[];
  entryDetails?: unknown;
  additionalInformation?: string;
  additionalInformationStructured?: unknown;
  batchIndicator?: boolean;
  batchNumberOfTransactions?: number;
  purposeCode?: string;
  bankTransactionCode?: string;
  proprietaryBankTransactionCode?: string;
  balanceAfterTransaction?: Balance;
  merchantCategoryCode?: string;
}

/** `accountReport`. */
export interface AccountReport {
  booked?: TransactionDetails[];
  pending?: TransactionDetails[];
  /** Standing orders: not movements of money. */
  information?: TransactionDetails[];
  _links?: Links;
}

export interface TransactionsResponse {
  account?: AccountReference;
  transactions?: AccountReport;
  balances?: Balance[];
  _links?: Links;
}

/** One message of either error shape: `tppMessages`, or problem details with `additionalErrors`. */
export interface TppMessage {
  category?: string;
  code?: string;
  path?: string;
  text?: string;
}

/** The array of the report an entry stood in. */
export type BookingStatus = 'booked' | 'pending';

/** The mapping functions of this protocol that an institution may replace. */
export interface BerlinGroupQuirks {
  toConsents(
    access: AccountAccess,
    terms: { today: Date; maxConsentDays: number; settings: BerlinGroupSettings },
  ): Consents;
  toAccount(raw: AccountDetails): Account;
  toBalances(raw: Balance[] | undefined): Balances;
  toTransaction(raw: TransactionDetails, status: BookingStatus): Transaction;
}

/** What differs between banks of this protocol and is no mapping. */
export interface BerlinGroupSettings {
  /** How the PSU is authenticated: decides which approach we ask for, and which way we take where a bank offers several. */
  scaApproach: 'redirect' | 'decoupled' | 'embedded';
  /**
   * The bank gives an access token that says who the PSU is before it takes a consent; the scopes for accounts and for
   * payments. `backchannel` is set where the PSU gives it on another device (OpenID Connect CIBA), to who wants it first.
   */
  oauthPreStep?: { AIS: string; PIS: string; backchannel?: { metadataUrl: string } };
  /** `global` is everything (`allPsd2`), `bank-offered` lets the PSU choose at the bank, where accounts were not named. */
  consentModel: 'global' | 'bank-offered';
  /** The widest transaction status the bank understands. */
  bookingStatus: 'both' | 'booked';
  /** Whether the list of accounts takes `withBalance`; banks that ignore it are asked per account all the same. */
  withBalance: boolean;
  /** False where the bank tells no balances. */
  hasBalances: boolean;
  /** How many days back a transactions request goes when the caller names no start. */
  historyDays: number;
}
