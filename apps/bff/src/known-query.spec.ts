import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeModule } from '#libs/server';
import { TestBff, type TestMerchant } from '../../../test/support/bff.js';
import { AppModule, programModule } from './app.module.js';
import type { ProblemDetails } from './auth/problem-details.dto.js';
import { Env } from './config.js';
import { describedAs } from './openapi-description.js';

const document = await describeModule(programModule(new Env(), [AppModule]), describedAs);
const id = '00000000-0000-4000-8000-000000000000';
const routes = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, id)}`),
) as `GET /${string}`[];

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let customerId: string;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  ({ token, customerId } = await bff.session(merchant, 'ada'));
});
afterAll(() => bff.close());

const keyFor = (route: string): string => (route.includes(' /v1/merchants') ? bff.env.OPERATOR_KEY : merchant.apiKey);

describe('a query parameter', () => {
  it.each(routes)('that is not known is refused by %s', async (route) => {
    const headers = { 'customer-id': customerId };
    const { status, body } = await bff.ask<ProblemDetails>(`${route}?limmit=1`, { as: keyFor(route), headers });
    expect([status, body.issues?.map(({ parameter }) => parameter)]).toEqual([400, ['limmit']]);
  });

  it('that is not known is named together with those that are', async () => {
    const { status, headers, body } = await bff.ask<ProblemDetails>('GET /v1/payments?page=2&limit=1&sort=date', {
      as: token,
    });
    expect([status, headers['content-type']]).toEqual([400, 'application/problem+json']);
    expect(body.issues?.map(({ parameter }) => parameter)).toEqual(['page', 'sort']);
    expect(body.detail).toContain('limit, cursor');
  });

  it('is nothing that a stranger learns about', async () => {
    expect((await bff.ask('GET /v1/payments?page=2')).status).toBe(401);
  });

  it('that a bank or an aggregator adds to a callback is let through', async () => {
    const { status } = await bff.ask('GET /v1/connections/callback?state=none&user-uuid=1&institution=bank');
    expect(status).toBe(404);
  });
});
