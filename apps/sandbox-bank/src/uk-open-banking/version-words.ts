type Words = Readonly<Record<string, string>>;

/**
 * What v3.1 says where v4.0 has a code. A key is a member's name, with its parent's where the name alone has several meanings.
 * The PSU taking access back and the end of a consent have no word in v3.1: the consent stays Authorised, and the token dies.
 */
export const words: Readonly<Record<string, Words>> = {
  Status: {
    AWAU: 'AwaitingAuthorisation',
    AUTH: 'Authorised',
    CANC: 'Authorised',
    EXPD: 'Authorised',
    RJCT: 'Rejected',
    COND: 'Consumed',
    BOOK: 'Booked',
    PDNG: 'Pending',
    RCVD: 'Pending',
    ACTC: 'Pending',
    ACSP: 'AcceptedSettlementInProcess',
    ACSC: 'AcceptedSettlementCompleted',
    ACCC: 'AcceptedCreditSettlementCompleted',
  },
  'StatusDetail.StatusReason': { AG01: 'ProprietaryRejection', AM04: 'ProprietaryRejection' },
  Type: { ITAV: 'InterimAvailable', ITBD: 'InterimBooked', CLBD: 'ClosingBooked' },
  AccountTypeCode: { CACC: 'CurrentAccount', SVGS: 'Savings', CARD: 'CreditCard' },
  StandingOrderStatusCode: { ACTV: 'Active', CANC: 'Inactive', EXPI: 'Inactive', SUSP: 'Inactive' },
  DirectDebitStatusCode: { ACTV: 'Active', CANC: 'Inactive', EXPI: 'Inactive', SUSP: 'Inactive' },
  AddressType: { HOME: 'Residential', BIZZ: 'Business' },
  'BankTransactionCode.Code': {
    ICDT: 'IssuedCreditTransfer',
    RCDT: 'ReceivedCreditTransfer',
    RDDT: 'ReceivedDirectDebit',
    CCRD: 'CustomerCardTransaction',
    MCRD: 'MerchantCardTransaction',
  },
  'BankTransactionCode.SubCode': {
    STDO: 'StandingOrder',
    PMDD: 'DirectDebitPayment',
    SALA: 'PayrollSalaryPayment',
    CWDL: 'CashWithdrawal',
    BOOK: 'InternalBookTransfer',
    ESCT: 'SEPACreditTransfer',
    DMCT: 'DomesticCreditTransfer',
    POSD: 'PointOfSaleDebitCard',
    RIMB: 'Reimbursement',
    INTR: 'InterestPayment',
  },
  ErrorCode: {
    U000: 'UK.OBIE.UnexpectedError',
    U001: 'UK.OBIE.Field.Expected',
    U002: 'UK.OBIE.Field.Invalid',
    U003: 'UK.OBIE.Field.InvalidDate',
    U004: 'UK.OBIE.Field.Missing',
    U005: 'UK.OBIE.Field.Unexpected',
    U006: 'UK.OBIE.Header.Invalid',
    U007: 'UK.OBIE.Header.Missing',
    U008: 'UK.OBIE.Resource.ConsentMismatch',
    U009: 'UK.OBIE.Resource.InvalidConsentStatus',
    U010: 'UK.OBIE.Resource.InvalidFormat',
    U011: 'UK.OBIE.Resource.NotFound',
    U015: 'UK.OBIE.Signature.Invalid',
    U016: 'UK.OBIE.Signature.InvalidClaim',
    U017: 'UK.OBIE.Signature.MissingClaim',
    U018: 'UK.OBIE.Signature.Malformed',
    U019: 'UK.OBIE.Signature.Missing',
    U020: 'UK.OBIE.Signature.Unexpected',
    U021: 'UK.OBIE.Unsupported.AccountIdentifier',
    U023: 'UK.OBIE.Unsupported.Currency',
    U027: 'UK.OBIE.Unsupported.Scheme',
    U028: 'UK.OBIE.Reauthenticate',
    U029: 'UK.OBIE.Rules.ResourceAlreadyExists',
  },
};

/** Members that have another name in v3.1. */
export const names: Words = { AccountCategory: 'AccountType', AccountTypeCode: 'AccountSubType' };

/** Members that v3.1 does not have. */
export const unknown: ReadonlySet<string> = new Set(['Data.StatusReason', 'Servicer.Name']);

/** Members that hold what the TPP sent, in the TPP's own version: they are repeated as they are. */
export const asSent: ReadonlySet<string> = new Set(['Initiation', 'Risk', 'Authorisation', 'SCASupportData']);

/** Frequency types of v4.0 as v3.1 writes them: for standing orders with a day, for direct debits as a word. */
export const intervals: Words = { MNTH: '01', QURT: '03', YEAR: '12' };
export const debitFrequencies: Words = {
  MNTH: 'UK.OBIE.Monthly',
  QURT: 'UK.OBIE.Quarterly',
  YEAR: 'UK.OBIE.Annual',
};
