import { type AnySchema, Ajv, type ValidateFunction } from 'ajv';
import { describeModule } from '#libs/server';
import { AppModule, programModule } from '../../apps/aggregator/src/app.module.js';
import { Env } from '../../apps/aggregator/src/config.js';
import { describedAs } from '../../apps/aggregator/src/openapi-description.js';

/** A JSON Schema as the aggregator's OpenAPI document writes it. */
export interface DescribedSchema {
  $ref?: string;
  allOf?: DescribedSchema[];
  type?: string;
  format?: string;
  enum?: string[];
  items?: DescribedSchema;
  properties?: Record<string, DescribedSchema>;
  required?: string[];
  additionalProperties?: unknown;
}

export interface DescribedParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema?: DescribedSchema;
}

type Content = Record<string, { schema?: DescribedSchema }>;

/** One operation as the document describes it. */
export interface DescribedOperation {
  operationId: string;
  tag: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  parameters: DescribedParameter[];
  body?: { type: string; schema: DescribedSchema };
  responses: Record<string, { content?: Content }>;
}

/** An answer as it came over HTTP. */
export interface RawAnswer {
  status: number;
  contentType: string;
  text: string;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** The forms that the document names; numbers and free text say no more than their type. */
const formats = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  iso8601: /^-?P(?!$)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$/,
  int32: true,
  int64: true,
  double: true,
  string: true,
  byte: true,
  binary: true,
} as const;

/** What the aggregator says of itself, and whether an answer keeps it. Nothing is started for it. */
export class DescribedInterface {
  private readonly ajv = new Ajv({ allErrors: true, strict: false, formats });
  private readonly validators = new Map<DescribedSchema, ValidateFunction>();

  private constructor(
    readonly operations: readonly DescribedOperation[],
    private readonly schemas: Record<string, DescribedSchema>,
  ) {
    const closed = Object.entries(schemas).map(([name, schema]) => [name, closedToOthers(schema)]);
    this.ajv.addSchema({ $id: 'interface', components: { schemas: Object.fromEntries(closed) } });
  }

  static async read(): Promise<DescribedInterface> {
    return DescribedInterface.of(await describeModule(programModule(new Env(), [AppModule]), describedAs));
  }

  /** The same of any program's document. */
  static of(document: Awaited<ReturnType<typeof describeModule>>): DescribedInterface {
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      methods.flatMap((method) => {
        const found = item[method];
        if (!found) return [];
        const [[type, media] = []] = Object.entries(plain<Content>(found.requestBody, 'content') ?? {});
        return {
          operationId: found.operationId ?? '',
          tag: found.tags?.[0] ?? '',
          method: method.toUpperCase() as DescribedOperation['method'],
          path,
          parameters: (found.parameters ?? []) as DescribedParameter[],
          ...(type !== undefined && media?.schema ? { body: { type, schema: media.schema } } : {}),
          responses: found.responses as DescribedOperation['responses'],
        };
      }),
    );
    return new DescribedInterface(operations, (document.components?.schemas ?? {}) as Record<string, DescribedSchema>);
  }

  /** A schema with its references and compositions followed, one level deep. */
  resolve(schema: DescribedSchema): DescribedSchema {
    const target = schema.$ref === undefined ? schema : this.schemas[schema.$ref.split('/').at(-1) ?? ''];
    if (!target?.allOf) return target ?? {};
    const parts = target.allOf.map((part) => this.resolve(part));
    const properties = Object.assign({}, ...parts.map((part) => part.properties ?? {}), target.properties);
    return { ...Object.assign({}, ...parts), properties, required: parts.flatMap(({ required = [] }) => required) };
  }

  /** The status of the operation's usual answer. */
  successOf({ responses }: DescribedOperation): number {
    return Number(Object.keys(responses).find((status) => status.startsWith('2')));
  }

  /**
   * Where an answer is not what the operation promises: a server's fault, an undescribed status or media type, a member too many, too
   * few or of another form. An error that the operation does not list by status has the form of those that it lists.
   */
  faultsOf(operation: DescribedOperation, { status, contentType, text }: RawAnswer): string[] {
    if (status >= 500) return [`${status} ${text.slice(0, 300)}`];
    const { responses } = operation;
    const described = responses[status] ?? (status < 400 ? undefined : (responses.default ?? responses['401']));
    if (!described) return [`the status ${status} is not described`];
    const content = Object.entries(described.content ?? {});
    if (content.length === 0) return text === '' ? [] : [`${status} should have no body`];
    const media = contentType.split(';', 1)[0];
    const entry = content.find(([type]) => type.split(';', 1)[0] === media);
    if (!entry) return [`${status} has the media type ${contentType}`];
    const [, { schema }] = entry;
    return /[/+]json$/.test(media ?? '') && schema ? this.schemaFaults(schema, JSON.parse(text)) : [];
  }

  private schemaFaults(schema: DescribedSchema, body: unknown): string[] {
    const known = this.validators.get(schema);
    const validate = known ?? this.ajv.compile(inDocument(closedToOthers(schema)) as AnySchema);
    if (!known) this.validators.set(schema, validate);
    if (validate(body)) return [];
    return (validate.errors ?? []).map(({ instancePath, message = '', params }) => {
      const more = 'additionalProperty' in params ? `: ${String(params.additionalProperty)}` : '';
      return `${instancePath.replaceAll(/\/\d+/g, '/*')} ${message}${more}`;
    });
  }
}

/** Every object with declared members allows no others, unless the document says so. Compositions are closed as a whole. */
function closedToOthers(schema: unknown, isPart = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => closedToOthers(item, isPart));
  if (typeof schema !== 'object' || schema === null) return schema;
  const isComposed = 'allOf' in schema && Array.isArray(schema.allOf) && schema.allOf.length > 1;
  const members = Object.entries(schema).map(([name, value]) => [name, closedToOthers(value, isComposed)]);
  const copy: Record<string, unknown> = Object.fromEntries(members);
  const isOpen = isPart || 'additionalProperties' in schema || isComposed || !('properties' in schema);
  return isOpen ? copy : { ...copy, additionalProperties: false };
}

/** References of an inline schema point into the document. */
function inDocument(schema: unknown): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === '$ref' && typeof value === 'string' ? value.replace(/^#/, 'interface#') : value,
    ),
  );
}

function plain<T>(holder: unknown, name: string): T | undefined {
  return typeof holder === 'object' && holder !== null ? (Reflect.get(holder, name) as T | undefined) : undefined;
}
