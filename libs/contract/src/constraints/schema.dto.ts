import { ApiProperty } from '@nestjs/swagger';
import { enumeration } from '../enumeration.js';
import { Choice, Flag, Integer, Nested, Text } from '../field.js';

export const SchemaType = enumeration('array', 'boolean', 'integer', 'number', 'object', 'string');
export type SchemaType = keyof typeof SchemaType;

const many = { optional: true, array: true } as const;

/** Any JSON value: `anyOf` with one empty schema is how OpenAPI lets a member be anything. */
const Anything = (): PropertyDecorator => ApiProperty({ required: false, anyOf: [{}] });

/** An object whose members are not ours to name, each of them as said. */
const ByName = (each: Record<string, unknown>): PropertyDecorator =>
  ApiProperty({ type: 'object', selfRequired: false, additionalProperties: each });

const schemasByName = { $ref: '#/components/schemas/Schema' };
const namesByName = { type: 'array', items: { type: 'string' }, uniqueItems: true, default: [] };

export class SchemaAnnotations {
  @Text({ optional: true, format: 'date-time' }) lastUpdatedAt?: string;
}

export class SchemaValidations {
  /** An ISO 8601 duration: how far ahead of now a date-time may be. */
  @Text({ optional: true, format: 'duration' }) maxDurationFromNow?: string;
}

/** A JSON Schema, of which the interface uses these keywords only. */
export class Schema {
  @Text({ optional: true }) title?: string;
  @ApiProperty({ required: false, type: 'number' }) maximum?: number;
  @ApiProperty({ required: false, type: 'number' }) exclusiveMaximum?: number;
  @ApiProperty({ required: false, type: 'number' }) minimum?: number;
  @ApiProperty({ required: false, type: 'number' }) exclusiveMinimum?: number;
  @Text({ optional: true, format: 'regex' }) pattern?: string;
  @Integer({ optional: true, min: 0 }) maxItems?: number;
  @Integer({ optional: true, min: 0 }) minItems?: number;
  @Flag({ optional: true }) uniqueItems?: boolean;
  @Text({ optional: true, array: { min: 1, unique: true } }) required?: string[];
  @ApiProperty({ required: false, type: 'array', items: {}, minItems: 1 }) enum?: readonly unknown[];
  @Choice(SchemaType, 'SchemaType', { optional: true }) type?: SchemaType;
  @Nested(() => Schema, { optional: true }) contains?: Schema;
  @Nested(() => Schema, { optional: true }) not?: Schema;
  @Nested(() => Schema, { optional: true }) if?: Schema;
  // oxlint-disable-next-line unicorn/no-thenable -- The keyword of JSON Schema; no schema is ever awaited.
  @Nested(() => Schema, { optional: true }) then?: Schema;
  @Nested(() => Schema, { optional: true }) else?: Schema;
  @Nested(() => Schema, many) allOf?: Schema[];
  @Nested(() => Schema, many) oneOf?: Schema[];
  @Nested(() => Schema, many) anyOf?: Schema[];
  @Nested(() => Schema, { optional: true }) items?: Schema;
  @ByName(schemasByName) properties?: Record<string, Schema>;
  @Text({ optional: true }) description?: string;
  @Text({ optional: true }) format?: string;
  @Anything() default?: unknown;
  @Anything() example?: unknown;
  @ByName(namesByName) dependentRequired?: Record<string, string[]>;
  @ByName(schemasByName) $defs?: Record<string, Schema>;
  @Text({ optional: true }) $ref?: string;
  @Nested(() => SchemaAnnotations, { optional: true }) 'x-yapily-annotations'?: SchemaAnnotations;
  @Nested(() => SchemaValidations, { optional: true }) 'x-yapily-validations'?: SchemaValidations;
}
