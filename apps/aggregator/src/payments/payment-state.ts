import { PaymentIsoStatusCodeEnum, PaymentStatus } from '#libs/contract';

const P = PaymentStatus;
type Iso = PaymentIsoStatusCodeEnum;

/** ISO 20022 payment status codes -> the interface's status. */
const FROM_ISO: Readonly<Record<Iso, PaymentStatus>> = {
  RCVD: P.PENDING,
  PDNG: P.PENDING,
  ACTC: P.PENDING,
  PATC: P.PENDING,
  ACFC: P.PENDING,
  ACWC: P.PENDING,
  PART: P.PENDING,
  ACCP: P.COMPLETED,
  ACSP: P.COMPLETED,
  ACSC: P.COMPLETED,
  ACCC: P.COMPLETED,
  ACWP: P.COMPLETED,
  ACCO: P.COMPLETED,
  RJCT: P.FAILED,
  CANC: P.FAILED,
};

/** Allowed moves. COMPLETED means accepted for execution, not settled, so it may still turn FAILED. */
const MOVES: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  PENDING: [P.COMPLETED, P.COMPLETED_SETTLEMENT_IN_PROCESS, P.FAILED, P.DECLINED, P.EXPIRED, P.UNKNOWN, P.ACTIVE],
  UNKNOWN: [P.PENDING, P.COMPLETED, P.COMPLETED_SETTLEMENT_IN_PROCESS, P.FAILED, P.DECLINED, P.EXPIRED, P.ACTIVE],
  COMPLETED_SETTLEMENT_IN_PROCESS: [P.COMPLETED, P.FAILED],
  COMPLETED: [P.FAILED],
  ACTIVE: [P.INACTIVE, P.FAILED],
  INACTIVE: [P.ACTIVE],
  FAILED: [],
  DECLINED: [],
  EXPIRED: [],
};

/** What the events say: still moving, or which way it ended. */
export type Outcome = 'open' | 'succeeded' | 'failed';

/** The interface's status for a bank's ISO code; undefined when the code is none of the fifteen. */
export function statusOfIso(code: string): PaymentStatus | undefined {
  return Object.hasOwn(FROM_ISO, code) ? FROM_ISO[code as Iso] : undefined;
}

/** Whether a payment in `from` may become `to`. Staying is not a move. */
export function mayMove(from: PaymentStatus, to: PaymentStatus): boolean {
  return MOVES[from].includes(to);
}

/** No move leads out of it. */
export function isTerminal(status: PaymentStatus): boolean {
  return MOVES[status].length === 0;
}

/** Where the payment stands for `payment.state.*`. COMPLETED is over once the bank has nothing more to say (`final`). */
export function outcomeOf(status: PaymentStatus, final: boolean): Outcome {
  if (isTerminal(status)) return 'failed';
  return isCompleted(status) && final ? 'succeeded' : 'open';
}

/** Whether `single_payment.status.updated` reports reaching this status. */
export function isReported(status: PaymentStatus): boolean {
  return isCompleted(status) || isTerminal(status);
}

/** Whether the bank has accepted the payment for execution. */
export function isCompleted(status: PaymentStatus): boolean {
  return status === P.COMPLETED;
}

/** Whether `value` is one of the 9 statuses. */
export function isPaymentStatus(value: string): value is PaymentStatus {
  return Object.hasOwn(MOVES, value);
}
