import 'reflect-metadata';
import { Command } from 'commander';
import Table from 'cli-table3';
import { AggregatorClient } from '#libs/client';
import { BffPrisma, createPool, SecretBox } from '#libs/database';
import { readEnv } from './config.js';
import { DeadLetters } from './ingestion/dead-letters.js';
import { MerchantsService } from './merchants/merchants.service.js';
import { RegistrationService } from './merchants/registration.service.js';

const env = readEnv();
const pool = createPool({ connectionString: env.DATABASE_URL, schema: 'bff', max: 2 });
const prisma = new BffPrisma(pool);
const aggregator = new AggregatorClient({
  baseUrl: env.AGGREGATOR_URL,
  applicationId: env.AGGREGATOR_APPLICATION_ID,
  applicationSecret: env.AGGREGATOR_APPLICATION_SECRET,
});
const registration = new RegistrationService(prisma, new SecretBox(env.SEALING_KEYS), aggregator, env);
const merchants = new MerchantsService(prisma, registration);
const deadLetters = new DeadLetters(pool);

function print(head: string[], rows: (string | number)[][], { json, raw }: { json: boolean; raw: unknown }): void {
  if (json) {
    console.log(JSON.stringify(raw));
    return;
  }
  const table = new Table({ head });
  table.push(...rows);
  console.log(table.toString());
}

const program = new Command('bff').description('Operator commands of the BFF').showHelpAfterError();

const merchantCommands = program.command('merchants').description('merchants and their API keys');
merchantCommands
  .command('create')
  .description('make a merchant with its sub-application and print its API key once')
  .requiredOption('--name <name>', 'letters, digits, spaces and -_[]()')
  .requiredOption('--mcc <code>', 'merchant category code, four digits')
  .option('--group <ppcUserGroup>', 'what purpose codes are chosen by', 'CONSUMER_GOODS_SERVICES')
  .option('--contract', 'there is a contract with the payees', false)
  .option('--return-url <url...>', 'where customers may be sent back to')
  .option('--origin <url...>', 'where frontends call from')
  .option('--json', 'print JSON', false)
  .action(
    async (options: {
      name: string;
      mcc: string;
      group: string;
      contract: boolean;
      returnUrl?: string[];
      origin?: string[];
      json: boolean;
    }) => {
      const created = await merchants.create({
        name: options.name,
        merchantCategoryCode: options.mcc,
        ppcUserGroup: options.group,
        isContractPresent: options.contract,
        ...(options.returnUrl ? { returnUrls: options.returnUrl } : {}),
        ...(options.origin ? { allowedOrigins: options.origin } : {}),
      });
      if (options.json) console.log(JSON.stringify(created));
      else console.log(`id       ${created.id}\nAPI key  ${created.apiKey}\n\nThe key is shown this once.`);
    },
  );
merchantCommands
  .command('list')
  .description('list merchants')
  .option('--json', 'print JSON', false)
  .action(async ({ json }: { json: boolean }) => {
    const rows = await merchants.list();
    const cells = rows.map(({ id, name, status, subApplicationId, createdAt }) => [
      id,
      name,
      status,
      subApplicationId ?? '',
      createdAt,
    ]);
    print(['id', 'name', 'status', 'sub-application', 'created'], cells, { json, raw: rows });
  });

const eventCommands = program.command('events').description('webhooks that came in from the aggregator');
eventCommands
  .command('dead')
  .description('list the newest events that nobody could handle')
  .option('--json', 'print JSON', false)
  .action(async ({ json }: { json: boolean }) => {
    const rows = await deadLetters.list();
    const cells = rows.map(({ id, merchantId, type, attempts, problem, receivedAt }) => [
      id,
      merchantId,
      type,
      attempts,
      problem ?? '',
      receivedAt,
    ]);
    print(['id', 'merchant', 'type', 'attempts', 'problem', 'received'], cells, { json, raw: rows });
  });
eventCommands
  .command('replay <id>')
  .description('handle an event once more; a running worker takes it within seconds')
  .action(async (id: string) => {
    if (!(await deadLetters.replay(id))) throw new Error(`There is no event ${id}`);
    console.log(`${id} is due again`);
  });

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await aggregator.close();
  await pool.end();
}
