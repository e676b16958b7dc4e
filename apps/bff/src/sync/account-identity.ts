import type { Account } from '#libs/contract';
import { hashToken } from '#libs/database';

/** Whose accounts, and where. */
export interface AccountsOf {
  customerId: string;
  institutionId: string;
}

/**
 * What an account is, whatever the bank calls it this time: the hash of institution, currency and scheme identifications
 * (sort code and number, IBAN, masked card number). The currency belongs to it because one IBAN may hold several. An
 * account without identifications has nothing but the bank's id.
 */
export function identificationHash({ customerId, institutionId }: AccountsOf, account: Account): string {
  const identifications = (account.accountIdentifications ?? [])
    .map(({ type, identification }) => [type ?? '', (identification ?? '').replaceAll(/\s/g, '').toUpperCase()])
    .filter(([, identification]) => identification !== '')
    .toSorted(([left], [right]) => String(left).localeCompare(String(right)));
  const what = identifications.length > 0 ? identifications : [['id', account.id ?? '']];
  return hashToken(JSON.stringify([institutionId, account.currency ?? '', what]), customerId);
}

/** The hashes of all accounts of one answer. Two that cannot be told apart stay two: the second goes by the bank's id too. */
export function identificationHashes(owner: AccountsOf, accounts: readonly Account[]): string[] {
  const seen = new Set<string>();
  return accounts.map((account) => {
    const hash = identificationHash(owner, account);
    const own = seen.has(hash) ? hashToken(`${hash}.${account.id ?? ''}`, owner.customerId) : hash;
    seen.add(own);
    return own;
  });
}

/** What a person would call the account. */
export function nameOf({ nickname, description, accountNames, type }: Account): string | undefined {
  return nickname ?? description ?? accountNames?.[0]?.name ?? type;
}
