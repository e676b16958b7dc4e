import cliProgress from 'cli-progress';
import Table from 'cli-table3';
import { Command } from 'commander';
import pc from 'picocolors';
import { readSettings, refuseProduction } from './config.js';
import { type Figures, runJourney, type StepReport, type SyncView, type Watcher } from './journey.js';
import { msSinceCommand, residentMemory } from './resident-memory.js';
import { findRunningStack, type StackFile, startStack } from './stack.js';

/** Shows the journey to a person: a line a step, a bar for the synchronisation. */
class Screen implements Watcher {
  private readonly bar = new cliProgress.SingleBar({
    format: `  ${pc.cyan('{bar}')} {value}/{total} transactions, account {account} of {accounts}`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    clearOnComplete: true,
    noTTYOutput: false,
  });
  private isBarShown = false;

  stepStarted(step: string): void {
    if (process.stdout.isTTY) process.stdout.write(`${pc.dim('…')} ${step}\r`);
  }

  syncProgress({ rowsRead, rowsExpected, accounts, accountsDone }: SyncView): void {
    const told = { account: Math.min(accountsDone + 1, accounts), accounts };
    const total = Math.max(rowsExpected, rowsRead, 1);
    if (!this.isBarShown) {
      // The bar takes the place of the line that says the step has begun (ECMA-48, erase in line).
      if (process.stdout.isTTY) process.stdout.write('\r\u001B[K');
      this.bar.start(total, rowsRead, told);
      this.isBarShown = true;
    }
    this.bar.setTotal(total);
    this.bar.update(rowsRead, told);
  }

  stepEnded({ step, ok, ms, figures, problem }: StepReport): void {
    if (this.isBarShown) this.bar.stop();
    this.isBarShown = false;
    const mark = ok ? pc.green('✔') : pc.red('✘');
    const told = ok ? pc.dim(inWords(figures)) : pc.red(problem ?? '');
    console.log(`${mark} ${step.padEnd(32)} ${`${ms} ms`.padStart(9)}  ${told}`);
  }
}

const silent: Watcher = { stepStarted: () => {}, stepEnded: () => {}, syncProgress: () => {} };

function inWords(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

function printSummary(stack: StackFile, report: DemoReport): void {
  const table = new Table({ head: ['figure', 'value'], style: { head: ['bold'] } });
  const { sync, memory } = report;
  table.push(
    ['steps that held', `${report.steps.filter(({ ok }) => ok).length} of ${report.steps.length}`],
    ['accounts and transactions', `${sync['accounts']} and ${sync['rows']}`],
    ['synced rows per second, bank to database', String(sync['syncedRowsPerSecond'])],
    ['rows matched and recorded per second', String(sync['recordedRowsPerSecond'])],
    ['from command to ready', report.readyMs === undefined ? 'unknown' : `${(report.readyMs / 1000).toFixed(1)} s`],
    [
      'memory of all processes',
      memory ? `${memory.pssMb} MB (${memory.rssMb} MB with shared pages counted twice)` : 'unknown',
    ],
  );
  console.log(`\n${table.toString()}\n`);
  console.log(`To look further:
  BFF reference         ${stack.bff}/docs
  aggregator reference  ${stack.aggregator}/docs
  sandbox bank          ${stack.sandbox}
`);
}

interface DemoReport {
  ok: boolean;
  /** Milliseconds from the command that started the stack to `ready`. */
  readyMs?: number;
  /** Resident memory of the launcher, the programs and Postgres after the journey. */
  memory?: { rssMb: number; pssMb: number; processes: number };
  sync: Figures;
  steps: StepReport[];
  addresses: { aggregator: string; bff: string; sandbox: string };
}

async function perform(stack: StackFile, watcher: Watcher): Promise<DemoReport> {
  const steps = await runJourney(stack, watcher);
  const { aggregator, bff, sandbox, readyMs } = stack;
  const memory = await residentMemory([stack.pid]);
  return {
    ok: steps.every(({ ok }) => ok),
    ...(readyMs === undefined ? {} : { readyMs }),
    ...(memory ? { memory } : {}),
    sync: steps.find(({ step }) => step === 'transactions synced')?.figures ?? {},
    steps,
    addresses: { aggregator, bff, sandbox },
  };
}

/** A running stack, or one of our own that ends with the demo. */
async function openStack(json: boolean): Promise<{ stack: StackFile; close: () => Promise<void> }> {
  refuseProduction();
  const settings = readSettings();
  const running = await findRunningStack(settings.dataDir);
  if (running) return { stack: running, close: () => Promise.resolve() };
  if (!json) console.log(pc.dim('No stack is running here: starting one.'));
  const started = await startStack(settings);
  return { stack: { ...started, readyMs: Math.round(await msSinceCommand()) }, close: started.stop };
}

async function main(): Promise<number> {
  const { json } = new Command('demo')
    .description('One customer, from the first connection to a completed payment')
    .option('--json', 'print one JSON object as the last line', false)
    .parse()
    .opts<{ json: boolean }>();
  const { stack, close } = await openStack(json);
  try {
    const report = await perform(stack, json ? silent : new Screen());
    if (json) console.log(JSON.stringify(report));
    else printSummary(stack, report);
    return report.ok ? 0 : 1;
  } finally {
    await close();
  }
}

main().then(
  (code) => process.exit(code),
  (error: Error) => {
    console.error(error.message);
    process.exit(1);
  },
);
