import type {
  ApiListOfApplicationResponse,
  Application,
  ApplicationRequest,
  ApplicationResponse,
  ApplicationUser,
  ApplicationUserPatchRequest,
  DataConstraintsResponse,
  Envelope,
  FeatureDetails,
  Institution,
  NewApplicationUser,
  PaymentConstraintsResponse,
  PaymentRequest,
  PaymentResponse,
  PaymentResponses,
  PsuHeaders,
  RegisteredWebhookResponse,
  RegisteredWebhooksResponse,
  RegisterWebhookRequest,
  UserDeleteResponse,
  VrpConfiguration,
  WebhookCategoriesResponse,
  WebhookWithSecretResponse,
} from '#libs/contract';
import { Caller, unexpected } from './caller.js';
import type {
  ApplicationFilter,
  ClientOptions,
  ConstraintsFilter,
  PaymentConstraintsFilter,
} from './client-options.js';
import { FinancialDataOperations } from './financial-data-operations.js';
import { path } from './path.js';

/**
 * The interface over HTTP, one method per operation, named by its operation id. Operations that answer in an envelope give
 * the envelope, the others the bare body. Every call has a deadline; every failure is a ClientError.
 */
export class AggregatorClient extends FinancialDataOperations {
  constructor(options: ClientOptions | Caller) {
    super(options instanceof Caller ? options : new Caller(options));
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

  getFeatureDetails(): Promise<Envelope<FeatureDetails[]>> {
    return this.caller.list('getFeatureDetails', '/features');
  }

  getPaymentConstraintsRulesByInstitution(
    filter: PaymentConstraintsFilter,
  ): Promise<Envelope<PaymentConstraintsResponse[]>> {
    const query = { ...filter, institutionIds: filter.institutionIds.join(',') };
    return this.caller.list('getPaymentConstraintsRulesByInstitution', '/institutions/constraints/payments', { query });
  }

  getAccountConstraintsRulesByInstitution(filter: ConstraintsFilter): Promise<Envelope<DataConstraintsResponse[]>> {
    const query = { ...filter, institutionIds: filter.institutionIds.join(',') };
    return this.caller.list('getAccountConstraintsRulesByInstitution', '/institutions/constraints/data', { query });
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

  /** Makes a payment. Never repeated by the client: after a failure without a status its fate is read, not guessed. */
  createPayment(consent: string, body: PaymentRequest, psu?: PsuHeaders): Promise<Envelope<PaymentResponse>> {
    return this.caller.one('createPayment', 'POST', '/payments', { consent, body, psu });
  }

  getPayments(consent: string, paymentId: string, psu?: PsuHeaders): Promise<Envelope<PaymentResponses>> {
    return this.caller.one('getPayments', 'GET', path`/payments/${paymentId}/details`, { consent, psu });
  }

  getApplicationMe(): Promise<Application> {
    return this.caller.bare('getApplicationMe', 'GET', '/me');
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

  async createApplicationVRPConfigurationByApplicationId(applicationId: string, body: VrpConfiguration): Promise<void> {
    const at = path`/applications/${applicationId}/vrp`;
    await this.caller.call('createApplicationVRPConfigurationByApplicationId', 'POST', at, { body });
  }

  async updateApplicationVRPConfigurationByApplicationId(applicationId: string, body: VrpConfiguration): Promise<void> {
    const at = path`/applications/${applicationId}/vrp`;
    await this.caller.call('updateApplicationVRPConfigurationByApplicationId', 'PUT', at, { body });
  }

  getApplicationVRPConfigurationByApplicationId(applicationId: string): Promise<VrpConfiguration> {
    const at = path`/applications/${applicationId}/vrp`;
    return this.caller.bare('getApplicationVRPConfigurationByApplicationId', 'GET', at);
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
