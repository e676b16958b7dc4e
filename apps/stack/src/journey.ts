import { setTimeout as pause } from 'node:timers/promises';
import { answerOf, createMerchantClient, type MerchantClient, type Schemas } from '#libs/merchant-client';
import { call } from './http-call.js';
import type { StackFile } from './stack.js';

/** What a step of the journey found out, in the words of the report. */
export type Figures = Record<string, string | number | boolean>;

export interface StepReport {
  step: string;
  ok: boolean;
  ms: number;
  figures: Figures;
  problem?: string;
}

/** Told while the journey goes on, for whoever wants to show it. */
export interface Watcher {
  stepStarted(step: string): void;
  stepEnded(report: StepReport): void;
  syncProgress(progress: SyncView): void;
}

export type SyncView = Schemas['SyncProgress'];
type Connection = Schemas['ConnectionView'];
type Payment = Schemas['PaymentView'];

const institutionId = 'meridian-sandbox';
const persona = 'ada';
/** Room for a machine that has other work to do; every wait ends as soon as its condition holds. */
const patienceMs = 90_000;

/** Asks again until `done` holds; the last answer is returned, and a deadline passed is an error that shows it. */
async function until<T>(what: string, ask: () => Promise<T>, done: (answer: T) => boolean): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (done(answer)) return answer;
    if (performance.now() > deadline) throw new Error(`${what} did not happen: ${JSON.stringify(answer)}`);
    await pause(100);
  }
}

/** Follows a redirect as the customer's browser does, up to the BFF's own answer. */
async function comeBack(redirectUrl: string): Promise<number> {
  const answer = await fetch(redirectUrl, { redirect: 'manual', signal: AbortSignal.timeout(30_000) });
  await answer.arrayBuffer();
  if (answer.status >= 400) throw new Error(`The customer came back to an error page (${answer.status})`);
  return answer.status;
}

/** The journey of one customer of one merchant, over HTTP alone. Each method is one step and returns its figures. */
class Journey {
  /** The merchants' API as its three callers: this installation's operator, a merchant's backend, a customer's frontend. */
  private readonly operator: MerchantClient;
  private backend!: MerchantClient;
  private frontend!: MerchantClient;
  private connectionId!: string;
  private paymentId!: string;

  constructor(
    private readonly stack: StackFile,
    private readonly watcher: Watcher,
  ) {
    this.operator = this.client(stack.operatorKey);
  }

  private client(token: string): MerchantClient {
    return createMerchantClient({ baseUrl: this.stack.bff, token });
  }

  private connection(): Promise<Connection> {
    const params = { path: { connectionId: this.connectionId } };
    return answerOf(this.frontend.GET('/v1/connections/{connectionId}', { params }));
  }

  private authorise(authorisationUrl: string, more: object = {}): Promise<{ redirectUrl: string }> {
    const body = { authorisationUrl, decision: 'approve', persona, ...more };
    return call(`${this.stack.sandbox}/control/authorise`, { method: 'POST', body });
  }

  async rootApplication(): Promise<Figures> {
    const { application, aggregator } = this.stack;
    const list = await call<{ meta: { count?: number } }>(`${aggregator}/applications`, { basic: application });
    return { application: application.id, subApplications: list.meta.count ?? 0 };
  }

  async createMerchant(): Promise<Figures> {
    const { aggregator, application } = this.stack;
    const body = { name: 'Demo Shop', merchantCategoryCode: '5411', ppcUserGroup: 'CONSUMER_GOODS_SERVICES' };
    const { id, apiKey, subApplicationId = '' } = await answerOf(this.operator.POST('/v1/merchants', { body }));
    this.backend = this.client(apiKey);
    await call(`${aggregator}/applications/${subApplicationId}`, { basic: application });
    return { merchant: id, subApplication: subApplicationId };
  }

  async openSession(): Promise<Figures> {
    const body = { customer: { reference: 'customer-1' } };
    const { token, customerId } = await answerOf(this.backend.POST('/v1/sessions', { body }));
    this.frontend = this.client(token);
    return { customer: customerId };
  }

  async pickInstitution(): Promise<Figures> {
    const { data } = await answerOf(this.frontend.GET('/v1/institutions'));
    const picked = data.find(({ id }) => id === institutionId);
    if (!picked) throw new Error(`${institutionId} is not among the ${data.length} institutions`);
    return { institutions: data.length, picked: picked.name, features: picked.features.length };
  }

  async connect(): Promise<Figures> {
    const asked = await answerOf(this.frontend.POST('/v1/connections', { body: { institutionId } }));
    this.connectionId = asked.id;
    const { redirectUrl } = await this.authorise(asked.authorisationUrl ?? '');
    await comeBack(redirectUrl);
    const { status } = await this.connection();
    if (status !== 'active') throw new Error(`The connection is ${status}`);
    return { connection: asked.id, status };
  }

  async synchronise(): Promise<Figures> {
    const started = performance.now();
    const ask = async (): Promise<Connection> => {
      const connection = await this.connection();
      if (connection.sync) this.watcher.syncProgress(connection.sync);
      return connection;
    };
    const ended = ({ sync }: Connection): boolean => sync !== undefined && sync.status !== 'running';
    const { sync } = await until('The synchronisation', ask, ended);
    if (sync?.status !== 'completed') throw new Error(`The synchronisation is ${sync?.status}: ${sync?.problem}`);
    const seconds = (performance.now() - started) / 1000;
    return {
      accounts: sync.accounts,
      rows: sync.rowsRead,
      added: sync.added,
      seconds: Number(seconds.toFixed(2)),
      syncedRowsPerSecond: Math.round(sync.rowsRead / seconds),
      recordedRowsPerSecond: sync.rowsPerSecond ?? 0,
    };
  }

  async read(): Promise<Figures> {
    const accounts = (await answerOf(this.frontend.GET('/v1/accounts'))).data;
    const dates: string[] = [];
    let cursor: string | undefined;
    do {
      const query = { limit: 500, ...(cursor === undefined ? {} : { cursor }) };
      const page = await answerOf(this.frontend.GET('/v1/transactions', { params: { query } }));
      dates.push(...page.data.flatMap(({ date }) => date ?? []));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    const months = new Set(dates.map((date) => date.slice(0, 7))).size;
    return { accounts: accounts.length, transactions: dates.length, months };
  }

  async pay(): Promise<Figures> {
    const payee = {
      name: 'Demo Shop Ltd',
      accountIdentifications: [
        { type: 'SORT_CODE' as const, identification: '203002' },
        { type: 'ACCOUNT_NUMBER' as const, identification: '10203345' },
      ],
    };
    const body = { institutionId, amount: 12.5, currency: 'GBP', payee, reference: 'ORDER 1042' };
    const params = { header: { 'idempotency-key': crypto.randomUUID() } };
    const asked = await answerOf(this.frontend.POST('/v1/payments', { body, params }));
    this.paymentId = asked.id;
    const { redirectUrl } = await this.authorise(asked.authorisationUrl ?? '');
    await comeBack(redirectUrl);
    const ended = ({ status }: Payment): boolean =>
      !['AUTHORIZED', 'PENDING', 'AWAITING_AUTHORIZATION'].includes(status);
    const path = { paymentId: asked.id };
    const ask = () => answerOf(this.frontend.GET('/v1/payments/{paymentId}', { params: { path } }));
    const paid = await until('The end of the payment', ask, ended);
    if (paid.status !== 'COMPLETED') throw new Error(`The payment is ${paid.status}`);
    return { payment: asked.id, amount: '12.50 GBP', status: paid.status, isoStatus: paid.isoStatus ?? '' };
  }

  /** `webhook.handled` is written by the handler of a verified webhook and by nothing else. */
  async webhook(): Promise<Figures> {
    const ask = () => answerOf(this.backend.GET('/v1/events'));
    const isHandled = ({ type }: Schemas['EventView']): boolean => type === 'webhook.handled';
    const { data } = await until('The webhook', ask, (log) => log.data.some(isHandled));
    const ofPayment = data.filter((event) => event.data['paymentId'] === this.paymentId);
    if (!ofPayment.some(({ type }) => type === 'payment.completed'))
      throw new Error('No event tells of the completion');
    return { verified: data.filter(isHandled).length, events: ofPayment.map(({ type }) => type).join(', ') };
  }
}

/** Goes through every step in order and stops at the first that does not hold. */
export async function runJourney(stack: StackFile, watcher: Watcher): Promise<StepReport[]> {
  const journey = new Journey(stack, watcher);
  const steps: [string, () => Promise<Figures>][] = [
    ['root application', () => journey.rootApplication()],
    ['merchant and sub-application', () => journey.createMerchant()],
    ['customer session', () => journey.openSession()],
    ['institution picked', () => journey.pickInstitution()],
    ['bank connected', () => journey.connect()],
    ['transactions synced', () => journey.synchronise()],
    ['read by the frontend', () => journey.read()],
    ['payment made', () => journey.pay()],
    ['webhook verified and fanned out', () => journey.webhook()],
  ];
  const reports: StepReport[] = [];
  for (const [step, perform] of steps) {
    watcher.stepStarted(step);
    const started = performance.now();
    const outcome = await perform().then(
      (figures) => ({ ok: true, figures }),
      (error: Error) => ({ ok: false, figures: {}, problem: error.message }),
    );
    const report = { step, ms: Math.round(performance.now() - started), ...outcome };
    reports.push(report);
    watcher.stepEnded(report);
    if (!report.ok) break;
  }
  return reports;
}
