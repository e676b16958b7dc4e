import 'reflect-metadata';
import { Command } from 'commander';
import Table from 'cli-table3';
import { createPool } from '#libs/database';
import { Metrics } from '#libs/server';
import { ApplicationKeysService, type IssuedKey } from './applications/application-keys.service.js';
import { readEnv } from './config.js';
import { InstitutionsService } from './institutions/institutions.service.js';
import { OutboxService } from './webhooks/outbox.service.js';

const env = readEnv();
const pool = createPool({ connectionString: env.DATABASE_URL, schema: 'aggregator', max: 1 });
const keys = new ApplicationKeysService(pool);
const outbox = new OutboxService(pool);

function printRows(head: string[], rows: (string | number)[][], isJson: boolean, raw: unknown): void {
  if (isJson) {
    console.log(JSON.stringify(raw));
    return;
  }
  const table = new Table({ head });
  table.push(...rows);
  console.log(table.toString());
}

function printKey(key: IssuedKey, isJson: boolean): void {
  if (isJson) {
    console.log(JSON.stringify(key));
    return;
  }
  console.log(`id      ${key.id}\nsecret  ${key.secret}\n\nThe secret is shown this once.`);
}

const program = new Command('aggregator').description('Operator commands of the aggregator').showHelpAfterError();

const applications = program
  .command('applications')
  .description('root applications, sub-applications and their secrets');
applications
  .command('create')
  .description('make an application and print its secret once')
  .requiredOption('--name <name>', 'the name it is shown by')
  .option('--root <id>', 'make a sub-application of this root')
  .option('--callback <url...>', 'an address that browsers may be sent back to')
  .option('--json', 'print JSON', false)
  .action(
    async ({ name, root, callback, json }: { name: string; root?: string; callback?: string[]; json: boolean }) => {
      const key = await keys.create({
        name,
        ...(root === undefined ? {} : { rootApplicationId: root }),
        ...(callback === undefined ? {} : { callbackUrls: callback }),
      });
      printKey(key, json);
    },
  );
applications
  .command('list')
  .description('list roots, each followed by its sub-applications')
  .option('--json', 'print JSON', false)
  .action(async ({ json }: { json: boolean }) => {
    const rows = await keys.list();
    const cells = rows.map(({ id, rootApplicationId, name, hasSecret, createdAt }) => {
      return [id, rootApplicationId ?? '', name, hasSecret ? 'yes' : 'no', createdAt.toISOString()];
    });
    printRows(['id', 'root', 'name', 'secret', 'created'], cells, json, rows);
  });
applications
  .command('rotate-secret <id>')
  .description('issue a new secret, or the first one of a sub-application, and print it once')
  .option('--overlap <seconds>', 'how long the old secret stays valid', '0')
  .option('--json', 'print JSON', false)
  .action(async (id: string, { overlap, json }: { overlap: string; json: boolean }) => {
    if (!/^\d{1,7}$/.test(overlap)) throw new Error('--overlap must be a number of seconds');
    printKey(await keys.rotate(id, Number(overlap)), json);
  });

program
  .command('institutions')
  .description('the institutions that can be reached')
  .command('list')
  .description('list institutions and their features')
  .option('--json', 'print JSON', false)
  .action(({ json }: { json: boolean }) => {
    const rows = new InstitutionsService(env, new Metrics()).list();
    const cells = rows.map(({ id, name, countries, features }) => {
      return [id, name, countries.map(({ countryCode2 }) => countryCode2).join(' '), features.length];
    });
    printRows(['id', 'name', 'countries', 'features'], cells, json, rows);
  });

const deliveries = program.command('deliveries').description('webhook deliveries that were given up');
deliveries
  .command('dead')
  .description('list the newest dead deliveries')
  .option('--json', 'print JSON', false)
  .action(async ({ json }: { json: boolean }) => {
    const rows = await outbox.dead();
    const cells = rows.map(({ id, applicationId, category, rounds, finishedAt }) => {
      return [id, applicationId, category, rounds, finishedAt.toISOString()];
    });
    printRows(['id', 'application', 'category', 'rounds', 'given up'], cells, json, rows);
  });
deliveries
  .command('replay <id>')
  .description('deliver once more; a running worker takes it within seconds')
  .action(async (id: string) => {
    await outbox.replay(id);
    console.log(`${id} is due again`);
  });

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await pool.end();
}
