/**
 * Raw wire types of what an account has besides balances and transactions, for v4.0 and v3.1. Where the versions differ
 * both forms are declared: a mapper reads the one that came.
 */
import type {
  OBAmount,
  OBBranchAndFinancialInstitutionIdentification,
  OBCashAccount,
  OBPostalAddress7,
  OBRemittanceInformation2,
} from './uk-open-banking.types.js';

export interface OBStatement2 {
  StatementId?: string;
  StartDateTime?: string;
  EndDateTime?: string;
  CreationDateTime?: string;
}

export interface OBBeneficiary5 {
  BeneficiaryId?: string;
  /** `Trusted` or `Ordinary`. */
  BeneficiaryType?: string;
  Reference?: string;
  CreditorAgent?: OBBranchAndFinancialInstitutionIdentification;
  CreditorAccount?: OBCashAccount;
}

/** v4.0; v3.1 says the same in members of the order itself. */
export interface OBMandateRelatedInformation1 {
  MandateIdentification?: string;
  FirstPaymentDateTime?: string;
  FinalPaymentDateTime?: string;
  /** `Type` is a code, or a text as v3.1 has it. */
  Frequency?: { Type?: string; CountPerPeriod?: number; PointInTime?: string };
}

export interface OBDirectDebit {
  DirectDebitId?: string;
  /** v3.1. */
  MandateIdentification?: string;
  MandateRelatedInformation?: OBMandateRelatedInformation1;
  DirectDebitStatusCode?: string;
  Name?: string;
  PreviousPaymentDateTime?: string;
  PreviousPaymentAmount?: OBAmount;
}

export interface OBStandingOrder6 {
  StandingOrderId?: string;
  StandingOrderStatusCode?: string;
  MandateRelatedInformation?: OBMandateRelatedInformation1;
  RemittanceInformation?: OBRemittanceInformation2;
  /** v3.1, as are `Reference`, `FirstPaymentDateTime` and `FinalPaymentDateTime` here. */
  Frequency?: string;
  Reference?: string;
  FirstPaymentDateTime?: string;
  FinalPaymentDateTime?: string;
  NextPaymentDateTime?: string;
  LastPaymentDateTime?: string;
  NumberOfPayments?: string;
  FirstPaymentAmount?: OBAmount;
  NextPaymentAmount?: OBAmount;
  LastPaymentAmount?: OBAmount;
  FinalPaymentAmount?: OBAmount;
  CreditorAgent?: OBBranchAndFinancialInstitutionIdentification;
  CreditorAccount?: OBCashAccount;
}

export interface OBScheduledPayment3 {
  ScheduledPaymentId?: string;
  ScheduledPaymentDateTime: string;
  /** `Arrival` or `Execution`. */
  ScheduledType: string;
  Reference?: string;
  InstructedAmount: OBAmount;
  CreditorAgent?: OBBranchAndFinancialInstitutionIdentification;
  CreditorAccount?: OBCashAccount;
}

export interface OBParty2 {
  PartyId: string;
  Name?: string;
  FullLegalName?: string;
  EmailAddress?: string;
  Phone?: string;
  Mobile?: string;
  Address?: (OBPostalAddress7 & { AddressType?: string })[];
}
