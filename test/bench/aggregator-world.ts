import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { hashToken, SecretBox } from '#libs/database';
import { startPostgres } from '../../apps/stack/src/embedded-postgres.js';
import { freePort } from '../../apps/stack/src/free-port.js';
import { isHealthy } from '../../apps/stack/src/programs.js';
import { applyMigrations } from '../../prisma/migrate.js';
import type { Hold } from './holding.js';
import { type Spawned, spawned } from './spawned.js';

const institutionId = 'meridian-sandbox';
const startsWithinMs = 30_000;

/** One aggregator as a stack runs it, with one consent at a bank of the benchmark's choice. */
export interface AggregatorWorld {
  origin: string;
  program: Spawned;
  databaseUrl: string;
  consentId: string;
  /** Headers of a call under the consent. */
  headers: { authorization: string; consent: string };
}

/** Starts Postgres and the built aggregator, and gives it a consent with a grant; no other program of ours runs. */
export async function aggregatorWorld(
  hold: Hold,
  { bank = 'http://127.0.0.1:9', nodeFlags = [] }: { bank?: string; nodeFlags?: string[] } = {},
): Promise<AggregatorWorld> {
  const { dataDir } = await hold(benchFolder());
  const { connectionString: databaseUrl } = await hold(startPostgres({ dataDir }));
  await applyMigrations('aggregator', databaseUrl);
  const application = { id: randomUUID(), secret: randomBytes(32).toString('hex') };
  const sealingKeys = `bench:${randomBytes(32).toString('base64')}`;
  const registrations = join(dataDir, 'registrations.json');
  await writeFile(registrations, JSON.stringify({ [institutionId]: registration }));
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const program = await hold(
    spawned([...nodeFlags, 'dist/aggregator/main.mjs'], {
      ready: nodeFlags.length > 0 ? /listening on (ws:\S+)\n/ : undefined,
      env: {
        ROLE: 'all',
        AGGREGATOR_PORT: String(port),
        AGGREGATOR_URL: origin,
        DATABASE_URL: databaseUrl,
        REDIS_URL: undefined,
        SEALING_KEYS: sealingKeys,
        SANDBOX_URL: bank,
        SANDBOX_APPLICATION_ID: application.id,
        SANDBOX_APPLICATION_SECRET: application.secret,
        TPP_CREDENTIALS_FILE: registrations,
        LOG_LEVEL: 'error',
      },
    }),
  );
  await healthy(origin);
  const { id: consentId, token } = await makeConsent(databaseUrl, application.id, new SecretBox(sealingKeys));
  const basic = Buffer.from(`${application.id}:${application.secret}`).toString('base64');
  return { origin, program, databaseUrl, consentId, headers: { authorization: `Basic ${basic}`, consent: token } };
}

/** What a bank would know us by; this one does not look. */
const registration = {
  clientId: 'bench',
  organisationId: 'bench',
  softwareStatementId: 'bench',
  redirectUri: 'http://127.0.0.1/callback',
  signingKey: { kty: 'RSA' },
  kid: 'bench',
};

/** A folder for one benchmark's data. */
export async function benchFolder(): Promise<{ dataDir: string; stop(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tributary-bench-'));
  return { dataDir, stop: () => rm(dataDir, { recursive: true, force: true }) };
}

async function healthy(origin: string): Promise<void> {
  const deadline = performance.now() + startsWithinMs;
  while (!(await isHealthy(origin))) {
    if (performance.now() > deadline) throw new Error(`The aggregator did not answer within ${startsWithinMs} ms`);
    await pause(25);
  }
}

/** A consent as an authorisation at the bank would leave it, with an access token that lasts. */
async function makeConsent(
  databaseUrl: string,
  applicationId: string,
  box: SecretBox,
): Promise<{ id: string; token: string }> {
  const [id, userId, token] = [randomUUID(), randomUUID(), randomBytes(32).toString('base64url')];
  const state = { scope: 'accounts', accessToken: 'token', accessTokenExpiresAt: Date.UTC(2100, 0, 1) };
  const grant = JSON.stringify({ institutionConsentId: 'bench', state });
  const client = new pg.Client({ connectionString: databaseUrl, options: '-c search_path=aggregator' });
  await client.connect();
  try {
    await client.query('INSERT INTO users (id, application_id, created_at) VALUES ($1, $2, now())', [
      userId,
      applicationId,
    ]);
    await client.query(
      `INSERT INTO consents (id, application_id, user_id, institution_id, kind, status, state, feature_scope, created_at,
                             updated_at, authorized_at, expires_at, sealed_grant, sealed_token, token_hash)
       VALUES ($1, $2, $3, $4, 'account', 'AUTHORIZED', $5, $6, now(), now(), now(), now() + interval '89 days', $7, $8, $9)`,
      [
        id,
        applicationId,
        userId,
        institutionId,
        randomBytes(16).toString('hex'),
        ['ACCOUNTS', 'ACCOUNT_TRANSACTIONS'],
        box.seal(grant, `consent:${id}:grant`),
        box.seal(token, `consent:${id}:token`),
        hashToken(token, 'consent-token'),
      ],
    );
  } finally {
    await client.end();
  }
  return { id, token };
}
