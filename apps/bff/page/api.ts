import { answerOf, createMerchantClient, type MerchantClient } from '#libs/merchant-client';
import type { CustomerSession } from './session.js';
import type { Account, Connection, Institution, NewPayment, Payment, SyncRun, Transaction } from './views.js';

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
  cursor?: string | undefined;
  limit: number;
}

interface TransactionPage {
  data: Transaction[];
  nextCursor?: string;
}

/** The public API as a customer's frontend uses it. */
export class CustomerApi {
  private readonly client: MerchantClient;

  constructor(token: string) {
    this.client = createMerchantClient({ baseUrl: location.origin, token });
  }

  readonly institutions = async (): Promise<Institution[]> =>
    (await answerOf(this.client.GET('/v1/institutions'))).data;
  readonly connections = async (): Promise<Connection[]> => (await answerOf(this.client.GET('/v1/connections'))).data;
  readonly accounts = async (): Promise<Account[]> => (await answerOf(this.client.GET('/v1/accounts'))).data;
  readonly payments = async (): Promise<Payment[]> => (await answerOf(this.client.GET('/v1/payments'))).data;

  connect(institutionId: string, returnUrl: string): Promise<Connection> {
    return answerOf(this.client.POST('/v1/connections', { body: { institutionId, returnUrl } }));
  }

  synchronise(connectionId: string): Promise<SyncRun> {
    const path = { connectionId };
    return answerOf(this.client.POST('/v1/connections/{connectionId}/sync', { params: { path } }));
  }

  disconnect(connectionId: string): Promise<Connection> {
    const path = { connectionId };
    return answerOf(this.client.DELETE('/v1/connections/{connectionId}', { params: { path } }));
  }

  transactions({ accountId, ...search }: TransactionSearch): Promise<TransactionPage> {
    const query = Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
    if (accountId === undefined) return answerOf(this.client.GET('/v1/transactions', { params: { query } }));
    const params = { path: { accountId }, query };
    return answerOf(this.client.GET('/v1/accounts/{accountId}/transactions', { params }));
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

  pay(body: NewPayment): Promise<Payment> {
    const params = { header: { 'idempotency-key': crypto.randomUUID() } };
    return answerOf(this.client.POST('/v1/payments', { body, params }));
  }
}
