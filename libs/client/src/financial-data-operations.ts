import type {
  Account,
  AccountStatement,
  Balances,
  Beneficiary,
  DirectDebitResponse,
  Envelope,
  Identity,
  PaymentResponse,
  PsuHeaders,
  RealTimeTransaction,
  Transaction,
} from '#libs/contract';
import { AuthorisationOperations } from './authorisation-operations.js';
import type { CursorOptions, PageOptions, TransactionOptions } from './client-options.js';
import type { DownloadedFile } from './http-call.js';
import { path } from './path.js';

/** The operations of the tag Financial Data; `consent` is the consent token. */
export class FinancialDataOperations extends AuthorisationOperations {
  getAccounts(consent: string, psu?: PsuHeaders): Promise<Envelope<Account[]>> {
    return this.caller.list('getAccounts', '/accounts', { consent, psu });
  }

  getAccount(consent: string, accountId: string, psu?: PsuHeaders): Promise<Envelope<Account>> {
    return this.caller.one('getAccount', 'GET', path`/accounts/${accountId}`, { consent, psu });
  }

  getAccountBalances(consent: string, accountId: string, psu?: PsuHeaders): Promise<Envelope<Balances>> {
    return this.caller.one('getAccountBalances', 'GET', path`/accounts/${accountId}/balances`, { consent, psu });
  }

  getTransactions(
    consent: string,
    accountId: string,
    { psu, ...query }: TransactionOptions = {},
  ): Promise<Envelope<Transaction[]>> {
    const at = path`/accounts/${accountId}/transactions`;
    return this.caller.list('getTransactions', at, { consent, psu, query });
  }

  /** One page, straight from the institution. `links` has the cursors of the pages around it, those that exist. */
  getRealTimeTransactions(
    consent: string,
    accountId: string,
    { psu, ...query }: CursorOptions = {},
  ): Promise<Envelope<RealTimeTransaction[]>> {
    const at = path`/accounts/${accountId}/real-time/transactions`;
    return this.caller.list('getRealTimeTransactions', at, { consent, psu, query });
  }

  getStatements(consent: string, accountId: string, page: PageOptions = {}): Promise<Envelope<AccountStatement[]>> {
    const at = path`/accounts/${accountId}/statements`;
    return this.caller.list('getStatements', at, { consent, query: { ...page } });
  }

  getStatement(consent: string, accountId: string, statementId: string): Promise<Envelope<AccountStatement>> {
    const at = path`/accounts/${accountId}/statements/${statementId}`;
    return this.caller.one('getStatement', 'GET', at, { consent });
  }

  /** The statement as the institution prints it, a PDF. */
  getStatementFile(consent: string, accountId: string, statementId: string): Promise<DownloadedFile> {
    const at = path`/accounts/${accountId}/statements/${statementId}/file`;
    return this.caller.file('getStatementFile', at, { consent });
  }

  /** This list has no `meta`. */
  getBeneficiaries(consent: string, accountId: string): Promise<Pick<Envelope<Beneficiary[]>, 'data'>> {
    return this.caller.list('getBeneficiaries', path`/accounts/${accountId}/beneficiaries`, { consent });
  }

  getAccountDirectDebits(
    consent: string,
    accountId: string,
    query: { limit?: number } = {},
  ): Promise<Envelope<DirectDebitResponse[]>> {
    return this.caller.list('getAccountDirectDebits', path`/accounts/${accountId}/direct-debits`, { consent, query });
  }

  getAccountPeriodicPayments(
    consent: string,
    accountId: string,
    query: { limit?: number } = {},
  ): Promise<Envelope<PaymentResponse[]>> {
    const at = path`/accounts/${accountId}/periodic-payments`;
    return this.caller.list('getAccountPeriodicPayments', at, { consent, query });
  }

  getAccountScheduledPayments(
    consent: string,
    accountId: string,
    query: { limit?: number } = {},
  ): Promise<Envelope<PaymentResponse[]>> {
    const at = path`/accounts/${accountId}/scheduled-payments`;
    return this.caller.list('getAccountScheduledPayments', at, { consent, query });
  }

  getIdentity(consent: string): Promise<Envelope<Identity>> {
    return this.caller.one('getIdentity', 'GET', '/identity', { consent });
  }
}
