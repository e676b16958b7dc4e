import 'reflect-metadata';
import { Command } from 'commander';
import { AggregatorClient } from '#libs/client';
import { BffPrisma, createPool, SecretBox } from '#libs/database';
import { readEnv } from './config.js';
import { addCustomerCommands } from './console/customer-commands.js';
import { addEventCommands } from './console/event-commands.js';
import { print } from './console/print.js';
import { addRuleCommands } from './console/rule-commands.js';
import { addWebhookCommands } from './console/webhook-commands.js';
import { DeadLetters } from './ingestion/dead-letters.js';
import { SecretRotation } from './ingestion/secret-rotation.js';
import type { MerchantView } from './merchants/merchant.dto.js';
import { MerchantsService } from './merchants/merchants.service.js';
import { RegistrationService } from './merchants/registration.service.js';
import { DeadDeliveries } from './webhooks/dead-deliveries.js';

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
const rotation = new SecretRotation(pool, aggregator, registration);

async function allMerchants(): Promise<MerchantView[]> {
  const all: MerchantView[] = [];
  let cursor: string | undefined;
  do {
    const page = await merchants.list({ limit: 500, ...(cursor === undefined ? {} : { cursor }) });
    all.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
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
    const rows = await allMerchants();
    const cells = rows.map(({ id, name, status, subApplicationId, createdAt }) => [
      id,
      name,
      status,
      subApplicationId ?? '',
      createdAt,
    ]);
    print(['id', 'name', 'status', 'sub-application', 'created'], cells, { json, raw: rows });
  });

addCustomerCommands(program, { pool, patienceMs: env.DELETION_PATIENCE_HOURS * 3_600_000, print });
addRuleCommands(program, { pool, print });
addEventCommands(program, { letters: new DeadLetters(pool), rotation, print });
addWebhookCommands(program, { deliveries: new DeadDeliveries(pool), print });

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await aggregator.close();
  await pool.end();
}
