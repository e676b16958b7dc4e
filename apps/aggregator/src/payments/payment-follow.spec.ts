import { describe, expect, it, vi } from 'vitest';
import { InstitutionError } from '#libs/connectors';
import { SecretBox } from '#libs/database';
import { asOwner } from '../../../../test/support/authorise.js';
import { bankPayment, scriptInstitution } from '../../../../test/support/scripted-connector.js';
import { eventPayloadContext } from '../webhooks/delivery-body.js';
import { PaymentFollow } from './payment-follow.service.js';
import { PaymentRecord } from './payment-record.service.js';
import { scriptedPayment } from '../../../../test/support/scripted-payment.js';

const { world, consentId, pay, detailsOf, consentStatus, stored, keysSent, categories, later } = scriptedPayment();

const isDue = async () => {
  const due = await world.aggregator.get(PaymentFollow).due();
  const [row] = await stored();
  return due.some(({ id }) => id === row?.['id']);
};
const timeout = () => new InstitutionError('timeout', 'No answer');

describe('a payment whose answer was lost', () => {
  it('stays pending and is sent again under the same key, never a new one', async () => {
    world.bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValueOnce(timeout());
    const { status, body } = await pay();
    expect(status).toBe(201);
    expect(body.data).toMatchObject({ status: 'PENDING', id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    later(2);
    await world.aggregator.get(PaymentFollow).poll(body.data.id);
    expect(new Set(keysSent())).toEqual(new Set([body.data.id]));
    expect(keysSent()).toHaveLength(2);
    expect(await stored()).toMatchObject([{ status: 'COMPLETED', institution_payment_id: 'pv3-1' }]);
  });

  it('is found by our id, by its lifecycle id and then by the bank’s', async () => {
    world.bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValueOnce(timeout());
    const { id, paymentLifecycleId } = (await pay()).body.data;
    expect(await detailsOf(id)).toMatchObject({ status: 'PENDING', id });
    later(2);
    expect(await detailsOf(paymentLifecycleId ?? '')).toMatchObject({ id: 'pv3-1', status: 'COMPLETED' });
    expect(await detailsOf(id)).toMatchObject({ id: 'pv3-1' });
    expect(await detailsOf('pv3-1')).toMatchObject({ paymentLifecycleId });
  });

  it('is unknown where the protocol has no key to send it again with', async () => {
    scriptInstitution(world.aggregator, { ...world.bank, resendable: false });
    world.bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValueOnce(timeout());
    expect((await pay()).body.data.status).toBe('UNKNOWN');
    later(3_600);
    expect(await isDue()).toBe(false);
  });

  it('is sent by a later look when the process crashed before the bank was asked', async () => {
    vi.spyOn(world.aggregator.get(PaymentFollow), 'send').mockRejectedValueOnce(new Error('crash'));
    expect((await pay()).status).toBe(500);
    expect(await stored()).toMatchObject([{ status: 'PENDING' }]);
    expect(await consentStatus()).toBe('CONSUMED');
    expect(await isDue()).toBe(false);
    later(120);
    expect(await isDue()).toBe(true);
    const id = String((await stored())[0]?.['id']);
    await world.aggregator.get(PaymentFollow).poll(id);
    expect(keysSent()).toEqual([id]);
    expect(await stored()).toMatchObject([{ status: 'COMPLETED' }]);
  });

  it('is not sent again once the bank may have forgotten the key', async () => {
    world.bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValueOnce(timeout());
    const { id } = (await pay()).body.data;
    later(23 * 3_600);
    await world.aggregator.get(PaymentFollow).poll(id);
    expect(keysSent()).toHaveLength(1);
    expect(await stored()).toMatchObject([{ status: 'UNKNOWN', next_poll_at: null }]);
  });

  it('is not taken for failed because its consent is spent by the time it is sent again', async () => {
    world.bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValueOnce(timeout());
    const { id } = (await pay()).body.data;
    world.bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValueOnce(
      new InstitutionError('consent-gone', 'Consumed'),
    );
    later(2);
    await world.aggregator.get(PaymentFollow).poll(id);
    expect(await stored()).toMatchObject([{ status: 'PENDING' }]);
    world.bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockRejectedValueOnce(
      new InstitutionError('rejected', 'No funds'),
    );
    later(5);
    await world.aggregator.get(PaymentFollow).poll(id);
    expect(await stored()).toMatchObject([{ status: 'FAILED' }]);
  });

  it('is sent again under the same key when the process crashed before the answer was recorded', async () => {
    vi.spyOn(world.aggregator.get(PaymentRecord), 'record').mockRejectedValueOnce(new Error('crash'));
    expect((await pay()).status).toBe(500);
    later(120);
    await world.aggregator.get(PaymentFollow).poll(String((await stored())[0]?.['id']));
    expect(keysSent()).toHaveLength(2);
    expect(new Set(keysSent()).size).toBe(1);
    expect(await stored()).toMatchObject([{ status: 'COMPLETED' }]);
  });
});

describe('following a payment', () => {
  const poll = async () => {
    const [row] = await stored();
    await world.aggregator.get(PaymentFollow).poll(String(row?.['id']));
  };

  it('goes on until the bank has nothing more to say, and publishes each change once', async () => {
    world.bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mockResolvedValue(bankPayment('PDNG'));
    expect((await pay()).body.data.status).toBe('PENDING');
    const said = world.bank.operations.EXISTING_PAYMENTS_DETAILS;
    for (const code of ['PDNG', 'ACSP', 'ACSP', 'ACSC', 'ACSC'] as const) {
      said.mockResolvedValueOnce(bankPayment(code));
      later(30);
      await poll();
    }
    expect(said).toHaveBeenCalledTimes(4);
    expect(await stored()).toMatchObject([{ status: 'COMPLETED', iso_status: 'ACSC', next_poll_at: null }]);
    expect(await categories()).toEqual([
      'single_payment.iso_status.updated',
      'single_payment.iso_status.updated',
      'single_payment.status.updated',
      'single_payment.status.completed',
      'single_payment.iso_status.updated',
      'payment.state.success',
    ]);
  });

  it('publishes the payment as the interface shows it', async () => {
    const { data } = (await pay()).body;
    const [event] = await asOwner(
      world.aggregator,
      `SELECT id, payload FROM aggregator.events WHERE application_id = '${world.shop.id}' AND category = 'single_payment.status.completed'`,
    );
    const context = eventPayloadContext(String(event?.['id']));
    expect(JSON.parse(world.aggregator.get(SecretBox).open(String(event?.['payload']), context))).toEqual(data);
  });

  it('does not believe a step back', async () => {
    await pay();
    world.bank.operations.EXISTING_PAYMENTS_DETAILS.mockResolvedValueOnce(bankPayment('PDNG'));
    later(5);
    await poll();
    expect((await stored())[0]?.['status']).toBe('COMPLETED');
  });

  it('does nothing before it is due, or when another worker is at it', async () => {
    await pay();
    await poll();
    expect(world.bank.operations.EXISTING_PAYMENTS_DETAILS).not.toHaveBeenCalled();
    later(5);
    await Promise.all([poll(), poll(), poll()]);
    expect(world.bank.operations.EXISTING_PAYMENTS_DETAILS).toHaveBeenCalledTimes(1);
  });

  it('waits as long as the bank asks, and never guesses from its errors', async () => {
    await pay();
    world.bank.operations.EXISTING_PAYMENTS_DETAILS.mockRejectedValueOnce(
      new InstitutionError('rate-limited', 'Slow down', { httpStatus: 429, retryAfterMs: 60_000 }),
    );
    later(5);
    await poll();
    expect((await stored())[0]?.['status']).toBe('COMPLETED');
    later(30);
    await poll();
    expect(world.bank.operations.EXISTING_PAYMENTS_DETAILS).toHaveBeenCalledTimes(1);
    later(31);
    await poll();
    expect(world.bank.operations.EXISTING_PAYMENTS_DETAILS).toHaveBeenCalledTimes(2);
  });

  it('goes on after the consent was deleted', async () => {
    await pay();
    await world.aggregator.ask(`DELETE /consents/${consentId()}`, { as: world.shop });
    later(5);
    await poll();
    expect(await stored()).toMatchObject([{ iso_status: 'ACSC', next_poll_at: null }]);
  });
});
