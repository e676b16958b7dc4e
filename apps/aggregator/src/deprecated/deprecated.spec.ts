import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Application, Feature, FeatureDetails, operations, problems, type Envelope } from '#libs/contract';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { expectShape } from '../../../../test/support/expect-shape.js';
import type { IssuedKey } from '../applications/application-keys.service.js';

let aggregator: TestAggregator;
let root: IssuedKey;

beforeAll(async () => {
  aggregator = await TestAggregator.start();
  root = await aggregator.application('Root');
});
afterAll(() => aggregator.close());

describe('GET /me', () => {
  it('shows the caller’s application, and says that it is deprecated', async () => {
    const { status, headers, body } = await aggregator.ask<Application>('GET /me', { as: root });
    expect(status).toBe(200);
    expect(headers.get('deprecation')).toBe('true');
    expectShape(Application, body);
    expect(body).toMatchObject({ uuid: root.id, name: 'Root', active: true, authCallbacks: [], institutions: [] });
  });

  it('shows the sub-application on whose behalf the call is made, to itself or its root', async () => {
    const shop = await aggregator.application('Shop', root);
    const own = await aggregator.ask<Application>('GET /me', { as: shop });
    const chosen = await aggregator.ask<Application>('GET /me', { as: root, subApplication: shop.id });
    expect([own.body.uuid, chosen.body.uuid, chosen.body.name]).toEqual([shop.id, shop.id, 'Shop']);
  });

  it('needs credentials', async () => {
    await expectProblem(aggregator.ask('GET /me'), problems.credentialsMissing(), { shape: 'minimal' });
  });
});

describe('GET /features', () => {
  it('lists every feature once with an operation that exists, and says that it is deprecated', async () => {
    const { headers, body } = await aggregator.ask<Envelope<FeatureDetails[]>>('GET /features', { as: root });
    expect(headers.get('deprecation')).toBe('true');
    for (const details of body.data) expectShape(FeatureDetails, details);
    expect(body.data.map(({ feature }) => feature)).toEqual(Object.values(Feature));
    expect(body.meta.count).toBe(body.data.length);
    const paths = new Set(operations.map(({ path }) => path));
    const astray = body.data.filter(({ endpoint }) => endpoint !== undefined && !paths.has(endpoint));
    expect(astray).toEqual([]);
    expect(body.data.find(({ feature }) => feature === 'IDENTITY')?.endpoint).toBe('/identity');
  });
});
