import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { problems, VrpConfiguration } from '#libs/contract';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { expectShape } from '../../../../test/support/expect-shape.js';
import type { IssuedKey } from './application-keys.service.js';

const pounds = (amount: number) => ({ amount, currency: 'GBP' });
const configuration: VrpConfiguration = {
  maximumIndividualAmount: pounds(12.5),
  maximumCumulativeAmount: pounds(1_000),
  maximumCumulativeNumberOfPayments: 0,
  periodicLimits: [{ maximumAmount: pounds(100), frequency: 'MONTHLY', alignment: 'CALENDAR' }],
  recurringPaymentCategory: 'SUBSCRIPTION',
};

let aggregator: TestAggregator;
let root: IssuedKey;
let shop: IssuedKey;
let stranger: IssuedKey;

beforeAll(async () => {
  aggregator = await TestAggregator.start();
  root = await aggregator.application('Root');
  stranger = await aggregator.application('Stranger');
});
afterAll(() => aggregator.close());
beforeEach(async () => {
  shop = await aggregator.application('Shop', root);
});

const ask = (
  method: 'GET' | 'POST' | 'PUT',
  { id = shop.id, as = root, body }: { id?: string; as?: typeof root; body?: unknown } = {},
) => aggregator.ask<VrpConfiguration>(`${method} /applications/${id}/vrp`, { as, ...(body ? { body } : {}) });
const unknown = problems.notFound({ parameter: 'applicationId' });

describe('the VRP configuration of an application', () => {
  it('is created, shown bare, and replaced as a whole', async () => {
    const made = await ask('POST', { body: configuration });
    expect({ status: made.status, body: made.body }).toEqual({ status: 201, body: undefined });
    const shown = await ask('GET');
    expectShape(VrpConfiguration, shown.body);
    expect(shown.body).toEqual(configuration);
    const replaced = await ask('PUT', { body: { recurringPaymentCategory: 'ONGOING' } });
    expect({ status: replaced.status, body: replaced.body }).toEqual({ status: 201, body: undefined });
    expect((await ask('GET')).body).toEqual({ recurringPaymentCategory: 'ONGOING' });
  });

  it('is 404 until there is one', async () => {
    await expectProblem(ask('GET'), unknown);
    await expectProblem(ask('PUT', { body: configuration }), unknown);
    await expectProblem(ask('POST', { id: '0b8d4f5c-6d0a-4b5e-9f5b-0a8c7f1f3a11', body: configuration }), unknown);
  });

  it('is read by its sub-application and written by the root alone', async () => {
    await ask('POST', { body: configuration });
    expect((await ask('GET', { as: shop })).body).toEqual(configuration);
    await expectProblem(ask('PUT', { as: shop, body: configuration }), problems.forbidden());
    await expectProblem(ask('POST', { as: shop, body: configuration }), problems.forbidden());
  });

  it('is nobody else’s', async () => {
    await ask('POST', { body: configuration });
    const sister = await aggregator.application('Sister', root);
    for (const as of [stranger, sister]) {
      await expectProblem(ask('GET', { as }), problems.forbidden({ parameter: 'applicationId' }));
    }
    await expectProblem(ask('PUT', { as: stranger, body: {} }), problems.forbidden({ parameter: 'applicationId' }));
    expect((await ask('GET')).body).toEqual(configuration);
  });

  it('lists every faulty member', async () => {
    const body = {
      maximumIndividualAmount: { amount: 'ten', currency: 'GBP' },
      maximumCumulativeNumberOfPayments: -1,
      periodicLimits: [{ frequency: 'DAILY', alignment: 'CONSENT', maximumAmount: pounds(1) }],
    };
    const { status, body: refusal } = await ask('POST', { body });
    expect(status).toBe(400);
    expect(refusal).toEqual({
      errors: [
        { fieldName: 'maximumIndividualAmount.amount', error: 'INVALID_FORMAT' },
        { fieldName: 'maximumCumulativeNumberOfPayments', error: 'INVALID_FORMAT' },
        { fieldName: 'periodicLimits[0].frequency', error: 'INVALID_FORMAT' },
      ],
    });
    expect((await ask('POST', { body: { periodicLimits: [] } })).status).toBe(400);
  });
});
