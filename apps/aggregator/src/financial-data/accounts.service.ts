import { Injectable } from '@nestjs/common';
import { problems, type Account, type Balances, type Feature, type PsuHeaders } from '#libs/contract';
import { InstitutionError, operation } from '#libs/connectors';
import { BankCalls, type OpenConsent } from '../consents/bank-calls.service.js';
import { requireFeature } from '../consents/consent-scope.js';
import type { ConsentRow } from '../consents/consent.queries.js';
import { InstitutionsService } from '../institutions/institutions.service.js';

/** Accounts and balances, read from the bank on every call: nothing of them is kept. */
@Injectable()
export class AccountsService {
  constructor(
    private readonly banks: BankCalls,
    private readonly institutions: InstitutionsService,
  ) {}

  async list(consent: ConsentRow, psu: PsuHeaders): Promise<Account[]> {
    return this.read(consent, psu, ['ACCOUNTS', 'ACCOUNTS_WITHOUT_BALANCE'], ({ connector, call }) =>
      operation(connector, 'ACCOUNTS')(call),
    );
  }

  /** One account; 404 when the bank does not know it under this consent. */
  async get(consent: ConsentRow, psu: PsuHeaders, accountId: string): Promise<Account> {
    return this.read(consent, psu, ['ACCOUNT', 'ACCOUNT_WITHOUT_BALANCE'], ({ connector, call }) =>
      operation(connector, 'ACCOUNT')(call, accountId),
    );
  }

  async balances(consent: ConsentRow, psu: PsuHeaders, accountId: string): Promise<Balances> {
    return this.read(consent, psu, ['ACCOUNT_BALANCES'], ({ connector, call }) =>
      operation(connector, 'ACCOUNT_BALANCES')(call, accountId),
    );
  }

  private async read<T>(
    consent: ConsentRow,
    psu: PsuHeaders,
    anyOf: readonly Feature[],
    ask: (bank: OpenConsent) => Promise<T>,
  ): Promise<T> {
    const { features } = this.institutions.require(consent.institutionId);
    requireFeature(anyOf, { offered: features, scope: consent.featureScope });
    const bank = this.banks.openGranted(consent, { psu });
    return this.banks.ask(consent, () => orNotFound(ask(bank)));
  }
}

/** An account the bank does not know is the caller's mistake, not the bank's failure. */
export async function orNotFound<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof InstitutionError) || error.kind !== 'not-found') throw error;
    throw problems.notFound({ parameter: 'accountId', message: 'The institution knows no such account' });
  }
}
