import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Operation, operations } from '#libs/contract';
import { describeModule } from '#libs/server';
import { AppModule, programModule } from '../apps/aggregator/src/app.module.js';
import { Env } from '../apps/aggregator/src/config.js';
import { describedAs } from '../apps/aggregator/src/openapi-description.js';

const architecture = 'ARCHITECTURE.md';
const [begin, end] = ['<!-- operations:begin -->', '<!-- operations:end -->'];

/** The names of path parameters are ours to choose. */
const keyOf = ({ method, path }: Pick<Operation, 'method' | 'path'>) =>
  `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`;
const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

let routed: Map<string, string | undefined>;

beforeAll(async () => {
  const { paths } = await describeModule(programModule(new Env(), [AppModule]), describedAs);
  const entries = Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const name = method.toUpperCase() as Operation['method'];
      const operation = item[method];
      return operation ? [[keyOf({ method: name, path }), operation.operationId] as const] : [];
    }),
  );
  routed = new Map(entries);
});

/** The table of what is not served yet, by tag. */
function tableOf(missing: readonly Operation[]): string {
  const rows = missing.map(
    ({ tag, method, path, operationId }) => `| ${tag} | \`${method} ${path}\` | ${operationId} |`,
  );
  const served = `Served: ${operations.length - missing.length} of ${operations.length}.`;
  const table = ['| Tag | Operation | Id |', '| --- | --- | --- |', ...rows.toSorted()];
  return [served, '', ...(rows.length > 0 ? [...table, ''] : [])].join('\n');
}

describe('the operations of the interface', () => {
  it('are each listed once', () => {
    expect(new Set(operations.map(keyOf)).size).toBe(operations.length);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });

  it('are routed under their own names, and nothing else is', () => {
    const names = new Map(operations.map((operation) => [keyOf(operation), operation.operationId]));
    const wrong = [...routed].filter(([key, operationId]) => names.get(key) !== operationId);
    expect(wrong).toEqual([]);
    expect(routed.size).toBeGreaterThan(20);
  });

  it('are routed at most once', () => {
    const ids = [...routed.values()];
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  // After routing another operation: TABLES=write npm test -- test/operations
  it('that are not served yet are those that ARCHITECTURE.md lists', () => {
    const missing = operations.filter((operation) => !routed.has(keyOf(operation)));
    const text = readFileSync(architecture, 'utf8');
    const [before = '', rest = ''] = text.split(begin);
    const [, after] = rest.split(end);
    const wanted = `${before}${begin}\n\n${tableOf(missing)}\n${end}${after}`;
    if (process.env.TABLES === 'write') writeFileSync(architecture, wanted);
    expect(readFileSync(architecture, 'utf8')).toBe(wanted);
  });
});
