import { getQueueToken } from '@nestjs/bullmq';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AccountAuthorisationResponse, Consent, Envelope, PaymentResponse } from '#libs/contract';
import type { Call } from '#libs/connectors';
import { JobGivenUpError, type Queue } from '#libs/database';
import { now, resetClock, setClock } from '#libs/server';
import type { IssuedKey } from '../../apps/aggregator/src/applications/application-keys.service.js';
import { ConsentSweep, consentsQueue } from '../../apps/aggregator/src/consents/consent-sweep.service.js';
import { paymentsQueue } from '../../apps/aggregator/src/payments/payment-record.service.js';
import { PaymentFollow } from '../../apps/aggregator/src/payments/payment-follow.service.js';
import { DeliveriesService } from '../../apps/aggregator/src/webhooks/deliveries.service.js';
import { deliveriesQueue } from '../../apps/aggregator/src/webhooks/events.service.js';
import { WorkerModule } from '../../apps/aggregator/src/worker.module.js';
import { TestAggregator } from '../support/aggregator.js';
import { applicationWithCallback, asOwner, domesticPayment, grantedPayment } from '../support/authorise.js';
import { type Receiver, startReceiver, until } from '../support/receiver.js';
import {
  bankPayment,
  scriptedConnector,
  scriptedInstitution,
  scriptInstitution,
} from '../support/scripted-connector.js';

/** Longer than every lease that a lost worker leaves behind. */
const LEASES_MS = 120_000;

/** A worker ends while banks and receivers keep it waiting: it hangs up, and others finish what it had in hand. */
describe('a worker that ends in the middle of its work', () => {
  let aggregator: TestAggregator;
  let finisher: TestAggregator | undefined;
  let receiver: Receiver;
  let shop: IssuedKey;
  const bank = scriptedConnector();

  beforeAll(async () => {
    aggregator = await TestAggregator.start({ env: { WEBHOOK_TIMEOUT_MS: 30_000 } });
    scriptInstitution(aggregator, bank);
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await finisher?.close();
    await aggregator.close();
    await receiver.close();
  });
  beforeEach(async () => {
    shop = await applicationWithCallback(aggregator);
  });
  afterEach(() => resetClock());

  const later = (ms: number) => {
    const at = new Date(now().getTime() + ms);
    setClock(() => at);
  };
  /** A bank that never answers; what it was asked with is kept. */
  const silent = (asked: Call[]) => (call: Call) =>
    new Promise<never>((_answer, fail) => {
      asked.push(call);
      call.signal.addEventListener('abort', () => fail(call.signal.reason as Error));
    });
  const statusOf = async (consentId: string) =>
    (await finisher?.ask<Envelope<Consent[]>>('GET /consents', { as: shop }))?.body.data.find(
      ({ id }) => id === consentId,
    )?.status;

  /** A consent that its bank decides on, a payment that is not done yet, and an event on its way: the id of the first. */
  async function waitingForEveryone(): Promise<string> {
    const pending = { institutionConsentId: 'c-1', state: {} };
    bank.operations.INITIATE_ACCOUNT_REQUEST.mockResolvedValueOnce({ kind: 'decoupled', message: 'Look', pending });
    const begun = await aggregator.ask<Envelope<AccountAuthorisationResponse>>('POST /account-auth-requests', {
      as: shop,
      body: { institutionId: scriptedInstitution.id, applicationUserId: 'ann' },
    });
    const callbackUrl = { main: { url: `${receiver.url}/hook` } };
    const categories = ['single_payment.iso_status.updated'];
    await aggregator.ask('POST /webhook/events', {
      as: shop,
      body: { applicationId: shop.id, categories, callbackUrl },
    });
    receiver.answer = 'hang';
    const payment = domesticPayment('p1');
    const { token } = await grantedPayment(aggregator, shop, payment);
    bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockResolvedValueOnce(bankPayment('PDNG'));
    const paid = await aggregator.ask<Envelope<PaymentResponse>>('POST /payments', {
      as: shop,
      body: payment,
      headers: { consent: token },
    });
    expect(paid.body.data.status).toBe('PENDING');
    return begun.body.data.id;
  }

  it('hangs up, and leaves everything due', { timeout: 90_000 }, async () => {
    // The clock stands: nobody is asked before the worker knows its bank.
    later(0);
    const consentId = await waitingForEveryone();
    const asked: Call[] = [];
    bank.proceed.mockImplementationOnce(silent(asked));
    bank.operations.EXISTING_PAYMENTS_DETAILS.mockImplementationOnce(silent(asked));
    const worker = await aggregator.beside([WorkerModule]);
    scriptInstitution(worker, bank);
    later(60_000);
    // The ticks would bring them too, in their own time.
    for (const name of [consentsQueue, paymentsQueue, deliveriesQueue]) {
      await worker.app.get<Queue>(getQueueToken(name), { strict: false }).add('sweep', {});
    }
    await until(() => asked.length >= 2 && receiver.received.length >= 1, 40_000);
    await worker.close();
    const other = await aggregator.beside();
    finisher = other;
    scriptInstitution(other, bank);

    expect(asked.map(({ signal }) => signal.reason)).toEqual([
      expect.any(JobGivenUpError),
      expect.any(JobGivenUpError),
    ]);
    expect(await statusOf(consentId)).toBe('AWAITING_DECOUPLED_AUTHORIZATION');
    const [delivery] = await asOwner(aggregator, 'SELECT id, status, rounds FROM aggregator.deliveries');
    expect(delivery).toMatchObject({ status: 'PENDING', rounds: 0 });
    expect(await asOwner(aggregator, 'SELECT 1 FROM aggregator.attempts')).toEqual([]);

    later(LEASES_MS);
    receiver.answer = 204;
    await other.get(ConsentSweep).run();
    expect(await statusOf(consentId)).toBe('AUTHORIZED');
    await aggregator
      .get(PaymentFollow)
      .poll(String((await asOwner(aggregator, 'SELECT id FROM aggregator.payments'))[0]?.['id']));
    const [row] = await asOwner(aggregator, 'SELECT status FROM aggregator.payments');
    expect(row).toEqual({ status: 'COMPLETED' });
    await other.get(DeliveriesService).deliver(String(delivery?.['id']));
    const [first, second] = receiver.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toEqual(first?.body);
    expect(bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT).toHaveBeenCalledTimes(1);
  });
});
