import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asSystem } from '#libs/database';
import {
  problems,
  RegisteredWebhookResponse,
  RegisteredWebhooksResponse,
  WebhookCategoriesResponse,
  WebhookWithSecretResponse,
} from '#libs/contract';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { expectShape } from '../../../../test/support/expect-shape.js';
import type { IssuedKey } from '../applications/application-keys.service.js';

let aggregator: TestAggregator;
let root: IssuedKey;

beforeAll(async () => {
  aggregator = await TestAggregator.start({ env: { NODE_ENV: 'production' } });
  root = await aggregator.application('Root');
});
afterAll(() => aggregator.close());

const registration = (changes: object = {}, owner = root) => ({
  applicationId: owner.id,
  categories: ['payment.state.success', 'single_payment.status.completed'],
  callbackUrl: { main: { url: 'https://shop.example/hooks' }, backup: { url: 'https://spare.example/hooks' } },
  metadata: { shop: '7' },
  ...changes,
});
const register = (changes: object = {}, owner = root) =>
  aggregator.ask<WebhookWithSecretResponse>('POST /webhook/events', { as: owner, body: registration(changes, owner) });

describe('webhooks', () => {
  it('know their categories', async () => {
    const { status, body } = await aggregator.ask<{ metadata: { tracingId: string }; data: { categories: object[] } }>(
      'GET /webhook/events/categories',
      { as: root },
    );
    expect(status).toBe(200);
    expect(body.metadata.tracingId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expectShape(WebhookCategoriesResponse, body);
    expect(body.data.categories).toHaveLength(11);
    expect(body.data.categories).toContainEqual({
      name: 'single_payment.status.completed',
      description: expect.any(String),
    });
  });

  it('show their secret at registration and never again', async () => {
    const { status, body } = await register();
    expect(status).toBe(201);
    expectShape(WebhookWithSecretResponse, body);
    const { webhookSecret, ...shown } = body.data;
    expect(webhookSecret).toMatch(/^[0-9a-f]{64}$/);
    expect(shown).toEqual({ ...registration(), id: expect.any(String), status: 'active' });
    const { body: list } = await aggregator.ask<RegisteredWebhooksResponse>('GET /webhook/events', { as: root });
    expectShape(RegisteredWebhooksResponse, list);
    expect(list.data.active).toContainEqual(shown);
    expect(JSON.stringify(list)).not.toContain(webhookSecret);
    const stored = await asSystem(() => aggregator.db.pool.query('SELECT * FROM webhooks WHERE id = $1', [shown.id]));
    expect(stored.rows).toHaveLength(1);
    expect(JSON.stringify(stored.rows)).not.toContain(webhookSecret);
  });

  it('are gone after they were deleted', async () => {
    const { body } = await register();
    const { webhookSecret: _secret, status: _status, ...shown } = body.data;
    const deleted = await aggregator.ask<{ data: object }>(`DELETE /webhook/events/${shown.id}`, { as: root });
    expect(deleted.status).toBe(200);
    expectShape(RegisteredWebhookResponse, deleted.body);
    expect(deleted.body.data).toEqual(shown);
    await expectProblem(
      aggregator.ask(`DELETE /webhook/events/${shown.id}`, { as: root }),
      problems.notFound({ parameter: 'webhook_id' }),
      { shape: 'numeric' },
    );
  });

  it('get another secret, which is shown once like the first', async () => {
    const { body } = await register();
    const { webhookSecret: first, ...shown } = body.data;
    const route = `POST /webhook/secrets/${shown.id}` as const;
    const reset = await aggregator.ask<WebhookWithSecretResponse>(route, { as: root, body: { delay: 60 } });
    expect(reset.status).toBe(201);
    expectShape(WebhookWithSecretResponse, reset.body);
    const { webhookSecret, ...same } = reset.body.data;
    expect(same).toEqual(shown);
    expect(webhookSecret).toMatch(/^[0-9a-f]{64}$/);
    expect(webhookSecret).not.toBe(first);
    const stored = await asSystem(() => aggregator.db.pool.query('SELECT * FROM webhooks WHERE id = $1', [shown.id]));
    expect(JSON.stringify(stored.rows)).not.toContain(webhookSecret);
  });

  it('refuse another secret with a wrong delay, and to whoever does not have them', async () => {
    const { body } = await register();
    const reset = (delay: unknown, as = root) =>
      aggregator.ask(`POST /webhook/secrets/${body.data.id}`, { as, body: { delay } });
    for (const delay of [-1, 86_401, '60', undefined])
      await expectProblem(reset(delay), problems.unexpectedValue({ parameter: '$.delay' }), { shape: 'numeric' });
    const unknown = problems.notFound({ parameter: 'webhook_id' });
    await expectProblem(reset(0, await aggregator.application('Stranger')), unknown, { shape: 'numeric' });
  });

  it.each([
    ['an unknown category', { categories: ['payment.state.success', 'payment.lost'] }, '$.categories[1]'],
    ['no category', { categories: [] }, '$.categories'],
    ['another application', { applicationId: randomUUID() }, '$.applicationId'],
    ['no applicationId', { applicationId: undefined }, '$.applicationId'],
    ['plain http', { callbackUrl: { main: { url: 'http://shop.example/' } } }, '$.callbackUrl.main.url'],
    ['a query', { callbackUrl: { main: { url: 'https://shop.example/?a=1' } } }, '$.callbackUrl.main.url'],
    ['a private address', { callbackUrl: { main: { url: 'https://10.0.0.1/' } } }, '$.callbackUrl.main.url'],
    ['no address', { callbackUrl: {} }, '$.callbackUrl.main'],
    ['long metadata', { metadata: { a: 'b'.repeat(10_000) } }, '$.metadata'],
    ['half a character in metadata', { metadata: { a: '\ud800' } }, '$.metadata.a'],
    ['metadata that is not text', { metadata: { a: 1 } }, '$.metadata'],
  ])('refuse %s with code 10600, naming the member', async (_what, changes, parameter) => {
    await expectProblem(register(changes), problems.unexpectedValue({ parameter }), { shape: 'numeric' });
  });

  it('are ten at most, even when they are registered at once', async () => {
    const owner = await aggregator.application('Busy');
    const answers = await Promise.all(Array.from({ length: 13 }, () => register({}, owner)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    const refused = answers.filter(({ status }) => status === 406);
    expect(refused).toHaveLength(3);
    for (const answer of refused) await expectProblem(answer, problems.notAcceptableMaximum(), { shape: 'numeric' });
  });
});
