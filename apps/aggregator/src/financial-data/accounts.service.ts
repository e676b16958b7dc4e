import { Injectable } from '@nestjs/common';
import type {
  Account,
  Balances,
  Beneficiary,
  DirectDebitResponse,
  Feature,
  Identity,
  PaymentResponse,
  PsuHeaders,
} from '#libs/contract';
import { accountOperation, accountsOperation, operation } from '#libs/connectors';
import { ConsentAccounts } from '../consents/consent-accounts.service.js';
import type { ConsentRow } from '../consents/consent.queries.js';
import { BankReads, type Reading } from './bank-reads.service.js';

/** Accounts, what belongs to them and who holds them. */
@Injectable()
export class AccountsService {
  constructor(
    private readonly reads: BankReads,
    private readonly limits: ConsentAccounts,
  ) {}

  /** The accounts that the consent is for, of all that the bank shows. */
  async list(consent: ConsentRow, psu: PsuHeaders): Promise<Account[]> {
    const reading = demanding(psu, 'ACCOUNTS', 'ACCOUNTS_WITHOUT_BALANCE');
    const shown = await this.reads.read(consent, reading, ({ connector, call }) => accountsOperation(connector)(call));
    return this.limits.visible(consent, shown);
  }

  /** One account; 404 when the bank does not know it under this consent. */
  async get(consent: ConsentRow, psu: PsuHeaders, accountId: string): Promise<Account> {
    const reading = demanding(psu, 'ACCOUNT', 'ACCOUNT_WITHOUT_BALANCE');
    return this.reads.read(consent, reading, ({ connector, call }) => accountOperation(connector)(call, accountId));
  }

  async balances(consent: ConsentRow, psu: PsuHeaders, accountId: string): Promise<Balances> {
    return this.reads.read(consent, demanding(psu, 'ACCOUNT_BALANCES'), ({ connector, call }) =>
      operation(connector, 'ACCOUNT_BALANCES')(call, accountId),
    );
  }

  async beneficiaries(consent: ConsentRow, psu: PsuHeaders, accountId: string): Promise<Beneficiary[]> {
    return this.reads.read(consent, { psu, anyOf: ['ACCOUNT_BENEFICIARIES'] }, ({ connector, call }) =>
      operation(connector, 'ACCOUNT_BENEFICIARIES')(call, accountId),
    );
  }

  async directDebits(consent: ConsentRow, psu: PsuHeaders, accountId: string): Promise<DirectDebitResponse[]> {
    return this.reads.read(consent, { psu, anyOf: ['ACCOUNT_DIRECT_DEBITS'] }, ({ connector, call }) =>
      operation(connector, 'ACCOUNT_DIRECT_DEBITS')(call, accountId),
    );
  }

  async periodicPayments(consent: ConsentRow, psu: PsuHeaders, accountId: string): Promise<PaymentResponse[]> {
    return this.reads.read(consent, { psu, anyOf: ['ACCOUNT_PERIODIC_PAYMENTS'] }, ({ connector, call }) =>
      operation(connector, 'ACCOUNT_PERIODIC_PAYMENTS')(call, accountId),
    );
  }

  async scheduledPayments(consent: ConsentRow, psu: PsuHeaders, accountId: string): Promise<PaymentResponse[]> {
    return this.reads.read(consent, { psu, anyOf: ['ACCOUNT_SCHEDULED_PAYMENTS'] }, ({ connector, call }) =>
      operation(connector, 'ACCOUNT_SCHEDULED_PAYMENTS')(call, accountId),
    );
  }

  /** The person or company that gave the consent. */
  async identity(consent: ConsentRow, psu: PsuHeaders): Promise<Identity> {
    return this.reads.read(consent, { psu, anyOf: ['IDENTITY'] }, ({ connector, call }) =>
      operation(connector, 'IDENTITY')(call),
    );
  }
}

function demanding(psu: PsuHeaders, ...anyOf: Feature[]): Reading {
  return { psu, anyOf, demandsPsu: true };
}
