import { createHash } from 'node:crypto';
import type {
  AccountStatement,
  Amount,
  Beneficiary,
  DirectDebitResponse,
  Identity,
  IdentityAddress,
  Payee,
  PaymentResponse,
} from '#libs/contract';
import { instantIfAny, textOf, toInstant } from '../wire.js';
import { addressTypes, mandateStatuses } from './codes.js';
import { frequencyOfMandate, frequencyOfText } from './frequency.js';
import { toAmount, toParty } from './parts.map.js';
import type {
  OBBeneficiary5,
  OBDirectDebit,
  OBParty2,
  OBScheduledPayment3,
  OBStandingOrder6,
  OBStatement2,
} from './resources.types.js';
import type { OBAmount } from './uk-open-banking.types.js';

/** The id a bank gave, or one of the content: the contract wants one, and v4.0 lets a bank leave it out. */
function idOf(given: string | undefined, raw: object): string {
  return given?.trim() || createHash('sha256').update(JSON.stringify(raw)).digest('hex').slice(0, 32);
}

/** A statement's dates. One to which the bank gave no id can be listed, but not asked for by itself. */
export function toStatement(raw: OBStatement2): AccountStatement {
  const start = instantIfAny(raw.StartDateTime, 'StartDateTime');
  const end = instantIfAny(raw.EndDateTime, 'EndDateTime');
  const created = instantIfAny(raw.CreationDateTime, 'CreationDateTime');
  return {
    id: idOf(raw.StatementId, raw),
    ...(start ? { startDateTime: start } : {}),
    ...(end ? { endDateTime: end } : {}),
    ...(created ? { creationDateTime: created } : {}),
  };
}

/** Whether a beneficiary is trusted is said only where the bank says it. */
export function toBeneficiary(raw: OBBeneficiary5): Beneficiary {
  const party = toParty(raw.CreditorAccount, raw.CreditorAgent);
  const beneficiary: Beneficiary = {};
  if (raw.BeneficiaryId) beneficiary.id = raw.BeneficiaryId;
  if (raw.Reference) beneficiary.reference = raw.Reference;
  if (party) {
    const { name, accountIdentifications = [] } = party;
    beneficiary.payee = { ...(name ? { name } : {}), accountIdentifications };
  }
  if (raw.BeneficiaryType) beneficiary.trusted = raw.BeneficiaryType === 'Trusted';
  return beneficiary;
}

export function toDirectDebit(raw: OBDirectDebit): DirectDebitResponse {
  const mandate = raw.MandateRelatedInformation?.MandateIdentification ?? raw.MandateIdentification;
  const previous = instantIfAny(raw.PreviousPaymentDateTime, 'PreviousPaymentDateTime');
  return {
    ...(raw.DirectDebitId ? { id: raw.DirectDebitId } : {}),
    statusDetails: { status: mandateStatuses[raw.DirectDebitStatusCode ?? ''] ?? 'UNKNOWN' },
    payeeDetails: { name: textOf(raw.Name, 'DirectDebit.Name') },
    ...(mandate ? { reference: mandate } : {}),
    ...(raw.PreviousPaymentAmount
      ? { previousPaymentAmount: toAmount(raw.PreviousPaymentAmount, 'PreviousPaymentAmount') }
      : {}),
    ...(previous ? { previousPaymentDateTime: previous } : {}),
  };
}

/** A standing order. What v3.1 says in members of its own, v4.0 says in the mandate and the remittance information. */
export function toPeriodicPayment(raw: OBStandingOrder6): PaymentResponse {
  const mandate = raw.MandateRelatedInformation;
  const status = mandateStatuses[raw.StandingOrderStatusCode ?? ''] ?? 'UNKNOWN';
  const payment: PaymentResponse = { id: idOf(raw.StandingOrderId, raw), status, statusDetails: { status } };
  const payee = toPayee(raw);
  if (payee) payment.payeeDetails = payee;
  const structured = raw.RemittanceInformation?.Structured?.[0]?.CreditorReferenceInformation?.Reference;
  const reference = raw.Reference ?? structured ?? raw.RemittanceInformation?.Unstructured?.[0];
  if (reference) payment.reference = reference;
  addDates(payment, raw);
  addAmounts(payment, raw);
  if (raw.NumberOfPayments && /^\d{1,9}$/.test(raw.NumberOfPayments)) {
    payment.numberOfPayments = Number(raw.NumberOfPayments);
  }
  const frequency = mandate ? frequencyOfMandate(mandate.Frequency) : raw.Frequency && frequencyOfText(raw.Frequency);
  if (frequency) payment.frequency = frequency;
  return payment;
}

function addDates(payment: PaymentResponse, raw: OBStandingOrder6): void {
  const mandate = raw.MandateRelatedInformation;
  const first = instantIfAny(mandate?.FirstPaymentDateTime ?? raw.FirstPaymentDateTime, 'FirstPaymentDateTime');
  const next = instantIfAny(raw.NextPaymentDateTime, 'NextPaymentDateTime');
  const last = instantIfAny(raw.LastPaymentDateTime, 'LastPaymentDateTime');
  const final = instantIfAny(mandate?.FinalPaymentDateTime ?? raw.FinalPaymentDateTime, 'FinalPaymentDateTime');
  if (first) payment.firstPaymentDateTime = first;
  if (next) payment.nextPaymentDateTime = next;
  if (last) payment.previousPaymentDateTime = last;
  if (final) payment.finalPaymentDateTime = final;
}

function addAmounts(payment: PaymentResponse, raw: OBStandingOrder6): void {
  const first = amountIfAny(raw.FirstPaymentAmount, 'FirstPaymentAmount');
  const next = amountIfAny(raw.NextPaymentAmount, 'NextPaymentAmount');
  const last = amountIfAny(raw.LastPaymentAmount, 'LastPaymentAmount');
  const final = amountIfAny(raw.FinalPaymentAmount, 'FinalPaymentAmount');
  if (first) payment.firstPaymentAmount = first;
  if (next) payment.nextPaymentAmount = next;
  if (last) payment.previousPaymentAmount = last;
  if (final) payment.finalPaymentAmount = final;
}

function amountIfAny(amount: OBAmount | undefined, member: string): Amount | undefined {
  return amount && toAmount(amount, member);
}

/** A payment with a date of its own. The bank lists only those still to come, so each is pending. */
export function toScheduledPayment(raw: OBScheduledPayment3): PaymentResponse {
  const { amount, currency } = toAmount(raw.InstructedAmount, 'InstructedAmount');
  const payee = toPayee(raw);
  return {
    id: idOf(raw.ScheduledPaymentId, raw),
    status: 'PENDING',
    statusDetails: { status: 'PENDING' },
    ...(payee ? { payeeDetails: payee } : {}),
    ...(raw.Reference ? { reference: raw.Reference } : {}),
    amount,
    currency,
    amountDetails: { amount, currency },
    scheduledPaymentType: textOf(raw.ScheduledType, 'ScheduledType').toUpperCase(),
    scheduledPaymentDateTime: toInstant(
      textOf(raw.ScheduledPaymentDateTime, 'ScheduledPaymentDateTime'),
      'ScheduledPaymentDateTime',
    ),
  };
}

/** The contract's payee has a name and an account; a bank that tells only one of them tells no payee. */
function toPayee(raw: Pick<OBStandingOrder6, 'CreditorAccount' | 'CreditorAgent'>): Payee | undefined {
  const { name, accountIdentifications } = toParty(raw.CreditorAccount, raw.CreditorAgent) ?? {};
  return name && accountIdentifications?.length ? { name, accountIdentifications } : undefined;
}

/** The person who logged in. First and last name are never made out of a whole name. */
export function toIdentity(raw: OBParty2): Identity {
  const fullName = raw.FullLegalName ?? raw.Name;
  const phone = raw.Phone ?? raw.Mobile;
  const addresses = (raw.Address ?? []).map(toAddress);
  return {
    id: textOf(raw.PartyId, 'PartyId'),
    ...(fullName ? { fullName } : {}),
    ...(raw.EmailAddress ? { email: raw.EmailAddress } : {}),
    ...(phone ? { phone } : {}),
    ...(addresses.length ? { addresses } : {}),
  };
}

function toAddress(raw: NonNullable<OBParty2['Address']>[number]): IdentityAddress {
  return {
    ...(raw.AddressLine?.length ? { addressLines: raw.AddressLine } : {}),
    ...(raw.TownName ? { city: raw.TownName } : {}),
    ...(raw.PostCode ? { postalCode: raw.PostCode } : {}),
    ...(raw.Country ? { country: raw.Country } : {}),
    ...(raw.StreetName ? { streetName: raw.StreetName } : {}),
    ...(raw.BuildingNumber ? { buildingNumber: raw.BuildingNumber } : {}),
    ...(raw.AddressType ? { type: addressTypes[raw.AddressType] ?? 'UNKNOWN' } : {}),
    ...(raw.CountrySubDivision ? { county: raw.CountrySubDivision } : {}),
  };
}
