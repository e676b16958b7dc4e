import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { explainSignature } from '../ingestion/explain-signature.js';
import type { DeadDeliveries } from '../webhooks/dead-deliveries.js';
import { count, type FilterOptions, uuid, withFilter } from './filter-options.js';
import type { print as printTable } from './print.js';

interface Tools {
  deliveries: DeadDeliveries;
  print: typeof printTable;
}

interface DeadOptions extends FilterOptions {
  endpoint?: string;
}

/** Commands about webhooks that go out to merchants, and about signatures. */
export function addWebhookCommands(program: Command, { deliveries, print }: Tools): void {
  const webhooks = program.command('webhooks').description('webhooks that go out to merchants; signatures');
  withFilter(webhooks.command('dead').description('list the newest deliveries that no endpoint took'))
    .option('--endpoint <id>', 'only to this endpoint', uuid)
    .option('--limit <count>', 'at most so many', count, 100)
    .option('--json', 'print JSON', false)
    .action(async ({ merchant, endpoint, limit, json, ...filter }: DeadOptions & { limit: number; json: boolean }) => {
      const rows = await deliveries.list({ merchantId: merchant, endpointId: endpoint, ...filter }, limit);
      const cells = rows.map((row) => [row.id, row.merchantId, row.endpointId, row.type, row.attempts, row.finishedAt]);
      print(['id', 'merchant', 'endpoint', 'type', 'attempts', 'given up'], cells, { json, raw: rows });
    });
  withFilter(webhooks.command('replay [id]').description('send a dead delivery once more, or all that match'))
    .option('--endpoint <id>', 'only to this endpoint', uuid)
    .option('--all', 'all dead ones, narrowed by the other options', false)
    .action(async (id: string | undefined, options: DeadOptions & { all: boolean }) => {
      const { merchant, endpoint, all, ...filter } = options;
      if ((id === undefined) !== all) throw new Error('Give the id of a delivery, or --all');
      const due = await deliveries.replay({ id, merchantId: merchant, endpointId: endpoint, ...filter });
      if (due === 0) throw new Error('No dead delivery to an enabled endpoint matches');
      console.log(`${due} are due again`);
    });
  webhooks
    .command('verify')
    .description('say which part of a webhook of the aggregator fails; its body comes on standard input')
    .requiredOption('--secret <secret>', 'the secret that should have signed')
    .option('--signature <signature>', 'the header webhook-signature')
    .action(async ({ secret, signature }: { secret: string; signature?: string }) => {
      const body = Buffer.from(await text(process.stdin));
      const { valid, because } = explainSignature({ body, signature, secret });
      console.log(because);
      if (!valid) process.exitCode = 1;
    });
}
