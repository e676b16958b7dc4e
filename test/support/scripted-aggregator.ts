import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type {
  Account,
  Balances,
  Consent,
  Institution,
  PaymentRequest,
  PaymentResponse,
  Transaction,
} from '#libs/contract';
import {
  type Answer,
  type Failure,
  idOf,
  ok,
  type ReceivedCall,
  refusal,
  type ScriptedConsent,
  shown,
  within,
} from './scripted-answers.js';
import { ScriptedApplications } from './scripted-applications.js';

/** An aggregator that does what a test says, over real HTTP, in the interface's shapes. */
export class ScriptedAggregator {
  readonly calls: ReceivedCall[] = [];
  readonly consents = new Map<string, ScriptedConsent>();
  readonly payments = new Map<string, PaymentResponse>();
  /** Users by the application's id of them. */
  readonly users = new Map<string, string>();
  accounts: Account[] = [];
  institutions: Partial<Institution>[] = [
    { id: 'bank', name: 'Bank', countries: [{ countryCode2: 'GB' }], features: ['ACCOUNTS'] },
  ];
  /** The terms of a consent that is approved now. */
  terms: Partial<Consent> = {};
  balances: Balances = { mainBalanceAmount: { amount: 10, currency: 'GBP' }, balances: [] };
  transactions = new Map<string, Transaction[]>();
  /** What a new payment's status is. */
  paymentStatus: PaymentResponse['status'] = 'PENDING';
  /** Runs before any call is worked on, and again before what has come of it is answered. */
  onCall: (route: string, when: 'before' | 'after') => Promise<void> | void = () => {};
  /** Runs when a payment is made, before that is answered. */
  onPay: () => Promise<void> | void = () => {};
  /** Runs before a list of accounts is answered. */
  onAccounts: () => Promise<void> | void = () => {};
  /** Runs before a page of transactions is answered. */
  onPage: (offset: number) => Promise<void> | void = () => {};
  /** Answers a page of transactions instead of the aggregator, where it answers anything. */
  onTransactions: (query: URLSearchParams) => Answer | undefined = () => undefined;
  /** The sub-applications. */
  readonly registered = new ScriptedApplications();
  readonly webhooks = this.registered.webhooks;
  private readonly tokens = new Map<string, string>();
  private readonly failures: Failure[] = [];
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<ScriptedAggregator> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The server has no port');
    const aggregator = new ScriptedAggregator(server, `http://127.0.0.1:${address.port}`);
    server.on('request', (request, response) => {
      void aggregator.receive(request).then((answer) => {
        if (!answer) return response.destroy();
        response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
        return response.end(answer.body === undefined ? '' : JSON.stringify(answer.body));
      });
    });
    return aggregator;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  fail(failure: Failure): void {
    this.failures.push({ times: 1, ...failure });
  }

  /** Forgets faults that were not used up. */
  heal(): void {
    this.failures.length = 0;
  }

  callsOf(route: string): ReceivedCall[] {
    return this.calls.filter((call) => call.route === route);
  }

  /** The PSU approves at the bank: where their browser goes next. */
  approve(consentId: string): URL {
    const consent = this.consent(consentId);
    consent.status = 'AUTHORIZED';
    consent.terms = this.terms;
    const oneTimeToken = randomBytes(16).toString('hex');
    this.tokens.set(oneTimeToken, consentId);
    return this.callback(consent, { 'one-time-token': oneTimeToken });
  }

  deny(consentId: string): URL {
    const consent = this.consent(consentId);
    consent.status = 'REJECTED';
    return this.callback(consent, { error: 'access_denied', 'error-source': 'user', 'error-description': 'bm8=' });
  }

  private callback(consent: ScriptedConsent, more: Record<string, string>): URL {
    const url = new URL(consent.callback);
    const { applicationUserId, institutionId } = consent;
    const told = {
      'application-user-id': applicationUserId,
      'user-uuid': randomUUID(),
      institution: institutionId,
      ...more,
    };
    for (const [name, value] of Object.entries(told)) url.searchParams.append(name, value);
    return url;
  }

  private consent(id: string): ScriptedConsent {
    const consent = this.consents.get(id);
    if (!consent) throw new Error(`No consent ${id}`);
    return consent;
  }

  private async receive(request: IncomingMessage): Promise<Answer | undefined> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', this.url);
    const route = `${request.method} ${url.pathname.replace(/^(\/(?:accounts|applications|consents|payments|users|webhook\/events))\/[^/]+/, '$1/:id')}`;
    const body = chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>);
    const call = { route, path: url.pathname, query: url.searchParams, headers: request.headers, body };
    this.calls.push(call);
    const failure = this.failures.find(
      (each) => each.route === route && (each.path ?? url.pathname) === url.pathname && (each.times ?? 1) > 0,
    );
    if (!failure) {
      await this.onCall(route, 'before');
      const answer = await this.work(call);
      await this.onCall(route, 'after');
      return answer;
    }
    failure.times = (failure.times ?? 1) - 1;
    if (failure.afterWork) await this.work(call);
    return failure.status === undefined
      ? undefined
      : { status: failure.status, body: failure.body ?? refusal(failure.status), headers: failure.headers };
  }

  private async work(call: ReceivedCall): Promise<Answer> {
    const handlers: Record<string, () => Answer | Promise<Answer>> = {
      'GET /institutions': () => ok(this.institutions),
      ...this.registered.handlers(call),
      'POST /account-auth-requests': () => this.authorise(call.body),
      'PATCH /account-auth-requests': () => this.authoriseAgain(call),
      'POST /payment-auth-requests': () => this.authorise(call.body),
      'POST /consent-one-time-token': () => this.exchange(call.body),
      'GET /consents/:id': () => this.readConsent(idOf(call)),
      'POST /consents/:id/extend': () => this.extend(call),
      'DELETE /consents/:id': () => this.deleteConsent(idOf(call)),
      'GET /users': () => ({ status: 200, body: this.usersOf(call.query.getAll('filter[applicationUserId]')) }),
      'DELETE /users/:id': () => this.deleteUser(idOf(call)),
      'GET /accounts': () => this.withConsent(call, () => this.list()),
      'GET /accounts/:id/balances': () => this.withConsent(call, () => ok(this.balances)),
      'GET /accounts/:id/transactions': () => this.withConsent(call, () => this.page(call)),
      'POST /payments': () => this.withConsent(call, () => this.paid(call)),
      'GET /payments/:id/details': () => ok({ payments: [this.payments.get(idOf(call))].filter(Boolean) }),
    };
    return (await handlers[call.route]?.()) ?? { status: 404, body: refusal(404) };
  }

  private authorise({ applicationUserId, institutionId, callback }: Record<string, unknown>): Answer {
    if (!this.institutions.some(({ id }) => id === institutionId))
      return { status: 404, body: refusal(404, '$.institutionId') };
    const consent: ScriptedConsent = {
      id: randomUUID(),
      applicationUserId: String(applicationUserId),
      institutionId: String(institutionId),
      status: 'AWAITING_AUTHORIZATION',
      consentToken: `consent-token-${randomUUID()}`,
      callback: String(callback),
      deleted: false,
      terms: {},
    };
    this.consents.set(consent.id, consent);
    if (!this.users.has(consent.applicationUserId)) this.users.set(consent.applicationUserId, randomUUID());
    return ok({ ...shown(consent), authorisationUrl: `${this.url}/bank?consent=${consent.id}` }, 201);
  }

  /** Like the real one: while it waits for its user, nobody reads with it. */
  private authoriseAgain({ headers }: ReceivedCall): Answer {
    const consent = [...this.consents.values()].find((each) => each.consentToken === headers['consent']);
    if (consent?.status !== 'EXPIRED') return { status: 400, body: refusal(400) };
    consent.status = 'AWAITING_RE_AUTHORIZATION';
    return ok({ ...shown(consent), authorisationUrl: `${this.url}/bank?consent=${consent.id}` }, 201);
  }

  private extend(call: ReceivedCall): Answer {
    const consent = this.consent(idOf(call));
    const lastConfirmedAt = String(call.body['lastConfirmedAt']);
    if (consent.status !== 'AUTHORIZED') return { status: 400, body: refusal(400, 'consentId') };
    const reconfirmBy = new Date(new Date(lastConfirmedAt).getTime() + 90 * 86_400_000).toISOString();
    consent.terms = { ...consent.terms, lastConfirmedAt, reconfirmBy };
    return ok(shown(consent));
  }

  private exchange({ oneTimeToken }: Record<string, unknown>): Answer {
    const consentId = this.tokens.get(String(oneTimeToken));
    if (consentId === undefined) return { status: 404, body: refusal(404) };
    this.tokens.delete(String(oneTimeToken));
    return { status: 201, body: shown(this.consent(consentId)) };
  }

  private readConsent(id: string): Answer {
    const consent = this.consents.get(id);
    return consent && !consent.deleted ? ok(shown(consent)) : { status: 404, body: refusal(404) };
  }

  private deleteConsent(id: string): Answer {
    this.consent(id).deleted = true;
    return ok({ id, deleteStatus: 'SUCCESS' });
  }

  private usersOf(applicationUserIds: string[]): object[] {
    const asked = [...this.users].filter(([id]) => applicationUserIds.includes(id));
    return asked.map(([applicationUserId, uuid]) => ({ applicationUserId, uuid }));
  }

  private deleteUser(uuid: string): Answer {
    for (const [id, each] of this.users) if (each === uuid) this.users.delete(id);
    return ok({ id: uuid, deleteStatus: 'SUCCESS' });
  }

  private withConsent(call: ReceivedCall, work: () => Answer | Promise<Answer>): Answer | Promise<Answer> {
    const ended = new Set(['REVOKED', 'EXPIRED', 'AWAITING_RE_AUTHORIZATION']);
    const usable = [...this.consents.values()].some(
      (each) => each.consentToken === call.headers['consent'] && !each.deleted && !ended.has(each.status),
    );
    return usable ? work() : { status: 403, body: refusal(403) };
  }

  private async list(): Promise<Answer> {
    const { accounts } = this;
    await this.onAccounts();
    return ok(accounts);
  }

  private async page({ path, query }: ReceivedCall): Promise<Answer> {
    const offset = Number(query.get('offset') ?? 0);
    await this.onPage(offset);
    const instead = this.onTransactions(query);
    if (instead) return instead;
    const rows = within(this.transactions.get(decodeURIComponent(path.split('/')[2] ?? '')) ?? [], query);
    const data = rows.slice(offset, offset + Number(query.get('limit') ?? 1000));
    return {
      status: 200,
      body: { meta: { tracingId: 'a', count: data.length, pagination: { totalCount: rows.length } }, data },
    };
  }

  private async paid(call: ReceivedCall): Promise<Answer> {
    const answer = this.pay(call);
    await this.onPay();
    return answer;
  }

  /** The same idempotency id again is the same payment. */
  private pay({ body }: ReceivedCall): Answer {
    const { paymentIdempotencyId, amount, payee } = body as Record<string, unknown> & PaymentRequest;
    const known = [...this.payments.values()].find((each) => each.paymentIdempotencyId === paymentIdempotencyId);
    if (known) return ok(known, 201);
    const payment: PaymentResponse = {
      id: `pv3-${randomUUID()}`,
      paymentIdempotencyId,
      status: this.paymentStatus,
      amount: amount.amount,
      currency: amount.currency,
      payeeDetails: payee,
    };
    this.payments.set(payment.id, payment);
    return ok(payment, 201);
  }
}
