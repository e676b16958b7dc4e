import type { Command } from 'commander';
import type { Pool } from 'pg';
import { selectDeletions, toDeletionView } from '../customers/deletions.queries.js';
import { count, uuid } from './filter-options.js';
import type { print as printTable } from './print.js';

interface Tools {
  pool: Pool;
  /** How long a deletion waits for banks. */
  patienceMs: number;
  print: typeof printTable;
}

interface Options {
  merchant?: string;
  unconfirmed: boolean;
  limit: number;
  json: boolean;
}

/** Commands about merchants' customers. */
export function addCustomerCommands(program: Command, { pool, patienceMs, print }: Tools): void {
  const customers = program.command('customers').description('merchants’ customers');
  customers
    .command('deletions')
    .description('list the newest deletions of customers, and what no bank has confirmed')
    .option('--merchant <id>', 'only of this merchant', uuid)
    .option('--unconfirmed', 'only those that are under way, or of which something is not confirmed', false)
    .option('--limit <count>', 'at most so many', count, 100)
    .option('--json', 'print JSON', false)
    .action(async ({ merchant: merchantId, unconfirmed: isUnconfirmed, limit, json }: Options) => {
      const rows = await selectDeletions(pool, { merchantId, isUnconfirmed }, limit);
      const views = rows.map((row) => ({ merchantId: row.merchant_id, ...toDeletionView(row, patienceMs) }));
      const cells = views.map((view) => [
        view.id,
        view.merchantId,
        view.status,
        view.requestedAt,
        view.completedAt ?? '',
        view.attempts,
        view.problem ?? '',
        view.consents
          .map(({ institutionId, outcome, reason }) => [institutionId, outcome, reason].join(' '))
          .join('\n'),
        view.userDeleted ? 'deleted' : 'unconfirmed',
      ]);
      const head = ['id', 'merchant', 'status', 'requested', 'completed', 'attempts', 'problem', 'consents', 'user'];
      print(head, cells, { json, raw: views });
    });
}
