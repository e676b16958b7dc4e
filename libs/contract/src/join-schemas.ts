import type { Schema } from './constraints/schema.dto.js';

type Keyword = keyof Schema;

/**
 * One schema that demands what all of them do. Members, lists of required members and enumerations become one each, so that
 * a reader finds all that concerns a member in its place; keywords that clash go into `allOf`.
 */
export function joinSchemas(...parts: readonly Schema[]): Schema {
  const type = parts.find((part) => part.type !== undefined)?.type;
  const typed: Schema = type === undefined ? {} : { type };
  const whole: Schema = { ...typed };
  const beside: Schema[] = [];
  for (const { allOf = [], if: condition, then, else: otherwise, ...part } of parts) {
    beside.push(...allOf);
    if (condition) beside.push({ ...typed, ...conditional(condition, then, otherwise) });
    for (const keyword of Object.keys(part) as Keyword[]) {
      const both = { ...pick(part, keyword) };
      if (Object.hasOwn(whole, keyword)) {
        const one = oneOfBoth(keyword, whole, part);
        if (one) Object.assign(whole, one);
        else beside.push({ ...typed, ...both });
      } else Object.assign(whole, both);
    }
  }
  return beside.length > 0 ? { ...whole, allOf: beside } : whole;
}

function conditional(condition: Schema, then?: Schema, otherwise?: Schema): Schema {
  // oxlint-disable-next-line unicorn/no-thenable -- The keyword of JSON Schema; no schema is ever awaited.
  return { if: condition, ...(then ? { then } : {}), ...(otherwise ? { else: otherwise } : {}) };
}

/** The keyword of two schemas as one, where one can say both. */
function oneOfBoth(keyword: Keyword, left: Schema, right: Schema): Schema | undefined {
  if (JSON.stringify(left[keyword]) === JSON.stringify(right[keyword])) return pick(left, keyword);
  if (keyword === 'required') return { required: [...new Set([...(left.required ?? []), ...(right.required ?? [])])] };
  if (keyword === 'items') return { items: joinSchemas(left.items ?? {}, right.items ?? {}) };
  if (keyword === 'properties') return { properties: joinProperties(left.properties ?? {}, right.properties ?? {}) };
  if (keyword !== 'enum') return undefined;
  const common = (left.enum ?? []).filter((value) => right.enum?.includes(value));
  return common.length > 0 ? { enum: common } : undefined;
}

function joinProperties(left: Record<string, Schema>, right: Record<string, Schema>): Record<string, Schema> {
  const members = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return Object.fromEntries(members.map((member) => [member, joinSchemas(left[member] ?? {}, right[member] ?? {})]));
}

function pick(schema: Schema, keyword: Keyword): Schema {
  return { [keyword]: schema[keyword] };
}
