import Table from 'cli-table3';
import { addFigures, type Figures, Judge, noFigures } from './corpus/judge.js';
import { noEvidence } from '../../apps/bff/src/sync/identity-policy.js';
import { type Habits, pathologies } from './corpus/pathologies.js';
import { twinFault } from './corpus/twins.js';
import type { Bound } from './harness.js';

const rowsOfAccount = 80;

/** One pathology's accounts, of one institution whose habits are learnt on the way. */
export function judge(habits: Habits, { seed, rows }: { seed: number; rows: number }): Figures {
  let figures: Figures = noFigures;
  let evidence = noEvidence;
  for (let account = 0; figures.rows < rows; account += 1) {
    const one = new Judge(evidence);
    evidence = one.run(seed + account * 7_919, habits, rowsOfAccount);
    figures = addFigures(figures, one.figures);
  }
  return figures;
}

/** The corpus: every pathology with its share of `rows`. */
export function runCorpus({ seed, rows }: { seed: number; rows: number }): Map<string, Figures> {
  const names = Object.keys(pathologies);
  const share = Math.ceil(rows / names.length);
  return new Map(
    names.map((name, index) => [name, judge(pathologies[name] ?? {}, { seed: seed + index * 104_729, rows: share })]),
  );
}

export function total(results: ReadonlyMap<string, Figures>): Figures {
  return [...results.values()].reduce(addFigures, noFigures);
}

/** What is promised of the corpus as a whole and does not hold, in words. */
export function broken(results: ReadonlyMap<string, Figures>): string[] {
  const { lost, duplicated, linked, wrong, booked } = total(results);
  const at = (figure: 'lost' | 'duplicated') =>
    [...results].filter(([, figures]) => figures[figure] > 0).map(([name]) => name);
  return [
    ...(lost > 0 ? [`${lost} lost: ${at('lost').join('; ')}`] : []),
    ...(duplicated > 0 ? [`${duplicated} duplicated: ${at('duplicated').join('; ')}`] : []),
    ...(wrong > linked * 0.001 ? [`only ${percent(linked - wrong, linked)} % of the links are right`] : []),
    ...(linked < booked * 0.98 ? [`only ${percent(linked, booked)} % of the links are made`] : []),
  ];
}

function percent(part: number, of: number): string {
  return of === 0 ? '-' : ((100 * part) / of).toFixed(3);
}

/** One line a pathology, and one of all. */
export function printCorpus(results: ReadonlyMap<string, Figures>): string {
  const head = [
    'pathology',
    'rows',
    'lost',
    'doubled',
    'hidden',
    'booked',
    'linked %',
    'precise %',
    'swapped',
    'flagged',
  ];
  const table = new Table({ head });
  for (const [name, each] of [...results, ['all', total(results)] as const]) {
    const { rows, lost, duplicated, hidden, booked, linked, wrong, swapped, flagged } = each;
    const links = [booked, percent(linked, booked), percent(linked - wrong, linked)];
    table.push([name, rows, lost, duplicated, hidden, ...links, swapped, flagged]);
  }
  return table.toString();
}

/** Judges `rows` true transactions, and random histories of twins, a tenth as many. What breaks is named with its seed. */
export function corpus({ seed, rows }: { seed: number; rows: number }): Promise<Bound[]> {
  const started = performance.now();
  const results = runCorpus({ seed, rows });
  console.log(printCorpus(results));
  const { answers, lost, duplicated, wrong, linked, booked } = total(results);
  console.log(`corpus --seed ${seed}: ${answers} answers, ${Math.round(performance.now() - started)} ms`);
  for (const fault of broken(results)) console.error(`corpus --seed ${seed} --rows ${rows}: ${fault}`);
  const histories = Math.ceil(rows / 10);
  let violations = 0;
  for (let history = 0; history < histories; history += 1) {
    const fault = twinFault(seed + history);
    if (fault === undefined) continue;
    violations += 1;
    console.error(fault);
  }
  return Promise.resolve([
    { name: `corpus: lost of ${rows}`, unit: 'rows', value: lost, bound: 0 },
    { name: `corpus: doubled of ${rows}`, unit: 'rows', value: duplicated, bound: 0 },
    { name: 'corpus: links that are wrong', unit: '%', value: rounded((100 * wrong) / linked), bound: 0.1 },
    { name: 'corpus: links that are missing', unit: '%', value: rounded(100 - (100 * linked) / booked), bound: 2 },
    { name: `corpus: ${histories} histories of twins`, unit: 'violations', value: violations, bound: 0 },
  ]);
}

function rounded(value: number): number {
  return Number(value.toFixed(3));
}
