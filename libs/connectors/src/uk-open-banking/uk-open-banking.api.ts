import type { BankResponse } from '../bank-http.js';
import type { Institution, Tools } from '../connector.js';
import { InstitutionError } from '../institution-error.js';
import type {
  OBBeneficiary5,
  OBDirectDebit,
  OBParty2,
  OBScheduledPayment3,
  OBStandingOrder6,
  OBStatement2,
} from './resources.types.js';
import { Exchanger, type Authorised } from './uk-open-banking.exchange.js';
import type {
  OBAccount6,
  OBReadAccount6,
  OBReadBalance1,
  OBReadConsent1,
  OBReadConsentResponse1,
  OBReadList,
  OBTransaction6,
  OBWriteDomestic2,
  OBWriteDomesticConsent4,
  OBWriteDomesticConsentResponse5,
  OBWriteDomesticResponse5,
  OBWriteFundsConfirmationResponse1,
  Version,
} from './uk-open-banking.types.js';

/** The lists that a bank may spread over linked pages: the name of their rows, and what a row is. */
interface Rows {
  Account: OBAccount6;
  Transaction: OBTransaction6;
  Statement: OBStatement2;
  Beneficiary: OBBeneficiary5;
  DirectDebit: OBDirectDebit;
  StandingOrder: OBStandingOrder6;
  ScheduledPayment: OBScheduledPayment3;
}
export type List = keyof Rows;

/** A list of the standard, whatever its rows are. */
export type ListOf<L extends List> = OBReadList<L, Rows[L]>;

const lists: Readonly<Record<List, string>> = {
  Account: '/aisp/accounts',
  Transaction: '/aisp/accounts/{AccountId}/transactions',
  Statement: '/aisp/accounts/{AccountId}/statements',
  Beneficiary: '/aisp/accounts/{AccountId}/beneficiaries',
  DirectDebit: '/aisp/accounts/{AccountId}/direct-debits',
  StandingOrder: '/aisp/accounts/{AccountId}/standing-orders',
  ScheduledPayment: '/aisp/accounts/{AccountId}/scheduled-payments',
};

type Ids = Readonly<Record<string, string>>;
type What = Pick<Parameters<Exchanger['send']>[1], 'body' | 'idempotencyKey' | 'signed' | 'accept'> & { ids?: Ids };

const accountConsents = '/aisp/account-access-consents';
const domesticConsents = '/pisp/domestic-payment-consents';
const domesticPayments = '/pisp/domestic-payments';
/** The contract's file is a PDF; a bank that has no other may say what it is. */
const FILE_TYPES = 'application/pdf, */*;q=0.1';

/** The endpoints of the standard that we use. HTTP only: every function returns what the bank sent, as raw types. */
export class UkOpenBankingApi {
  readonly #exchanger: Exchanger;
  readonly #resources: string;

  constructor(institution: Institution<'uk-open-banking'>, tools: Tools) {
    this.#exchanger = new Exchanger(institution, tools);
    this.#resources = institution.settings.resourcesUrl ?? `${institution.baseUrl}/open-banking`;
  }

  createAccountConsent(call: Authorised, body: OBReadConsent1): Promise<OBReadConsentResponse1> {
    return this.#json(call, 'POST', accountConsents, { body });
  }

  accountConsent(call: Authorised, ConsentId: string): Promise<OBReadConsentResponse1> {
    return this.#json(call, 'GET', `${accountConsents}/{ConsentId}`, { ids: { ConsentId } });
  }

  async deleteAccountConsent(call: Authorised, ConsentId: string): Promise<void> {
    await this.#send(call, 'DELETE', `${accountConsents}/{ConsentId}`, { ids: { ConsentId } });
  }

  account(call: Authorised, AccountId: string): Promise<OBReadAccount6> {
    return this.#json(call, 'GET', '/aisp/accounts/{AccountId}', { ids: { AccountId } });
  }

  balances(call: Authorised, AccountId: string): Promise<OBReadBalance1> {
    return this.#json(call, 'GET', '/aisp/accounts/{AccountId}/balances', { ids: { AccountId } });
  }

  /** Where the first page of a list is; the query is the caller's. */
  listUrl(version: Version, list: List, ids: Ids = {}): URL {
    return this.#url(version, lists[list], ids);
  }

  /** One page of a list, at its own address or where a link of the bank led. */
  page<L extends List>(call: Authorised, list: L, url: URL): Promise<ListOf<L>> {
    const none: Rows[L][] = [];
    const ofNothing = { Data: { [list]: none } } as ListOf<L>;
    return this.#exchanger.json(call, { method: 'GET', url, template: lists[list], ofNothing });
  }

  statement(call: Authorised, ids: { AccountId: string; StatementId: string }): Promise<ListOf<'Statement'>> {
    return this.#json(call, 'GET', `${lists.Statement}/{StatementId}`, { ids });
  }

  statementFile(call: Authorised, ids: { AccountId: string; StatementId: string }): Promise<BankResponse> {
    return this.#send(call, 'GET', `${lists.Statement}/{StatementId}/file`, { ids, accept: FILE_TYPES });
  }

  party(call: Authorised): Promise<{ Data: { Party?: OBParty2 } }> {
    return this.#json(call, 'GET', '/aisp/party', {});
  }

  createDomesticConsent(
    call: Authorised,
    body: OBWriteDomesticConsent4,
    idempotencyKey: string,
  ): Promise<OBWriteDomesticConsentResponse5> {
    return this.#json(call, 'POST', domesticConsents, { body, idempotencyKey, signed: true });
  }

  domesticConsent(call: Authorised, ConsentId: string): Promise<OBWriteDomesticConsentResponse5> {
    return this.#json(call, 'GET', `${domesticConsents}/{ConsentId}`, { ids: { ConsentId }, signed: true });
  }

  fundsConfirmation(call: Authorised, ConsentId: string): Promise<OBWriteFundsConfirmationResponse1> {
    const path = `${domesticConsents}/{ConsentId}/funds-confirmation`;
    return this.#json(call, 'GET', path, { ids: { ConsentId }, signed: true });
  }

  createDomesticPayment(
    call: Authorised,
    body: OBWriteDomestic2,
    idempotencyKey: string,
  ): Promise<OBWriteDomesticResponse5> {
    return this.#json(call, 'POST', domesticPayments, { body, idempotencyKey, signed: true });
  }

  domesticPayment(call: Authorised, DomesticPaymentId: string): Promise<OBWriteDomesticResponse5> {
    const path = `${domesticPayments}/{DomesticPaymentId}`;
    return this.#json(call, 'GET', path, { ids: { DomesticPaymentId }, signed: true });
  }

  async #json<T extends { Data: object }>(
    call: Authorised,
    method: 'GET' | 'POST',
    template: string,
    { ids = {}, ...what }: What,
  ): Promise<T> {
    return this.#exchanger.json<T>(call, { method, url: this.#url(call.version, template, ids), template, ...what });
  }

  async #send(
    call: Authorised,
    method: 'GET' | 'DELETE',
    template: string,
    { ids = {}, ...what }: What,
  ): Promise<BankResponse> {
    return this.#exchanger.send(call, { method, url: this.#url(call.version, template, ids), template, ...what });
  }

  #url(version: Version, template: string, ids: Ids): URL {
    const path = template.replace(/\{(\w+)\}/g, (_place, name: string) => segmentOf(ids[name] ?? ''));
    return new URL(`${this.#resources}/v${version}${path}`);
  }
}

/** An identifier as one segment of a path. An empty one, or dots, would name another resource: no such thing exists. */
function segmentOf(id: string): string {
  if (id === '' || id === '.' || id === '..') {
    throw new InstitutionError('not-found', 'The institution has nothing under this identifier');
  }
  return encodeURIComponent(id);
}
