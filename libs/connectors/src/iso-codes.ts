import type { AccountBalanceType, AccountType } from '#libs/contract';

/** Tables that belong to no one protocol: ISO 20022 code sets against the contract's words, as data. */
export type Table<T> = Readonly<Record<string, T | undefined>>;

/** ExternalCashAccountType1Code. */
export const accountTypes: Table<AccountType> = {
  CACC: 'CURRENT',
  CARD: 'CREDIT_CARD',
  CASH: 'CASH_PAYMENT',
  CHAR: 'CHARGES',
  CISH: 'CASH_INCOME',
  COMM: 'COMMISSION',
  CPAC: 'SETTLEMENT',
  LLSV: 'LIMITED_LIQUIDITY_SAVINGS_ACCOUNT',
  LOAN: 'LOAN',
  MGLD: 'MARGINAL_LENDING',
  MOMA: 'MONEY_MARKET',
  MORT: 'MORTGAGE',
  NFCA: 'OTHER',
  NREX: 'NON_RESIDENT_EXTERNAL',
  ODFT: 'OVERDRAFT',
  ONDP: 'OVERNIGHT_DEPOSIT',
  OTHR: 'OTHER',
  SACC: 'SETTLEMENT',
  SLRY: 'SALARY',
  SVGS: 'SAVINGS',
  TAXE: 'TAX',
  TRAN: 'CURRENT',
  TRAS: 'CASH_TRADING',
  VACC: 'OTHER',
  WALT: 'E_MONEY',
};

/** The words for `Account.type`, where a bank sends only a code. */
export const accountTypeNames: Table<string> = {
  CACC: 'Current',
  CARD: 'Credit Card',
  LOAN: 'Loan',
  MORT: 'Mortgage',
  SLRY: 'Salary',
  SVGS: 'Savings',
  TRAN: 'Current',
  WALT: 'E-Money',
};

/** Which balance is the headline one: the first present wins. */
export const mainBalanceOrder: readonly AccountBalanceType[] = [
  'INTERIM_AVAILABLE',
  'EXPECTED',
  'INTERIM_BOOKED',
  'CLOSING_AVAILABLE',
  'CLOSING_BOOKED',
  'OPENING_AVAILABLE',
  'OPENING_BOOKED',
];

/** Names of the bank transaction codes (ISO 20022 external code set) that accounts show most. */
export const bankTransactionCodeNames: Table<string> = {
  RCDT: 'ReceivedCreditTransfers',
  ICDT: 'IssuedCreditTransfers',
  RDDT: 'ReceivedDirectDebits',
  IDDT: 'IssuedDirectDebits',
  CCRD: 'CustomerCardTransactions',
  MCRD: 'MerchantCardTransactions',
  CNTR: 'CounterTransactions',
  RCHQ: 'ReceivedCheques',
  ICHQ: 'IssuedCheques',
  RRCT: 'ReceivedRealTimeCreditTransfers',
  IRCT: 'IssuedRealTimeCreditTransfers',
  MDOP: 'MiscellaneousDebitOperations',
  MCOP: 'MiscellaneousCreditOperations',
  DMCT: 'DomesticCreditTransfer',
  XBCT: 'CrossBorderCreditTransfer',
  BOOK: 'InternalBookTransfer',
  STDO: 'StandingOrder',
  SALA: 'PayrollSalaryPayment',
  PMDD: 'DirectDebitPayment',
  ESDD: 'SepaCoreDirectDebit',
  ESCT: 'SepaCreditTransfer',
  POSD: 'PointOfSalePaymentDebitCard',
  POSC: 'CreditCardPayment',
  CWDL: 'CashWithdrawal',
  CDPT: 'CashDeposit',
  INTR: 'Interest',
  CHRG: 'Charges',
  FEES: 'Fees',
  RIMB: 'Reimbursement',
  OTHR: 'Other',
};

/** Texts some banks put where an identifier should be (quirk Q2); never identities. */
export const placeholderIds: ReadonlySet<string> = new Set([
  'NOTPROVIDED',
  'NOT PROVIDED',
  'NOTAVAILABLE',
  'N/A',
  'NULL',
  'NONE',
  '0',
]);
