import { randomUUID } from 'node:crypto';
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signWebhook } from '#libs/client';
import { freePort } from '../../apps/stack/src/free-port.js';
import { TestBff, type TestMerchant } from '../support/bff.js';
import { isReady, killed, startBffProgram } from '../support/bff-program.js';
import { until } from '../support/receiver.js';

/** A BFF of its own process is killed between the commit of webhooks and their acknowledgement: each is there once, and handled once. */

const senders = 40;
const patienceMs = 60_000;

let bff: TestBff;
let merchant: TestMerchant;
let port: number;
let program: ChildProcess;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  port = await freePort();
  program = startBffProgram(bff, 'api', port);
  await until(() => isReady(port), patienceMs);
});
afterAll(async () => {
  await killed(program);
  await bff.close();
});

/** Sends a webhook again until it is acknowledged, as the aggregator does; answers how often. */
async function sendUntilTaken(acknowledged: Set<string>): Promise<number> {
  const deliveryId = randomUUID();
  const { subApplicationId: applicationId } = merchant;
  const event = { id: deliveryId };
  const body = JSON.stringify({ id: deliveryId, applicationId, type: 'something.new.v1', event });
  const secret = bff.aggregator.webhooks.find((each) => each.applicationId === applicationId)?.webhookSecret ?? '';
  const headers = {
    'content-type': 'application/json',
    'webhook-id': deliveryId,
    'webhook-signature': signWebhook(body, secret),
  };
  let attempts = 0;
  await until(async () => {
    attempts += 1;
    const answer = await fetch(`http://127.0.0.1:${port}/v1/webhooks/aggregator`, {
      method: 'POST',
      headers,
      body,
    }).catch(() => undefined);
    if (answer?.status !== 204) return false;
    acknowledged.add(deliveryId);
    return true;
  }, patienceMs);
  return attempts;
}

/** Holds back every insert of webhooks until it is let go. */
async function heldBack(): Promise<{ letGo: () => Promise<void> }> {
  const client = await bff.db.pool.connect();
  await client.query('begin');
  await client.query('lock table inbound_events in access exclusive mode');
  return {
    letGo: async () => {
      await client.query('commit');
      client.release();
    },
  };
}

const numberOf = async (text: string, ...values: unknown[]): Promise<number> =>
  Number((await bff.db.pool.query<{ count: string }>(`select count(*) ${text}`, values)).rows[0]?.count);
const stored = () => numberOf('from inbound_events');
/** Who waits for the table: an insert, or whoever holds them back. */
const waiting = (mode: 'RowExclusiveLock' | 'AccessExclusiveLock') =>
  numberOf(
    `from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
     where not l.granted and l.relation = 'inbound_events'::regclass and l.mode = $1`,
    mode,
  );
const waitingInserts = () => waiting('RowExclusiveLock');

describe('a BFF that is killed between the commit of webhooks and their acknowledgement', () => {
  it('has stored each once when their senders come again, and handles it once', async () => {
    const acknowledged = new Set<string>();
    await sendUntilTaken(acknowledged);
    const first = await heldBack();
    const sent: Promise<number>[] = [];
    for (const inserts of [1, 2]) {
      sent.push(sendUntilTaken(acknowledged));
      await until(async () => (await waitingInserts()) === inserts, patienceMs);
    }
    // So many commits may be under way at once: whatever comes now is one group behind them.
    while (sent.length < senders - 1) sent.push(sendUntilTaken(acknowledged));
    // The lock is asked for again behind the two, and before the group.
    const second = heldBack();
    await until(async () => (await waiting('AccessExclusiveLock')) === 1, patienceMs);
    await first.letGo();
    const held = await second;
    await until(async () => acknowledged.size === 3 && (await waitingInserts()) > 0, patienceMs);
    program.kill('SIGSTOP');
    await held.letGo();
    await until(async () => (await waitingInserts()) === 0 && (await stored()) > 3, patienceMs);
    await killed(program);
    const unheard = (await stored()) - acknowledged.size;
    expect(unheard).toBeGreaterThan(1);

    program = startBffProgram(bff, 'all', port);
    const attempts = await Promise.all(sent);
    expect(attempts.filter((count) => count > 1).length).toBeGreaterThanOrEqual(unheard);
    expect(acknowledged.size).toBe(senders);
    expect(await stored()).toBe(senders);
    await until(async () => (await numberOf(`from inbound_events where status = 'done'`)) === senders, patienceMs);
    const handled = await numberOf(`from events where merchant_id = $1 and type = 'webhook.handled'`, merchant.id);
    expect(handled).toBe(senders);
  }, 240_000);
});
