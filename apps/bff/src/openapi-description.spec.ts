import { Ajv } from 'ajv';
import { beforeAll, describe, expect, it } from 'vitest';
import { describeModule } from '#libs/server';
import { AppModule, programModule } from './app.module.js';
import { Env } from './config.js';
import { describedAs } from './openapi-description.js';

type Content = Record<string, { schema?: { $ref?: string }; example?: unknown }>;

interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: object[];
  parameters?: { name: string }[];
  requestBody?: { content?: Content };
  responses: Record<string, { content?: Content }>;
}

let operations: [string, Operation][];
let schemas: string[];
let components: Record<string, object>;

beforeAll(async () => {
  const document = await describeModule(programModule(new Env(), [AppModule]), describedAs);
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Operation] => [
      `${method} ${path}`,
      operation as Operation,
    ]),
  );
  components = document.components?.schemas ?? {};
  schemas = Object.keys(components);
});

describe('the OpenAPI description', () => {
  it('names every operation once', () => {
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(ids.length).toBeGreaterThan(15);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('says what every operation answers, when it works and when it does not', () => {
    for (const [route, { responses }] of operations) {
      if (responses['204']) continue;
      const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
      if (['text/event-stream', 'text/csv'].some((type) => success?.content?.[type])) continue;
      const shape = success?.content?.['application/json']?.schema?.$ref;
      expect({ route, shape }).toEqual({ route, shape: expect.stringMatching(/^#\/components\/schemas\/\w+$/) });
      expect(schemas).toContain(shape?.split('/').at(-1));
      expect(responses['default']?.content).toHaveProperty(['application/problem+json']);
    }
  });

  it('keeps to itself what only the aggregator and browsers on their way back call', () => {
    const routes = operations.map(([route]) => route);
    expect(routes.filter((route) => /callback|webhooks/.test(route))).toEqual([]);
  });

  it('leaves no operation without summary, description, tag, security and refusals with examples', () => {
    for (const [route, operation] of operations) {
      const { summary = '', description = '', tags = [], security = [], responses } = operation;
      expect({ route, summary, description }).toEqual({
        route,
        summary: expect.stringMatching(/\w{3}/),
        description: expect.stringMatching(/\w{3}/),
      });
      expect({ route, tags: tags.length, security: security.length }).toEqual({ route, tags: 1, security: 1 });
      for (const status of ['400', '401', '404', '429', '503']) {
        const example = responses[status]?.content?.['application/problem+json']?.example;
        expect({ route, example }).toEqual({ route, example: expect.objectContaining({ status: Number(status) }) });
      }
    }
  });

  it('lets every write carry an Idempotency-Key', () => {
    const writes = operations.filter(([route]) => !route.startsWith('get '));
    for (const [route, { parameters = [] }] of writes) {
      expect({ route, names: parameters.map(({ name }) => name) }).toEqual({
        route,
        names: expect.arrayContaining(['idempotency-key']),
      });
    }
  });

  it('has an example of every body, in its own form', () => {
    const ajv = new Ajv({ strict: false, formats: { uuid: true, 'date-time': true, double: true, int32: true } });
    ajv.addSchema({ $id: 'api', components: { schemas: components } });
    const inDocument = (schema: object): object =>
      JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components')) as object;
    for (const [route, { requestBody, responses }] of operations) {
      const contents = [requestBody?.content, ...Object.values(responses).map(({ content }) => content)];
      for (const { schema = {}, example } of contents.flatMap((content) => Object.values(content ?? {}))) {
        expect({ route, example: example === undefined }).toEqual({ route, example: false });
        const fits = ajv.compile(inDocument(schema));
        fits(example);
        expect({ route, faults: fits.errors ?? [] }).toEqual({ route, faults: [] });
      }
    }
  });
});
