import type { PaymentIsoStatusCodeEnum, PaymentStatus } from '#libs/contract';
import type { Table } from '../iso-codes.js';

/** Code tables of payments against the contract's words, as data. */

/** Payment status by its ISO code: what the contract calls it, its ISO name, and whether the bank says anything after it. */
export const paymentStatuses: Table<{
  status: PaymentStatus;
  iso?: PaymentIsoStatusCodeEnum;
  name: string;
  final?: boolean;
}> = {
  RCVD: { status: 'PENDING', iso: 'RCVD', name: 'Received' },
  PDNG: { status: 'PENDING', iso: 'PDNG', name: 'Pending' },
  ACTC: { status: 'PENDING', iso: 'ACTC', name: 'AcceptedTechnicalValidation' },
  PATC: { status: 'PENDING', iso: 'PATC', name: 'PartiallyAcceptedTechnicalCorrect' },
  ACFC: { status: 'PENDING', iso: 'ACFC', name: 'AcceptedFundsChecked' },
  ACWC: { status: 'PENDING', iso: 'ACWC', name: 'AcceptedWithChange' },
  ACCP: { status: 'COMPLETED', iso: 'ACCP', name: 'AcceptedCustomerProfile' },
  ACSP: { status: 'COMPLETED', iso: 'ACSP', name: 'AcceptedSettlementInProcess' },
  ACSC: { status: 'COMPLETED', iso: 'ACSC', name: 'AcceptedSettlementCompleted' },
  ACWP: { status: 'COMPLETED', iso: 'ACWP', name: 'AcceptedWithoutPosting' },
  ACCC: { status: 'COMPLETED', iso: 'ACCC', name: 'AcceptedCreditSettlementCompleted', final: true },
  RJCT: { status: 'FAILED', iso: 'RJCT', name: 'Rejected', final: true },
  CANC: { status: 'FAILED', iso: 'CANC', name: 'Cancelled', final: true },
  BLCK: { status: 'FAILED', name: 'Blocked', final: true },
};

/** The words of v3.1 for the same, those of an order and those of its details. */
export const paymentStatusWords: Table<string> = {
  Received: 'RCVD',
  Pending: 'PDNG',
  AcceptedTechnicalValidation: 'ACTC',
  PartiallyAcceptedTechnicalCorrect: 'PATC',
  AcceptedFundsChecked: 'ACFC',
  AcceptedWithChange: 'ACWC',
  AcceptedCustomerProfile: 'ACCP',
  AcceptedSettlementInProcess: 'ACSP',
  AcceptedSettlementCompleted: 'ACSC',
  AcceptedWithoutPosting: 'ACWP',
  AcceptedCreditSettlementCompleted: 'ACCC',
  Rejected: 'RJCT',
  Cancelled: 'CANC',
  PaymentCancelled: 'CANC',
};

/** Contract's payment context against `Risk.PaymentContextCode`; contexts the standard does not know are left out. */
export const paymentContexts: Table<string> = {
  BILL_IN_ADVANCE: 'BillingGoodsAndServicesInAdvance',
  BILL_IN_ARREARS: 'BillingGoodsAndServicesInArrears',
  BILL: 'BillingGoodsAndServicesInArrears',
  ECOMMERCE_MERCHANT: 'EcommerceMerchantInitiatedPayment',
  GOODS: 'EcommerceMerchantInitiatedPayment',
  SERVICES: 'EcommerceMerchantInitiatedPayment',
  FACE_TO_FACE_POS: 'FaceToFacePointOfSale',
  TRANSFER_TO_SELF: 'TransferToSelf',
  TRANSFER_TO_THIRD_PARTY: 'TransferToThirdParty',
  PERSON_TO_PERSON: 'TransferToThirdParty',
};

export const payeeAccountTypes: Table<string> = {
  BUSINESS: 'Business',
  BUSINESS_SAVING: 'BusinessSavingsAccount',
  CHARITY: 'Charity',
  COLLECTION: 'Collection',
  CORPORATE: 'Corporate',
  E_WALLET: 'Ewallet',
  GOVERNMENT: 'Government',
  INVESTMENT: 'Investment',
  INVESTMENT_ISA: 'ISA',
  JOINT_PERSONAL: 'JointPersonal',
  PENSION: 'Pension',
  PERSONAL: 'Personal',
  PERSONAL_SAVING: 'PersonalSavingsAccount',
  PREMIER: 'Premier',
  WEALTH: 'Wealth',
};

export const chargeBearers: Table<string> = {
  BorneByCreditor: 'CRED',
  BorneByDebtor: 'DEBT',
  FollowingServiceLevel: 'SLEV',
  Shared: 'SHAR',
};
