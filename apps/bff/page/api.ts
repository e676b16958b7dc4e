import { answerOf, createMerchantClient, MerchantApiError, type MerchantClient } from '#libs/merchant-client';
import type { CallLog } from './call-log.js';
import type { CustomerSession } from './session.js';
import type {
  Account,
  Connection,
  Institution,
  NewPayment,
  Payment,
  Renewal,
  SyncRun,
  Transaction,
  TransactionFlag,
} from './views.js';

/** Opens a session for one of the merchant's customers. A real merchant's backend does this: its key never reaches a browser. */
export async function openSession(apiKey: string, reference: string): Promise<CustomerSession> {
  const client = createMerchantClient({ baseUrl: location.origin, token: apiKey });
  return { ...(await answerOf(client.POST('/v1/sessions', { body: { customer: { reference } } }))), reference };
}

export interface TransactionSearch {
  accountId?: string | undefined;
  /** Words of the description. */
  text?: string | undefined;
  from?: string | undefined;
  flagged?: true | undefined;
  cursor?: string | undefined;
  limit: number;
}

interface TransactionPage {
  data: Transaction[];
  nextCursor?: string;
}

export interface CustomerApiOptions {
  token: string;
  /** Is told of every call. */
  calls: CallLog;
  /** The session has ended: another one has to be opened. */
  onEnded: () => void;
}

/** The public API as a customer's frontend uses it. */
export class CustomerApi {
  readonly token: string;
  private readonly client: MerchantClient;
  private readonly onEnded: () => void;

  constructor({ token, calls, onEnded }: CustomerApiOptions) {
    this.token = token;
    this.onEnded = onEnded;
    this.client = createMerchantClient({ baseUrl: location.origin, token, fetch: (request) => calls.send(request) });
  }

  /** All of them, page by page. */
  readonly institutions = async (): Promise<Institution[]> => {
    const all: Institution[] = [];
    for (let cursor: string | undefined; ;) {
      const params = { query: { limit: 500, ...(cursor === undefined ? {} : { cursor }) } };
      const { data, nextCursor } = await this.answer(this.client.GET('/v1/institutions', { params }));
      all.push(...data);
      if (nextCursor === undefined) return all;
      cursor = nextCursor;
    }
  };
  readonly connections = async (): Promise<Connection[]> =>
    (await this.answer(this.client.GET('/v1/connections'))).data;
  readonly accounts = async (): Promise<Account[]> => (await this.answer(this.client.GET('/v1/accounts'))).data;
  readonly payments = async (): Promise<Payment[]> => (await this.answer(this.client.GET('/v1/payments'))).data;

  /** `psuId` is the name by which the bank knows the customer; most need not be told. */
  connect(institutionId: string, returnUrl: string, psuId?: string): Promise<Connection> {
    const params = { header: psuIdHeader(psuId) };
    return this.answer(this.client.POST('/v1/connections', { body: { institutionId, returnUrl }, params }));
  }

  renew(connectionId: string, returnUrl: string, psuId?: string): Promise<Renewal> {
    const params = { path: { connectionId }, header: psuIdHeader(psuId) };
    return this.answer(this.client.POST('/v1/connections/{connectionId}/renewals', { params, body: { returnUrl } }));
  }

  reconfirm(connectionId: string): Promise<Connection> {
    const params = { path: { connectionId } };
    return this.answer(this.client.POST('/v1/connections/{connectionId}/reconfirmation', { params }));
  }

  synchronise(connectionId: string): Promise<SyncRun> {
    const params = { path: { connectionId } };
    return this.answer(this.client.POST('/v1/connections/{connectionId}/sync', { params }));
  }

  disconnect(connectionId: string): Promise<Connection> {
    const params = { path: { connectionId } };
    return this.answer(this.client.DELETE('/v1/connections/{connectionId}', { params }));
  }

  transactions({ accountId, ...search }: TransactionSearch): Promise<TransactionPage> {
    const query = Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
    if (accountId === undefined) return this.answer(this.client.GET('/v1/transactions', { params: { query } }));
    const params = { path: { accountId }, query };
    return this.answer(this.client.GET('/v1/accounts/{accountId}/transactions', { params }));
  }

  /** Every transaction of an account since an instant, page by page. */
  async history(accountId: string, from: string): Promise<Transaction[]> {
    const found: Transaction[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.transactions({ accountId, from, cursor, limit: 500 });
      found.push(...page.data);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return found;
  }

  /** Undefined where it is removed. */
  async transaction(transactionId: string): Promise<Transaction | undefined> {
    const params = { path: { transactionId } };
    return this.unlessGone(this.client.GET('/v1/transactions/{transactionId}', { params }));
  }

  /** What is not sure about a transaction; undefined where nothing is. */
  flag(transactionId: string): Promise<TransactionFlag | undefined> {
    const params = { path: { transactionId } };
    return this.unlessGone(this.client.GET('/v1/transactions/{transactionId}/flag', { params }));
  }

  /** The two are one: the first stays. */
  join(keptId: string, transactionId: string): Promise<Transaction> {
    const params = { path: { transactionId: keptId } };
    return this.answer(this.client.POST('/v1/transactions/{transactionId}/join', { params, body: { transactionId } }));
  }

  /** The one is two. */
  async split(transactionId: string): Promise<Transaction[]> {
    const params = { path: { transactionId } };
    return (await this.answer(this.client.POST('/v1/transactions/{transactionId}/split', { params }))).data;
  }

  /** It is right as it is. */
  dismissFlag(transactionId: string): Promise<Transaction> {
    const params = { path: { transactionId } };
    return this.answer(this.client.DELETE('/v1/transactions/{transactionId}/flag', { params }));
  }

  pay(body: NewPayment): Promise<Payment> {
    const params = { header: { 'idempotency-key': crypto.randomUUID() } };
    return this.answer(this.client.POST('/v1/payments', { body, params }));
  }

  private async answer<T>(asked: Parameters<typeof answerOf<T>>[0]): Promise<T> {
    try {
      return await answerOf(asked);
    } catch (error) {
      if (error instanceof MerchantApiError && error.status === 401) this.onEnded();
      throw error;
    }
  }

  private async unlessGone<T>(asked: Parameters<typeof answerOf<T>>[0]): Promise<T | undefined> {
    try {
      return await this.answer(asked);
    } catch (error) {
      if (error instanceof MerchantApiError && error.status === 404) return undefined;
      throw error;
    }
  }
}

function psuIdHeader(psuId: string | undefined): { 'psu-id'?: string } {
  return psuId === undefined ? {} : { 'psu-id': psuId };
}

/** Whether the bank has to be told by what name it knows the customer. */
export function asksForPsuId(error: unknown): boolean {
  return (
    error instanceof MerchantApiError && (error.problem?.issues ?? []).some(({ parameter }) => parameter === 'psu-id')
  );
}

/** What a person reads of a failed call: the API's own words, and what to quote to the operator. */
export function problemOf(error: unknown): string {
  if (!(error instanceof MerchantApiError)) return error instanceof Error ? error.message : String(error);
  const { status, problem } = error;
  if (!problem) return `The API answered ${status} without saying why.`;
  return `${problem.detail} (${status}, tracing id ${problem.tracingId})`;
}
