import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
  type ValidationArguments,
} from 'class-validator';
import { dateTimePattern, lengthPattern, urlPattern, uuidPattern } from './text-patterns.js';

/** What every field may say, whatever its type. */
export interface FieldOptions {
  /** The member may be absent. `null` is read as absent, because some clients print absent members as null. */
  optional?: boolean;
  /** Outside the contract's `required` list, yet our service always sends it: checked as present, documented as optional. */
  always?: boolean;
  /** The member is a list of this type. */
  array?: true | { min?: number; max?: number; unique?: boolean };
  description?: string;
  example?: unknown;
  deprecated?: boolean;
  default?: unknown;
  /** The value arrives as text in the query string and is converted first; lists may be repeated or comma separated. */
  query?: boolean;
  /** Another form in which the value may come, which is turned into this one before the rules see it. */
  alsoReads?: Schema;
}

/**
 * What a rule says of itself: `member` or `sibling` places its fault (see `problem.ts`), the others tell `schema-of.ts` what
 * it demands, of the value or of the whole object, and which class the value is of.
 */
export interface RuleContext {
  member?: string;
  sibling?: string;
  schema?: Schema;
  whole?: Schema;
  of?: () => new () => object;
  alsoReads?: Schema;
}

export interface TextOptions extends FieldOptions {
  pattern?: RegExp;
  minLength?: number;
  maxLength?: number;
  format?: string;
}

export interface NumberOptions extends FieldOptions {
  min?: number;
  max?: number;
  format?: string;
}

type Schema = Record<string, unknown>;

/** A string. An empty one is refused unless `minLength: 0` says otherwise. */
export function Text(options: TextOptions = {}): PropertyDecorator {
  const { pattern, minLength, maxLength, format } = options;
  const each = { each: options.array !== undefined };
  const rules: PropertyDecorator[] = [];
  const form = pattern && new RegExp(pattern.source, 'u');
  if (form) rules.push(Matches(form, each));
  if (!form || maxLength !== undefined || minLength !== undefined || form.test('')) {
    const message = `$property must have ${minLength ?? 1}${maxLength === undefined ? ' or more' : ` to ${maxLength}`} characters`;
    rules.push(Matches(lengthPattern(minLength ?? 1, maxLength), { ...each, message }));
  }
  // The last rule that refuses is the one that is told: that a number is no text says more than how long it is not.
  rules.push(IsString(each));
  const schema: Schema = { type: 'string' };
  if (format) schema.format = format;
  if (pattern) schema.pattern = pattern.source;
  if (maxLength !== undefined) schema.maxLength = maxLength;
  if (minLength !== undefined) schema.minLength = minLength;
  return field(options, schema, rules);
}

/** A UUID in its 36 character form, either case. */
export function Uuid(options: FieldOptions = {}): PropertyDecorator {
  const format: RuleContext = { schema: { format: 'uuid' } };
  const wording = { each: options.array !== undefined, message: '$property must be a UUID', context: format };
  return field(options, { type: 'string', format: 'uuid' }, [Matches(uuidPattern, wording)]);
}

/** An ISO 8601 instant with `Z` or an offset. It stays text: mappers and services decide when it becomes a `Date`. */
export function DateTime(options: FieldOptions = {}): PropertyDecorator {
  const format: RuleContext = { schema: { format: 'date-time' } };
  const message = '$property must be an ISO 8601 date-time such as 2021-06-08T10:59:35.138Z';
  const rule = Matches(dateTimePattern, { each: options.array !== undefined, message, context: format });
  // A plus sign that a client left unescaped in an address arrives as a space.
  return field(options, { type: 'string', format: 'date-time' }, [rule], (text) => text.replace(' ', '+'));
}

/** A JSON number. Money is never added or compared in this form; see `money.ts`. */
export function Decimal(options: NumberOptions = {}): PropertyDecorator {
  const each = { each: options.array !== undefined };
  const rules = [IsNumber({ allowNaN: false, allowInfinity: false }, each), ...bounds(options)];
  return field(options, { type: 'number', ...limits(options) }, rules, toNumber);
}

/** A whole number. */
export function Integer(options: NumberOptions = {}): PropertyDecorator {
  const rules = [IsInt({ each: options.array !== undefined }), ...bounds(options)];
  return field(options, { type: 'integer', ...limits(options) }, rules, toNumber);
}

/** `true` or `false`. */
export function Flag(options: FieldOptions = {}): PropertyDecorator {
  const rule = IsBoolean({ each: options.array !== undefined });
  return field(options, { type: 'boolean' }, [rule], (text) =>
    text === 'true' ? true : text === 'false' ? false : text,
  );
}

/** One of the values of an enumeration, which becomes a single component named `enumName` in the OpenAPI document. */
export function Choice(
  values: Readonly<Record<string, string>>,
  enumName: string,
  options: FieldOptions = {},
): PropertyDecorator {
  const allowed = Object.values(values);
  const shown = allowed.length > 12 ? `a value of ${enumName}` : `one of ${allowed.join(', ')}`;
  const each = options.array !== undefined;
  const rule = IsIn(allowed, { each, message: `${each ? 'each value in ' : ''}$property must be ${shown}` });
  return field(options, { enum: allowed, enumName }, [rule]);
}

/** A member that is an object of its own class. `type` is an arrow so that the class may be declared later. */
export function Nested(type: () => new () => object, options: FieldOptions = {}): PropertyDecorator {
  const each = options.array !== undefined;
  const context: RuleContext = { of: type };
  const isObject = IsObject({ each, message: '$property must be an object', context });
  const rules = [isObject, ValidateNested({ each }), Type(type)];
  return field(options, { type: () => type() }, rules);
}

/** An absolute http or https address. Local names are allowed here; who may use them is decided by the service. */
export function Url(options: FieldOptions & { httpsOnly?: boolean } = {}): PropertyDecorator {
  const message = `$property must be an absolute ${options.httpsOnly ? 'https' : 'http or https'} URL`;
  const rule = Matches(urlPattern(options.httpsOnly === true), { each: options.array !== undefined, message });
  return field(options, { type: 'string' }, [rule]);
}

/** Free JSON: an object whose members are not ours to name, optionally all strings. */
export function Json(options: FieldOptions & { values?: 'string' } = {}): PropertyDecorator {
  const each = { each: options.array !== undefined };
  const rules = [IsObject(each)];
  if (options.values) {
    const validate = (value: unknown) =>
      isRecord(value) && Object.values(value).every((item) => typeof item === 'string');
    const defaultMessage = () => '$property must have text values only';
    rules.push(ValidateBy({ name: 'stringValues', validator: { validate, defaultMessage } }, each));
  }
  const additionalProperties = options.values ? { type: 'string' } : true;
  return field(options, { type: 'object', additionalProperties }, rules);
}

/** A rule on one member that its object has at least one of `members`; the fault names the first of them. */
export function AnyOf(...members: [string, ...string[]]): PropertyDecorator {
  const validate = (_: unknown, args?: ValidationArguments) => {
    const whole: object = args?.object ?? {};
    return members.some((member) => isPresent(Reflect.get(whole, member)));
  };
  const defaultMessage = () => `one of ${members.join(', ')} is needed`;
  const context: RuleContext = {
    sibling: members[0],
    whole: { anyOf: members.map((member) => ({ required: [member] })) },
  };
  return ValidateBy({ name: 'anyOf', validator: { validate, defaultMessage } }, { context });
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bounds({ min, max, array }: NumberOptions): PropertyDecorator[] {
  const each = { each: array !== undefined };
  return [...(min === undefined ? [] : [Min(min, each)]), ...(max === undefined ? [] : [Max(max, each)])];
}

function limits({ min, max, format }: NumberOptions): Schema {
  return {
    ...(format === undefined ? {} : { format }),
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
  };
}

/** Text that is not a plain decimal is left alone, so that the rule refuses it by name. */
function toNumber(text: string): unknown {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Joins presence, list, conversion, rule and schema into the one decorator a class shows. */
function field(
  options: FieldOptions,
  schema: Schema,
  rules: PropertyDecorator[],
  fromText: (text: string) => unknown = (text) => text,
): PropertyDecorator {
  const { optional = false, always = false, array, query = false, ...rest } = options;
  const decorators = [...rules];
  const presence = rest.alsoReads ? { context: { alsoReads: rest.alsoReads } satisfies RuleContext } : {};
  if (optional) decorators.push(IsOptional(presence));
  else decorators.push(IsDefined({ message: '$property is mandatory', ...presence }));
  if (array) decorators.push(...listRules(array === true ? {} : array));
  if (query) decorators.push(Transform(({ value }) => fromQuery(value, array !== undefined, fromText)));
  else if (optional) decorators.push(Transform(({ value }: { value: unknown }) => value ?? undefined));
  const described = { description: rest.description, example: rest.example, deprecated: rest.deprecated };
  const api: Schema = { ...schema, required: !optional && !always, ...described };
  if (rest.default !== undefined) api.default = rest.default;
  if (array) {
    api.isArray = true;
    if (array !== true && array.min !== undefined) api.minItems = array.min;
    if (array !== true && array.max !== undefined) api.maxItems = array.max;
    if (array !== true && array.unique) api.uniqueItems = true;
  }
  return applyDecorators(...decorators, ApiProperty(api));
}

function listRules({ min, max, unique }: { min?: number; max?: number; unique?: boolean }): PropertyDecorator[] {
  const rules: PropertyDecorator[] = [IsArray()];
  if (min !== undefined) rules.push(ArrayMinSize(min));
  if (max !== undefined) rules.push(ArrayMaxSize(max));
  if (unique) rules.push(ArrayUnique((item: unknown) => JSON.stringify(item)));
  return rules;
}

function fromQuery(value: unknown, list: boolean, fromText: (text: string) => unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (!list) return typeof value === 'string' ? fromText(value) : value;
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.flatMap((item) =>
    typeof item === 'string' ? item.split(',').map((text) => fromText(text.trim())) : [item],
  );
}
