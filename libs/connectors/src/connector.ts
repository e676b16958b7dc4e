import type {
  Account,
  AccountInfo,
  AccountStatement,
  Balances,
  Beneficiary,
  DirectDebitResponse,
  Feature,
  Identity,
  PaymentChargeDetails,
  PaymentRequest,
  PaymentResponse,
  PaymentStatusDetails,
  RefundAccount,
  ScaMethod,
  Transaction,
  UserCredentials,
} from '#libs/contract';
import type { JWK } from 'jose';
import type { BankHttp, Transport } from './bank-http.js';
import type { PageLinks } from './page-links.js';
import type { Patience } from './patience.js';
import type { BerlinGroupQuirks, BerlinGroupSettings } from './berlin-group/berlin-group.types.js';
import type { UkOpenBankingQuirks, UkOpenBankingSettings } from './uk-open-banking/uk-open-banking.types.js';

/** What the caller knows of the person at the bank. `ipAddress` is set only when the PSU is present (an attended call). */
export interface PsuHeaders {
  id?: string;
  corporateId?: string;
  ipAddress?: string;
  userAgent?: string;
  lastLoginAt?: Date;
}

/** Who is asking. Built by the aggregator; a connector only reads it. `tracingId` is 32 lowercase hex characters. */
export interface Call {
  psu: PsuHeaders;
  tracingId: string;
  signal: AbortSignal;
}

/** `keep` saves a grant the bank has renewed, before the call goes on: a rotated refresh token lives once. */
export interface Consented extends Call {
  grant: Grant;
  keep(renewed: Grant): Promise<void>;
  /**
   * Runs `work` alone among all processes that share the consent, on the grant as it is stored by then. Two processes
   * that use one rotating refresh token end the consent. Absent: this process is the only one.
   */
  alone?(work: (stored: Grant) => Promise<Grant>): Promise<Grant>;
}

/**
 * What the bank gave us. `state` is the connector's own JSON: others store it encrypted and never look inside.
 * `expiresAt` is the bank's end of the consent, where it has one.
 */
export interface Grant {
  institutionConsentId: string;
  state: unknown;
  expiresAt?: Date;
}

/** How the answer comes back: our own 32-hex state, used as the OAuth state, and the redirect address we registered. */
export interface Return {
  state: string;
  redirectUri: string;
}

/** What an account consent asks for. Dates are instants; `renews` re-authorises a consent the bank already knows. */
export interface AccountAccess extends Return {
  featureScope: Feature[];
  transactionFrom?: Date;
  transactionTo?: Date;
  expiresAt?: Date;
  accounts?: AccountInfo[];
  renews?: Grant;
  /** What a pre-authorisation ended with, where the institution wants one before it is asked for access. */
  preAuthorised?: Grant;
}

/** The first of two steps at institutions that authenticate the PSU before they hear what is wanted. */
export interface PreAuthorisationAccess extends Return {
  scope: 'AIS' | 'PIS';
}

/** How a payment is authorised. `idempotencyKey` (40 characters at most) makes asking twice for one consent harmless. */
export interface PaymentAccess extends Return {
  idempotencyKey: string;
}

/** Where an authorisation stands. PSD2's SCA approaches are exactly these ways of waiting. */
export type Step =
  | { kind: 'redirect'; url: string; pending: Grant }
  | { kind: 'choose-method'; methods: ScaMethod[]; pending: Grant }
  /** `method` is the one the bank chose or was told, with what the PSU must see of its challenge. */
  | { kind: 'enter-code'; method?: ScaMethod; pending: Grant }
  | { kind: 'decoupled'; message: string; pending: Grant }
  /** This PSU has agreed; others must, at the bank and in their own time. */
  | { kind: 'further-authorisation'; message?: string; pending: Grant }
  | { kind: 'authorised'; grant: Grant }
  | { kind: 'rejected'; reason: string };

export type Answer = { callback: URLSearchParams } | { method: ScaMethod } | { code: string } | { poll: true };

/**
 * The cursors are read only by their maker: hand one back as `Range.cursor`. No `next` means the end; the other three
 * are there where the bank links those pages. `startsAt` is set when the bank gives less history than was asked.
 */
export interface Page<T> {
  items: T[];
  next?: string;
  previous?: string;
  first?: string;
  last?: string;
  startsAt?: Date;
}

/** A document as the bank sent it; `contentType` is the bank's, such as `application/pdf`. */
export interface StatementFile {
  contentType: string;
  body: Uint8Array;
}

/** Both ends are inclusive instants. */
export interface Range {
  from?: Date;
  before?: Date;
  cursor?: string;
}

/**
 * A payment as the bank sees it. `final` tells whether the bank will say anything new (an institution decides for
 * ACSC). Nothing here is ever guessed: what the bank did not say is absent.
 */
export interface BankPayment {
  institutionPaymentId: string;
  institutionConsentId: string;
  statusDetails: PaymentStatusDetails;
  final: boolean;
  createdAt?: string;
  chargeDetails?: PaymentChargeDetails[];
  refundAccount?: RefundAccount;
}

/** Checks the funds where the protocol can, then sends the payment. See `Connector.resendable` before sending twice. */
export type Pay = (call: Consented, payment: PaymentRequest, idempotencyKey: string) => Promise<BankPayment>;

/** One entry per feature of the contract that reaches a bank: the key is the capability, the value the work. */
export interface Operations {
  INITIATE_PRE_AUTHORISATION(call: Call, access: PreAuthorisationAccess): Promise<Step>;
  INITIATE_ONETIME_PRE_AUTHORISATION_PAYMENTS(call: Call, access: Return): Promise<Step>;
  INITIATE_ACCOUNT_REQUEST(call: Call, access: AccountAccess): Promise<Step>;
  INITIATE_EMBEDDED_ACCOUNT_REQUEST(call: Call, access: AccountAccess, who: UserCredentials): Promise<Step>;
  ACCOUNTS(call: Consented): Promise<Account[]>;
  ACCOUNT(call: Consented, accountId: string): Promise<Account>;
  /** In place of ACCOUNTS and ACCOUNT at banks that tell no balances. */
  ACCOUNTS_WITHOUT_BALANCE(call: Consented): Promise<Account[]>;
  ACCOUNT_WITHOUT_BALANCE(call: Consented, accountId: string): Promise<Account>;
  ACCOUNT_BALANCES(call: Consented, accountId: string): Promise<Balances>;
  ACCOUNT_TRANSACTIONS(call: Consented, accountId: string, range: Range): Promise<Page<Transaction>>;
  ACCOUNT_STATEMENTS(call: Consented, accountId: string, range: Range): Promise<Page<AccountStatement>>;
  ACCOUNT_STATEMENT(call: Consented, accountId: string, statementId: string): Promise<AccountStatement>;
  ACCOUNT_STATEMENT_FILE(call: Consented, accountId: string, statementId: string): Promise<StatementFile>;
  ACCOUNT_BENEFICIARIES(call: Consented, accountId: string): Promise<Beneficiary[]>;
  ACCOUNT_DIRECT_DEBITS(call: Consented, accountId: string): Promise<DirectDebitResponse[]>;
  ACCOUNT_PERIODIC_PAYMENTS(call: Consented, accountId: string): Promise<PaymentResponse[]>;
  ACCOUNT_SCHEDULED_PAYMENTS(call: Consented, accountId: string): Promise<PaymentResponse[]>;
  IDENTITY(call: Consented): Promise<Identity>;
  INITIATE_DOMESTIC_SINGLE_PAYMENT(call: Call, payment: PaymentRequest, access: PaymentAccess): Promise<Step>;
  CREATE_DOMESTIC_SINGLE_PAYMENT: Pay;
  EXISTING_PAYMENTS_DETAILS(call: Consented, institutionPaymentId: string): Promise<BankPayment>;
}

/** Where a consent stands at the bank. */
export type ConsentState = 'authorised' | 'awaiting' | 'revoked' | 'expired' | 'rejected';

/**
 * One bank, reached. Its functions reject with `InstitutionError`, with the abort reason of `call.signal`, or with a
 * `Problem` of the contract for what the caller asked wrongly. Anything else is a bug of ours.
 */
export interface Connector {
  readonly operations: Readonly<Partial<Operations>>;
  /** Whether a payment whose answer was lost may be sent again under the same key. If not, it can only be polled. */
  readonly resendable: boolean;
  /** One step on: the PSU came back, chose a method, typed a code, or we poll. */
  proceed(call: Call, pending: Grant, answer: Answer): Promise<Step>;
  /** Ends the consent at the bank. A consent that is already gone counts as done. */
  revoke(call: Consented): Promise<void>;
  /** What the bank says of the consent, where the protocol tells it. */
  status?(call: Consented): Promise<ConsentState>;
}

/** What differs by protocol: the overridable mapping functions and the settings of one bank. */
export interface ProtocolDetails {
  'uk-open-banking': { quirks: UkOpenBankingQuirks; settings: UkOpenBankingSettings };
  'berlin-group': { quirks: BerlinGroupQuirks; settings: BerlinGroupSettings };
}
export type Protocol = keyof ProtocolDetails;

/** Bounds of one walk over a bank's pages: what comes after is refused, never cut silently. */
export interface PageBounds {
  pages: number;
  records: number;
  ms: number;
}

/** What no bank should need more of. */
export const usualPageBounds: PageBounds = { pages: 400, records: 100_000, ms: 120_000 };

/** A bank is data. Whatever differs is a field here or a mapper in `quirks`; never an `if (bank === …)`. */
export interface Institution<P extends Protocol = Protocol> {
  id: string;
  name: string;
  fullName: string;
  countries: { displayName: string; countryCode2: string; bic?: string }[];
  environmentType: 'SANDBOX' | 'MOCK' | 'LIVE';
  credentialsType: 'OPEN_BANKING_UK_AUTO' | 'OPEN_BANKING_UK_MANUAL' | 'OPEN_BANKING_AUTO';
  media: { source: string; type: 'icon' | 'logo' }[];
  protocol: P;
  /** Where the protocol starts: for UK Open Banking the issuer, for Berlin Group what comes before `/v1`. */
  baseUrl: string;
  /** Features our connector has and this bank lacks. */
  without?: Feature[];
  /** Features that are not operations, such as ACCOUNT_TRANSACTIONS_WITH_MERCHANT. */
  modifiers?: Feature[];
  /** How long account access lasts before its user must authorise or confirm it again. */
  maxConsentDays: number;
  /**
   * Consents have no end of their own: they last for as long as the user confirms to us, every `maxConsentDays`, that access
   * goes on (United Kingdom, since the FCA's change of SCA-RTS article 10A in 2022).
   */
  isLongLived?: boolean;
  /** The longest span of one transactions request, for banks that refuse longer ones. */
  transactionsSpanDays?: number;
  /** Whether ACSC (debtor side settled) is the bank's last word on a payment. */
  acscIsFinal: boolean;
  /** PSU headers the bank cannot do without. */
  requiredPsuHeaders: (keyof PsuHeaders)[];
  /** Those it wants with every read as well, where it does. */
  psuHeadersOfReads?: (keyof PsuHeaders)[];
  pageBounds: PageBounds;
  /** How far the bank's clock is ahead of ours, where it is by more than half a minute; negative: behind. */
  clockSkewSeconds?: number;
  /**
   * After so many days the bank ends a chain of refresh tokens, whatever its consent says and however often they were
   * renewed (quirk Q21): access ends then.
   */
  refreshChainDays?: number;
  /**
   * What is wrong with the signs of the bank's amounts (quirk Q17). `swapped`: what comes in is shown as going out, and the
   * other way round. `missing`: a minus is left out, and who stands on the other side tells.
   */
  amountSigns?: 'swapped' | 'missing';
  /** How the bank links its pages, where that is not as the standard says. */
  pageLinks?: PageLinks;
  /** How long an empty page that links to itself is asked again, while the bank prepares the history (quirk Q9). */
  patience?: Patience;
  settings: ProtocolDetails[P]['settings'];
  quirks?: Partial<ProtocolDetails[P]['quirks']>;
}

/** Our registration at one bank: a private PS256 key and the names the bank knows us by. */
export interface TppCredentials {
  clientId: string;
  organisationId: string;
  softwareStatementId: string;
  redirectUri: string;
  signingKey: JWK;
  kid: string;
  /** Our certificate for mutual TLS, where the bank wants one. */
  transport?: Transport;
  /** The address we call from: what a bank is told where it must have the PSU's and nobody knows it. */
  ipAddress?: string;
}

/** What a connector is given. It neither logs nor reads clocks, configuration or key files by itself. */
export interface Tools {
  http: BankHttp;
  now: () => Date;
  credentials: TppCredentials;
}
