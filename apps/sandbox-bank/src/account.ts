/** An account as stored. Money is minor units, instants epoch milliseconds, days since 1970. */
export type Account = {
  id: string;
  bank: string;
  persona: string;
  kind: string;
  position: number;
  holder: string;
  nickname: string;
  description: string;
  currency: string;
  sortCode: string | null;
  accountNumber: string | null;
  iban: string | null;
  maskedPan: string | null;
  openedAt: number;
  firstDay: number;
  generatedTo: number;
  rate: number;
  openingMinor: number;
  balanceMinor: number;
  creditLimitMinor: number;
  lastBookedAt: number;
  nextSeq: number;
};

/** A row of an account. `balanceMinor` is the running balance after it; null while the row is pending. */
export type Entry = {
  accountId: string;
  seq: number;
  id: string;
  madeAt: number;
  bookedAt: number;
  amountMinor: number;
  balanceMinor: number | null;
  detail: string;
};
