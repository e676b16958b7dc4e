import { type Command, InvalidArgumentError } from 'commander';
import type { Pool } from 'pg';
import { now } from '#libs/server';
import type { print as printTable } from './print.js';

interface Tools {
  pool: Pool;
  print: typeof printTable;
}

interface Options {
  scaDays?: number;
  reconfirmable?: boolean;
  callsPerDay?: number;
}

interface Row {
  institution_id: string;
  calls_per_day: number | null;
  sca_days: number | null;
  reconfirmable: boolean | null;
}

/** Commands about what single institutions want otherwise than the law says, and which have become which. */
export function addRuleCommands(program: Command, tools: Tools): void {
  const rules = program
    .command('rules')
    .description('what institutions want otherwise than the law says, and their successors');
  addLawCommands(rules, tools);
  addSuccessionCommands(rules, tools);
}

function addLawCommands(rules: Command, { pool, print }: Tools): void {
  rules
    .command('set <institutionId>')
    .description('set it; what is not given goes by the law of the institution’s country again')
    .option('--sca-days <days>', 'days for which one authentication counts; 0 where the bank asks only once', days)
    .option('--reconfirmable <yes|no>', 'whether the customer’s word to us prolongs access', yesOrNo)
    .option('--calls-per-day <calls>', 'unattended calls a day of each scope', days)
    .action(async (institutionId: string, { scaDays, reconfirmable, callsPerDay }: Options) => {
      await pool.query(
        `insert into institution_reaches (institution_id, sca_days, reconfirmable, calls_per_day, updated_at) values ($1, $2, $3, $4, $5)
         on conflict (institution_id) do update set sca_days = $2, reconfirmable = $3, calls_per_day = $4, updated_at = $5`,
        [institutionId, scaDays ?? null, reconfirmable ?? null, callsPerDay || null, now()],
      );
      console.log(`${institutionId} is set; clocks of its consents are worked out anew within a day`);
    });
  rules
    .command('list')
    .description('list what is set')
    .option('--json', 'print JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const { rows } = await pool.query<Row>(
        `select institution_id, calls_per_day, sca_days, reconfirmable from institution_reaches
         where coalesce(calls_per_day, sca_days, reconfirmable::int) is not null order by institution_id`,
      );
      const cells = rows.map((row) => [
        row.institution_id,
        row.calls_per_day ?? '',
        row.sca_days ?? '',
        row.reconfirmable === null ? '' : String(row.reconfirmable),
      ]);
      print(['institution', 'calls a day', 'SCA days', 'reconfirmable'], cells, { json, raw: rows });
    });
}

function addSuccessionCommands(rules: Command, { pool, print }: Tools): void {
  rules
    .command('succeed <institutionId> <successorId>')
    .description(
      'the customers of one institution have become those of another, as by a merger: accounts keep ids and histories',
    )
    .action(async (institutionId: string, successorId: string) => {
      if (institutionId === successorId) throw new InvalidArgumentError('An institution cannot succeed itself.');
      await pool.query(
        `insert into institution_successions (institution_id, successor_id, created_at) values ($1, $2, $3)
         on conflict (institution_id) do update set successor_id = $2, created_at = $3`,
        [institutionId, successorId, now()],
      );
      console.log(`${successorId} succeeds ${institutionId}; accounts move as soon as it shows them`);
    });
  rules
    .command('successions')
    .description('list which institution has become which')
    .option('--json', 'print JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const { rows } = await pool.query<{ institution_id: string; successor_id: string }>(
        'select institution_id, successor_id from institution_successions order by institution_id',
      );
      const cells = rows.map((row) => [row.institution_id, row.successor_id]);
      print(['institution', 'successor'], cells, { json, raw: rows });
    });
  rules
    .command('unsucceed <institutionId>')
    .description('it goes on by itself: what has moved stays where it is')
    .action(async (institutionId: string) => {
      const text = 'delete from institution_successions where institution_id = $1';
      const { rowCount } = await pool.query(text, [institutionId]);
      console.log(rowCount ? `${institutionId} has no successor` : `${institutionId} had no successor`);
    });
}

function days(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

function yesOrNo(text: string): boolean {
  if (text === 'yes' || text === 'no') return text === 'yes';
  throw new InvalidArgumentError('It must be yes or no.');
}
