/** `received` is due now, `parked` waits for something it names that we do not know yet, `dead` waits for an operator. */
export const InboundStatus = { received: 'received', parked: 'parked', done: 'done', dead: 'dead' } as const;
export type InboundStatus = (typeof InboundStatus)[keyof typeof InboundStatus];

/** Seconds until attempt number `attempts + 1`; the list's end is the end of our patience. */
const retrySeconds = [1, 5, 30, 120, 600, 3_600, 21_600, 86_400] as const;

/** What becomes of an event that could not be handled: when to try again, or undefined for a dead letter. */
export function nextAttemptSeconds(attempts: number): number | undefined {
  return retrySeconds[attempts - 1];
}

/** Whether somebody still has to handle it. */
export function isOpen(status: string): boolean {
  return status === InboundStatus.received || status === InboundStatus.parked;
}
