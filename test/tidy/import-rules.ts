import { type SourceFile, isTest, roomOf, target } from './source-tree.js';

/** Who may import whom (ARCHITECTURE.md). A test may import everything. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  'libs/contract': [],
  'libs/client': ['libs/contract'],
  'libs/merchant-client': [],
  'libs/connectors': ['libs/contract'],
  'libs/server': ['libs/contract'],
  'libs/database': ['libs/server'],
  'apps/aggregator': ['libs/contract', 'libs/connectors', 'libs/server', 'libs/database'],
  'apps/bff': ['libs/contract', 'libs/client', 'libs/server', 'libs/database'],
  'apps/bff/page': ['libs/merchant-client'],
  'apps/sandbox-bank': ['libs/server'],
  'apps/stack': ['libs/server', 'libs/client', 'libs/merchant-client', 'libs/database', 'prisma'],
  prisma: ['libs/database'],
};

/** Packages that would carry a framework into a room that has to do without. */
const barredPackages: Readonly<Record<string, RegExp>> = {
  'libs/contract': /^(?!class-validator$|class-transformer$|@nestjs\/(common|swagger)$|reflect-metadata$|node:)/,
  'libs/client': /^(@nestjs\/|pg$|@prisma\/)/,
  'libs/merchant-client': /^(?!openapi-fetch$)/,
  'libs/connectors': /^(@nestjs\/|pg$|@prisma\/|pino$)/,
  'libs/server': /^(pg$|@prisma\/|bullmq$|@nestjs\/bullmq$)/,
  'apps/sandbox-bank': /^(pg$|@prisma\/|bullmq$|@nestjs\/bullmq$)/,
};

/** Imports that the table does not allow, and imports past another room's `index.ts`. */
export function forbiddenImports(file: SourceFile): string[] {
  if (isTest(file.path)) return [];
  const room = roomOf(file.path);
  return file.imports.flatMap(({ specifier }) => {
    const reached = target(file, specifier);
    if (reached === undefined) return barred(file, specifier);
    const other = roomOf(reached);
    if (other === room) return [];
    if (!(mayImport[room] ?? []).includes(other)) return [`${file.path} must not import ${other}`];
    const isDeep = other !== 'prisma' && !specifier.startsWith('#libs/');
    return isDeep ? [`${file.path} imports ${specifier}, past the index of ${other}`] : [];
  });
}

function barred(file: SourceFile, specifier: string): string[] {
  if (specifier.startsWith('#')) return [`${file.path} imports ${specifier}: only #libs/<lib> exists`];
  return barredPackages[roomOf(file.path)]?.test(specifier) ? [`${file.path} must not import ${specifier}`] : [];
}

type Edges = ReadonlyMap<string, readonly string[]>;

/** Rings of files that all need each other: among them the rings of Nest modules that would need `forwardRef`. */
export function circularImports(files: SourceFile[]): string[] {
  const edges = new Map<string, string[]>();
  for (const file of files) {
    const reached = file.imports.flatMap(({ specifier, isTypeOnly }) =>
      isTypeOnly ? [] : (target(file, specifier) ?? []),
    );
    if (!isTest(file.path)) edges.set(file.path, reached);
  }
  return rings(edges).map((ring) => `circular: ${ring.join(' -> ')}`);
}

function rings(edges: Edges): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const walk = (name: string, trail: string[]): void => {
    const at = trail.indexOf(name);
    if (at >= 0) {
      if (trail.length - at > 1) found.push([...trail.slice(at), name]);
      return;
    }
    if (done.has(name)) return;
    for (const next of new Set(edges.get(name) ?? [])) if (next !== name) walk(next, [...trail, name]);
    done.add(name);
  };
  for (const name of edges.keys()) walk(name, []);
  return found;
}

/** Started by name, by a runner or by hand: nobody imports them. */
const entries: readonly RegExp[] = [
  /^apps\/(aggregator|bff|sandbox-bank)\/src\/(main|openapi|console)\.ts$/,
  /^apps\/bff\/page\/page\.tsx$/,
  /^apps\/stack\/src\/(start|demo|console|migrate|register)\.ts$/,
  /^test\/(bench\/[\w-]+|screenshots\/main|vitest\.config|support\/global-setup)\.ts$/,
  /\.(spec|e2e|conformance)\.ts$/,
];

/** Files that nothing uses, or that only tests use although they are not part of the tests. */
export function unusedFiles(files: SourceFile[]): string[] {
  const used = new Set<string>();
  for (const file of files) {
    for (const { specifier } of file.imports) {
      const reached = target(file, specifier);
      if (reached !== undefined && (!isTest(file.path) || isTest(reached))) used.add(reached);
    }
  }
  const unused = files.filter(({ path }) => !used.has(path) && !entries.some((entry) => entry.test(path)));
  return unused.map(({ path }) => `${path} is used by nothing`);
}
