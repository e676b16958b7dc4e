import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { call } from '../../apps/stack/src/http-call.js';
import { startStack, type Stack } from '../../apps/stack/src/stack.js';
import { aggregatorWorld, benchFolder } from './aggregator-world.js';
import { startBareServer, type BareQuery } from './bare-server.js';
import { compare, type Figure } from './harness.js';
import { type Hold, holding } from './holding.js';
import { load, type Target } from './load.js';

const rounds = 5;
const syncMsMax = 90_000;

/** A customer whose bank is connected and synced. */
interface Customer {
  token: string;
  customerId: string;
}

interface Connection {
  id: string;
  authorisationUrl?: string;
  sync?: { status: string };
}

/** Runs `work` on a stack of its own, with one customer in it. */
function withCustomer(work: (hold: Hold, stack: Stack, customer: Customer) => Promise<Figure[]>): Promise<Figure[]> {
  return holding(async (hold) => {
    const { dataDir } = await hold(benchFolder());
    const ports = { aggregator: 0, bff: 0, sandbox: 0, sandboxTls: 0 };
    // The baseline has Node's own heap, and so has ours: the stack's small one is for machines where everything runs at once.
    const stack = await hold(
      startStack({ dataDir, ports, serviceName: 'yapily', logLevel: 'error', ordinaryHeap: true }),
    );
    return work(hold, stack, await connected(stack));
  });
}

async function connected({ bff, sandbox, merchant }: Stack): Promise<Customer> {
  const session = { customer: { reference: 'bench' } };
  const customer = await call<Customer>(`${bff}/v1/sessions`, {
    method: 'POST',
    bearer: merchant.apiKey,
    body: session,
  });
  const bearer = customer.token;
  const body = { institutionId: 'meridian-sandbox' };
  const { id, authorisationUrl } = await call<Connection>(`${bff}/v1/connections`, { method: 'POST', bearer, body });
  const visit = { authorisationUrl, decision: 'approve', persona: 'ada' };
  const back = await call<{ redirectUrl: string }>(`${sandbox}/control/authorise`, { method: 'POST', body: visit });
  await fetch(back.redirectUrl, { redirect: 'manual', signal: AbortSignal.timeout(30_000) });
  const deadline = performance.now() + syncMsMax;
  for (;;) {
    const { sync } = await call<Connection>(`${bff}/v1/connections/${id}`, { bearer });
    if (sync?.status === 'completed') return customer;
    if (performance.now() > deadline) throw new Error(`The first synchronisation is ${sync?.status ?? 'not begun'}`);
    await pause(100);
  }
}

interface Race {
  name: string;
  requests: number;
  ours: Target;
  baseline: string;
  bare: BareQuery;
}

async function race(hold: Hold, { name, requests, ours, baseline, bare }: Race): Promise<Figure> {
  const { origin } = await hold(startBareServer(bare));
  return compare({
    name,
    unit: 'requests',
    baseline,
    rounds,
    runBaseline: () => load({ origin, path: '/' }, requests),
    runOurs: () => load(ours, requests),
  });
}

/** GET /consents/{id} through the whole aggregator: authentication, tenancy, one consent, the envelope. */
export function smallCall(): Promise<Figure[]> {
  return holding(async (hold) => {
    const { origin, headers, databaseUrl, consentId } = await aggregatorWorld(hold);
    const figure = await race(hold, {
      name: 'small-call: GET /consents/{id}',
      requests: 1_000,
      ours: { origin, path: `/consents/${consentId}`, headers },
      baseline: 'bare Fastify with one pg query of the same row',
      bare: {
        databaseUrl,
        schema: 'aggregator',
        text: 'select * from consents where id = $1',
        values: [consentId],
        splice: false,
      },
    });
    return [figure];
  });
}

/** As autovacuum does within a minute: the baseline's plan must not suffer from a database that is seconds old. */
async function analyse(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query('analyze bff.transactions');
  await client.end();
}

/** A page of 100 synced rows as the customer's frontend reads it. */
export function bffRead(): Promise<Figure[]> {
  return withCustomer(async (hold, { bff, databaseUrl }, { token, customerId }) => {
    await analyse(databaseUrl);
    const figure = await race(hold, {
      name: 'bff-read: 100 rows',
      requests: 1_500,
      ours: { origin: bff, path: '/v1/transactions?limit=100', headers: { authorization: `Bearer ${token}` } },
      baseline: 'bare Fastify splicing stored text from one pg query',
      bare: {
        databaseUrl,
        schema: 'bff',
        text: 'select wire from transactions where customer_id = $1 order by date desc, id desc limit 100',
        values: [customerId],
        splice: true,
      },
    });
    return [figure];
  });
}
