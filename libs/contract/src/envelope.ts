import type { Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Integer, Nested, Text } from './field.js';
import { Pagination } from './paging.js';

/** What accompanies every answer. Absent members are omitted, never null. */
export class ResponseMeta {
  @Text({ always: true, description: '32 lowercase hexadecimal characters.' }) tracingId!: string;
}

export class ResponseListMeta {
  @Text({ always: true }) tracingId!: string;
  @Integer({ optional: true, format: 'int32', min: 0 }) count?: number;
  @Nested(() => Pagination, { optional: true }) pagination?: Pagination;
}

export class ResponseMetaWithCount {
  @Text({ always: true }) tracingId!: string;
  @Integer({ optional: true, format: 'int32' }) count?: number;
}

/** The wrapper of almost every success: `{meta, data, links?}` (interface, part 2.1). */
export interface Envelope<T> {
  meta: ResponseListMeta;
  data: T;
  links?: Record<string, string>;
}

/** Builds an envelope; a list gets its `count`. */
export function envelope<T>(
  data: T,
  meta: { tracingId: string; pagination?: Pagination },
  links?: Record<string, string>,
): Envelope<T> {
  const { tracingId, pagination } = meta;
  const count = Array.isArray(data) ? { count: data.length } : {};
  return {
    meta: { tracingId, ...count, ...(pagination ? { pagination } : {}) },
    data,
    ...(links ? { links } : {}),
  };
}

const links = {
  type: 'object',
  selfRequired: false,
  additionalProperties: { type: 'string' },
} satisfies ApiPropertyOptions;
const made = new Map<string, Type<object>>();

/** The documented class of an envelope around one object. `name` is needed only where the contract departs from its pattern. */
export function EnvelopeOf<T extends object>(item: Type<T>, name = `ApiResponseOf${item.name}`): Type<Envelope<T>> {
  return once(name, () => {
    class One {
      @ApiProperty({ type: () => ResponseMeta, required: false }) meta!: ResponseMeta;
      @ApiProperty({ type: () => item, required: false }) data!: T;
      @ApiProperty(links) links?: Record<string, string>;
    }
    return One;
  });
}

/** The documented class of an envelope around a list. */
export function ListOf<T extends object>(item: Type<T>, name = `ApiListResponseOf${item.name}`): Type<Envelope<T[]>> {
  return once(name, () => {
    class Many {
      @ApiProperty({ type: () => ResponseListMeta, required: false }) meta!: ResponseListMeta;
      @ApiProperty({ type: () => item, isArray: true, required: false }) data!: T[];
      @ApiProperty(links) links?: Record<string, string>;
    }
    return Many;
  });
}

/** One class per name, so that two controllers share one component of the OpenAPI document. */
function once<T extends object>(name: string, make: () => Type<T>): Type<T> {
  const known = made.get(name) as Type<T> | undefined;
  if (known) return known;
  const type = make();
  Object.defineProperty(type, 'name', { value: name });
  made.set(name, type);
  return type;
}
