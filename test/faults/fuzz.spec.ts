import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InstitutionErrorKind } from '#libs/connectors';
import { edges } from '../../libs/contract/src/request-bodies.fixture.js';
import { DescribedInterface, type DescribedOperation } from '../support/described-interface.js';
import { InterfaceWorld, type RawRequest, type Sample } from '../support/interface-world.js';

/** Requests that nobody meant: whatever is sent, the answer is one that the operation describes, and never a server's fault. */

const requests = Number(process.env.FUZZ_REQUESTS ?? 1_000);
const seed = Number(process.env.FUZZ_SEED ?? 20_261_121);
const { operations } = await DescribedInterface.read();

/** One member of the body, chosen by `where`, is left out, replaced or joined by another. */
interface Mutation {
  how: 'leave out' | 'replace' | 'add';
  where: number;
  value: unknown;
}

interface Attempt {
  operation: DescribedOperation;
  base: 'sample' | 'required' | 'all';
  mutations: Mutation[];
  /** Absent: the body is JSON. */
  rawBody?: string;
  /** What parameters are sent instead of the usual ones: `known` picks another thing's id. */
  parameters: { pick: number; value: string }[];
  bankFails?: InstitutionErrorKind;
  as: 'root' | 'stranger';
}

const failures: InstitutionErrorKind[] = [
  'rejected',
  'unauthorised',
  'not-found',
  'rate-limited',
  'unavailable',
  'timeout',
  'malformed',
];
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.constantFrom('\0', '\uD800', '%', '__proto__'));
const value = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<unknown>(...edges) },
  text,
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(1e308, -1e308, 2 ** 53, 2 ** 31, -(2 ** 63), 1e-9, { __proto__: null }, { toString: 1 }),
);
const parameterText = fc.oneof(
  text,
  fc.constantFrom(...edges.map((edge) => (typeof edge === 'string' ? edge : JSON.stringify(edge)))),
  fc.integer().map(String),
  fc.uuid(),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e9',
    '9999999999999999999999',
    'date',
    '2026-01-01',
    '2026-01-02T00:00:00.000Z',
    'AUTHORIZED',
  ),
);
const attempt: fc.Arbitrary<Attempt> = fc
  .record({
    operation: fc.constantFrom(...operations),
    base: fc.constantFrom('sample', 'sample', 'required', 'all'),
    mutations: fc.array(
      fc.record({ how: fc.constantFrom('leave out', 'replace', 'replace', 'add'), where: fc.nat(200), value }),
      { maxLength: 3 },
    ),
    rawBody: fc.oneof({ weight: 9, arbitrary: fc.constant('') }, text),
    parameters: fc.array(fc.record({ pick: fc.nat(50), value: parameterText }), { maxLength: 3 }),
    bankFails: fc.oneof({ weight: 12, arbitrary: fc.constant('none') }, fc.constantFrom(...failures)),
    as: fc.constantFrom('root', 'root', 'root', 'root', 'root', 'root', 'stranger'),
  })
  .map(({ rawBody, bankFails, ...rest }) => ({
    ...rest,
    ...(rawBody === '' ? {} : { rawBody }),
    ...(bankFails === 'none' ? {} : { bankFails }),
  }));

let world: InterfaceWorld;
beforeAll(async () => {
  world = await InterfaceWorld.start();
});
afterAll(() => world.close());

/** Every place in a value that holds another. */
function placesIn(whole: unknown): { holder: object; name: string }[] {
  if (typeof whole !== 'object' || whole === null) return [];
  return Object.entries(whole).flatMap(([name, inner]) => [{ holder: whole, name }, ...placesIn(inner)]);
}

function mutated(body: unknown, mutations: readonly Mutation[]): unknown {
  const root = { body: structuredClone(body) };
  for (const { how, where, value: drawn } of mutations) {
    // A value that was put somewhere is changed by the next mutation: the drawn one is shared.
    const put = structuredClone(drawn);
    const places = placesIn(root);
    const place = places[where % places.length];
    if (!place) continue;
    if (how === 'leave out') Reflect.deleteProperty(place.holder, place.name);
    else if (how === 'replace') Reflect.set(place.holder, place.name, put);
    else Reflect.set(place.holder, `${place.name}${where}`, put);
  }
  return root.body;
}

/** What may stand in a header: the rest never leaves a client. */
const inHeader = (raw: string) => raw.replaceAll(/[^\x20-\x7e]/g, '?').trim();

function requestOf({ operation, base, mutations, rawBody, parameters, as }: Attempt): RawRequest {
  const usual = world.samples[operation.operationId] ?? {};
  const { path = {}, headers = {} } = usual;
  const changed: Sample & Required<Pick<Sample, 'path' | 'headers' | 'query'>> = {
    ...usual,
    path: { ...path },
    headers: { ...headers },
    query: {},
  };
  for (const { pick, value: put } of parameters) {
    const parameter = operation.parameters[pick % (operation.parameters.length + 1)];
    if (!parameter) changed.query[put.slice(0, 8).toWellFormed()] = put.toWellFormed();
    else if (parameter.in === 'header') changed.headers[parameter.name] = inHeader(put);
    else if (parameter.in === 'query') changed.query[parameter.name] = put.toWellFormed();
    else changed.path[parameter.name] = put === '' ? 'x' : put.slice(0, 90).toWellFormed();
  }
  if (operation.body && base !== 'sample') changed.body = world.bodyOf(operation.body.schema, base);
  changed.body = mutated(changed.body, mutations);
  const request = world.requestOf(operation, changed, world[as]);
  return rawBody !== undefined && operation.body ? { ...request, payload: rawBody } : request;
}

describe('a request that nobody meant', () => {
  it(
    `is answered as described (FUZZ_SEED=${seed}, FUZZ_REQUESTS=${requests})`,
    { timeout: 60 * requests + 30_000 },
    async () => {
      const found = new Map<string, string>();
      const seen = new Map<string, number>();
      for (const [index, tried] of fc.sample(attempt, { numRuns: requests, seed }).entries()) {
        if (index % 100 === 99) await world.refresh();
        const request = requestOf(tried);
        world.bankFails = tried.bankFails;
        const answer = await world.send(request);
        const { operationId } = tried.operation;
        seen.set(`${answer.status}`, (seen.get(`${answer.status}`) ?? 0) + 1);
        for (const fault of world.described.faultsOf(tried.operation, answer)) {
          const { authorization: _secret, ...headers } = request.headers;
          const told = {
            ...request,
            headers,
            payload: request.payload?.slice(0, 400),
            answer: answer.text.slice(0, 300),
          };
          if (found.size < 40) found.set(`${operationId} ${answer.status} ${fault}`, JSON.stringify(told));
        }
      }
      expect(Object.fromEntries(found)).toEqual({});
      // The requests reach what lies behind the rules: of a thousand, many are granted, and some fail at the bank.
      const granted = [...seen].filter(([status]) => status.startsWith('2')).map(([, count]) => count);
      expect(granted.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(requests / 20);
    },
  );
});
