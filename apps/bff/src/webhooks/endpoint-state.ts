export const EndpointStatus = { enabled: 'enabled', disabled: 'disabled' } as const;
export type EndpointStatus = (typeof EndpointStatus)[keyof typeof EndpointStatus];

/** Why an endpoint is disabled: the merchant wants it, it answered 410, or it took nothing for days. */
export const DisabledReason = { merchant: 'by-merchant', gone: 'gone', failing: 'failing' } as const;
export type DisabledReason = (typeof DisabledReason)[keyof typeof DisabledReason];

const failingMaxMs = 72 * 3_600_000;

/** Whether an endpoint that has just failed again has done nothing else for three days. */
export function isGivenUp(failingSince: Date | null, at: Date): boolean {
  return failingSince !== null && at.getTime() - failingSince.getTime() >= failingMaxMs;
}
