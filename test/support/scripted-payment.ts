import { afterEach, beforeEach, vi } from 'vitest';
import type { Consent, Envelope, PaymentRequest, PaymentResponse, PaymentResponses } from '#libs/contract';
import { now, setClock } from '#libs/server';
import { asOwner, domesticPayment, grantedPayment, type Granted } from './authorise.js';
import { scriptedShop } from './scripted-shop.js';

/** One payment that its user has authorised at the scripted bank, and what is asked about it. A new consent for each test. */
export function scriptedPayment(payment: PaymentRequest = domesticPayment('p1')) {
  const world = scriptedShop();
  let granted: Granted;
  beforeEach(async () => {
    granted = await grantedPayment(world.aggregator, world.shop, payment);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const ask = <T>(route: `${string} /${string}`, consent: string, body?: object) =>
    world.aggregator.ask<Envelope<T>>(route, { as: world.shop, headers: { consent }, ...(body ? { body } : {}) });
  const details = (id: string, token = granted.token) => ask<PaymentResponses>(`GET /payments/${id}/details`, token);
  return {
    world,
    payment,
    consentId: () => granted.id,
    pay: (body: object = payment, token = granted.token) => ask<PaymentResponse>('POST /payments', token, body),
    details,
    detailsOf: async (id: string) => (await details(id)).body.data.payments[0],
    consentStatus: async () => (await ask<Consent>(`GET /consents/${granted.id}`, granted.token)).body.data.status,
    stored: () => asOwner(world.aggregator, `SELECT * FROM aggregator.payments WHERE consent_id = '${granted.id}'`),
    /** The keys under which the bank was sent the payment. */
    keysSent: () => world.bank.operations.CREATE_DOMESTIC_SINGLE_PAYMENT.mock.calls.map(([, , key]) => key),
    /** The categories of the application's events, oldest first. */
    categories: async () => {
      const events = await asOwner(
        world.aggregator,
        `SELECT category FROM aggregator.events WHERE application_id = '${world.shop.id}' ORDER BY sequence`,
      );
      return events.map(({ category }) => category);
    },
    later: (seconds: number) => {
      const at = new Date(now().getTime() + seconds * 1_000);
      setClock(() => at);
    },
  };
}
