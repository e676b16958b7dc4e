import { Ajv } from 'ajv';
import * as fc from 'fast-check';
import type { Schema } from './constraints/schema.dto.js';
import { joinSchemas } from './join-schemas.js';
import { PaymentRequest } from './payments/payment-request.dto.js';
import { schemaOf } from './schema-of.js';

const ajv = new Ajv({ strict: false });

const oneOf = (...schemas: Schema[]): fc.Arbitrary<Schema> => fc.constantFrom(...schemas);
const limited = fc.record(
  { minimum: fc.nat(3), enum: fc.uniqueArray(fc.nat(3), { minLength: 1 }) },
  { requiredKeys: [] },
);

/** Schemas whose keywords meet in every way that the joining knows. */
const schemas: fc.Arbitrary<Schema> = fc
  .tuple(
    oneOf({}, { type: 'object' }, { type: 'object' }, { type: 'array' }, { type: 'number' }),
    oneOf({}, { minimum: 1 }, { minimum: 2 }, { enum: [1, 2] }, { enum: [2, 3] }, { enum: [4] }),
    oneOf({}, { required: ['a'] }, { required: ['b', 'a'] }, { items: { minimum: 1 } }, { items: { enum: [2] } }),
    oneOf(
      {},
      { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      { anyOf: [{ required: ['c'] }, { type: 'number' }] },
    ),
    oneOf({}, { allOf: [{ required: ['b'] }] }, { allOf: [{ minimum: 1 }] }),
    oneOf(
      {},
      when({ required: ['a'] }, { required: ['b'] }),
      when({ type: 'number' }, { maximum: 2 }, { required: ['c'] }),
    ),
    fc.dictionary(fc.constantFrom('a', 'b'), limited),
  )
  .map(([type, limits, members, either, all, condition, properties]) => {
    return { ...type, ...limits, ...members, ...either, ...all, ...condition, properties };
  });

const values = fc.oneof(
  fc.nat(4),
  fc.array(fc.nat(4), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.nat(4)),
);

it('is satisfied by what satisfies all of them, and by nothing else', () => {
  fc.assert(
    fc.property(schemas, schemas, fc.array(values, { minLength: 20, maxLength: 20 }), (left, right, some) => {
      const [isLeft, isRight, isBoth] = [left, right, joinSchemas(left, right)].map((schema) => ajv.compile(schema));
      for (const value of some) expect(isBoth?.(value)).toBe(isLeft?.(value) && isRight?.(value));
    }),
    { numRuns: 120 },
  );
});

function when(condition: Schema, then: Schema, otherwise?: Schema): Schema {
  // oxlint-disable-next-line unicorn/no-thenable -- The keyword of JSON Schema; no schema is ever awaited.
  return { if: condition, then, ...(otherwise ? { else: otherwise } : {}) };
}

it('keeps what concerns a member in its place', () => {
  const instant: Schema = {
    required: ['paymentDateTime'],
    properties: { type: { enum: ['DOMESTIC_SCHEDULED_PAYMENT'] }, payee: { type: 'object', required: ['address'] } },
  };
  const { properties, required, allOf } = joinSchemas(schemaOf(PaymentRequest), instant);
  expect(properties?.type).toEqual({ type: 'string', enum: ['DOMESTIC_SCHEDULED_PAYMENT'] });
  expect(properties?.payee?.required).toEqual(['name', 'accountIdentifications', 'address']);
  expect(properties?.amount?.properties?.amount).toEqual({ type: 'number', exclusiveMinimum: 0 });
  expect(required).toContain('paymentDateTime');
  expect(allOf).toBeUndefined();
});
