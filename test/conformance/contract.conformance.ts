import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DescribedOperation } from '../support/described-interface.js';
import { DescribedInterface } from '../support/described-interface.js';
import { credentials, InterfaceWorld, type RawRequest } from '../support/interface-world.js';

/** Every operation that is routed, for its success and for each of its refusals, held against what the aggregator says of itself. */

const { operations } = await DescribedInterface.read();
const named = operations.map((operation) => [operation.operationId, operation] as const);
const having = (wanted: (operation: DescribedOperation) => boolean) =>
  named.filter(([, operation]) => wanted(operation));
const takesConsent = ({ parameters }: DescribedOperation) => parameters.some(({ name }) => name === 'consent');
const required = ({ body }: DescribedOperation) => world.described.resolve(body?.schema ?? {}).required ?? [];
const unknownId = '00000000-0000-4000-8000-000000000000';

let world: InterfaceWorld;
beforeAll(async () => {
  world = await InterfaceWorld.start();
});
afterAll(() => world.close());

/** Sends the operation's usual request with changes; the answer must have an allowed status and be as described. */
async function expectAnswer(
  operation: DescribedOperation,
  allowed: number | number[],
  change: (usual: RawRequest) => Partial<RawRequest> = () => ({}),
): Promise<void> {
  const usual = world.requestOf(operation, world.samples[operation.operationId] ?? {});
  const answer = await world.send({ ...usual, ...change(usual) });
  const faults = world.described.faultsOf(operation, answer);
  expect({ status: answer.status, faults, text: answer.text }).toEqual({
    status: expect.toBeOneOf([allowed].flat()),
    faults: [],
    text: expect.any(String),
  });
  expect(answer.headers).toMatchObject({
    'x-tracing-id': expect.stringMatching(/^[0-9a-f]{32}$/),
    'x-service-api-version': '1.0',
    'x-yapily-api-version': '1.0',
  });
}

describe('every operation', () => {
  it.each(named)('%s answers as it says', async (_id, operation) => {
    await world.refresh();
    await expectAnswer(operation, world.described.successOf(operation));
  });

  it.each(named)('%s refuses whoever does not say who they are', async (_id, operation) => {
    await expectAnswer(operation, 401, ({ headers: { authorization: _secret, ...headers } }) => ({ headers }));
  });

  it.each(named)('%s refuses a wrong secret', async (_id, operation) => {
    const wrong = credentials({ ...world.root, secret: world.stranger.secret });
    await expectAnswer(operation, 401, ({ headers }) => ({ headers: { ...headers, ...wrong } }));
  });

  it.each(named)('%s refuses to act for a stranger', async (_id, operation) => {
    const other = { 'sub-application': world.stranger.id };
    await expectAnswer(operation, [403, 404], ({ headers }) => ({ headers: { ...headers, ...other } }));
  });
});

describe('every operation with a consent', () => {
  const withConsent = having(takesConsent);
  it.each(withConsent)('%s demands it', async (_id, operation) => {
    await expectAnswer(operation, 400, ({ headers: { consent: _token, ...headers } }) => ({ headers }));
  });
  it.each(withConsent)('%s refuses one that nobody gave', async (_id, operation) => {
    await expectAnswer(operation, 403, ({ headers }) => ({ headers: { ...headers, consent: 'invented' } }));
  });
  it.each(withConsent)('%s refuses one of another application', async (_id, operation) => {
    const other = credentials(world.stranger);
    await expectAnswer(operation, 403, ({ headers }) => ({ headers: { ...headers, ...other } }));
  });
});

describe('every operation with a body', () => {
  const withBody = having(({ body }) => body !== undefined);
  it.each(withBody)('%s refuses text that is no JSON', async (_id, operation) => {
    await expectAnswer(operation, 400, () => ({ payload: '{"a":' }));
  });
  it.each(withBody)('%s refuses none, and one of the wrong kind', async (_id, operation) => {
    for (const payload of ['', 'null', '7', '"x"', '[[]]', '{"x":1}']) {
      // Where every member may be absent, an object without one is in order.
      const isEnough = payload === '{"x":1}' && required(operation).length === 0;
      const granted = isEnough ? [world.described.successOf(operation)] : [];
      await expectAnswer(operation, [400, 403, ...granted], () => ({ payload }));
    }
  });
  it.each(withBody)('%s refuses another media type', async (_id, operation) => {
    await expectAnswer(operation, 415, ({ headers }) => ({ headers: { ...headers, 'content-type': 'text/csv' } }));
  });
  it.each(withBody)('%s refuses one that is too long', async (_id, operation) => {
    await expectAnswer(operation, 413, () => ({ payload: JSON.stringify('x'.repeat(1_100_000)) }));
  });
});

describe('every operation on one thing', () => {
  const ours = (name: string) => /(Id|Uuid|_id)$/.test(name) && !/^(account|institution|statement)Id$/.test(name);
  const withId = having(({ path }) => [...path.matchAll(/\{([^}]+)\}/g)].some(([, name = '']) => ours(name)));
  const at = (operation: DescribedOperation, id: string) => {
    const sample = world.samples[operation.operationId] ?? {};
    const path = Object.fromEntries(Object.keys(sample.path ?? {}).map((name) => [name, id]));
    return () => ({ url: world.requestOf(operation, { ...sample, path }).url });
  };
  it.each(withId)('%s does not find what there is not', async (_id, operation) => {
    await world.refresh();
    await expectAnswer(operation, 404, at(operation, unknownId));
    await expectAnswer(operation, [400, 404], at(operation, 'not-a-uuid'));
  });
  it.each(withId)('%s does not show it to strangers', async (_id, operation) => {
    await world.refresh();
    const other = credentials(world.stranger);
    await expectAnswer(operation, [403, 404], ({ headers }) => ({ headers: { ...headers, ...other } }));
  });
});

describe('every operation at a bank', () => {
  it.each(named)('%s says that the bank failed, or did not need it', async (_id, operation) => {
    await world.refresh();
    world.bankFails = 'unavailable';
    await expectAnswer(operation, [world.described.successOf(operation), 424, 400]);
  });
});
