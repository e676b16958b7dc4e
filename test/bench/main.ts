import 'reflect-metadata';
import Table from 'cli-table3';
import { Command } from 'commander';
import { corpus } from './corpus.js';
import type { Bound, Figure } from './harness.js';
import { endOnSignals } from './holding.js';
import { ingestion } from './ingestion.js';
import { liveRead } from './live-reads.js';
import { liveReadSteady } from './live-steady.js';
import { bffRead, smallCall } from './reads.js';
import { scheduling } from './scheduling.js';
import { startUp } from './start.js';
import { syncMemory, syncRecord } from './sync-record.js';

interface Settings {
  seed: string;
  rows: string;
  history?: string;
}

const benchmarks: Record<string, (settings: Settings) => Promise<(Figure | Bound)[]>> = {
  start: startUp,
  scheduling,
  'sync-record': syncRecord,
  'sync-memory': syncMemory,
  'small-call': smallCall,
  'live-read': liveRead,
  'live-read-steady': liveReadSteady,
  'bff-read': bffRead,
  ingestion,
  corpus: ({ seed, rows, ...history }) => corpus({ seed: Number(seed), rows: Number(rows), ...history }),
};

/** Only when named: it takes minutes and has no baseline. */
const byName = new Set(['corpus']);

const isBound = (figure: Figure | Bound): figure is Bound => 'bound' in figure;
const holds = ({ value, bound }: Bound): boolean => value <= bound;

function printBounds(bounds: Bound[]): void {
  const table = new Table({ head: ['must hold', 'unit', 'measured', 'at most', 'bare', 'holds'] });
  for (const each of bounds) {
    const { name, unit, value, bound, baseline = '' } = each;
    table.push([name, unit, value, bound, baseline, holds(each) ? 'yes' : 'NO']);
  }
  console.log(table.toString());
}

function print(figures: Figure[]): void {
  const table = new Table({
    head: ['benchmark', 'unit', 'ours /s', 'baseline /s', 'ratio', 'p99 ms: ours, baseline', 'baseline'],
  });
  for (const figure of figures) {
    const { name, unit, oursPerSecond, baselinePerSecond, ratio, baseline } = figure;
    const tails = [figure.oursP99Ms, figure.baselineP99Ms].flatMap((ms) => ms ?? []).join(', ');
    table.push([name, unit, oursPerSecond, baselinePerSecond, ratio, tails, baseline]);
  }
  console.log(table.toString());
}

async function main(): Promise<void> {
  const program = new Command('bench')
    .description('Benchmarks, each beside its bare baseline in the same run: medians of paired rounds')
    .argument('[names...]', `which ones: ${Object.keys(benchmarks).join(', ')}`)
    .option('--json', 'print one JSON object as the last line', false)
    .option('--seed <number>', 'of the corpus', '20260101')
    .option('--rows <number>', 'of the corpus: true transactions', '1000000')
    .option('--history <pathology/number>', 'of the corpus: tell everything of this one history')
    .parse();
  const { json, ...settings } = program.opts<{ json: boolean } & Settings>();
  const names = program.args.length > 0 ? program.args : Object.keys(benchmarks).filter((name) => !byName.has(name));
  const results: (Figure | Bound)[] = [];
  for (const name of names) {
    const run = benchmarks[name];
    if (!run) throw new Error(`There is no benchmark ${name}: choose of ${Object.keys(benchmarks).join(', ')}`);
    results.push(...(await run(settings)));
  }
  const bounds = results.filter(isBound);
  const figures = results.filter((result): result is Figure => !isBound(result));
  if (json) console.log(JSON.stringify({ node: process.version, figures, bounds }));
  else {
    if (figures.length > 0) print(figures);
    if (bounds.length > 0) printBounds(bounds);
  }
  if (!bounds.every(holds)) process.exitCode = 1;
}

endOnSignals();
main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
