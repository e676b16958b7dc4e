import { beforeAll, describe, expect, it } from 'vitest';
import { describeModule } from '#libs/server';
import { AppModule, programModule } from './app.module.js';
import { Env } from './config.js';
import { describedAs } from './openapi-description.js';

interface Operation {
  operationId: string;
  responses: Record<string, { content?: Record<string, { schema?: { $ref?: string } }> }>;
}

let operations: [string, Operation][];
let schemas: string[];

beforeAll(async () => {
  const document = await describeModule(programModule(new Env(), [AppModule]), describedAs);
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Operation] => [
      `${method} ${path}`,
      operation as Operation,
    ]),
  );
  schemas = Object.keys(document.components?.schemas ?? {});
});

describe('the OpenAPI description', () => {
  it('names every operation once', () => {
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(ids.length).toBeGreaterThan(15);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('says what every operation answers, when it works and when it does not', () => {
    for (const [route, { responses }] of operations) {
      const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
      if (success?.content?.['text/event-stream']) continue;
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
});
