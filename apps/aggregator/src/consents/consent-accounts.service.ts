import { Injectable } from '@nestjs/common';
import { problems, type Account, type AccountRequest, type PsuHeaders } from '#libs/contract';
import { accountsOperation } from '#libs/connectors';
import { BankCalls } from './bank-calls.service.js';
import { accountLimits, isNamed, type AccountLimits, type AccountUse } from './consent-accounts.js';
import { ConsentSecrets } from './consent-secrets.js';
import type { ConsentRow } from './consent.queries.js';

/** Keeps reads to the accounts that a consent was asked for; most consents name none, and then nothing is done. */
@Injectable()
export class ConsentAccounts {
  constructor(
    private readonly secrets: ConsentSecrets,
    private readonly banks: BankCalls,
  ) {}

  /** Those of the accounts that the consent is for. */
  visible(consent: ConsentRow, accounts: Account[]): Account[] {
    const limits = this.limitsOf(consent);
    return limits === undefined ? accounts : accounts.filter((account) => isNamed(limits.account, account));
  }

  /**
   * Refuses an account that the consent is not for. Where the request named it by its number, the bank is asked whose
   * number it is, which counts as one reading of its accounts.
   */
  async require(
    consent: ConsentRow,
    { accountId, use, psu }: { accountId: string; use: AccountUse; psu: PsuHeaders },
  ): Promise<void> {
    const limits = this.limitsOf(consent);
    if (limits === undefined || isNamed(limits[use], { id: accountId })) return;
    const { connector, call } = this.banks.openGranted(consent, { psu });
    const accounts =
      limits[use].length === 0 ? [] : await this.banks.ask(consent, () => accountsOperation(connector)(call));
    const account = accounts.find(({ id }) => id === accountId);
    if (account !== undefined && isNamed(limits[use], account)) return;
    throw problems.forbidden({ parameter: 'accountId', message: 'The consent does not cover this of the account' });
  }

  private limitsOf({ id, kind, sealedRequest }: ConsentRow): AccountLimits | undefined {
    if (kind !== 'account' || sealedRequest === null) return undefined;
    return accountLimits(this.secrets.openRequest<AccountRequest>(id, sealedRequest));
  }
}
