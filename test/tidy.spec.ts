import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  emptyNames,
  otherHabits,
  readsTime,
  straysFromConfig,
  tooLong,
  trustsAnybody,
  unchecked,
} from './tidy/file-rules.js';
import { circularImports, forbiddenImports, unusedFiles } from './tidy/import-rules.js';
import { parse, readTree, type SourceFile } from './tidy/source-tree.js';
import { actsAsSystem, needlessPermits, unownedQueries } from './tidy/tenancy-rules.js';

const files = readTree();
const everywhere = (rule: (file: SourceFile) => string[]): string[] => files.flatMap((file) => rule(file));

describe('the house', () => {
  it('has rooms that import only what the table allows', () => {
    expect(everywhere(forbiddenImports)).toEqual([]);
  });
  it('has no ring of files', () => {
    expect(circularImports(files)).toEqual([]);
  });
  it('has no file that nothing uses', () => {
    expect(unusedFiles(files)).toEqual([]);
  });
  it('has files of at most 300 lines and functions of at most 60', () => {
    expect(everywhere(tooLong)).toEqual([]);
  });
  it('reads its environment in config.ts only', () => {
    expect(everywhere(straysFromConfig)).toEqual([]);
  });
  it('hides nothing from the compiler', () => {
    expect(everywhere(unchecked)).toEqual([]);
  });
  it('checks every certificate', () => {
    expect(everywhere(trustsAnybody)).toEqual([]);
  });
  it('asks its clock for the time', () => {
    expect(everywhere(readsTime)).toEqual([]);
  });
  it('has names that say something', () => {
    expect(everywhere(emptyNames)).toEqual([]);
  });
  it('has no barrel, forwardRef or sleeping test', () => {
    expect(everywhere(otherHabits)).toEqual([]);
  });
  it('reads a tenant’s rows in the tenant’s scope', () => {
    expect(everywhere(actsAsSystem)).toEqual([]);
    expect(needlessPermits(files)).toEqual([]);
    expect(everywhere(unownedQueries)).toEqual([]);
  });
  it('has a README of at most a page in every room', () => {
    const rooms = [...['apps', 'libs'].flatMap((top) => foldersOf(top)), 'prisma', 'test', ...protocols()];
    const lines = rooms.map((room) => ({ room, lines: linesOfReadme(room) }));
    expect(lines.filter((each) => each.lines === 0 || each.lines > 60)).toEqual([]);
  });
});

function foldersOf(folder: string): string[] {
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  return entries.filter((entry) => entry.isDirectory()).map((entry) => `${folder}/${entry.name}`);
}

/** A protocol's folder is a room of its own: what it covers and lacks is written there. */
function protocols(): string[] {
  return foldersOf('libs/connectors/src').filter((folder) =>
    readdirSync(folder).some((name) => name.endsWith('.connector.ts')),
  );
}

function linesOfReadme(room: string): number {
  const path = `${room}/README.md`;
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n').length : 0;
}

const long = (lines: number) => `function f() {\n${'  g();\n'.repeat(lines)}}\n`;

/** Each rule, and what it must not let pass. */
const samples: readonly [string, (file: SourceFile) => string[], string, string][] = [
  ['a connector in the BFF', forbiddenImports, 'apps/bff/src/x.ts', `import { connect } from '#libs/connectors';`],
  ['a deep import', forbiddenImports, 'apps/bff/src/x.ts', `import { now } from '../../../libs/server/src/clock.js';`],
  ['an alias past an index', forbiddenImports, 'apps/bff/src/x.ts', `import { now } from '#libs/server/clock';`],
  ['another app', forbiddenImports, 'apps/bff/src/x.ts', `export * from '../../aggregator/src/config.js';`],
  [
    'the contract in the sandbox',
    forbiddenImports,
    'apps/sandbox-bank/src/x.ts',
    `const m = await import('#libs/contract');`,
  ],
  ['Nest in a connector', forbiddenImports, 'libs/connectors/src/x.ts', `import { Injectable } from '@nestjs/common';`],
  ['a long file', tooLong, 'apps/bff/src/x.ts', 'g();\n'.repeat(301)],
  ['a long function', tooLong, 'apps/bff/src/x.ts', long(60)],
  ['the environment', straysFromConfig, 'apps/bff/src/main.ts', 'const home = process.env.HOME;'],
  ['any', unchecked, 'libs/client/src/x.ts', 'let x: any;'],
  ['a cast to any', unchecked, 'libs/client/src/x.ts', 'f(x as any);'],
  ['a double cast', unchecked, 'libs/client/src/x.ts', 'f(x as unknown as string);'],
  ['a silenced line', unchecked, 'libs/client/src/x.ts', '// @ts-ignore\nf(x);'],
  ['an unchecked certificate', trustsAnybody, 'apps/bff/src/x.ts', 'connect({ rejectUnauthorized: false });'],
  ['no check of any', trustsAnybody, 'apps/stack/src/x.ts', `start({ NODE_TLS_REJECT_UNAUTHORIZED: '0' });`],
  ['Date.now', readsTime, 'apps/bff/src/x.ts', 'const at = Date.now();'],
  ['new Date', readsTime, 'apps/bff/src/x.ts', 'const at = new Date();'],
  ['an empty class name', emptyNames, 'apps/bff/src/x.ts', 'class PaymentHelper {}'],
  ['an I-prefix', emptyNames, 'apps/bff/src/x.ts', 'interface IPayment {}'],
  ['an empty file name', emptyNames, 'apps/bff/src/date-utils.ts', ''],
  ['a camel-case file name', emptyNames, 'apps/bff/src/dateText.ts', ''],
  ['a barrel', otherHabits, 'apps/bff/src/payments/index.ts', ''],
  ['forwardRef', otherHabits, 'apps/bff/src/x.ts', 'forwardRef(() => X);'],
  ['a skipped test', otherHabits, 'apps/bff/src/x.spec.ts', `it.skip('x', () => {});`],
  ['acting as system', actsAsSystem, 'apps/aggregator/src/users/users.service.ts', 'asSystem(() => pool.query(text));'],
  ['an unowned query', unownedQueries, 'apps/bff/src/accounts/x.ts', 'pool.query(`select * from accounts limit 5`);'],
];

/** Each rule, and what it must let pass although it looks alike. */
const innocent: readonly [string, (file: SourceFile) => string[], string, string][] = [
  ['a lib that is allowed', forbiddenImports, 'apps/bff/src/x.ts', `import { now } from '#libs/server';`],
  [
    'a test',
    forbiddenImports,
    'apps/bff/src/x.spec.ts',
    `import { freshDatabase } from '../../../test/support/postgres.js';`,
  ],
  ['a date that is given', readsTime, 'apps/bff/src/x.ts', 'const at = new Date(text);'],
  ['a clock', readsTime, 'apps/sandbox-bank/src/clock.ts', 'const at = new Date();'],
  ['a checked certificate', trustsAnybody, 'apps/bff/src/x.ts', 'connect({ rejectUnauthorized: true });'],
  ['a config', straysFromConfig, 'apps/bff/src/config.ts', 'const home = process.env.HOME;'],
  ['a word inside a word', emptyNames, 'apps/bff/src/x.ts', 'class DatabaseModule {}\ninterface IbanRule {}'],
  [
    'an owned query',
    unownedQueries,
    'apps/bff/src/accounts/x.ts',
    'pool.query(`select * from accounts where customer_id = $1`);',
  ],
  ['a long suite', tooLong, 'apps/bff/src/x.spec.ts', `describe('x', () => {\n${'  g();\n'.repeat(80)}});`],
];

/** Two files, the first of which needs the second. */
const ring = (second: string) => [
  parse('libs/client/src/a.ts', `import { b } from './b.js';`),
  parse('libs/client/src/b.ts', second),
];

describe('the rules', () => {
  it.each(samples)('refuse %s', (_name, rule, path, text) => {
    expect(rule(parse(path, text))).toHaveLength(1);
  });
  it.each(innocent)('let %s pass', (_name, rule, path, text) => {
    expect(rule(parse(path, text))).toEqual([]);
  });
  it('refuse a ring of files, not one of types', () => {
    expect(circularImports(ring(`import { a } from './a.js';`))).toHaveLength(1);
    expect(circularImports(ring(`import type { A } from './a.js';`))).toEqual([]);
  });
  it('refuse a file that only a test uses', () => {
    const lonely = parse('libs/client/src/a.ts', 'export const a = 1;');
    const spec = parse('libs/client/src/a.spec.ts', `import { a } from './a.js';`);
    expect(unusedFiles([lonely, spec])).toHaveLength(1);
    expect(unusedFiles([lonely, parse('libs/client/src/index.ts', `export * from './a.js';`)])).toHaveLength(1);
  });
});
