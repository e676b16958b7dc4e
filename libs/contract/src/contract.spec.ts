import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ApiExtraModels, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import * as contract from './index.js';

type Schema = Record<string, unknown>;
const fixture = JSON.parse(readFileSync(new URL('fixtures/contract.json', import.meta.url), 'utf8')) as {
  schemas: Record<string, Schema>;
};

/** Where this project departs from the contract, each with its reason. Everything else must be equal. */
const departures: Record<string, (theirs: Schema) => Schema> = {
  // The interface specification, which wins, has an integer and lists it so in its own part 2.2.
  ApplicationResponse: (theirs) => withMember(theirs, 'merchantCategoryCode', { type: 'integer' }),
  // The interface specification shows `path` and `value` only: `op` may be left out and then means replace.
  ApplicationUserPatchRequest: (theirs) => ({ ...theirs, required: ['path', 'value'] }),
  // Codes are text or numbers, whichever the interface specification shows for the family.
  ErrorIssue: withEitherCode,
  // Issues name the member at fault, as the interface specification shows them, in every family.
  ApiErrorResponseV2: (theirs) => withEitherCode(namingParameter(theirs)),
  ApiError: (theirs) => withMember(withMember(theirs, 'supportUrl', { type: 'string' }), 'issues', issuesOfErrors),
  // The interface specification has the institution's error beside the issues, too.
  ErrorDetails: (theirs) => withMember(theirs, 'institutionError', { $ref: '#/components/schemas/InstitutionError' }),
  // The deprecated copy of the bank's raw answer is never sent.
  ApiResponseError: (theirs) => without(theirs, 'raw'),
  // Nor are the deprecated members that envelopes have.
  ApiListResponseOfRealTimeTransaction: (theirs) => without(theirs, 'raw', 'forwardedData', 'tracingId'),
  // A member that is required is declared too.
  DataConstraintsResponse: (theirs) => withMember(theirs, 'institutionCountry', { type: 'string' }),
  PaymentConstraintsResponse: (theirs) => withMember(theirs, 'institutionCountry', { type: 'string' }),
};

const issuesOfErrors: Schema = { type: 'array', items: { $ref: '#/components/schemas/ErrorIssue' } };

/** Names that the contract uses for something that TypeScript knows under a better or another name. */
const renamed: Record<string, string> = { Type: 'ScaMethodType', FeatureEnum: 'Feature' };

let ours: Record<string, Schema>;

beforeAll(async () => {
  const classes = Object.values(contract as Record<string, unknown>).filter(
    (value): value is new () => object => typeof value === 'function' && /^class\b/.test(String(value)),
  );
  @ApiExtraModels(...classes.filter((type) => !(type.prototype instanceof Error)))
  @Controller()
  class Everything {
    @Post() post(): void {}
  }
  @Module({ controllers: [Everything] })
  class AllClasses {}
  const app = await NestFactory.create(AllClasses, new FastifyAdapter(), { logger: false });
  const document = SwaggerModule.createDocument(app, new DocumentBuilder().build());
  ours = (document.components?.schemas ?? {}) as Record<string, Schema>;
  await app.close();
});

const names = Object.keys(fixture.schemas).filter((name) => (renamed[name] ?? name) in contract);

it('knows a fair part of the contract', () => {
  expect(names.length).toBeGreaterThan(100);
});

it.each(names)('%s has the members, types, enumerations and required list of the contract', (name) => {
  const theirs = departures[name]?.(fixture.schemas[name] ?? {}) ?? fixture.schemas[name] ?? {};
  const mine = ours[name] ?? enumerationOf(name);
  expect(structure(mine, ours)).toEqual(structure(theirs, fixture.schemas));
});

/**
 * A schema with every reference replaced by what it names, reduced to what the contract settles. Formats that only
 * say the type again and the limits on values (lengths, patterns, ranges), which the tests of the rules prove, are left out.
 */
function structure(schema: Schema, all: Record<string, Schema>, seen: string[] = []): unknown {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return seen.includes(name) ? `again ${name}` : structure(departed(name, all), all, [...seen, name]);
  }
  if (Array.isArray(schema.allOf)) {
    const parts = schema.allOf.map((part: Schema) => structure(part, all, seen) as Schema);
    return parts.reduce(
      joined,
      schema.properties ? (structure({ ...schema, allOf: undefined }, all, seen) as Schema) : {},
    );
  }
  const shape: Schema = { type: schema.type ?? (schema.properties ? 'object' : undefined) };
  if (schema.uniqueItems === true) shape.uniqueItems = true;
  if (Array.isArray(schema.enum)) shape.enum = inOrder(schema.enum);
  if (schema.oneOf) shape.oneOf = schema.oneOf;
  if (typeof schema.format === 'string' && kept.has(schema.format)) shape.format = schema.format;
  if (schema.items) shape.items = structure(schema.items as Schema, all, seen);
  if (schema.properties) {
    const members = Object.entries(schema.properties as Record<string, Schema>);
    shape.members = Object.fromEntries(members.map(([member, inner]) => [member, structure(inner, all, seen)]));
    shape.required = inOrder(schema.required ?? []);
  }
  return shape;
}

/** An enumeration that no class here speaks of yet has no component; its values are known all the same. */
function enumerationOf(name: string): Schema {
  const values: unknown = Reflect.get(contract, renamed[name] ?? name);
  return { type: 'string', enum: Object.values(values as object) };
}

function inOrder(list: unknown): string[] {
  return (list as string[]).toSorted((a, b) => a.localeCompare(b));
}

const kept = new Set(['uuid', 'date-time', 'date', 'int32', 'int64', 'iso8601']);

function departed(name: string, all: Record<string, Schema>): Schema {
  const schema = all[name] ?? {};
  return all === fixture.schemas ? (departures[name]?.(schema) ?? schema) : schema;
}

function joined(left: Schema, right: Schema): Schema {
  return {
    type: right.type,
    ...(right.enum ? { enum: right.enum } : {}),
    ...(right.members
      ? {
          members: { ...(left.members as Schema), ...(right.members as Schema) },
          required: inOrder([...((left.required as string[] | undefined) ?? []), ...(right.required as string[])]),
        }
      : {}),
  };
}

function withMember(schema: Schema, member: string, inner: Schema): Schema {
  return { ...schema, properties: { ...(schema.properties as Schema), [member]: inner } };
}

function withEitherCode(schema: Schema): Schema {
  const either = { oneOf: [{ type: 'string' }, { type: 'integer' }] };
  const widened = (key: string, value: Schema) => (key === 'code' && value.type === 'string' ? either : value);
  return JSON.parse(JSON.stringify(schema), widened) as Schema;
}

function namingParameter(schema: Schema): Schema {
  const named = (key: string, value: Schema) =>
    key === 'items' ? withMember(value, 'parameter', { type: 'string' }) : value;
  return JSON.parse(JSON.stringify(schema), named) as Schema;
}

function without(schema: Schema, ...members: string[]): Schema {
  const others = Object.entries(schema.properties as Schema).filter(([member]) => !members.includes(member));
  return { ...schema, properties: Object.fromEntries(others) };
}
