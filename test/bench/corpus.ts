import Table from 'cli-table3';
import { addFigures, type Figures, Judge, noFigures } from './corpus/judge.js';
import { noEvidence } from '../../apps/bff/src/sync/identity-policy.js';
import { pathologies } from './corpus/pathologies.js';
import { recordHistories } from './corpus/recorded.js';
import { twinFault } from './corpus/twins.js';
import type { Bound } from './harness.js';

const rowsOfAccount = 80;

/** One account of the corpus, and how it went. */
interface History {
  pathology: string;
  account: number;
  figures: Figures;
}

interface Size {
  seed: number;
  rows: number;
}

/**
 * One pathology's accounts, of one institution whose habits are learnt on the way. Each account is a history of its own, but
 * what is learnt goes on to the next: to replay one, all before it are run, too.
 */
function* historiesOf(pathology: string, { seed, rows }: Size, told?: Told): Generator<History> {
  const names = Object.keys(pathologies);
  const habits = pathologies[pathology];
  if (!habits) throw new Error(`There is no pathology ${pathology}: choose of ${names.join('; ')}`);
  const first = seed + names.indexOf(pathology) * 104_729;
  let evidence = noEvidence;
  let judged = 0;
  for (let account = 0; judged < Math.ceil(rows / names.length); account += 1) {
    const judge = new Judge(evidence, account === told?.account ? told.tell : undefined);
    evidence = judge.run(first + account * 7_919, habits, rowsOfAccount);
    judged += judge.figures.rows;
    yield { pathology, account, figures: judge.figures };
  }
}

/** The account whose history is told, line by line. */
interface Told {
  account: number;
  tell: (line: string) => void;
}

/** The corpus: every pathology with its share of `rows`. `each` is given every history. */
export function runCorpus(size: Size, each: (history: History) => void = () => undefined): Map<string, Figures> {
  return new Map(
    Object.keys(pathologies).map((name) => {
      let figures: Figures = noFigures;
      for (const history of historiesOf(name, size)) {
        each(history);
        figures = addFigures(figures, history.figures);
      }
      return [name, figures];
    }),
  );
}

/** Tells everything that happens in one history, which is named as the corpus names those that went wrong. */
export function replayHistory(size: Size, name: string): string[] {
  const [, pathology = '', account = ''] = /^(.*)\/(\d+)$/.exec(name) ?? [];
  const lines: string[] = [];
  const told = { account: Number(account), tell: (line: string) => lines.push(line) };
  for (const history of historiesOf(pathology, size, told)) if (history.account === told.account) break;
  return lines;
}

export function total(results: ReadonlyMap<string, Figures>): Figures {
  return [...results.values()].reduce(addFigures, noFigures);
}

/** What is promised of the corpus as a whole and does not hold, in words. */
export function broken(results: ReadonlyMap<string, Figures>): string[] {
  const { lost, duplicated, silent, linked, wrong, booked } = total(results);
  const at = (figure: 'lost' | 'duplicated' | 'silent') =>
    [...results].filter(([, figures]) => figures[figure] > 0).map(([name]) => name);
  return [
    ...(lost > 0 ? [`${lost} lost: ${at('lost').join('; ')}`] : []),
    ...(duplicated > 0 ? [`${duplicated} duplicated: ${at('duplicated').join('; ')}`] : []),
    ...(silent > 0 ? [`${silent} neither linked nor flagged: ${at('silent').join('; ')}`] : []),
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
    'silent',
    'no clue',
  ];
  const table = new Table({ head });
  for (const [name, each] of [...results, ['all', total(results)] as const]) {
    const { rows, lost, duplicated, hidden, booked, linked, wrong, swapped, flagged, silent, clueless } = each;
    const links = [booked, percent(linked, booked), percent(linked - wrong, linked)];
    table.push([name, rows, lost, duplicated, hidden, ...links, swapped, flagged, silent, clueless]);
  }
  return table.toString();
}

/** Histories of which something was lost, doubled or passed over in silence; where there is none, those with the most wrong links. */
function worst(histories: readonly History[]): History[] {
  const bad = histories.filter(({ figures }) => figures.lost + figures.duplicated + figures.silent > 0);
  const wrong = histories.toSorted((a, b) => b.figures.wrong - a.figures.wrong);
  return (bad.length > 0 ? bad : wrong).slice(0, 5);
}

/**
 * Judges `rows` true transactions, random histories of twins, a tenth as many, and one history of each pathology through the
 * database. What breaks is named with its seed and the command that replays it.
 */
export async function corpus({ history, ...size }: Size & { history?: string }): Promise<Bound[]> {
  if (history !== undefined) {
    for (const line of replayHistory(size, history)) console.log(line);
    return [];
  }
  const { seed, rows } = size;
  const started = performance.now();
  const histories: History[] = [];
  const results = runCorpus(size, (each) => {
    const { lost, duplicated, silent, wrong } = each.figures;
    if (lost + duplicated + silent + wrong > 0) histories.push(each);
  });
  console.log(printCorpus(results));
  const { answers, lost, duplicated, silent, wrong, linked, booked } = total(results);
  console.log(`corpus --seed ${seed}: ${answers} answers, ${Math.round(performance.now() - started)} ms`);
  const faults = broken(results);
  for (const fault of faults) console.error(`corpus --seed ${seed} --rows ${rows}: ${fault}`);
  if (faults.length > 0)
    for (const { pathology, account } of worst(histories))
      console.error(`npm run bench -- corpus --seed ${seed} --rows ${rows} --history '${pathology}/${account}'`);
  return [
    { name: `corpus: lost of ${rows}`, unit: 'rows', value: lost, bound: 0 },
    { name: `corpus: doubled of ${rows}`, unit: 'rows', value: duplicated, bound: 0 },
    { name: 'corpus: neither linked nor flagged', unit: 'rows', value: silent, bound: 0 },
    { name: 'corpus: links that are wrong', unit: '%', value: rounded((100 * wrong) / linked), bound: 0.1 },
    { name: 'corpus: links that are missing', unit: '%', value: rounded(100 - (100 * linked) / booked), bound: 2 },
    twins(seed, Math.ceil(rows / 10)),
    await recorded(seed),
  ];
}

function twins(seed: number, histories: number): Bound {
  let violations = 0;
  for (let history = 0; history < histories; history += 1) {
    const fault = twinFault(seed + history);
    if (fault === undefined) continue;
    violations += 1;
    console.error(fault);
  }
  return { name: `corpus: ${histories} histories of twins`, unit: 'violations', value: violations, bound: 0 };
}

/** One history of each pathology through the database, and its log replayed. */
async function recorded(seed: number): Promise<Bound> {
  const names = Object.keys(pathologies);
  const faults = await recordHistories({ seed, count: rowsOfAccount, names });
  for (const fault of faults) console.error(fault);
  const name = `corpus: ${names.length} logs replayed from the database`;
  return { name, unit: 'differ', value: faults.length, bound: 0 };
}

function rounded(value: number): number {
  return Number(value.toFixed(3));
}
