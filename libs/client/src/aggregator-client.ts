import type {
  Account,
  AccountAuthorisationRequest,
  AccountAuthorisationResponse,
  ApiListOfApplicationResponse,
  ApplicationRequest,
  ApplicationResponse,
  ApplicationUser,
  ApplicationUserPatchRequest,
  Balances,
  Consent,
  ConsentDeleteResponse,
  Envelope,
  Institution,
  NewApplicationUser,
  PaymentAuthorisationRequest,
  PaymentAuthorisationRequestResponse,
  PaymentRequest,
  PaymentResponse,
  PaymentResponses,
  PsuHeaders,
  RegisteredWebhookResponse,
  RegisteredWebhooksResponse,
  RegisterWebhookRequest,
  Transaction,
  UserDeleteResponse,
  WebhookCategoriesResponse,
  WebhookWithSecretResponse,
} from '#libs/contract';
import { Caller, unexpected } from './caller.js';
import type { ApplicationFilter, ClientOptions, ConsentFilter, PageOptions } from './client-options.js';

/**
 * The interface over HTTP, one method per operation, named by its operation id. Operations that answer in an envelope give
 * the envelope, the others the bare body. Every call has a deadline; every failure is a ClientError.
 */
export class AggregatorClient {
  private readonly caller: Caller;

  constructor(options: ClientOptions | Caller) {
    this.caller = options instanceof Caller ? options : new Caller(options);
  }

  /** The same client on behalf of a sub-application. */
  forSubApplication(id: string): AggregatorClient {
    return new AggregatorClient(this.caller.forSubApplication(id));
  }

  /** Ends the connections, unless they belong to someone else's dispatcher. */
  close(): Promise<void> {
    return this.caller.close();
  }

  getInstitutions(): Promise<Envelope<Institution[]>> {
    return this.caller.list('getInstitutions', '/institutions');
  }

  getInstitution(institutionId: string): Promise<Institution> {
    return this.caller.bare('getInstitution', 'GET', path`/institutions/${institutionId}`);
  }

  addUser(user: NewApplicationUser): Promise<ApplicationUser> {
    return this.caller.bare('addUser', 'POST', '/users', { body: user });
  }

  async getUsers(applicationUserIds: string[] = []): Promise<ApplicationUser[]> {
    const query = { 'filter[applicationUserId]': applicationUserIds };
    const answer = await this.caller.call('getUsers', 'GET', '/users', { query });
    if (!Array.isArray(answer)) throw unexpected('getUsers');
    return answer as ApplicationUser[];
  }

  getUser(userUuid: string): Promise<ApplicationUser> {
    return this.caller.bare('getUser', 'GET', path`/users/${userUuid}`);
  }

  patchUser(userUuid: string, changes: ApplicationUserPatchRequest[]): Promise<ApplicationUser> {
    const contentType = 'application/json-patch+json';
    return this.caller.bare('patchUser', 'PATCH', path`/users/${userUuid}`, { body: changes, contentType });
  }

  deleteUser(userUuid: string): Promise<Envelope<UserDeleteResponse>> {
    return this.caller.one('deleteUser', 'DELETE', path`/users/${userUuid}`);
  }

  initiateAccountRequest(
    body: AccountAuthorisationRequest,
    psu?: PsuHeaders,
  ): Promise<Envelope<AccountAuthorisationResponse>> {
    return this.caller.one('initiateAccountRequest', 'POST', '/account-auth-requests', { body, psu });
  }

  reAuthoriseAccount(consent: string, psu?: PsuHeaders): Promise<Envelope<AccountAuthorisationResponse>> {
    return this.caller.one('reAuthoriseAccount', 'PATCH', '/account-auth-requests', { consent, psu });
  }

  createPaymentAuthorisation(
    body: PaymentAuthorisationRequest,
    psu?: PsuHeaders,
  ): Promise<Envelope<PaymentAuthorisationRequestResponse>> {
    return this.caller.one('createPaymentAuthorisation', 'POST', '/payment-auth-requests', { body, psu });
  }

  getConsents(filter: ConsentFilter = {}): Promise<Envelope<Consent[]>> {
    const { applicationUserId, userUuid, institution, status, ...page } = filter;
    const query = {
      'filter[applicationUserId]': applicationUserId,
      'filter[userUuid]': userUuid,
      'filter[institution]': institution,
      'filter[status]': status,
      ...page,
    };
    return this.caller.list('getConsents', '/consents', { query });
  }

  getConsentById(consentId: string): Promise<Envelope<Consent>> {
    return this.caller.one('getConsentById', 'GET', path`/consents/${consentId}`);
  }

  /** Removes a consent, at the institution too; named by its operation id. */
  delete(consentId: string, query: { forceDelete?: boolean } = {}): Promise<Envelope<ConsentDeleteResponse>> {
    return this.caller.one('delete', 'DELETE', path`/consents/${consentId}`, { query });
  }

  /** Exchanges a one-time token for the consent that carries the consent token; it works once. */
  getConsentBySingleAccessConsent(body: { oneTimeToken: string }): Promise<Consent> {
    return this.caller.bare('getConsentBySingleAccessConsent', 'POST', '/consent-one-time-token', { body });
  }

  createConsentWithCode(body: { authCode: string; authState: string }): Promise<Consent> {
    return this.caller.bare('createConsentWithCode', 'POST', '/consent-auth-code', { body });
  }

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
    { psu, ...page }: PageOptions & { psu?: PsuHeaders } = {},
  ): Promise<Envelope<Transaction[]>> {
    const at = path`/accounts/${accountId}/transactions`;
    return this.caller.list('getTransactions', at, { consent, psu, query: { ...page } });
  }

  /** Makes a payment. Never repeated by the client: after a failure without a status its fate is read, not guessed. */
  createPayment(consent: string, body: PaymentRequest, psu?: PsuHeaders): Promise<Envelope<PaymentResponse>> {
    return this.caller.one('createPayment', 'POST', '/payments', { consent, body, psu });
  }

  getPayments(consent: string, paymentId: string, psu?: PsuHeaders): Promise<Envelope<PaymentResponses>> {
    return this.caller.one('getPayments', 'GET', path`/payments/${paymentId}/details`, { consent, psu });
  }

  createSubApplication(body: ApplicationRequest): Promise<Envelope<ApplicationResponse>> {
    return this.caller.one('createSubApplication', 'POST', '/applications', { body });
  }

  searchApplications(filter: ApplicationFilter = {}): Promise<ApiListOfApplicationResponse> {
    return this.caller.list('searchApplications', '/applications', { query: { ...filter } });
  }

  getApplicationById(applicationId: string): Promise<Envelope<ApplicationResponse>> {
    return this.caller.one('getApplicationById', 'GET', path`/applications/${applicationId}`);
  }

  updateApplication(applicationId: string, body: ApplicationRequest): Promise<Envelope<ApplicationResponse>> {
    return this.caller.one('updateApplication', 'PUT', path`/applications/${applicationId}`, { body });
  }

  async deleteApplication(applicationId: string): Promise<void> {
    await this.caller.call('deleteApplication', 'DELETE', path`/applications/${applicationId}`);
  }

  getWebhookEventsCategories(): Promise<WebhookCategoriesResponse> {
    return this.caller.one('getWebhookEventsCategories', 'GET', '/webhook/events/categories');
  }

  registerWebhook(body: RegisterWebhookRequest): Promise<WebhookWithSecretResponse> {
    return this.caller.one('registerWebhook', 'POST', '/webhook/events', { body });
  }

  getRegisteredWebhooks(): Promise<RegisteredWebhooksResponse> {
    return this.caller.one('getRegisteredWebhooks', 'GET', '/webhook/events');
  }

  deleteWebhook(webhookId: string): Promise<RegisteredWebhookResponse> {
    return this.caller.one('deleteWebhook', 'DELETE', path`/webhook/events/${webhookId}`);
  }

  webhookSecretReset(webhookId: string, body: { delay: number }): Promise<WebhookWithSecretResponse> {
    return this.caller.one('webhookSecretReset', 'POST', path`/webhook/secrets/${webhookId}`, { body });
  }
}

/** A path whose variable parts are escaped, so that an id can never reach another operation. */
function path(parts: TemplateStringsArray, ...ids: string[]): string {
  return parts.reduce((sofar, part, index) => `${sofar}${segment(ids[index - 1] ?? '')}${part}`);
}

/** Dots alone would be steps along the path, even escaped once; escaped twice they are an id that nothing has. */
function segment(id: string): string {
  return /^\.+$/.test(id) ? id.replaceAll('.', '%252E') : encodeURIComponent(id);
}
