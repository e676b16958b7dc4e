import { vi } from 'vitest';
import { now, setClock } from '#libs/server';
import { ApplicationKeysService } from '../../apps/aggregator/src/applications/application-keys.service.js';
import { AuthorisationService, type Waiting } from '../../apps/bff/src/connections/authorisation.service.js';
import { asOwner, comeBack } from './authorise.js';
import { BankFlows } from './bank-flows.js';
import { type BffAnswer, type BffCall, TestBff, type TestMerchant } from './bff.js';
import type { Visit } from './sandbox.js';

/** An event of a merchant's log. */
export interface ToldEvent {
  type: string;
  data: Record<string, string>;
}

/** A connection, and whose it is. */
export interface TestConnection {
  id: string;
  customerId: string;
}

/** What of a connection or a renewal its customer needs. */
interface Begun {
  id: string;
  authorisationUrl?: string;
}

const dayMs = 24 * 3_600_000;
const address = '192.0.2.7';

/** Merchant's API, interface and the sandbox's banks, one before the other over real HTTP, under one clock that tests move. */
export class WholePath {
  private constructor(
    readonly flows: BankFlows,
    readonly bff: TestBff,
    readonly merchant: TestMerchant,
  ) {}

  static async start(): Promise<WholePath> {
    const flows = await BankFlows.start();
    await flows.aggregator.app.listen(0, '127.0.0.1');
    const callbackUrls = ['http://bff.test/v1/connections/callback'];
    const root = await flows.aggregator.get(ApplicationKeysService).create({ name: 'Platform', callbackUrls });
    const bff = await TestBff.start({
      env: {
        AGGREGATOR_URL: await flows.aggregator.app.getUrl(),
        AGGREGATOR_APPLICATION_ID: root.id,
        AGGREGATOR_APPLICATION_SECRET: root.secret,
      },
    });
    return new WholePath(flows, bff, await bff.merchant());
  }

  async close(): Promise<void> {
    await this.bff.close();
    await this.flows.close();
  }

  /** The merchant's backend asks for a customer: a session does not outlive the time that passes here. */
  ask<Body>(
    customerId: string,
    route: `${string} /${string}`,
    { body, headers }: Pick<BffCall, 'body' | 'headers'> = {},
  ): Promise<BffAnswer<Body>> {
    const as = this.merchant.apiKey;
    return this.bff.ask<Body>(route, {
      as,
      headers: { 'customer-id': customerId, ...headers },
      ...(body === undefined ? {} : { body }),
    });
  }

  /** A connection of a new customer. */
  async connect(bank: string, visit: Visit = {}): Promise<TestConnection> {
    const { customerId } = await this.bff.session(this.merchant, this.flows.person());
    const body = { institutionId: `${bank}-sandbox` };
    const headers = { 'psu-id': 'ada', 'psu-ip-address': address };
    const made = await this.ask<Begun>(customerId, 'POST /v1/connections', { body, headers });
    await this.authorise(bank, made.body, visit);
    await vi.waitFor(() => this.active(made.body.id), { timeout: 10_000, interval: 100 });
    return { id: made.body.id, customerId };
  }

  /** Where the customer comes back on no callback, workers ask until they have confirmed. */
  private async active(id: string): Promise<void> {
    const { rows } = await this.bff.db.pool.query<Waiting>('select * from connections where id = $1', [id]);
    if (rows[0]?.status === 'awaiting-authorisation') await this.bff.get(AuthorisationService).lookAfter(rows[0]);
    if (rows[0]?.status !== 'active') throw new Error(`The connection is ${rows[0]?.status}`);
  }

  /** The customer's part at the bank, and the browser's way back. */
  async authorise(bank: string, { authorisationUrl }: Begun, visit: Visit = {}): Promise<void> {
    const { sandbox } = this.flows;
    let next = authorisationUrl === undefined ? undefined : new URL(authorisationUrl);
    while (next?.origin === sandbox.url) {
      const answer = await sandbox.visit(next.href, { persona: 'ada', ...visit });
      next = (await comeBack(this.flows.aggregator, Object.fromEntries(answer), 'form')).location;
    }
    await this.confirmElsewhere(bank);
    if (next) await this.bff.ask(`GET ${next.pathname}${next.search}` as `GET /${string}`, { from: address });
  }

  /** What some banks want besides: a word on the customer's device, or another person's signature. */
  private async confirmElsewhere(bank: string): Promise<void> {
    if (bank !== 'fjordbank' && bank !== 'ticino') return;
    const latest = 'select institution_consent_id as id from aggregator.consents order by created_at desc limit 1';
    const [consent] = await asOwner(this.flows.aggregator, latest);
    const [call, more] =
      bank === 'ticino' ? (['sign', { signer: 'ben' }] as const) : (['decoupled', { decision: 'approve' }] as const);
    await this.flows.sandbox.control(call, { bank, consentId: consent?.['id'], ...more });
  }

  /** Moves both clocks, and switches faults off. */
  async pass(days: number): Promise<void> {
    const later = new Date(now().getTime() + days * dayMs);
    setClock(() => later);
    await this.flows.sandbox.calm();
  }

  /** The events of these types about a customer. */
  async told({ customerId }: TestConnection, ...types: string[]): Promise<ToldEvent[]> {
    const route = `GET /v1/events?limit=500&types=${types.join(',')}&customerId=${customerId}` as const;
    return (await this.bff.ask<{ data: ToldEvent[] }>(route, { as: this.merchant.apiKey })).body.data;
  }
}
