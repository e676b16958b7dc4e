import type { JSONWebKeySet } from 'jose';
import { kindOf, retryAfterMs, type BankResponse } from '../bank-http.js';
import type { Call, Institution, Tools } from '../connector.js';
import { InstitutionError } from '../institution-error.js';
import { unreadable } from '../wire.js';
import { createBankKeys, createSigner, verifySignature, type BankKeys, type Sign } from './jws.js';
import type {
  OBErrorResponse1,
  OBReadAccount6,
  OBReadBalance1,
  OBReadConsent1,
  OBReadConsentResponse1,
  OBReadTransaction6,
  OBWriteDomestic2,
  OBWriteDomesticConsent4,
  OBWriteDomesticConsentResponse5,
  OBWriteDomesticResponse5,
  OBWriteFundsConfirmationResponse1,
} from './uk-open-banking.types.js';

/** A call with the access token it goes under. */
export interface Authorised extends Call {
  token: string;
}

interface Sending {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the resources address, or a whole link the bank gave. */
  path: string | URL;
  template: string;
  body?: unknown;
  idempotencyKey?: string;
  /** Payments are signed both ways; account reads are not (section 2.12). */
  signed?: true;
}

/** The endpoints of the standard that we use. HTTP only: every function returns what the bank sent, as raw types. */
export class UkOpenBankingApi {
  readonly #institution: Institution<'uk-open-banking'>;
  readonly #tools: Tools;
  readonly #resources: string;
  readonly #sign: Sign;
  readonly #keys: BankKeys;

  constructor(institution: Institution<'uk-open-banking'>, tools: Tools) {
    const { settings, baseUrl } = institution;
    this.#institution = institution;
    this.#tools = tools;
    this.#resources = settings.resourcesUrl ?? `${baseUrl}/open-banking/${settings.version}`;
    this.#sign = createSigner(tools.credentials, { settings, now: tools.now });
    this.#keys = createBankKeys({ load: (call) => this.#loadKeys(call), now: tools.now });
  }

  createAccountConsent(call: Authorised, body: OBReadConsent1): Promise<OBReadConsentResponse1> {
    return this.#json(call, {
      method: 'POST',
      path: '/aisp/account-access-consents',
      template: '/aisp/account-access-consents',
      body,
    });
  }

  accountConsent(call: Authorised, consentId: string): Promise<OBReadConsentResponse1> {
    return this.#json(call, {
      method: 'GET',
      path: `/aisp/account-access-consents/${encodeURIComponent(consentId)}`,
      template: '/aisp/account-access-consents/{ConsentId}',
    });
  }

  async deleteAccountConsent(call: Authorised, consentId: string): Promise<void> {
    await this.#send(call, {
      method: 'DELETE',
      path: `/aisp/account-access-consents/${encodeURIComponent(consentId)}`,
      template: '/aisp/account-access-consents/{ConsentId}',
    });
  }

  accounts(call: Authorised): Promise<OBReadAccount6> {
    return this.#json(call, { method: 'GET', path: '/aisp/accounts', template: '/aisp/accounts' });
  }

  account(call: Authorised, accountId: string): Promise<OBReadAccount6> {
    return this.#json(call, {
      method: 'GET',
      path: `/aisp/accounts/${encodeURIComponent(accountId)}`,
      template: '/aisp/accounts/{AccountId}',
    });
  }

  balances(call: Authorised, accountId: string): Promise<OBReadBalance1> {
    return this.#json(call, {
      method: 'GET',
      path: `/aisp/accounts/${encodeURIComponent(accountId)}/balances`,
      template: '/aisp/accounts/{AccountId}/balances',
    });
  }

  /** Where an account's transactions are; the query is the caller's. */
  transactionsUrl(accountId: string): URL {
    return new URL(`${this.#resources}/aisp/accounts/${encodeURIComponent(accountId)}/transactions`);
  }

  transactions(call: Authorised, url: URL): Promise<OBReadTransaction6> {
    return this.#json(call, { method: 'GET', path: url, template: '/aisp/accounts/{AccountId}/transactions' });
  }

  createDomesticConsent(
    call: Authorised,
    body: OBWriteDomesticConsent4,
    idempotencyKey: string,
  ): Promise<OBWriteDomesticConsentResponse5> {
    const path = '/pisp/domestic-payment-consents';
    return this.#json(call, { method: 'POST', path, template: path, body, idempotencyKey, signed: true });
  }

  domesticConsent(call: Authorised, consentId: string): Promise<OBWriteDomesticConsentResponse5> {
    return this.#json(call, {
      method: 'GET',
      path: `/pisp/domestic-payment-consents/${encodeURIComponent(consentId)}`,
      template: '/pisp/domestic-payment-consents/{ConsentId}',
      signed: true,
    });
  }

  fundsConfirmation(call: Authorised, consentId: string): Promise<OBWriteFundsConfirmationResponse1> {
    return this.#json(call, {
      method: 'GET',
      path: `/pisp/domestic-payment-consents/${encodeURIComponent(consentId)}/funds-confirmation`,
      template: '/pisp/domestic-payment-consents/{ConsentId}/funds-confirmation',
      signed: true,
    });
  }

  createDomesticPayment(
    call: Authorised,
    body: OBWriteDomestic2,
    idempotencyKey: string,
  ): Promise<OBWriteDomesticResponse5> {
    const path = '/pisp/domestic-payments';
    return this.#json(call, { method: 'POST', path, template: path, body, idempotencyKey, signed: true });
  }

  domesticPayment(call: Authorised, paymentId: string): Promise<OBWriteDomesticResponse5> {
    return this.#json(call, {
      method: 'GET',
      path: `/pisp/domestic-payments/${encodeURIComponent(paymentId)}`,
      template: '/pisp/domestic-payments/{DomesticPaymentId}',
      signed: true,
    });
  }

  async #json<T extends { Data: object }>(call: Authorised, sending: Sending): Promise<T> {
    const { body } = await this.#send(call, sending);
    const read = parse(body);
    if (!isObject(read) || !isObject(read['Data'])) throw unreadable('Data');
    // From here the members are checked by the mapper, one by one, where they are used.
    return read as T;
  }

  async #send(call: Authorised, sending: Sending): Promise<BankResponse> {
    const { method, path, template } = sending;
    const body = sending.body === undefined ? undefined : Buffer.from(JSON.stringify(sending.body));
    const headers: Record<string, string> = {
      authorization: `Bearer ${call.token}`,
      accept: 'application/json',
      ...psuHeaders(call),
    };
    if (body) headers['content-type'] = 'application/json';
    if (sending.idempotencyKey) headers['x-idempotency-key'] = sending.idempotencyKey.slice(0, 40);
    if (sending.signed && body) headers['x-jws-signature'] = await this.#sign(body);
    const response = await this.#tools.http.send({
      institutionId: this.#institution.id,
      method,
      url: typeof path === 'string' ? new URL(this.#resources + path) : path,
      template,
      headers,
      ...(body ? { body } : {}),
      signal: call.signal,
      tracingId: call.tracingId,
    });
    if (sending.signed) await this.#verify(call, response);
    if (response.status >= 300) throw this.#failure(response);
    return response;
  }

  /** A success must be signed; of failures, gateways send some unsigned, and those only ever fail the call. */
  async #verify(call: Call, { status, headers, body }: BankResponse): Promise<void> {
    if (body.length === 0) return;
    const signature = headers['x-jws-signature'];
    if (typeof signature !== 'string') {
      if (status >= 300) return;
      throw new InstitutionError('malformed', 'The institution did not sign its answer', { httpStatus: status });
    }
    const { settings } = this.#institution;
    await verifySignature({ signature, body }, { keys: this.#keys, settings, now: this.#tools.now, call });
  }

  async #loadKeys(call: Call): Promise<JSONWebKeySet> {
    const response = await this.#tools.http.send({
      institutionId: this.#institution.id,
      method: 'GET',
      url: new URL(this.#institution.settings.signingKeysUrl),
      template: '/signing-keys',
      headers: { accept: 'application/json' },
      signal: call.signal,
      tracingId: call.tracingId,
    });
    if (response.status >= 300) throw this.#failure(response);
    const set = parse(response.body);
    if (!isObject(set) || !Array.isArray(set['keys'])) throw unreadable('signing keys');
    return { keys: set['keys'] };
  }

  #failure({ status, headers, body }: BankResponse): InstitutionError {
    const { code, message } = faultOf(body);
    // A 404 for a whole endpoint and a 400 U011 for an unknown id mean the same to a caller (sections 2.7 and 2.10).
    const kind = code === 'U011' || code?.endsWith('Resource.NotFound') ? 'not-found' : kindOf(status);
    return new InstitutionError(kind, message ?? `The institution answered ${status}`, {
      httpStatus: status,
      code,
      retryAfterMs: retryAfterMs(headers['retry-after'], this.#tools.now()),
    });
  }
}

function psuHeaders({ psu }: Call): Record<string, string> {
  return {
    ...(psu.ipAddress ? { 'x-fapi-customer-ip-address': psu.ipAddress } : {}),
    ...(psu.userAgent ? { 'x-customer-user-agent': psu.userAgent } : {}),
    ...(psu.lastLoginAt ? { 'x-fapi-auth-date': psu.lastLoginAt.toUTCString() } : {}),
  };
}

/** `OBErrorResponse1`, from which gateways deviate: whatever is no such body has no code and no message. */
function faultOf(body: Buffer): { code?: string; message?: string } {
  let read: unknown;
  try {
    read = JSON.parse(body.toString('utf8'));
  } catch {
    return {};
  }
  if (!isObject(read)) return {};
  const { Errors, Code, Message }: OBErrorResponse1 = read;
  const first = Array.isArray(Errors) ? Errors[0] : undefined;
  const code = first?.ErrorCode ?? Code;
  const message = first?.Message ?? Message ?? code;
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new InstitutionError('malformed', 'The institution answered something that is not JSON');
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
