import { Ajv } from 'ajv';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AccountAuthorisationRequest,
  PaymentRequest,
  Problem,
  problems,
  type AccountRequest,
  type DataConstraintsResponse,
  type PaymentConstraintsResponse,
} from '#libs/contract';
import { createValidationPipe } from '#libs/server';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { applicationWithCallback, domesticPayment } from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { scriptedConnector, scriptInstitution } from '../../../../test/support/scripted-connector.js';
import type { IssuedKey } from '../applications/application-keys.service.js';
import { accountTerms } from '../authorisations/account-request.rules.js';
import { paymentTypeRule } from '../payments/payment-rules.js';
import { paymentConstraints } from './constraint-schemas.js';

type Answered<T> = { meta: { tracingId: string; count?: number }; data: T[] };

let aggregator: TestAggregator;
let shop: IssuedKey;

beforeAll(async () => {
  aggregator = await TestAggregator.start();
  scriptInstitution(aggregator, scriptedConnector(), { requiredPsuHeaders: ['id'] });
  shop = await applicationWithCallback(aggregator);
});
afterAll(() => aggregator.close());

const bank = { institutionIds: 'scripted-bank', institutionCountryCode: 'gb' };
const ask = <T>(kind: 'data' | 'payments', query: Record<string, string>) =>
  aggregator.ask<Answered<T>>(`GET /institutions/constraints/${kind}?${new URLSearchParams(query).toString()}`, {
    as: shop,
  });
const data = async (query = {}) => (await ask<DataConstraintsResponse>('data', { ...bank, ...query })).body;
const payments = async (query = {}) =>
  (await ask<PaymentConstraintsResponse>('payments', { ...bank, paymentType: 'DOMESTIC_PAYMENT', ...query })).body;
const endpoints = ({ data: found }: Answered<DataConstraintsResponse>) =>
  found.map(({ endpointMethod, endpointPath }) => `${endpointMethod} ${endpointPath}`);
const ajv = new Ajv({ strict: false, validateFormats: false });

describe('constraints', () => {
  it('are told of the operations that the institution has', async () => {
    const all = ['POST /account-auth-requests'];
    expect(endpoints(await data())).toEqual(expect.arrayContaining(all));
    expect(endpoints(await payments())).toEqual(['POST /payment-auth-requests', 'POST /payments']);
    expect(endpoints(await payments({ paymentType: 'INTERNATIONAL_PAYMENT' }))).toEqual([]);
  });

  it('say the country under both names, the type, and the headers that the institution wants', async () => {
    const { meta, data: found } = await payments();
    expect(meta.count).toBe(2);
    expect(found[0]).toMatchObject({
      institutionId: 'scripted-bank',
      institutionCountry: 'GB',
      institutionCountryCode: 'GB',
      paymentType: 'DOMESTIC_PAYMENT',
      request: { headers: { required: ['psu-id'] } },
    });
    expect(found[1]?.request.headers).toMatchObject({ required: ['consent'] });
  });

  it('are filtered by path and method', async () => {
    expect(endpoints(await payments({ endpointPath: '/payments' }))).toEqual(['POST /payments']);
    expect(endpoints(await payments({ endpointMethod: 'GET' }))).toEqual([]);
    expect(endpoints(await data({ endpointMethod: 'POST', endpointPath: '/account-auth-requests' }))).toHaveLength(1);
  });

  it('of an institution that is unknown or of another country are 404', async () => {
    const shape = { shape: 'minimal' } as const;
    const unknown = ask('data', { ...bank, institutionIds: 'scripted-bank,none' });
    await expectProblem(unknown, problems.notFound({ parameter: 'institutionIds' }), shape);
    const abroad = ask('data', { ...bank, institutionCountryCode: 'DE' });
    await expectProblem(abroad, problems.notFound({ parameter: 'institutionCountryCode' }), shape);
  });

  it.each([
    ['data', {}, ['institutionIds', 'institutionCountryCode']],
    ['payments', bank, ['paymentType']],
    ['payments', { ...bank, paymentType: 'BULK_PAYMENT' }, ['paymentType']],
    ['data', { ...bank, endpointMethod: 'TRACE' }, ['endpointMethod']],
  ] as const)('of %s with %j lack or misspell %j', async (kind, query, parameters) => {
    const issues = parameters.flatMap((parameter) => problems.unexpectedValue({ parameter }).issues);
    await expectProblem(ask(kind, query), problems.unexpectedValues(issues), { shape: 'minimal' });
  });
});

/** Whether the pipe that every request passes lets the body through. */
async function passes(type: new () => object, body: unknown): Promise<boolean> {
  try {
    await createValidationPipe().transform(body, { type: 'body', metatype: type });
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

const words = fc.constantFrom(
  '',
  'a',
  'DOMESTIC_PAYMENT',
  'ACCOUNTS',
  'TRANSFER',
  'x'.repeat(40),
  '2030-01-01T10:00:00Z',
);
const values = fc.oneof(words, fc.constantFrom(0, -1, 1.5, true, [], {}, ['ACCOUNTS', 'ACCOUNTS']), fc.integer());

/** The body with some members changed or taken away. */
function changesOf(body: object) {
  const names = [...Object.keys(body), 'paymentDateTime', 'reference'];
  const change = fc.record({ name: fc.constantFrom(...names), value: fc.option(values, { nil: undefined }) });
  return fc.array(change, { maxLength: 2 }).map((several) => {
    const changed: Record<string, unknown> = { ...body };
    for (const { name, value } of several) {
      if (value === undefined) delete changed[name];
      else changed[name] = value;
    }
    return changed;
  });
}

async function expectAgreement(
  bodies: fc.Arbitrary<Record<string, unknown>>,
  schema: object,
  accepts: (body: Record<string, unknown>) => Promise<boolean>,
): Promise<void> {
  const satisfies = ajv.compile(schema);
  const seen = { accepted: 0, refused: 0 };
  const agreement = fc.asyncProperty(bodies, async (body) => {
    const accepted = await accepts(body);
    seen[accepted ? 'accepted' : 'refused'] += 1;
    expect([satisfies(body), body]).toEqual([accepted, body]);
  });
  await fc.assert(agreement, { numRuns: 400 });
  expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(20);
}

describe('a body', () => {
  const types = ['DOMESTIC_PAYMENT', 'DOMESTIC_SCHEDULED_PAYMENT', 'INTERNATIONAL_PAYMENT'] as const;

  it.each(types)('that pays by %s is accepted exactly when it satisfies the schema', async (type) => {
    const rule = paymentTypeRule(type);
    const features = rule ? [rule.initiate, rule.create] : [];
    const [, create] = paymentConstraints({ data: { id: 'b', requiredPsuHeaders: [] }, features }, type);
    const { payee, ...rest } = domesticPayment('p-1');
    const paymentDateTime = '2030-01-01T10:00:00Z';
    const internationalPayment = { currencyOfTransfer: 'USD' };
    const whole = {
      ...rest,
      type,
      paymentDateTime,
      internationalPayment,
      payee: { ...payee, address: { country: 'GB' } },
    };
    const bodies = fc.oneof(changesOf(whole), changesOf({ ...whole, payee }));
    await expectAgreement(bodies, create?.request.body ?? {}, async (body) => {
      if (!(await passes(PaymentRequest, body)) || body['type'] !== type) return false;
      const { payee: paid } = body as { payee: { address?: object } };
      return (rule?.requires ?? []).every((member) =>
        member === 'payee.address' ? paid.address !== undefined : body[member] !== undefined,
      );
    });
  });

  it('that asks for access is accepted exactly when it satisfies the schema', async () => {
    const [post] = (await data({ endpointMethod: 'POST', endpointPath: '/account-auth-requests' })).data;
    const { features } = await offered();
    const scopes = fc.uniqueArray(fc.constantFrom('ACCOUNTS', 'IDENTITY', 'ACCOUNT', 'TRANSFER', 'NONE'), {
      maxLength: 3,
    });
    const whole = { institutionId: 'scripted-bank', applicationUserId: 'ann', oneTimeToken: false };
    const bodies = fc
      .tuple(changesOf(whole), fc.option(scopes, { nil: undefined }))
      .map(([body, featureScope]) => ({ ...body, accountRequest: featureScope ? { featureScope } : {} }));
    await expectAgreement(bodies, post?.request.body ?? {}, async (body) => {
      if (!(await passes(AccountAuthorisationRequest, body)) || body['institutionId'] !== 'scripted-bank') return false;
      const { accountRequest } = body as { accountRequest?: AccountRequest };
      return accountTerms(accountRequest, { features, data: { maxConsentDays: 90 } }, new Date(0)).issues.length === 0;
    });
  });
});

async function offered() {
  const { body } = await aggregator.ask<{ features: [] }>('GET /institutions/scripted-bank', { as: shop });
  return body;
}
