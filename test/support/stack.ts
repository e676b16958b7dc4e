import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { AggregatorClient } from '#libs/client';
import { call } from '../../apps/stack/src/http-call.js';
import { type Stack, startStack } from '../../apps/stack/src/stack.js';
import { emptyDatabase } from './postgres.js';

/** What the sandbox's control API takes to act as the person at the bank. */
export interface PsuActs {
  decision?: 'approve' | 'deny';
  persona?: string;
  accounts?: string[];
  /** False: answer the bank's own redirect, fragment and all, without playing the page that lifts it. */
  follow?: boolean;
}

/** The whole stack as processes of their own, on a database, a ledger and ports of the suite's own. */
export class TestStack {
  private constructor(
    readonly stack: Stack,
    /** Keys, logs and the sandbox's ledger. */
    readonly dataDir: string,
    private readonly dropDatabase: () => Promise<void>,
  ) {}

  /** The programs' addresses. */
  get urls(): Pick<Stack, 'aggregator' | 'bff' | 'sandbox'> {
    return this.stack;
  }

  static async start(): Promise<TestStack> {
    const { url, drop } = await emptyDatabase();
    const dataDir = await mkdtemp(join(tmpdir(), 'tributary-stack-'));
    const stack = await startStack({
      ports: { aggregator: 0, bff: 0, sandbox: 0, sandboxTls: 0 },
      dataDir,
      databaseUrl: url,
      logLevel: 'warn',
    });
    return new TestStack(stack, dataDir, drop);
  }

  async stop(): Promise<void> {
    await this.stack.stop();
    await this.dropDatabase();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  /** A client with the root application's credentials. */
  client(application = this.stack.application): AggregatorClient {
    return new AggregatorClient({
      baseUrl: this.stack.aggregator,
      applicationId: application.id,
      applicationSecret: application.secret,
    });
  }

  /** Plays the person through the bank's real pages; answers where the browser goes next. */
  async authorise(authorisationUrl: string, acts: PsuActs = {}): Promise<string> {
    const body = { authorisationUrl, decision: 'approve', persona: 'ada', ...acts };
    const url = `${this.stack.sandbox}/control/authorise`;
    return (await call<{ redirectUrl: string }>(url, { method: 'POST', body })).redirectUrl;
  }

  /** Switches a named fault of the sandbox bank on, for so many calls. */
  async fault(fault: { bank: string; route: string; fault: string; times: number }): Promise<void> {
    await call(`${this.stack.sandbox}/control/faults`, { method: 'POST', body: fault });
  }

  /** Direct SQL, as a superuser, for what no interface shows: how a suite moves a row's time or counts rows. */
  async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.stack.databaseUrl });
    await client.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  /** A new merchant, and a session of one customer of theirs. */
  async merchantWithCustomer(reference = 'customer-1'): Promise<{ merchant: TestMerchant; session: TestSession }> {
    const merchant = await call<TestMerchant>(`${this.stack.bff}/v1/merchants`, {
      method: 'POST',
      bearer: this.stack.operatorKey,
      body: { name: 'Test Shop', merchantCategoryCode: '5411', ppcUserGroup: 'CONSUMER_GOODS_SERVICES' },
    });
    const session = await call<TestSession>(`${this.stack.bff}/v1/sessions`, {
      method: 'POST',
      bearer: merchant.apiKey,
      body: { customer: { reference } },
    });
    return { merchant, session };
  }
}

export interface TestMerchant {
  id: string;
  apiKey: string;
  subApplicationId: string;
}

export interface TestSession {
  token: string;
  customerId: string;
}
