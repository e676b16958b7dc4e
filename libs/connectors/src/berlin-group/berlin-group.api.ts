import { randomBytes } from 'node:crypto';
import { kindOf, retryAfterMs, type BankResponse } from '../bank-http.js';
import type { Call, Institution, Tools } from '../connector.js';
import { InstitutionError, type InstitutionErrorKind } from '../institution-error.js';
import { isObject, readJson, unreadable } from '../wire.js';
import type {
  AccountList,
  ConsentInformationResponse,
  Consents,
  ConsentStatusResponse,
  Links,
  ReadAccountBalanceResponse,
  ReadAccountResponse,
  ScaProcess,
  TppMessage,
  TransactionsResponse,
} from './berlin-group.types.js';

/** A call with what it goes under: the token where the bank uses OAuth, the consent on account calls. */
export interface Sender extends Call {
  token?: string;
  consentId?: string;
  /** A token that was refused has been renewed for this: another refusal has another reason. */
  isRenewed?: true;
}

interface Sending<T = unknown> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: URL;
  template: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** What an answer without content says (204): of a list, that it is empty. Absent: that we cannot read it. */
  ofNothing?: T;
}

/** A refusal that carries links: `scaOAuth` says where a token is to be had. */
export class LinkedError extends InstitutionError {
  readonly links: Links;
  constructor(fault: InstitutionError, links: Links) {
    const { httpStatus, code, retryAfterMs: wait } = fault;
    super(fault.kind, fault.message, { httpStatus, code, retryAfterMs: wait });
    this.links = links;
  }
}

/** The entry points of the standard, and whatever links lead on. HTTP only: every function returns what the bank sent. */
export class BerlinGroupApi {
  readonly #institution: Institution<'berlin-group'>;
  readonly #tools: Tools;

  constructor(institution: Institution<'berlin-group'>, tools: Tools) {
    this.#institution = institution;
    this.#tools = tools;
  }

  /** A link of the bank as an address: full or relative, at the bank itself or nowhere (quirk Q8). */
  address(href: string): URL {
    const base = new URL(`${this.#institution.baseUrl}/v1/`);
    const url = URL.canParse(href, base.href) ? new URL(href, base) : undefined;
    if (url?.origin !== base.origin) {
      throw new InstitutionError('malformed', 'The institution links to another address than its own');
    }
    const prefix = new URL(this.#institution.baseUrl).pathname.replace(/\/$/, '');
    // Some banks leave out what comes before the version.
    if (url.pathname.startsWith('/v1/')) url.pathname = prefix + url.pathname;
    return url;
  }

  consentUrl(consentId: string, part: '' | '/status' = ''): URL {
    return this.address(`consents/${encodeURIComponent(consentId)}${part}`);
  }

  /** Section 6.3.1: here the PSU's address is mandatory, and ours stands in where it is not known. */
  createConsent(sender: Sender, body: Consents, wishes: Record<string, string>): Promise<ScaProcess> {
    const { ipAddress } = this.#tools.credentials;
    const headers = { ...(ipAddress && !sender.psu.ipAddress ? { 'psu-ip-address': ipAddress } : {}), ...wishes };
    const url = this.address('consents');
    return this.#json(sender, { method: 'POST', url, template: '/v1/consents', body, headers });
  }

  consent(sender: Sender, url: URL): Promise<ConsentInformationResponse> {
    return this.#json(sender, { method: 'GET', url, template: '/v1/consents/{consentId}' });
  }

  consentStatus(sender: Sender, url: URL): Promise<ConsentStatusResponse> {
    return this.#json(sender, { method: 'GET', url, template: '/v1/consents/{consentId}/status' });
  }

  async deleteConsent(sender: Sender, consentId: string): Promise<void> {
    const url = this.consentUrl(consentId);
    await this.#send(sender, { method: 'DELETE', url, template: '/v1/consents/{consentId}' });
  }

  /** POST to a `startAuthorisation…` link, PUT to any other; the link decides where. */
  authorisation(
    sender: Sender,
    step: { method: 'POST' | 'PUT'; url: URL; body: object; headers?: Record<string, string> },
  ): Promise<ScaProcess> {
    const resource = '/v1/consents/{consentId}/authorisations';
    const template = step.method === 'POST' ? resource : `${resource}/{authorisationId}`;
    return this.#json(sender, { ...step, template });
  }

  scaStatus(sender: Sender, url: URL): Promise<ScaProcess> {
    const template = '/v1/consents/{consentId}/authorisations/{authorisationId}';
    return this.#json(sender, { method: 'GET', url, template });
  }

  accounts(sender: Sender): Promise<AccountList> {
    return this.#json(sender, {
      method: 'GET',
      url: this.#withBalance(this.address('accounts')),
      template: '/v1/accounts',
      ofNothing: { accounts: [] },
    });
  }

  account(sender: Sender, accountId: string): Promise<ReadAccountResponse> {
    const url = this.#withBalance(this.address(`accounts/${encodeURIComponent(accountId)}`));
    return this.#json(sender, { method: 'GET', url, template: '/v1/accounts/{accountId}' });
  }

  balances(sender: Sender, url: URL): Promise<ReadAccountBalanceResponse> {
    return this.#json(sender, { method: 'GET', url, template: '/v1/accounts/{accountId}/balances' });
  }

  transactions(sender: Sender, url: URL): Promise<TransactionsResponse> {
    const template = '/v1/accounts/{accountId}/transactions';
    return this.#json(sender, { method: 'GET', url, template, ofNothing: { transactions: {} } });
  }

  #withBalance(url: URL): URL {
    if (this.#institution.settings.withBalance) url.searchParams.set('withBalance', 'true');
    return url;
  }

  async #json<T extends object>(sender: Sender, sending: Sending<T>): Promise<T> {
    const { status, body } = await this.#send(sender, sending);
    if (status === 204 && sending.ofNothing) return sending.ofNothing;
    const read = readJson(body);
    if (!isObject(read)) throw unreadable('answer');
    // From here the members are checked one by one, where they are used.
    return read as T;
  }

  async #send(sender: Sender, { method, url, template, body, headers: more }: Sending): Promise<BankResponse> {
    const { http, credentials } = this.#tools;
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers: Record<string, string> = {
      accept: 'application/json',
      'x-request-id': requestId(sender.tracingId),
      ...psuHeaders(sender),
      ...more,
    };
    if (bytes) headers['content-type'] = 'application/json';
    if (sender.token) headers['authorization'] = `Bearer ${sender.token}`;
    if (sender.consentId) headers['consent-id'] = sender.consentId;
    const response = await http.send({
      institutionId: this.#institution.id,
      method,
      url,
      template,
      headers,
      ...(bytes ? { body: bytes } : {}),
      signal: sender.signal,
      tracingId: sender.tracingId,
      transport: credentials.transport,
    });
    if (response.status >= 300) throw this.#failure(response, template);
    return response;
  }

  #failure({ status, headers, body }: BankResponse, template: string): InstitutionError {
    const { code, text, links } = faultOf(body);
    const fault = new InstitutionError(
      meaning(code, template) ?? kindOf(status),
      text ?? `The institution answered ${status}`,
      {
        httpStatus: status,
        code,
        retryAfterMs: retryAfterMs(headers['retry-after'], this.#tools.now()),
      },
    );
    return links ? new LinkedError(fault, links) : fault;
  }
}

/** Section 14.11: the same code comes with different statuses, so the code decides where it is clear. */
function meaning(code: string | undefined, template: string): InstitutionErrorKind | undefined {
  switch (code) {
    case 'CONSENT_EXPIRED':
    case 'CONSENT_UNKNOWN':
      return 'consent-gone';
    case 'RESOURCE_UNKNOWN':
    case 'RESOURCE_EXPIRED':
      return template.startsWith('/v1/consents') ? 'consent-gone' : 'not-found';
    case 'ACCESS_EXCEEDED':
      return 'rate-limited';
    // What the person typed was wrong; our own credentials are in order.
    case 'PSU_CREDENTIALS_INVALID':
    case 'SCA_INVALID':
      return 'rejected';
    default:
      return undefined;
  }
}

/**
 * A UUID of its own for every exchange, as section 4.1 wants, that begins like our tracing id: a bank that is asked
 * about one can be told which call it was.
 */
function requestId(tracingId: string): string {
  const own = randomBytes(10).toString('hex');
  return `${tracingId.slice(0, 8)}-${tracingId.slice(8, 12)}-4${own.slice(0, 3)}-a${own.slice(3, 6)}-${own.slice(6, 18)}`;
}

/** The address of the PSU is sent if and only if the PSU is there: it decides whether the call counts as attended. */
export function psuHeaders({ psu }: Call): Record<string, string> {
  return {
    ...(psu.id ? { 'psu-id': psu.id } : {}),
    ...(psu.corporateId ? { 'psu-corporate-id': psu.corporateId } : {}),
    ...(psu.ipAddress ? { 'psu-ip-address': psu.ipAddress } : {}),
    ...(psu.userAgent ? { 'psu-user-agent': psu.userAgent } : {}),
  };
}

/** Both error shapes: `tppMessages`, of which the first error counts, and problem details (RFC 7807). */
function faultOf(body: Buffer): { code?: string; text?: string; links?: Links } {
  let read: unknown;
  try {
    read = readJson(body);
  } catch {
    return {};
  }
  if (!isObject(read)) return {};
  const messages: TppMessage[] = Array.isArray(read['tppMessages']) ? read['tppMessages'].filter(isObject) : [];
  const first = messages.find(({ category }) => category !== 'WARNING') ?? messages[0];
  const code = first?.code ?? read['code'];
  const text = first?.text ?? read['detail'] ?? read['title'] ?? code;
  const links = read['_links'];
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof text === 'string' ? { text } : {}),
    ...(isObject(links) ? { links: links as Links } : {}),
  };
}
