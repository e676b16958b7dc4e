import { getMetadataStorage } from 'class-validator';
import type { Schema } from './constraints/schema.dto.js';
import type { RuleContext } from './field.js';
import { joinSchemas } from './join-schemas.js';

type Class = new () => object;

/** A rule as class-validator keeps it. */
interface Rule {
  name?: string;
  type: string;
  propertyName: string;
  constraints?: readonly unknown[];
  each?: boolean;
  context?: RuleContext;
}

/**
 * The JSON Schema of a class, read from the very rules that validate it: a body satisfies the schema exactly when the rules
 * accept it. Two remarks on "exactly": null is read as absent where a member is optional, so null members are left out of a
 * body before it is held against the schema; and text must be well-formed Unicode, which no pattern here repeats.
 *
 * Throws when a rule has no counterpart in JSON Schema as the interface uses it, so that no rule is ever left out in silence.
 */
export function schemaOf(type: Class): Schema {
  return objectOf(type, []);
}

function objectOf(type: Class, within: readonly Class[]): Schema {
  if (within.includes(type)) throw new Error(`${type.name} contains itself, which its schema cannot say`);
  const rules = rulesOf(type);
  const members = [...new Set(rules.map((rule) => rule.propertyName))];
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const member of members) {
    const own = rules.filter((rule) => rule.propertyName === member);
    properties[member] = memberOf(type, own, [...within, type]);
    if (own.some((rule) => rule.name === 'isDefined')) required.push(member);
  }
  const outline: Schema = { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
  return joinSchemas(outline, ...rules.flatMap(({ context }) => (context?.whole ? [context.whole] : [])));
}

function rulesOf(type: Class): Rule[] {
  return getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
}

function memberOf(type: Class, rules: readonly Rule[], within: readonly Class[]): Schema {
  const parts = (some: readonly Rule[]) => joinSchemas(...some.flatMap((rule) => demandOf(type, rule, within)));
  const whole = parts(rules.filter((rule) => !rule.each));
  const each = rules.filter((rule) => rule.each);
  const schema = each.length > 0 ? { ...whole, items: parts(each) } : whole;
  const other = rules.find((rule) => rule.context?.alsoReads)?.context?.alsoReads;
  return other ? { anyOf: [schema, other] } : schema;
}

/** What one rule demands of the value that it is about. */
function demandOf(type: Class, rule: Rule, within: readonly Class[]): Schema[] {
  const { name = rule.type, context, constraints = [] } = rule;
  const demand = demands[name]?.(constraints[0]);
  if (!demand && !context?.schema && !context?.whole) {
    throw new Error(`${type.name}.${rule.propertyName}: the rule ${name} has no counterpart in JSON Schema`);
  }
  return [
    ...(demand ? [demand] : []),
    ...(context?.of ? [objectOf(context.of(), within)] : []),
    ...(context?.schema ? [context.schema] : []),
  ];
}

/** The rules of class-validator that fields are made of. Presence is said by the object, not by its member. */
const demands: Readonly<Record<string, (constraint: unknown) => Schema>> = {
  isDefined: () => ({}),
  isOptional: () => ({}),
  nestedValidation: () => ({}),
  isObject: () => ({ type: 'object' }),
  isArray: () => ({ type: 'array' }),
  isString: () => ({ type: 'string' }),
  isBoolean: () => ({ type: 'boolean' }),
  isNumber: () => ({ type: 'number' }),
  isInt: () => ({ type: 'integer' }),
  isIn: (values) => ({ type: 'string', enum: values as readonly string[] }),
  matches: (pattern) => ({ type: 'string', pattern: sourceOf(pattern as RegExp) }),
  min: (limit) => ({ minimum: limit as number }),
  max: (limit) => ({ maximum: limit as number }),
  arrayMinSize: (limit) => ({ minItems: limit as number }),
  arrayMaxSize: (limit) => ({ maxItems: limit as number }),
  arrayUnique: () => ({ uniqueItems: true }),
};

/** JSON Schema reads a pattern with the flag `u` and knows no other. */
function sourceOf(pattern: RegExp): string {
  if (pattern.flags !== 'u') throw new Error(`The pattern ${String(pattern)} needs the flag u and no other`);
  return pattern.source;
}
