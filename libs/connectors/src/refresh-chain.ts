import type { Grant, Institution } from './connector.js';

const DAY_MS = 86_400_000;

/** The grant that the PSU gave at `at`, which ends with its chain of refresh tokens where that ends first (quirk Q21). */
export function withinChain(grant: Grant, { refreshChainDays }: Institution, at: Date): Grant {
  if (refreshChainDays === undefined) return grant;
  const end = new Date(at.getTime() + refreshChainDays * DAY_MS);
  return grant.expiresAt && grant.expiresAt <= end ? grant : { ...grant, expiresAt: end };
}
