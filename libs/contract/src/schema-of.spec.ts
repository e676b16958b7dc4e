import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { plainToInstance } from 'class-transformer';
import { ValidateBy, validateSync } from 'class-validator';
import * as fc from 'fast-check';
import { AccountAuthorisationRequest, RegisterWebhookRequest, Schema } from './index.js';
import { bodies, edges, type Class, type Json } from './request-bodies.fixture.js';
import { schemaOf } from './schema-of.js';

const ajv = new Ajv({ strict: true, strictTypes: true, strictRequired: false, validateFormats: false });

interface Change {
  at: number;
  how: 'replace' | 'remove' | 'repeat' | 'wrap' | 'reverse' | 'add';
  value: Json;
}

const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    at: fc.nat(1000),
    how: fc.constantFrom('replace', 'replace', 'remove', 'repeat', 'wrap', 'reverse', 'add'),
    value: fc.oneof(fc.constantFrom(...edges), fc.string({ unit: 'grapheme' }), fc.jsonValue() as fc.Arbitrary<Json>),
  }),
  { maxLength: 3 },
);

/** Every place in a value, as the container and the key under which it is there. */
function placesIn(value: Json): [Json[] | Record<string, Json>, string | number][] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => [[value, index], ...placesIn(item)]);
  return Object.entries(value).flatMap(([name, item]) => [[value, name], ...placesIn(item)]);
}

function changed(body: Json, several: readonly Change[]): Json {
  const whole = { body: structuredClone(body) };
  for (const { at, how, value: given } of several) {
    // Its own, for the next change may be one of it.
    const value = structuredClone(given);
    const places = placesIn(whole.body);
    const place = places[at % Math.max(1, places.length)];
    if (!place) continue;
    const [container, key] = place;
    const old = Reflect.get(container, key) as Json;
    if (how === 'remove') {
      if (Array.isArray(container)) container.splice(Number(key), 1);
      else Reflect.deleteProperty(container, key);
    } else if (how === 'repeat' && Array.isArray(container)) container.push(reversed(old));
    else if (how === 'add' && !Array.isArray(container)) container['unknown'] = value;
    else Reflect.set(container, key, how === 'wrap' ? [old] : how === 'reverse' ? reversed(old) : value);
  }
  return whole.body;
}

/** The same object with its members in another order. */
function reversed(value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toReversed());
}

function withoutNulls(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutNulls);
  const members = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(members.map(([name, item]) => [name, withoutNulls(item)]));
}

function accepts(type: Class, body: Json): boolean {
  const errors = validateSync(plainToInstance(type, body), { whitelist: true, forbidUnknownValues: false });
  return errors.length === 0;
}

it.each(bodies)('%o accepts the body of which the changes start', (type, body) => {
  expect(accepts(type, body)).toBe(true);
});

it.each(bodies)('the schema of %o is satisfied by exactly the bodies that the rules accept', (type, body) => {
  const satisfies = ajv.compile(schemaOf(type));
  const seen = { accepted: 0, refused: 0 };
  const runs = fc.property(changes, (some) => {
    const other = changed(body, some);
    const accepted = accepts(type, other);
    seen[accepted ? 'accepted' : 'refused'] += 1;
    expect([satisfies(withoutNulls(other)), JSON.stringify(other)]).toEqual([accepted, JSON.stringify(other)]);
  });
  fc.assert(runs, { numRuns: 400 });
  expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(20);
});

const structural = (['remove', 'repeat', 'wrap', 'reverse', 'add'] as const).map((how) => ({ how, value: 1 }));
const steps = [...structural, ...edges.map((value) => ({ how: 'replace' as const, value }))];

it.each(bodies)('the schema of %o agrees at every edge of every member', (type, body) => {
  const satisfies = ajv.compile(schemaOf(type));
  for (const [at] of placesIn(body).entries()) {
    for (const step of steps) {
      const other = changed(body, [{ at, ...step }]);
      expect([satisfies(withoutNulls(other)), JSON.stringify(other)]).toEqual([
        accepts(type, other),
        JSON.stringify(other),
      ]);
    }
  }
});

it('says that one of the two names of a user is needed', () => {
  const satisfies = ajv.compile(schemaOf(AccountAuthorisationRequest));
  expect(satisfies({ institutionId: 'bank' })).toBe(false);
  expect(satisfies({ institutionId: 'bank', userUuid: '0b8d4f5c-6d0a-4b5e-9f5b-0a8c7f1f3a11' })).toBe(true);
  expect(satisfies({ institutionId: 'bank', applicationUserId: 'user' })).toBe(true);
});

it.each(bodies)('the schema of %o is a Schema of the contract', (type) => {
  const components = JSON.parse(readFileSync(new URL('fixtures/contract.json', import.meta.url), 'utf8')) as {
    schemas: object;
  };
  const contract = new Ajv({ strict: false, validateFormats: false });
  const isSchema = contract
    .addSchema({ components }, 'contract')
    .compile({ $ref: 'contract#/components/schemas/Schema' });
  isSchema(schemaOf(type));
  expect(isSchema.errors).toBeNull();
});

it('refuses to leave a rule out', () => {
  class Odd {
    @ValidateBy({ name: 'odd', validator: { validate: (value) => Number(value) % 2 === 1 } }) number!: number;
  }
  expect(() => schemaOf(Odd)).toThrow('Odd.number: the rule odd has no counterpart in JSON Schema');
  expect(() => schemaOf(RegisterWebhookRequest)).toThrow('the rule stringValues');
  expect(() => schemaOf(Schema)).toThrow('Schema contains itself');
});
