import type { AccountIdentification, Feature } from '#libs/contract';
import type { AccountAccess } from '../connector.js';
import type { Table } from '../iso-codes.js';
import type { AccountAccessType, AccountReference, BerlinGroupQuirks, Consents } from './berlin-group.types.js';

const DAY_MS = 86_400_000;
/** Section 6.3: four reads a day without the PSU are what every bank must allow. */
const FREQUENCY_PER_DAY = 4;

/**
 * What is asked of the bank (section 6.3). Accounts that were named make a dedicated consent, otherwise the bank's
 * model decides. The last day is the caller's, at most a day less than the bank allows: its calendar may be behind ours.
 */
export function toConsents(
  access: AccountAccess,
  { today, maxConsentDays, settings }: Parameters<BerlinGroupQuirks['toConsents']>[1],
): Consents {
  const latest = new Date(today.getTime() + (maxConsentDays - 1) * DAY_MS);
  const end = access.expiresAt && access.expiresAt < latest ? access.expiresAt : latest;
  const named = (access.accounts ?? []).map(({ accountIdentification }) => toReference(accountIdentification));
  const global: AccountAccessType =
    settings.consentModel === 'global' ? { allPsd2: 'allAccounts' } : dedicated(access.featureScope, []);
  return {
    access: named.length > 0 ? dedicated(access.featureScope, named) : global,
    recurringIndicator: true,
    validUntil: end.toISOString().slice(0, 10),
    frequencyPerDay: FREQUENCY_PER_DAY,
    combinedServiceIndicator: false,
  };
}

const referenceMembers: Table<keyof AccountReference> = {
  IBAN: 'iban',
  BBAN: 'bban',
  PAN: 'pan',
  MASKED_PAN: 'maskedPan',
  MSISDN: 'msisdn',
};

function toReference({ type, identification }: AccountIdentification): AccountReference {
  const member = referenceMembers[type];
  // An IBAN is what a bank makes of any number it knows; one it does not know it refuses by itself.
  return { [member ?? 'bban']: identification.replace(/\s/g, '') };
}

/** Balances and transactions imply accounts; what the scope does not name is not asked for. */
function dedicated(scope: Feature[], accounts: AccountReference[]): AccountAccessType {
  const wanted = new Set<Feature>(scope);
  const hasBalances = wanted.has('ACCOUNTS') || wanted.has('ACCOUNT') || wanted.has('ACCOUNT_BALANCES');
  const hasTransactions = wanted.has('ACCOUNT_TRANSACTIONS') || wanted.has('ACCOUNT_TRANSACTIONS_WITH_MERCHANT');
  return {
    accounts,
    ...(hasBalances ? { balances: accounts } : {}),
    ...(hasTransactions ? { transactions: accounts } : {}),
  };
}
