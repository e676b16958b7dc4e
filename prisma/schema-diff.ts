import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, type ColumnType, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { applyMigrations, type Program, programFolder, readMigrations } from './migrate.js';

type EngineModule = typeof import('@prisma/schema-engine-wasm/schema_engine_bg');

/** What we use of WebAssembly, which neither the ECMAScript library nor Node's types declare. */
declare const WebAssembly: {
  instantiate: (bytes: Uint8Array, imports: object) => Promise<{ instance: { exports: Record<string, unknown> } }>;
};

const anEmptyDiff = /^\s*(?:-- This is an empty migration\.)?\s*$/;

let engineOfProcess: Promise<EngineModule> | undefined;

/**
 * Prisma's schema engine from its npm package; the ordinary CLI would download a binary instead. Loaded once: its glue code keeps
 * one memory, and objects of an earlier one would later be freed in it.
 */
function loadEngine(): Promise<EngineModule> {
  engineOfProcess ??= instantiateEngine();
  return engineOfProcess;
}

async function instantiateEngine(): Promise<EngineModule> {
  const entry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm');
  const engine = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  // Its own way to say why it stops; without this it says nothing.
  const panics = {
    set_message(message: string): never {
      throw new Error(message);
    },
  };
  Reflect.set(globalThis, 'PRISMA_WASM_PANIC_REGISTRY', panics);
  const bytes = readFileSync(join(dirname(entry), 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': { ...engine } });
  engine.__wbg_set_wasm(instance.exports);
  const start: unknown = instance.exports['__wbindgen_start'];
  if (typeof start === 'function') start();
  return engine;
}

function readSchema(program: Program): { files: { path: string; content: string }[] } {
  const folder = programFolder(program);
  const models = readdirSync(join(folder, 'models')).map((name) => join(folder, 'models', name));
  const paths = [join(folder, 'schema.prisma'), ...models].filter((path) => path.endsWith('.prisma'));
  return { files: paths.map((path) => ({ path, content: readFileSync(path, 'utf8') })) };
}

/**
 * The SQL that leads from the program's migrations to its schema; empty when they agree. Needs a Postgres server on
 * which it may create a database: the migrations are applied to one that is dropped again.
 */
export async function diffSchema(program: Program, serverConnectionString: string): Promise<string> {
  const scratch = `tributary_diff_${randomUUID().replaceAll('-', '')}`;
  const server = new pg.Client({ connectionString: serverConnectionString });
  await server.connect();
  try {
    await server.query(`CREATE DATABASE ${scratch}`);
    const url = new URL(serverConnectionString);
    url.pathname = `/${scratch}`;
    await applyMigrations(program, url.href);
    return await diffDatabase(program, url.href);
  } finally {
    await server.query(`DROP DATABASE IF EXISTS ${scratch} WITH (FORCE)`);
    await server.end();
  }
}

/**
 * The engine reads Postgres's catalogue and expects one-letter columns (type "char", 18) as characters, a type that the
 * adapter of Prisma 7.10 refuses. No catalogue column is a UUID (2950), so that is what they travel as between the two.
 */
class CatalogueAdapter extends PrismaPg {
  static over(pool: pg.Pool, schema: string): CatalogueAdapter {
    const query = pool.query.bind(pool) as (statement: object) => Promise<pg.QueryResult>;
    pool.query = (async (statement: object) => {
      const result = await query(statement);
      for (const field of result.fields) if (field.dataTypeID === 18) field.dataTypeID = 2950;
      return result;
    }) as typeof pool.query;
    return new CatalogueAdapter(pool, { schema });
  }

  override async connect() {
    const adapter = await super.connect();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query) => {
      const result = await queryRaw(query);
      const asCharacter = (type: ColumnType) => (type === ColumnTypeEnum.Uuid ? ColumnTypeEnum.Character : type);
      return { ...result, columnTypes: result.columnTypes.map(asCharacter) };
    };
    return adapter;
  }
}

type Engine = EngineModule['SchemaEngine']['prototype'];

/** Runs `work` with Prisma's schema engine on the program's tables in this database. */
export async function withSchemaEngine<T>(
  program: Program,
  connectionString: string,
  work: (engine: Engine, schema: ReturnType<typeof readSchema>) => Promise<T>,
): Promise<T> {
  const { SchemaEngine } = await loadEngine();
  const pool = new pg.Pool({ connectionString, options: `-c search_path=${program}`, max: 2 });
  const factory = bindMigrationAwareSqlAdapterFactory(CatalogueAdapter.over(pool, program));
  const schema = readSchema(program);
  const datamodels = schema.files.map(({ path, content }): [string, string] => [path, content]);
  const engine = await SchemaEngine.new({ datamodels }, () => {}, factory);
  try {
    return await work(engine, schema);
  } finally {
    engine.free();
    await pool.end();
  }
}

/** From `empty`, or from the tables of the database, to the schema. */
function diffDatabase(program: Program, connectionString: string, from: 'database' | 'empty' = 'database') {
  return withSchemaEngine(program, connectionString, async (engine, schema) => {
    const { stdout } = await engine.diff({
      from:
        from === 'empty' ? { tag: 'empty' } : { tag: 'schemaDatasource', configDir: programFolder(program), ...schema },
      to: { tag: 'schemaDatamodel', ...schema },
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    });
    return anEmptyDiff.test(stdout ?? '') ? '' : (stdout ?? '');
  });
}

export interface NewMigration {
  name: string;
  serverConnectionString: string;
  /** When it is written; the folder's name begins with it. */
  at: Date;
}

/** Writes the next migration and answers its file, or undefined when migrations and schema agree already. */
export async function writeMigration(program: Program, migration: NewMigration): Promise<string | undefined> {
  const { name, serverConnectionString, at } = migration;
  if (!/^[a-z][a-z0-9_]{0,60}$/.test(name))
    throw new Error('A migration is named in lower case letters, digits and _.');
  // `init` keeps its place before the migrations written by hand, which need its tables, however often it is written anew.
  const isFirst = name === 'init';
  if (isFirst && readMigrations(program).some((each) => each.name.endsWith('_init')))
    throw new Error('There is an init already.');
  const sql = await (isFirst
    ? diffDatabase(program, serverConnectionString, 'empty')
    : diffSchema(program, serverConnectionString));
  if (!sql) return undefined;
  const stamp = isFirst ? '20261121000000' : at.toISOString().replaceAll(/[-:T]|\..*$/g, '');
  const folder = join(programFolder(program), 'migrations', `${stamp}_${name}`);
  mkdirSync(folder, { recursive: true });
  const lock = join(programFolder(program), 'migrations', 'migration_lock.toml');
  writeFileSync(lock, '# Read by the Prisma CLI.\nprovider = "postgresql"\n');
  writeFileSync(join(folder, 'migration.sql'), sql.endsWith('\n') ? sql : `${sql}\n`);
  return join(folder, 'migration.sql');
}
