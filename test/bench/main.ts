import 'reflect-metadata';
import Table from 'cli-table3';
import { Command } from 'commander';
import type { Figure } from './harness.js';
import { ingestion } from './ingestion.js';
import { bffRead, smallCall } from './reads.js';
import { startUp } from './start.js';
import { syncRecord } from './sync-record.js';

const benchmarks: Record<string, () => Promise<Figure[]>> = {
  start: startUp,
  'sync-record': syncRecord,
  'small-call': smallCall,
  'bff-read': bffRead,
  ingestion,
};

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
    .parse();
  const { json } = program.opts<{ json: boolean }>();
  const names = program.args.length > 0 ? program.args : Object.keys(benchmarks);
  const figures: Figure[] = [];
  for (const name of names) {
    const run = benchmarks[name];
    if (!run) throw new Error(`There is no benchmark ${name}: choose of ${Object.keys(benchmarks).join(', ')}`);
    figures.push(...(await run()));
  }
  if (json) console.log(JSON.stringify({ node: process.version, figures }));
  else print(figures);
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
