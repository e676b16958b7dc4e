import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Consent, Envelope } from '#libs/contract';
import { POOL, RowChanges } from '#libs/database';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { applicationWithCallback, asOwner, type Granted, grantedAccount } from '../../../../test/support/authorise.js';
import { until } from '../../../../test/support/receiver.js';
import { scriptedConnector, scriptInstitution } from '../../../../test/support/scripted-connector.js';
import { ApplicationKeysService, type IssuedKey } from '../applications/application-keys.service.js';

/** Far less than the ten seconds after which a kept row would be read again anyway. */
const atOnceMs = 2_000;

/** Two processes on one database: what is done there must be known here. */
let here: TestAggregator;
let there: TestAggregator;
let shop: IssuedKey;
let consent: Granted;

beforeAll(async () => {
  there = await TestAggregator.start();
  // The last one: passport has one strategy of a name in a process, so both authenticate with what this one keeps.
  here = await there.beside();
  for (const each of [here, there]) scriptInstitution(each, scriptedConnector());
  await until(() => [here, there].every((each) => each.get(RowChanges).isHeard));
});
afterAll(async () => {
  await here.close();
  await there.close();
});
beforeEach(async () => {
  shop = await applicationWithCallback(here);
  consent = await grantedAccount(here, shop);
  await known();
});

const headers = () => ({ consent: consent.token });
const show = (as = shop, at = here) => at.ask<Envelope<Consent>>(`GET /consents/${consent.id}`, { as });
const accounts = (as = shop) => here.ask<object>('GET /accounts', { as, headers: headers() });
const turns = (status: number, ask: () => Promise<{ status: number }>) =>
  until(async () => (await ask()).status === status, atOnceMs);

/** Asks until it is answered from memory: what the news of the last change has dropped is then kept again. */
async function known(): Promise<void> {
  const query = vi.spyOn(here.app.get<Pool>(POOL), 'query');
  try {
    await until(async () => {
      query.mockClear();
      expect((await show()).status).toBe(200);
      expect((await accounts()).status).toBe(200);
      return query.mock.calls.length === 0;
    });
  } finally {
    query.mockRestore();
  }
}

describe('what is kept in memory, when another process changes it', () => {
  it('is the credentials: a rotated secret is refused, the new one taken', async () => {
    const rotated = await there.get(ApplicationKeysService).rotate(shop.id, 0);
    expect((await show(rotated)).status).toBe(200);
    await turns(401, () => show());
    await turns(401, () => accounts());
  });

  it('is a sub-application: one that is deleted is refused, one that is made belongs to its root', async () => {
    const branch = await there.application('Branch', shop);
    const users = (subApplication: string) => here.ask('GET /users', { as: shop, subApplication });
    expect((await users(branch.id)).status).toBe(200);
    const user = await there.ask<{ uuid: string }>('POST /users', { as: branch, body: {} });
    await turns(200, () => here.ask(`GET /users/${user.body.uuid}`, { as: shop }));
    expect((await there.ask(`DELETE /applications/${branch.id}`, { as: shop })).status).toBe(204);
    await turns(403, () => users(branch.id));
    await turns(401, () => here.ask('GET /users', { as: branch }));
  });

  it('is a consent: one that is deleted is unknown', async () => {
    expect((await there.ask(`DELETE /consents/${consent.id}`, { as: shop })).status).toBe(200);
    await turns(404, () => show());
    await turns(403, () => accounts());
  });

  it.each(['REVOKED', 'EXPIRED', 'CONSUMED'])('is a status: %s reads nothing more', async (status) => {
    await asOwner(there, `UPDATE aggregator.consents SET status = '${status}' WHERE id = '${consent.id}'`);
    await turns(403, () => accounts());
    expect((await show()).body.data.status).toBe(status);
  });

  it("is what its user is called, which the user's consents show", async () => {
    const uuid = (await show()).body.data.userUuid;
    const body = [{ op: 'replace', path: '/referenceId', value: 'loyalty-7' }];
    expect((await there.ask(`PATCH /users/${uuid}`, { as: shop, body })).status).toBe(201);
    await until(async () => (await show()).body.data.referenceId === 'loyalty-7', atOnceMs);
  });
});

describe('what is kept in memory', () => {
  it('is forgotten before this process answers what it changed itself', async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      const rotated = await here.get(ApplicationKeysService).rotate(shop.id, 0);
      expect((await show()).status).toBe(401);
      shop = rotated;
      expect((await show()).status).toBe(200);
    }
    expect((await here.ask(`DELETE /consents/${consent.id}`, { as: shop })).status).toBe(200);
    expect((await show()).status).toBe(404);
    expect((await accounts()).status).toBe(403);
  });

  it('is nobody else’s: a consent that is known here is unknown to another application', async () => {
    const stranger = await applicationWithCallback(here);
    expect((await show(stranger)).status).toBe(404);
    expect((await accounts(stranger)).status).toBe(403);
    expect((await show()).status).toBe(200);
  });

  it('is dropped with the connection that listens, and kept again when it is back', async () => {
    const changes = here.get(RowChanges);
    const before = changes.count;
    await asOwner(
      there,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'tributary-aggregator-changes'`,
    );
    await there.get(ApplicationKeysService).rotate(shop.id, 0);
    await turns(401, () => show());
    await until(() => changes.isHeard && changes.count >= before + 2);
    shop = await applicationWithCallback(here);
    consent = await grantedAccount(here, shop);
    await known();
    expect(changes.isHeard).toBe(true);
  });
});
