/** Where a fault takes effect: on the wire before the bank thinks at all, or deep inside one kind of answer. */
type Reach = 'any' | 'lists' | 'signed' | 'orders' | 'funds' | 'token' | 'consents';

interface Fault {
  reach: Reach;
  does: string;
}

/** Every fault that can be switched on, by name. */
export const faults = {
  '500': { reach: 'any', does: 'answers 500 with an error body (U000, INTERNAL_SERVER_ERROR)' },
  '503': { reach: 'any', does: 'answers 503 with no body' },
  '401': { reach: 'any', does: 'answers 401, as if the token had died' },
  '403': { reach: 'any', does: 'answers 403 with U028 (authenticate again) or SERVICE_BLOCKED' },
  '429': { reach: 'any', does: 'answers 429 with Retry-After: 2' },
  timeout: { reach: 'any', does: 'never answers; the connection is destroyed after a minute' },
  slow: { reach: 'any', does: 'answers rightly, three seconds late' },
  cut: { reach: 'any', does: 'destroys the connection without an answer' },
  'cut-body': { reach: 'any', does: 'promises a body, sends half of it, destroys the connection' },
  'bad-json': { reach: 'any', does: 'answers 200 with JSON that ends in the middle' },
  html: { reach: 'any', does: 'answers 200 with an HTML page, as a broken gateway does' },
  '204': { reach: 'any', does: 'answers 204 with no body, as some banks do for an empty list' },
  gzip: { reach: 'any', does: 'answers rightly, compressed with gzip, for which nobody asked' },
  bom: { reach: 'any', does: 'answers rightly, with a byte order mark before the JSON' },
  'loop-next': { reach: 'lists', does: 'the next link names the page it stands on' },
  'cut-next': { reach: 'lists', does: 'the next link is an address of another host, with the right query' },
  'lost-query': {
    reach: 'lists',
    does: 'the next link lacks the query of the first request, without which it is refused',
  },
  preparing: { reach: 'lists', does: 'an empty page whose next link leads to itself: the history is still gathered' },
  'blank-ids': { reach: 'lists', does: 'every transaction id is a blank' },
  'placeholder-ids': { reach: 'lists', does: 'every transaction id is NOTPROVIDED' },
  'positional-ids': { reach: 'lists', does: 'ids are the places of rows on the page: 1, 2, 3' },
  'reissued-ids': { reach: 'lists', does: 'every row has another id on every day of the bank’s clock' },
  'pending-id': { reach: 'lists', does: 'a row has another id while it is pending' },
  'pending-amount': { reach: 'lists', does: 'a pending row shows a tenth more than is booked later' },
  'pending-date': { reach: 'lists', does: 'a pending row has other dates than the booked one' },
  'pending-vanish': { reach: 'lists', does: 'a hold on a card is pending for a day and never booked' },
  'late-booking': { reach: 'lists', does: 'one booked row in five shows up three days late, dated back' },
  'no-dates': { reach: 'lists', does: 'no row has a booking date, and pending ones have no date at all' },
  'swapped-sign': { reach: 'lists', does: 'what comes in is shown as going out, and the other way round' },
  'wrong-sign': {
    reach: 'lists',
    does: 'UK: amounts of debits carry a minus besides the indicator; Berlin Group: the minus is missing',
  },
  'sca-window': {
    reach: 'lists',
    does: 'five minutes after authorisation, bookings older than 90 days need a new one (403, U028; 400, PERIOD_INVALID)',
  },
  'wrong-signature': { reach: 'signed', does: 'signs another body than the one sent' },
  'no-signature': { reach: 'signed', does: 'leaves x-jws-signature out' },
  'payment-reject': { reach: 'orders', does: 'the order is taken (RCVD) and ends rejected (RJCT)' },
  'payment-pending': { reach: 'orders', does: 'the order stays pending (PDNG) for a day of the bank’s clock' },
  'insufficient-funds': {
    reach: 'funds',
    does: 'funds are not there: the check says no, the order is rejected (RJCT, AM04)',
  },
  'new-account-ids': {
    reach: 'consents',
    does: 'Berlin Group: the consent that is made calls every account by an id of its own',
  },
  'more-account-numbers': { reach: 'consents', does: 'the same, and shows a card number besides every IBAN' },
  'new-account-numbers': { reach: 'consents', does: 'the same, and every account has another IBAN, as after a merger' },
  'token-500': { reach: 'token', does: 'the token endpoint does its work, then answers 500: a refresh token is burnt' },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;

export function isFault(name: unknown): name is FaultName {
  return typeof name === 'string' && Object.hasOwn(faults, name);
}

/** A fault that is on. `left` undefined: until it is switched off. `account` undefined: whatever is asked for. */
export interface ActiveFault {
  bank: string;
  route: string;
  fault: FaultName;
  account?: string | undefined;
  left: number | undefined;
}

const aisp = [
  'account-access-consents',
  'account-access-consents/{ConsentId}',
  'accounts',
  'accounts/{AccountId}',
  'accounts/{AccountId}/balances',
  'accounts/{AccountId}/transactions',
  'accounts/{AccountId}/beneficiaries',
  'accounts/{AccountId}/direct-debits',
  'accounts/{AccountId}/standing-orders',
  'accounts/{AccountId}/scheduled-payments',
  'accounts/{AccountId}/statements',
  'accounts/{AccountId}/statements/{StatementId}',
  'accounts/{AccountId}/statements/{StatementId}/file',
  'accounts/{AccountId}/party',
  'accounts/{AccountId}/parties',
  'balances',
  'transactions',
  'party',
];
const pisp = [
  'domestic-payment-consents',
  'domestic-payment-consents/{ConsentId}',
  'domestic-payment-consents/{ConsentId}/funds-confirmation',
  'domestic-payments',
  'domestic-payments/{DomesticPaymentId}',
  'domestic-payments/{DomesticPaymentId}/payment-details',
];
const berlinGroup = [
  'consents',
  'consents/{consentId}',
  'consents/{consentId}/status',
  'consents/{consentId}/authorisations',
  'consents/{consentId}/authorisations/{authorisationId}',
  'accounts',
  'accounts/{accountId}',
  'accounts/{accountId}/balances',
  'accounts/{accountId}/transactions',
  'accounts/{accountId}/transactions/{transactionId}',
];
const templates = [
  ...aisp.map((path) => `/aisp/${path}`),
  ...pisp.map((path) => `/pisp/${path}`),
  ...berlinGroup.map((path) => `/v1/${path}`),
  '/token',
  '/token/revocation',
  '/backchannel',
  '/auth',
  '/jwks',
  '/signing/jwks',
  '/me',
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
].map((template) => ({
  template,
  pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+').replace(/\./g, '\\.')}$`),
}));

/** `GET` and a path below the bank, such as `/open-banking/v4.0/aisp/accounts/1`, to `GET /aisp/accounts/{AccountId}`. */
export function routeOf(method: string, path: string): string | undefined {
  const short = path.replace(/^\/open-banking\/v[34]\.\d/, '');
  const found = templates.find(({ pattern }) => pattern.test(short));
  return found && `${method} ${found.template}`;
}

/** Brings what a caller wrote into the form of `routeOf`; undefined when no route is meant. */
export function readRoute(text: string): string | undefined {
  if (text === '*') return text;
  const match = /^([A-Z]+) (\/\S*)$/.exec(text.trim());
  return match ? routeOf(match[1] ?? '', (match[2] ?? '').replace(/\{\w+\}/g, 'x')) : undefined;
}

function reaches(fault: FaultName, route: string): boolean {
  const { reach }: Fault = faults[fault];
  const isApi = / \/(?:aisp|pisp|v1)\//.test(route);
  const isOrder = route === 'POST /pisp/domestic-payments';
  const isToken = route === 'POST /token';
  const reached: Record<Reach, boolean> = {
    any: isApi || isToken,
    lists: route.endsWith('/transactions'),
    signed: / \/pisp\//.test(route),
    orders: isOrder,
    funds: isOrder || route.endsWith('/funds-confirmation'),
    token: isToken,
    consents: route === 'POST /v1/consents',
  };
  return reached[reach];
}

/** What a request asks for. */
interface Asked {
  bank: string;
  route: string | undefined;
  account: string | undefined;
}

/** The faults that are switched on. They live in memory: a restart of the sandbox switches everything off. */
export class Scenarios {
  #active: ActiveFault[] = [];

  list(): readonly ActiveFault[] {
    return this.#active;
  }

  switchOn(fault: ActiveFault): void {
    const { bank, route, account } = fault;
    this.switchOff({ bank, route, account, fault: fault.fault });
    this.#active.push({ ...fault });
  }

  /** Switches off what matches; members left out match everything. */
  switchOff(which: { [Member in keyof Omit<ActiveFault, 'left'>]?: string | undefined } = {}): void {
    this.#active = this.#active.filter(
      (each) =>
        !(
          (which.bank ?? each.bank) === each.bank &&
          (which.route ?? each.route) === each.route &&
          (which.fault ?? each.fault) === each.fault &&
          (which.account ?? each.account) === each.account
        ),
    );
  }

  /**
   * The fault this request runs into, if any; counts it. A named route takes any fault, `*` only where it makes sense.
   * `account` is the id in the request's path, if there is one.
   */
  take({ bank, route, account }: Asked): FaultName | undefined {
    if (route === undefined) return undefined;
    const found = this.#active.find(
      (each) =>
        (each.bank === bank || each.bank === '*') &&
        (each.account === undefined || each.account === account) &&
        (each.route === route || (each.route === '*' && reaches(each.fault, route))),
    );
    if (!found) return undefined;
    if (found.left !== undefined) {
      found.left -= 1;
      if (found.left <= 0) this.#active = this.#active.filter((each) => each !== found);
    }
    return found.fault;
  }
}
