import { randomUUID } from 'node:crypto';
import type { TppFixture } from '../tpp.fixture.js';

/** What a spec reads of an answer; members that are not there are undefined. */
export interface BerlinBody {
  consentId: string;
  consentStatus: string;
  authorisationId: string;
  scaStatus: string;
  scaMethods: { authenticationMethodId: string; authenticationType: string }[];
  chosenScaMethod: { authenticationMethodId: string };
  challengeData: { image?: string; data?: string[]; otpMaxLength: number };
  psuMessage: string;
  validUntil: string;
  frequencyPerDay: number;
  access: Record<string, unknown>;
  accounts: { resourceId: string; iban: string; currency: string; balances?: unknown[]; _links: Links }[];
  account: { iban: string; resourceId: string };
  balances: { balanceType: string; balanceAmount: { amount: string; currency: string } }[];
  transactions: { booked: BerlinRow[]; pending: BerlinRow[]; _links: Links };
  tppMessages: { category: string; code: string; path?: string }[];
  code: string;
  _links: Links;
}
export interface BerlinRow {
  transactionId?: string;
  bookingDate?: string;
  valueDate: string;
  transactionAmount: { amount: string; currency: string };
  remittanceInformationUnstructured: string;
}
type Links = Record<string, { href: string }>;

export interface BerlinAnswer {
  status: number;
  headers: Headers;
  body: BerlinBody;
}

export const globalAccess = { allPsd2: 'allAccounts' };

/** A TPP at one Berlin Group bank: every call carries what the framework wants, unless a header is set to ''. */
export class BerlinTpp {
  token: string | undefined;

  constructor(
    private readonly fixture: TppFixture,
    readonly bank: string,
    readonly redirect = 'http://localhost:3000/callback?state=s1',
  ) {}

  get address(): string {
    return `${this.fixture.sandbox.tlsUrl}/banks/${this.bank}`;
  }

  async call(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<BerlinAnswer> {
    const sent = {
      'x-request-id': randomUUID(),
      ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    };
    const url = path.startsWith('/v1') ? `${this.address}${path}` : new URL(path, this.address).href;
    const answer = await this.fixture.fetch(url, {
      method,
      headers: Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== '')),
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      body: (text === '' ? {} : JSON.parse(text)) as BerlinBody,
    };
  }

  createConsent(
    access: object = globalAccess,
    headers: Record<string, string> = {},
    more: object = {},
  ): Promise<BerlinAnswer> {
    const ask = {
      access,
      recurringIndicator: true,
      validUntil: '9999-12-31',
      frequencyPerDay: 4,
      combinedServiceIndicator: false,
      ...more,
    };
    return this.call('POST', '/v1/consents', ask, {
      'psu-ip-address': '192.0.2.7',
      'tpp-redirect-uri': this.redirect,
      ...headers,
    });
  }

  /** Plays the PSU; answers where the bank sends the browser. */
  async visit(
    address: string,
    wish: { decision?: 'approve' | 'deny'; persona?: string; accounts?: string[] } = {},
  ): Promise<string> {
    const answer = await this.control('authorise', {
      authorisationUrl: address,
      decision: 'approve',
      follow: false,
      ...wish,
    });
    if (answer.status !== 200) throw new Error(`authorise answered ${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as { redirectUrl: string }).redirectUrl;
  }

  /** The whole way to a valid consent at a bank that redirects. */
  async authorisedConsent(access: object = globalAccess, more: object = {}): Promise<string> {
    const { body } = await this.createConsent(access, {}, more);
    await this.visit(body._links['scaRedirect']!.href);
    return body.consentId;
  }

  read(path: string, consentId: string, headers: Record<string, string> = {}): Promise<BerlinAnswer> {
    return this.call('GET', path, undefined, { 'consent-id': consentId, ...headers });
  }

  async status(consentId: string): Promise<string> {
    return (await this.call('GET', `/v1/consents/${consentId}/status`)).body.consentStatus;
  }

  control(path: string, body: object): Promise<Response> {
    return fetch(`${this.fixture.sandbox.url}/control/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
  }
}
