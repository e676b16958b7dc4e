/** A schema as an OpenAPI document holds it. */
export interface DocumentSchema {
  $ref?: string;
  allOf?: DocumentSchema[];
  type?: string;
  format?: string;
  pattern?: string;
  enum?: unknown[];
  minimum?: number;
  default?: unknown;
  example?: unknown;
  items?: DocumentSchema;
  properties?: Record<string, DocumentSchema>;
}

export type DocumentSchemas = Readonly<Record<string, DocumentSchema>>;

const depthMax = 6;

const texts: Readonly<Record<string, string>> = {
  uuid: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
  'date-time': '2026-11-21T09:30:00.000Z',
};

/** A value of the schema, made of the examples of its members. */
export function exampleOf(schema: DocumentSchema, schemas: DocumentSchemas, depth = 0): unknown {
  const { example, enum: choices, type, items, properties, allOf, $ref } = schema;
  if (example !== undefined) return example;
  if ($ref !== undefined) return exampleOf(schemas[$ref.split('/').at(-1) ?? ''] ?? {}, schemas, depth);
  if (allOf) {
    const parts = allOf.map((part) => exampleOf(part, schemas, depth));
    return parts.length === 1 ? parts[0] : Object.assign({}, ...parts);
  }
  if (choices) return choices[0];
  if (type === 'array') return depth >= depthMax ? [] : [exampleOf(items ?? {}, schemas, depth + 1)];
  if (properties) return members(properties, schemas, depth);
  return leaf(schema);
}

function members(
  properties: Record<string, DocumentSchema>,
  schemas: DocumentSchemas,
  depth: number,
): Record<string, unknown> {
  const shown = Object.entries(properties).map(([name, member]) => [name, exampleOf(member, schemas, depth + 1)]);
  return Object.fromEntries(shown);
}

function leaf({ type, format, pattern, minimum, default: usual }: DocumentSchema): unknown {
  if (usual !== undefined) return usual;
  switch (type) {
    case 'integer':
      return minimum ?? 1;
    case 'number':
      return minimum ?? 12.5;
    case 'boolean':
      return true;
    case 'string':
      return texts[format ?? ''] ?? ofPattern(pattern);
    default:
      return {};
  }
}

/** The few forms that members have without an example of their own. */
function ofPattern(pattern: string | undefined): string {
  const candidates = ['GBP', 'GB', '5411', 'https://shop.example/back', '12-34-56', '2026-11-21'];
  return (pattern === undefined ? undefined : candidates.find((text) => new RegExp(pattern, 'u').test(text))) ?? 'text';
}
