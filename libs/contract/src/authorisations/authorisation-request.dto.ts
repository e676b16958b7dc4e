import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { AnyOf, Flag, Nested, Text, Url, Uuid } from '../field.js';

export class RedirectRequest {
  @Url() url!: string;
}

/** The members that every authorisation request has; one of `userUuid` and `applicationUserId` is needed. */
export class AuthorisationRequest {
  @Uuid({ optional: true }) userUuid?: string;
  @Text({ optional: true, maxLength: 256 }) applicationUserId?: string;
  @AnyOf('userUuid', 'applicationUserId') @Text({ maxLength: 100 }) institutionId!: string;
  @Url({ optional: true }) callback?: string;
  @Nested(() => RedirectRequest, { optional: true }) redirect?: RedirectRequest;
  @Flag({ optional: true }) oneTimeToken?: boolean;
}

/**
 * Parameters that go on to the callback: `name=value` entries as they are, plain names as the bank's parameter of that
 * name. An object of names and values is read as `name=value` entries: both forms are in use.
 */
export function ForwardParameters(): PropertyDecorator {
  const description =
    'Entries `name=value`, or names of parameters of the bank; an object of names and values is read too.';
  return applyDecorators(
    Text({ optional: true, array: true, description, alsoReads: { type: 'object' } }),
    Transform(({ value }: { value: unknown }) => asEntries(value)),
  );
}

function asEntries(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value ?? undefined;
  const given = Object.entries(value).filter(([, item]: [string, unknown]) => item !== null);
  return given.map(
    ([name, item]: [string, unknown]) => `${encodeURIComponent(name)}=${encodeURIComponent(asText(item))}`,
  );
}

function asText(item: unknown): string {
  return typeof item === 'string' ? item : JSON.stringify(item);
}
