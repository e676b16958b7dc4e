import type {
  AccountAuthorisationRequest,
  AccountAuthorisationResponse,
  Consent,
  ConsentAuthCodeRequest,
  ConsentDeleteResponse,
  EmbeddedAccountAuthorisationRequest,
  EmbeddedAccountAuthorisationResponse,
  Envelope,
  ExtendConsentRequest,
  OneTimeTokenRequest,
  PaymentAuthorisationRequest,
  PaymentAuthorisationRequestResponse,
  PaymentPreAuthorisationRequest,
  PreAuthorisationRequest,
  PreAuthorisationResponse,
  PsuHeaders,
} from '#libs/contract';
import type { Caller } from './caller.js';
import type { ConsentFilter } from './client-options.js';
import { path } from './path.js';

/** The operations of the tags Authorisations and Consents. */
export class AuthorisationOperations {
  constructor(protected readonly caller: Caller) {}

  initiateAccountRequest(
    body: AccountAuthorisationRequest,
    psu?: PsuHeaders,
  ): Promise<Envelope<AccountAuthorisationResponse>> {
    return this.caller.one('initiateAccountRequest', 'POST', '/account-auth-requests', { body, psu });
  }

  reAuthoriseAccount(consent: string, psu?: PsuHeaders): Promise<Envelope<AccountAuthorisationResponse>> {
    return this.caller.one('reAuthoriseAccount', 'PATCH', '/account-auth-requests', { consent, psu });
  }

  /** The second step of a pre-authorisation; `consent` is the token of the first. */
  updatePreAuthoriseAccountConsent(
    consent: string,
    body: AccountAuthorisationRequest,
    psu?: PsuHeaders,
  ): Promise<Envelope<AccountAuthorisationResponse>> {
    const parts = { consent, body, psu };
    return this.caller.one('updatePreAuthoriseAccountConsent', 'PUT', '/account-auth-requests', parts);
  }

  initiateEmbeddedAccountRequest(
    body: EmbeddedAccountAuthorisationRequest,
    psu?: PsuHeaders,
  ): Promise<Envelope<EmbeddedAccountAuthorisationResponse>> {
    return this.caller.one('initiateEmbeddedAccountRequest', 'POST', '/embedded-account-auth-requests', { body, psu });
  }

  /** Hands in the chosen method, then the code. */
  updateEmbeddedAccountRequest(
    consentId: string,
    body: EmbeddedAccountAuthorisationRequest,
    psu?: PsuHeaders,
  ): Promise<Envelope<EmbeddedAccountAuthorisationResponse>> {
    const at = path`/embedded-account-auth-requests/${consentId}`;
    return this.caller.one('updateEmbeddedAccountRequest', 'PUT', at, { body, psu });
  }

  createPreAuthorisationRequest(
    body: PreAuthorisationRequest,
    psu?: PsuHeaders,
  ): Promise<Envelope<PreAuthorisationResponse>> {
    return this.caller.one('createPreAuthorisationRequest', 'POST', '/pre-auth-requests', { body, psu });
  }

  createPaymentPreAuthorisationRequest(
    body: PaymentPreAuthorisationRequest,
    psu?: PsuHeaders,
  ): Promise<Envelope<PreAuthorisationResponse>> {
    return this.caller.one('createPaymentPreAuthorisationRequest', 'POST', '/payment-pre-auth-requests', { body, psu });
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

  /** Says that the account holder has confirmed the consent anew, which is needed every 90 days. */
  extendConsent(consentId: string, body: ExtendConsentRequest): Promise<Envelope<Consent>> {
    return this.caller.one('extendConsent', 'POST', path`/consents/${consentId}/extend`, { body });
  }

  /** Exchanges a one-time token for the consent that carries the consent token; it works once. */
  getConsentBySingleAccessConsent(body: OneTimeTokenRequest): Promise<Consent> {
    return this.caller.bare('getConsentBySingleAccessConsent', 'POST', '/consent-one-time-token', { body });
  }

  createConsentWithCode(body: ConsentAuthCodeRequest): Promise<Consent> {
    return this.caller.bare('createConsentWithCode', 'POST', '/consent-auth-code', { body });
  }
}
