import type { Account, AccountInfo, AccountRequest } from '#libs/contract';

/** What is read of an account: itself, its balances, its transactions, or anything else that belongs to it. */
export type AccountUse = 'account' | 'balances' | 'transactions' | 'rest';

/** The accounts a consent was asked for, by what may be read of them. */
export type AccountLimits = Readonly<Record<AccountUse, readonly AccountInfo[]>>;

/**
 * The limits that a request names; undefined when it names no account and so means every account. One account alone is for
 * everything; a list for transactions or for balances allows these and no more than the account itself beside them.
 */
export function accountLimits(request: AccountRequest): AccountLimits | undefined {
  const whole = request.accountIdentifiers ? [request.accountIdentifiers] : [];
  const transactions = [...whole, ...(request.accountIdentifiersForTransaction ?? [])];
  const balances = [...whole, ...(request.accountIdentifiersForBalance ?? [])];
  const account = [...new Set([...transactions, ...balances])];
  return account.length === 0 ? undefined : { account, balances, transactions, rest: whole };
}

/** Whether `account` is one of those named: by the bank's id, or by one of its numbers. */
export function isNamed(
  named: readonly AccountInfo[],
  account: Pick<Account, 'id' | 'accountIdentifications'>,
): boolean {
  return named.some(
    ({ accountId, accountIdentification: { type, identification } }) =>
      (accountId !== undefined && accountId === account.id) ||
      account.accountIdentifications?.some(
        (known) =>
          known.type === type &&
          known.identification !== undefined &&
          plain(known.identification) === plain(identification),
      ) === true,
  );
}

/** Numbers are written with spaces, hyphens and in either case, and mean the same. */
function plain(identification: string | undefined): string | undefined {
  return identification?.replaceAll(/[\s-]/g, '').toUpperCase();
}
