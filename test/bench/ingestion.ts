import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { signWebhook } from '#libs/client';
import { createPool, SecretBox } from '#libs/database';
import { now } from '#libs/server';
import { loadCredentials } from '../../apps/stack/src/credentials.js';
import { startPostgres } from '../../apps/stack/src/embedded-postgres.js';
import { freePort } from '../../apps/stack/src/free-port.js';
import { startProgram, waitUntilHealthy } from '../../apps/stack/src/programs.js';
import { applyMigrations } from '../../prisma/migrate.js';
import { benchFolder } from './aggregator-world.js';
import { startBareProgram } from './bare-server.js';
import { compare, type Figure, p99, type Sample, timed } from './harness.js';
import { holding } from './holding.js';

/** The least that is durable: Fastify parses the body and stores it in a statement of its own before it answers. */
const bare = `
  import fastify from 'fastify';
  import pg from 'pg';
  const { databaseUrl } = JSON.parse(process.argv[1]);
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  pool.on('error', () => {});
  await pool.query('create table if not exists bare_events (delivery_id text primary key, type text not null, body text not null, received_at timestamptz not null)');
  const app = fastify();
  const text = 'insert into bare_events values ($1, $2, $3, $4) on conflict do nothing';
  app.post('/', async (request, reply) => {
    const values = [request.headers['webhook-id'], request.body.type, JSON.stringify(request.body), new Date()];
    await pool.query({ name: 'store', text, values });
    return reply.code(204).send();
  });
  console.log(await app.listen({ port: 0, host: '127.0.0.1' }));
`;

const secret = 'b'.repeat(64);
const rounds = 5;

interface Delivery {
  body: string;
  headers: Record<string, string>;
}

/** Deliveries of a payment's event, each another, signed as the aggregator signs them. */
function deliveries(applicationId: string, count: number): Delivery[] {
  return Array.from({ length: count }, () => {
    const payment = {
      id: `pv3-${randomUUID()}`,
      paymentIdempotencyId: randomUUID(),
      institutionConsentId: `consent-${randomUUID()}`,
      status: 'PENDING',
      statusDetails: { status: 'PENDING', statusUpdateDate: now().toISOString(), isoStatus: { code: 'ACSP' } },
      payeeDetails: { name: 'A shop', accountIdentifications: [{ type: 'SORT_CODE', identification: '200000' }] },
      reference: 'Invoice 7',
      amount: 10.1,
      currency: 'GBP',
      amountDetails: { amount: 10.1, currency: 'GBP' },
      createdAt: now().toISOString(),
    };
    const type = 'single_payment.status.updated';
    const body = JSON.stringify({ id: randomUUID(), applicationId, type, event: payment, metadata: {} });
    const headers = {
      'content-type': 'application/json;charset=UTF-8',
      'webhook-id': randomUUID(),
      'webhook-signature': signWebhook(body, secret),
    };
    return { body, headers };
  });
}

/** Posts each delivery once, from as many senders; every one must be acknowledged. */
async function post(address: string, sent: Delivery[], senders: number): Promise<Sample> {
  const { origin, pathname: path } = new URL(address);
  const pool = new Pool(origin, { connections: senders });
  const times: number[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    for (let delivery = sent[next++]; delivery; delivery = sent[next++]) {
      const started = performance.now();
      const { statusCode, body } = await pool.request({ method: 'POST', path, ...delivery });
      await body.dump();
      times.push(performance.now() - started);
      if (statusCode !== 204) throw new Error(`POST ${path} answered ${statusCode}`);
    }
  };
  const sample = await timed(async () => {
    await Promise.all(Array.from({ length: senders }, one));
    return sent.length;
  });
  await pool.close();
  return { ...sample, p99Ms: p99(times) };
}

/** A merchant whose webhook's secret we know, as its registration would have left it. */
async function storeMerchant(databaseUrl: string, sealingKeys: string): Promise<string> {
  const pool = createPool({ connectionString: databaseUrl, schema: 'bff', max: 1 });
  const [merchantId, applicationId, id] = [randomUUID(), randomUUID(), randomUUID()];
  await pool.query(
    `insert into merchants (id, name, merchant_category_code, ppc_user_group, is_contract_present, status, sub_application_id, created_at)
     values ($1, 'Bench', '5411', 'OTHER', true, 'active', $2, now())`,
    [merchantId, applicationId],
  );
  await pool.query(
    `insert into webhook_secrets (id, merchant_id, sub_application_id, webhook_id, sealed_secret, created_at)
     values ($1, $2, $3, 'bench', $4, now())`,
    [id, merchantId, applicationId, new SecretBox(sealingKeys).seal(secret, `webhook-secret:${id}`)],
  );
  await pool.end();
  return applicationId;
}

/** Webhooks as they come in: verified, sealed, stored and acknowledged, by the program that answers (its worker is another). */
export function ingestion(): Promise<Figure[]> {
  return holding(async (hold) => {
    const { dataDir } = await hold(benchFolder());
    const credentials = await loadCredentials(dataDir);
    const { connectionString: databaseUrl } = await hold(startPostgres({ dataDir }));
    await applyMigrations('bff', databaseUrl);
    const applicationId = await storeMerchant(databaseUrl, credentials.bffSealingKeys);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = {
      ROLE: 'api',
      BFF_PORT: String(port),
      BFF_URL: url,
      DATABASE_URL: databaseUrl,
      SEALING_KEYS: credentials.bffSealingKeys,
      AGGREGATOR_URL: url,
      AGGREGATOR_APPLICATION_ID: credentials.application.id,
      AGGREGATOR_APPLICATION_SECRET: credentials.application.secret,
      SESSION_KEY: credentials.sessionKey,
      OPERATOR_KEY: credentials.operatorKey,
      LOG_LEVEL: 'error',
    };
    const bundle = 'dist/bff/main.mjs';
    const program = await hold(startProgram({ name: 'bff', bundle, url, dataDir, env, ordinaryHeap: true }));
    await waitUntilHealthy(program);
    const server = await hold(startBareProgram(bare, { databaseUrl }));
    const addresses = { ours: `${url}/v1/webhooks/aggregator`, baseline: server.origin };
    const figures: Figure[] = [];
    for (const [senders, count] of [
      [1, 500],
      [8, 2_000],
      [50, 5_000],
    ] as const) {
      figures.push(
        await compare({
          name: `ingestion: ${senders} ${senders === 1 ? 'sender' : 'senders'}`,
          unit: 'webhooks',
          baseline: 'bare Fastify, no check, one durable insert each',
          rounds,
          runBaseline: () => post(addresses.baseline, deliveries(applicationId, count), senders),
          runOurs: () => post(addresses.ours, deliveries(applicationId, count), senders),
        }),
      );
    }
    return figures;
  });
}
