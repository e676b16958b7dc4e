/**
 * Raw wire types of the UK Open Banking Read/Write API, v4.0 and v3.1, named as the standard names them. A member is
 * required here only if our work needs it and the mapper checks it where it enters; code sets are open, so codes are
 * `string`.
 */
import type * as map from './uk-open-banking.map.js';

export interface OBAmount {
  Amount: string;
  Currency: string;
}

export interface Links {
  Self?: string;
  First?: string;
  Prev?: string;
  Next?: string;
  Last?: string;
}

export interface Meta {
  TotalPages?: number;
  FirstAvailableDateTime?: string;
  LastAvailableDateTime?: string;
}

/** `OBCashAccount6`, and with the members mandatory the accounts of a payment. */
export interface OBCashAccount {
  SchemeName?: string;
  Identification?: string;
  Name?: string;
  SecondaryIdentification?: string;
}

export interface OBBranchAndFinancialInstitutionIdentification {
  SchemeName?: string;
  Identification?: string;
  Name?: string;
}

export interface OBStatusReason {
  StatusReasonCode?: string;
  StatusReasonDescription?: string;
  Path?: string;
}

/** Section "Account Access Consents". `Status` of v4.0 is `AWAU`, `RJCT`, `AUTH`, `EXPD` or `CANC`. */
export interface OBReadConsentResponse1 {
  Data: {
    ConsentId: string;
    Status: string;
    StatusReason?: OBStatusReason[];
    ExpirationDateTime?: string;
    Permissions?: string[];
  };
}

export interface OBReadConsent1 {
  Data: {
    Permissions: string[];
    ExpirationDateTime?: string;
    TransactionFromDateTime?: string;
    TransactionToDateTime?: string;
  };
  Risk: Record<string, never>;
}

export interface OBAccount6 {
  AccountId: string;
  Status?: string;
  Currency?: string;
  AccountCategory?: string;
  AccountTypeCode?: string;
  /** v3.1, as is `AccountSubType`. */
  AccountType?: string;
  AccountSubType?: string;
  Description?: string;
  Nickname?: string;
  Account?: OBCashAccount[];
  Servicer?: OBBranchAndFinancialInstitutionIdentification;
}

/** Any list of the standard: `Data` holds the rows under one name, which a bank may leave out when there are none. */
export interface OBReadList<Name extends string, Row> {
  Data: { [N in Name]?: Row[] };
  Links?: Links;
  Meta?: Meta;
}

export type OBReadAccount6 = OBReadList<'Account', OBAccount6>;

export interface OBBalance {
  AccountId?: string;
  CreditDebitIndicator: string;
  Type: string;
  DateTime?: string;
  Amount: OBAmount;
  CreditLine?: { Included: boolean; Type?: string; Amount?: OBAmount }[];
}

export interface OBReadBalance1 {
  Data: { Balance: OBBalance[] };
}

export interface OBTransaction6 {
  AccountId?: string;
  TransactionId?: string;
  TransactionReference?: string;
  StatementReference?: string[];
  CreditDebitIndicator: string;
  Status: string;
  TransactionMutability?: string;
  BookingDateTime?: string;
  ValueDateTime?: string;
  TransactionInformation?: string;
  AddressLine?: string;
  Amount: OBAmount;
  ChargeAmount?: OBAmount;
  CurrencyExchange?: {
    SourceCurrency?: string;
    TargetCurrency?: string;
    UnitCurrency?: string;
    ExchangeRate?: number | string;
  };
  BankTransactionCode?: { Code?: string; SubCode?: string };
  ProprietaryBankTransactionCode?: { Code?: string; Issuer?: string };
  ExtendedProprietaryBankTransactionCodes?: Record<string, unknown>[];
  Balance?: { CreditDebitIndicator?: string; Type?: string; Amount?: OBAmount };
  MerchantDetails?: { MerchantName?: string; MerchantCategoryCode?: string };
  CreditorAgent?: OBBranchAndFinancialInstitutionIdentification;
  CreditorAccount?: OBCashAccount;
  DebtorAgent?: OBBranchAndFinancialInstitutionIdentification;
  DebtorAccount?: OBCashAccount;
  CardInstrument?: Record<string, unknown>;
  SupplementaryData?: Record<string, unknown>;
  CategoryPurposeCode?: string;
  PaymentPurposeCode?: string;
  UltimateCreditor?: Record<string, unknown>;
  UltimateDebtor?: Record<string, unknown>;
}

export type OBReadTransaction6 = OBReadList<'Transaction', OBTransaction6>;

/** v4.0. */
export interface OBRemittanceInformation2 {
  Structured?: { CreditorReferenceInformation?: { Reference?: string } }[];
  Unstructured?: string[];
}

/** v3.1. */
export interface OBRemittanceInformation1 {
  Reference?: string;
  Unstructured?: string;
}

export interface OBDomesticInitiation {
  InstructionIdentification: string;
  EndToEndIdentification: string;
  InstructedAmount: OBAmount;
  DebtorAccount?: { SchemeName: string; Identification: string; Name?: string };
  CreditorAccount: { SchemeName: string; Identification: string; Name: string };
  CreditorPostalAddress?: OBPostalAddress7;
  RemittanceInformation?: OBRemittanceInformation2 | OBRemittanceInformation1;
}

export interface OBPostalAddress7 {
  StreetName?: string;
  BuildingNumber?: string;
  PostCode?: string;
  TownName?: string;
  CountrySubDivision?: string;
  Country?: string;
  AddressLine?: string[];
}

export interface OBRisk1 {
  PaymentContextCode?: string;
  MerchantCategoryCode?: string;
  MerchantCustomerIdentification?: string;
  PaymentPurposeCode?: string;
  BeneficiaryAccountType?: string;
  ContractPresentIndicator?: boolean;
  /** v3.1 spells it so. */
  ContractPresentInidicator?: boolean;
}

export interface OBWriteDomesticConsent4 {
  Data: { ReadRefundAccount?: 'Yes' | 'No'; Initiation: OBDomesticInitiation };
  Risk: OBRisk1;
}

export interface OBWriteDomesticConsentResponse5 {
  Data: { ConsentId: string; Status: string; StatusReason?: OBStatusReason[]; Initiation?: OBDomesticInitiation };
  Risk?: OBRisk1;
}

export interface OBWriteDomestic2 {
  Data: { ConsentId: string; Initiation: OBDomesticInitiation };
  Risk: OBRisk1;
}

export interface OBWriteDomesticResponse5 {
  Data: {
    DomesticPaymentId: string;
    ConsentId: string;
    CreationDateTime?: string;
    Status: string;
    StatusUpdateDateTime?: string;
    StatusReason?: OBStatusReason[];
    Refund?: { Account?: OBCashAccount };
    Charges?: { ChargeBearer?: string; Type?: string; Amount?: OBAmount }[];
    MultiAuthorisation?: {
      Status?: string;
      NumberRequired?: number;
      NumberReceived?: number;
      LastUpdateDateTime?: string;
      ExpirationDateTime?: string;
    };
  };
}

export interface OBWriteFundsConfirmationResponse1 {
  Data: { FundsAvailableResult?: { FundsAvailableDateTime?: string; FundsAvailable?: boolean } };
}

export interface OBErrorResponse1 {
  Code?: string;
  Message?: string;
  Errors?: { ErrorCode?: string; Message?: string; Path?: string }[];
}

/** The mapping functions a bank may override; a quirk ends by calling the default. */
export type UkOpenBankingQuirks = typeof map.defaults;

/** The versions of the standard that we speak. A consent is read on the version that it was made on. */
export type Version = '3.1' | '4.0';

/** What differs between UK banks, as data. */
export interface UkOpenBankingSettings {
  /** The version that new consents are made on. */
  version: Version;
  /** How the authorisation answer is protected: `fragment` is `code id_token`, `jwt` is JARM (FAPI 1.0 Advanced). */
  responseMode: 'fragment' | 'jwt';
  /** How we prove who we are at the token endpoint. `tls_client_auth` needs `transport` in our credentials. */
  clientAuthentication?: 'private_key_jwt' | 'tls_client_auth';
  /** True only for banks still on the v3.1.3 rules, which sign the raw bytes (`b64: false`). */
  jwsB64: boolean;
  /** The domain in the signatures' `tan` claim. */
  trustAnchor: string;
  /** The bank's organisation id: the `iss` of its message signatures. Absent: any issuer of a trusted key is taken. */
  organisationId?: string;
  /** Where the bank's message signing keys are. */
  signingKeysUrl: string;
  /** What stands before `/v<version>/aisp`. Absent: `<baseUrl>/open-banking`. */
  resourcesUrl?: string;
  /**
   * The bank gives its whole history only for so many minutes after the PSU authenticated; later it refuses what is
   * older than so many days on its own calendar (quirks Q12 and Q14).
   */
  history?: { fullMinutes: number; days: number };
}
