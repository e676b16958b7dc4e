import { problems, type Feature } from '#libs/contract';

/**
 * Refuses a call whose feature the institution lacks (424) or the consent was not given for (403). `anyOf` names the
 * features of which one is enough, such as ACCOUNTS and ACCOUNTS_WITHOUT_BALANCE.
 */
export function requireFeature(
  anyOf: readonly Feature[],
  { offered, scope }: { offered: readonly Feature[]; scope: readonly Feature[] },
): void {
  const supported = anyOf.filter((feature) => offered.includes(feature));
  if (supported.length === 0) {
    throw problems.featureNotSupported({ message: `The institution does not support ${anyOf.join(' or ')}` });
  }
  if (!supported.some((feature) => scope.includes(feature))) {
    throw problems.forbidden({ parameter: 'consent', message: `The consent does not cover ${supported.join(' or ')}` });
  }
}
