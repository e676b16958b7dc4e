import { randomUUID } from 'node:crypto';
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../apps/stack/src/free-port.js';
import type { PaymentView } from '../../apps/bff/src/payments/payment.dto.js';
import { TestBff, type TestMerchant } from '../support/bff.js';
import { isReady, killed, startBffProgram } from '../support/bff-program.js';
import { until } from '../support/receiver.js';

/** A BFF of its own process is killed at each call that a payment takes: it is paid once, whoever comes again, or nobody. */

const patienceMs = 90_000;
const order = {
  institutionId: 'bank',
  amount: 12.5,
  currency: 'GBP',
  payee: { name: 'Shop', accountIdentifications: [{ type: 'IBAN', identification: 'GB33BUKB20201555555555' }] },
};

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let port: number;
let program: ChildProcess;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  ({ token } = await bff.session(merchant, 'ada'));
  bff.aggregator.paymentStatus = 'COMPLETED';
  port = await freePort();
  await start();
});
afterAll(async () => {
  await killed(program);
  await bff.close();
});

async function start(): Promise<void> {
  program = startBffProgram(bff, 'all', port);
  await until(() => isReady(port), patienceMs);
}

/** Asks for the payment; undefined where there was no answer, or not yet. */
async function pay(key: string): Promise<PaymentView | undefined> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(order),
  }).catch(() => undefined);
  return answer?.status === 201 ? ((await answer.json()) as PaymentView) : undefined;
}

/** The customer approves, and their browser comes back, perhaps to nobody. */
async function approve({ authorisationUrl }: PaymentView): Promise<void> {
  const { pathname, search } = bff.aggregator.approve(
    new URL(authorisationUrl ?? '').searchParams.get('consent') ?? '',
  );
  await fetch(`http://127.0.0.1:${port}${pathname}${search}`).catch(() => undefined);
}

/** Kills the program as soon as `route` is called, before or after the aggregator has done what it asks for. */
async function killedAt(route: string, when: 'before' | 'after', work: Promise<unknown>): Promise<void> {
  let arrived = false;
  bff.aggregator.onCall = async (called, at) => {
    if (called !== route || at !== when) return;
    arrived = true;
    await new Promise<void>(() => {});
  };
  await until(() => arrived, patienceMs);
  await killed(program);
  bff.aggregator.onCall = () => {};
  await work;
}

/** A minute passes for whatever the dead program had in hand. */
async function letTimePass(key: string): Promise<void> {
  const columns = ['state_used_at', 'next_poll_at', 'poll_lease_until'];
  const moved = columns.map((column) => `${column} = ${column} - interval '1 minute'`);
  await bff.db.pool.query(`update payments set ${moved.join(', ')} where idempotency_key = $1`, [key]);
}

const steps = ['POST /payment-auth-requests', 'POST /consent-one-time-token', 'POST /payments'] as const;

describe.each(steps)('a BFF that is killed while it calls %s', (route) => {
  it.each(['before', 'after'] as const)(
    '%s that is done pays once',
    async (when) => {
      const key = randomUUID();
      const before = bff.aggregator.payments.size;
      if (route === 'POST /payment-auth-requests') {
        await killedAt(route, when, pay(key));
      } else {
        const asked = await pay(key);
        if (!asked) throw new Error('The payment was not taken');
        await killedAt(route, when, approve(asked));
      }
      await letTimePass(key);
      await start();

      let again: PaymentView | undefined;
      await until(async () => (again = await pay(key)) !== undefined, patienceMs);
      if (again?.status === 'AWAITING_AUTHORIZATION' && route === 'POST /payment-auth-requests') await approve(again);
      await until(async () => (await pay(key))?.status === 'COMPLETED', patienceMs);
      const { rows } = await bff.db.pool.query<{ id: string; payment_idempotency_id: string }>(
        'select id, payment_idempotency_id from payments where idempotency_key = $1',
        [key],
      );
      expect(rows).toEqual([{ id: again?.id, payment_idempotency_id: expect.any(String) }]);
      expect(bff.aggregator.payments.size).toBe(before + 1);
      expect([...bff.aggregator.payments.values()].at(-1)?.paymentIdempotencyId).toBe(rows[0]?.payment_idempotency_id);
      const told = await bff.db.pool.query(
        `select 1 from events where merchant_id = $1 and type = 'payment.completed' and data::text like '%' || $2 || '%'`,
        [merchant.id, again?.id],
      );
      expect(told.rowCount).toBe(1);
    },
    120_000,
  );
});
