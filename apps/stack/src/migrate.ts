import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMigrations, type Program, programs } from '../../../prisma/migrate.js';
import { writeMigration } from '../../../prisma/schema-diff.js';
import { readSettings } from './config.js';
import { startPostgres } from './embedded-postgres.js';

const usage = `Usage:
  npm run db:migrate [-- <program>]           apply the migrations that are due (DATABASE_URL, or the embedded database)
  npm run db:migration -- <program> <name>    write the next migration from the schema
A program is ${programs.join(' or ')}; a name is written_like_this.`;

class UsageError extends Error {}

function programOf(text: string | undefined): Program {
  const program = programs.find((name) => name === text);
  if (!program) throw new UsageError(usage);
  return program;
}

/** Runs `work` on `DATABASE_URL`, or else on the embedded server with its data in `dataDir`. */
async function withServer(dataDir: string, work: (connectionString: string) => Promise<void>): Promise<void> {
  const { databaseUrl } = readSettings();
  if (databaseUrl) return work(databaseUrl);
  const server = await startPostgres({ dataDir });
  try {
    await work(server.connectionString);
  } finally {
    await server.stop();
  }
}

async function apply(chosen: readonly Program[]): Promise<void> {
  await withServer(readSettings().dataDir, async (connectionString) => {
    for (const program of chosen) {
      const names = await applyMigrations(program, connectionString);
      console.log(names.length > 0 ? `${program}: applied ${names.join(', ')}` : `${program}: nothing to apply`);
    }
  });
}

/** Writing compares against a database that is thrown away, so it never touches the stack's own data. */
async function write(program: Program, name: string): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tributary-migration-'));
  try {
    await withServer(dataDir, async (serverConnectionString) => {
      const file = await writeMigration(program, {
        name,
        serverConnectionString,
        at: new Date(performance.timeOrigin),
      });
      console.log(file ? `wrote ${file}` : `${program}: the migrations agree with the schema; nothing was written`);
    });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function main([command, first, name]: string[]): Promise<void> {
  if (command === 'apply') return apply(first === undefined ? programs : [programOf(first)]);
  if (command === 'write' && name !== undefined) return write(programOf(first), name);
  throw new UsageError(usage);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof UsageError ? error.message : error);
  process.exitCode = 1;
});
