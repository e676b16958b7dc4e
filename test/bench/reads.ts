import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { call } from '../../apps/stack/src/http-call.js';
import { startStack, type Stack } from '../../apps/stack/src/stack.js';
import { startBareServer, type BareQuery } from './bare-server.js';
import { compare, type Figure } from './harness.js';
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
async function withCustomer(work: (stack: Stack, customer: Customer) => Promise<Figure[]>): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tributary-bench-'));
  const ports = { aggregator: 0, bff: 0, sandbox: 0, sandboxTls: 0 };
  const stack = await startStack({ dataDir, ports, serviceName: 'yapily', logLevel: 'error' });
  try {
    return await work(stack, await connected(stack));
  } finally {
    await stack.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
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

async function race({ name, requests, ours, baseline, bare }: Race): Promise<Figure> {
  const server = await startBareServer(bare);
  try {
    return await compare({
      name,
      unit: 'requests',
      baseline,
      rounds,
      runBaseline: () => load({ origin: server.origin, path: '/' }, requests),
      runOurs: () => load(ours, requests),
    });
  } finally {
    await server.stop();
  }
}

/** GET /consents/{id} through the whole aggregator: authentication, tenancy, one row, the envelope. */
export function smallCall(): Promise<Figure[]> {
  return withCustomer(async ({ aggregator, application, databaseUrl }) => {
    const list = await call<{ data: { id: string }[] }>(`${aggregator}/consents`, { basic: application });
    const id = list.data[0]?.id ?? '';
    const secret = Buffer.from(`${application.id}:${application.secret}`).toString('base64');
    const figure = await race({
      name: 'small-call: GET /consents/{id}',
      requests: 600,
      ours: { origin: aggregator, path: `/consents/${id}`, headers: { authorization: `Basic ${secret}` } },
      baseline: 'bare Fastify with one pg query of the same row',
      bare: {
        databaseUrl,
        schema: 'aggregator',
        text: 'select * from consents where id = $1',
        values: [id],
        splice: false,
      },
    });
    return [figure];
  });
}

/** A page of 100 synced rows as the customer's frontend reads it. */
export function bffRead(): Promise<Figure[]> {
  return withCustomer(async ({ bff, databaseUrl }, { token, customerId }) => {
    const figure = await race({
      name: 'bff-read: 100 rows',
      requests: 300,
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
