import type { Command } from 'commander';
import type { DeadLetters } from '../ingestion/dead-letters.js';
import type { SecretRotation } from '../ingestion/secret-rotation.js';
import { count, type FilterOptions, uuid, withFilter } from './filter-options.js';
import type { print as printTable } from './print.js';

interface Tools {
  letters: DeadLetters;
  rotation: SecretRotation;
  print: typeof printTable;
}

interface ListOptions extends FilterOptions {
  limit: number;
  json: boolean;
}

/** Commands about webhooks that came in from the aggregator. */
export function addEventCommands(program: Command, { letters, rotation, print }: Tools): void {
  const events = program.command('events').description('webhooks that came in from the aggregator');
  const lists = { dead: 'list the newest events that nobody could handle', parked: 'list those that are tried again' };
  for (const status of ['dead', 'parked'] as const) {
    withFilter(events.command(status).description(lists[status]))
      .option('--limit <count>', 'at most so many', count, 100)
      .option('--json', 'print JSON', false)
      .action(async ({ merchant: merchantId, limit, json, ...filter }: ListOptions) => {
        const rows = await letters.list({ merchantId, ...filter }, status, limit);
        const cells = rows.map((row) => [
          row.id,
          row.merchantId,
          row.type,
          row.attempts,
          row.problem ?? '',
          row.receivedAt,
          row.nextAttemptAt ?? '',
        ]);
        print(['id', 'merchant', 'type', 'attempts', 'problem', 'received', 'next attempt'], cells, {
          json,
          raw: rows,
        });
      });
  }
  withFilter(events.command('replay [id]').description('handle an event once more, or all dead ones that match'))
    .option('--all', 'all dead ones, narrowed by the other options', false)
    .action(
      async (id: string | undefined, { merchant: merchantId, all, ...filter }: FilterOptions & { all: boolean }) => {
        if ((id === undefined) !== all) throw new Error('Give the id of an event, or --all');
        if (id === undefined) console.log(`${await letters.replayAll({ merchantId, ...filter })} are due again`);
        else if (await letters.replay(id)) console.log(`${id} is due again`);
        else throw new Error(`There is no event ${id}`);
      },
    );
  events
    .command('rotate-secret')
    .description('have what the aggregator sends about a merchant signed with a new secret')
    .requiredOption('--merchant <id>', 'whose', uuid)
    .option('--overlap <hours>', 'how long the old secret is believed, too', count, 48)
    .action(async ({ merchant, overlap }: { merchant: string; overlap: number }) => {
      const { removed } = await rotation.rotate(merchant, overlap);
      console.log(`A new secret signs; those before are believed for ${overlap} more hours. Removed: ${removed}`);
    });
}
