import {
  AmountError,
  formatMinor,
  problems,
  toMinor,
  type AccountIdentification,
  type Address,
  type PaymentChargeDetails,
  type PaymentRequest,
  type PaymentStatusDetails,
  type RefundAccount,
} from '#libs/contract';
import type { BankPayment } from '../connector.js';
import { instantIfAny, textOf, toUnsigned } from '../wire.js';
import {
  chargeBearers,
  payeeAccountTypes,
  paymentContexts,
  paymentStatuses,
  paymentStatusWords,
} from './payment-codes.js';
import type {
  OBCashAccount,
  OBDomesticInitiation,
  OBPostalAddress7,
  OBRisk1,
  OBWriteDomesticConsent4,
  OBWriteDomesticResponse5,
  Version,
} from './uk-open-banking.types.js';

/** Faster Payments keeps 31 characters of the end-to-end identification. */
const END_TO_END_MAX = 31;

type Remittance = NonNullable<OBDomesticInitiation['RemittanceInformation']>;

/** What a payment says differently in each version. */
const dialects: Readonly<
  Record<
    Version,
    { toRemittance(reference: string): Remittance; hasContract: OBRisk1; contexts: typeof paymentContexts }
  >
> = {
  '3.1': {
    toRemittance: (reference) => ({ Reference: reference }),
    hasContract: { ContractPresentInidicator: true },
    contexts: { ...paymentContexts, PISP_PAYEE: 'PispPayee' },
  },
  '4.0': {
    // In v4.0 a reference is structured; `Unstructured` would be a free text to the payee.
    toRemittance: (reference) => ({ Structured: [{ CreditorReferenceInformation: { Reference: reference } }] }),
    hasContract: { ContractPresentIndicator: true },
    contexts: paymentContexts,
  },
};

/**
 * A payment as the consent that authorises it. The order repeats `Initiation` and `Risk` unchanged, so this is built
 * once and kept. Throws a problem of the contract for accounts and amounts that UK payments cannot carry.
 */
export function toDomesticConsent(payment: PaymentRequest, version: Version): OBWriteDomesticConsent4 {
  const { payee, payer, reference, paymentIdempotencyId } = payment;
  const initiation: OBDomesticInitiation = {
    InstructionIdentification: paymentIdempotencyId.slice(0, 35),
    EndToEndIdentification: paymentIdempotencyId.slice(0, END_TO_END_MAX),
    InstructedAmount: { Amount: toAmountText(payment), Currency: payment.amount.currency },
    CreditorAccount: { ...toScheme(payee.accountIdentifications, 'payee'), Name: payee.name.slice(0, 350) },
  };
  if (payer) {
    initiation.DebtorAccount = {
      ...toScheme(payer.accountIdentifications, 'payer'),
      ...(payer.name ? { Name: payer.name } : {}),
    };
  }
  if (payee.address) initiation.CreditorPostalAddress = toPostalAddress(payee.address);
  if (reference) initiation.RemittanceInformation = dialects[version].toRemittance(reference);
  return {
    Data: { ...(payment.readRefundAccount ? { ReadRefundAccount: 'Yes' as const } : {}), Initiation: initiation },
    Risk: toRisk(payment, version),
  };
}

function toAmountText({ amount: { amount, currency } }: PaymentRequest): string {
  try {
    const minor = toMinor(amount, currency);
    if (minor > 0n) return formatMinor(minor, currency);
  } catch (fault) {
    if (!(fault instanceof AmountError)) throw fault;
  }
  throw problems.unexpectedValue({
    parameter: '$.paymentRequest.amount.amount',
    message: `must be a positive amount in the minor unit of ${currency}`,
  });
}

function toScheme(
  identifications: AccountIdentification[],
  whose: 'payee' | 'payer',
): { SchemeName: string; Identification: string } {
  const of = (type: AccountIdentification['type']) =>
    identifications.find((each) => each.type === type)?.identification.replace(/[ -]/g, '');
  const joined = `${of('SORT_CODE') ?? ''}${of('ACCOUNT_NUMBER') ?? ''}`;
  if (/^\d{14}$/.test(joined)) return { SchemeName: 'UK.OBIE.SortCodeAccountNumber', Identification: joined };
  const iban = of('IBAN');
  if (iban) return { SchemeName: 'UK.OBIE.IBAN', Identification: iban };
  throw problems.unexpectedValue({
    parameter: `$.paymentRequest.${whose}.accountIdentifications`,
    message: 'must be SORT_CODE (6 digits) with ACCOUNT_NUMBER (8 digits), or IBAN',
  });
}

function toPostalAddress(address: Address): OBPostalAddress7 {
  return {
    ...(address.streetName ? { StreetName: address.streetName } : {}),
    ...(address.buildingNumber ? { BuildingNumber: address.buildingNumber } : {}),
    ...(address.postCode ? { PostCode: address.postCode } : {}),
    ...(address.townName ? { TownName: address.townName } : {}),
    ...(address.county?.[0] ? { CountrySubDivision: address.county[0] } : {}),
    ...(address.country ? { Country: address.country } : {}),
    ...(address.addressLines?.length ? { AddressLine: address.addressLines.slice(0, 7) } : {}),
  };
}

function toRisk({ contextType, purposeCode, payee }: PaymentRequest, version: Version): OBRisk1 {
  const { contexts, hasContract } = dialects[version];
  const context = contexts[contextType ?? 'OTHER'];
  const accountType = payee.accountType ? payeeAccountTypes[payee.accountType] : undefined;
  return {
    ...(context ? { PaymentContextCode: context } : {}),
    // A payee of this context is one that has a contract with whoever initiates the payment.
    ...(contextType === 'PISP_PAYEE' ? hasContract : {}),
    ...(payee.merchantCategoryCode ? { MerchantCategoryCode: payee.merchantCategoryCode } : {}),
    ...(payee.merchantId ? { MerchantCustomerIdentification: payee.merchantId } : {}),
    ...(purposeCode ? { PaymentPurposeCode: purposeCode } : {}),
    ...(accountType ? { BeneficiaryAccountType: accountType } : {}),
  };
}

/** A payment order as the bank sees it. `acscIsFinal` is the institution's own rule on debtor-side settlement. */
export function toBankPayment(raw: OBWriteDomesticResponse5['Data'], acscIsFinal: boolean): BankPayment {
  const given = textOf(raw.Status, 'Status');
  const code = paymentStatusWords[given] ?? given;
  const known = paymentStatuses[code];
  const reason = raw.StatusReason?.[0];
  const updated = instantIfAny(raw.StatusUpdateDateTime, 'StatusUpdateDateTime');
  const statusDetails: PaymentStatusDetails = { status: known?.status ?? 'UNKNOWN' };
  const reasonCode = reason?.StatusReasonCode ?? (known?.iso ? undefined : code);
  if (reasonCode) statusDetails.statusReason = reasonCode;
  if (reason?.StatusReasonDescription) statusDetails.statusReasonDescription = reason.StatusReasonDescription;
  if (updated) statusDetails.statusUpdateDate = updated;
  if (known?.iso) statusDetails.isoStatus = { code: known.iso, name: known.name };
  addMultiAuthorisation(statusDetails, raw);
  const createdAt = instantIfAny(raw.CreationDateTime, 'CreationDateTime');
  const refundAccount = toRefundAccount(raw.Refund?.Account);
  return {
    institutionPaymentId: textOf(raw.DomesticPaymentId, 'DomesticPaymentId'),
    institutionConsentId: textOf(raw.ConsentId, 'ConsentId'),
    statusDetails,
    final: known?.final === true || (code === 'ACSC' && acscIsFinal),
    ...(createdAt ? { createdAt } : {}),
    ...(raw.Charges?.length ? { chargeDetails: raw.Charges.map(toCharge) } : {}),
    ...(refundAccount ? { refundAccount } : {}),
  };
}

function addMultiAuthorisation(details: PaymentStatusDetails, raw: OBWriteDomesticResponse5['Data']): void {
  const many = raw.MultiAuthorisation;
  if (!many) return;
  const updated = instantIfAny(many.LastUpdateDateTime, 'MultiAuthorisation.LastUpdateDateTime');
  const expires = instantIfAny(many.ExpirationDateTime, 'MultiAuthorisation.ExpirationDateTime');
  details.multiAuthorisationStatus = {
    ...(many.Status ? { status: many.Status } : {}),
    ...(many.NumberRequired === undefined ? {} : { numberOfAuthorisationRequired: many.NumberRequired }),
    ...(many.NumberReceived === undefined ? {} : { numberOfAuthorisationReceived: many.NumberReceived }),
    ...(updated ? { lastUpdatedDateTime: updated } : {}),
    ...(expires ? { expirationDateTime: expires } : {}),
  };
}

function toCharge(raw: NonNullable<OBWriteDomesticResponse5['Data']['Charges']>[number]): PaymentChargeDetails {
  const bearer = raw.ChargeBearer ? (chargeBearers[raw.ChargeBearer] ?? raw.ChargeBearer) : undefined;
  return {
    ...(raw.Amount
      ? { chargeAmount: { amount: toUnsigned(raw.Amount.Amount, 'Charges.Amount'), currency: raw.Amount.Currency } }
      : {}),
    ...(raw.Type ? { chargeType: raw.Type } : {}),
    ...(bearer ? { chargeTo: bearer } : {}),
  };
}

function toRefundAccount(account: OBCashAccount | undefined): RefundAccount | undefined {
  const identification = account?.Identification?.trim();
  if (!account || !identification) return undefined;
  const sortCode = account.SchemeName?.endsWith('SortCodeAccountNumber') === true && /^\d{14}$/.test(identification);
  return {
    ...(account.Name ? { name: account.Name } : {}),
    accountIdentifications: sortCode
      ? [
          { type: 'SORT_CODE', identification: identification.slice(0, 6) },
          { type: 'ACCOUNT_NUMBER', identification: identification.slice(6) },
        ]
      : [{ type: 'IBAN', identification }],
  };
}
