/** One measurement of one round. `units` is what was done in `ms` milliseconds. */
export interface Sample {
  ms: number;
  units: number;
  /** How long the slowest but one of a hundred took, where each unit was timed. */
  p99Ms?: number;
}

export interface Contest {
  name: string;
  /** What one unit is: rows, requests, starts. */
  unit: string;
  baseline: string;
  rounds: number;
  runBaseline(): Promise<Sample>;
  runOurs(): Promise<Sample>;
}

export interface Figure {
  name: string;
  unit: string;
  baseline: string;
  rounds: number;
  /** Medians over the rounds, units per second. */
  baselinePerSecond: number;
  oursPerSecond: number;
  /** Median of the rounds' own ratios: ours to the baseline measured just beside it. */
  ratio: number;
  baselineP99Ms?: number;
  oursP99Ms?: number;
}

/** A figure that must not be passed, whatever the machine. */
export interface Bound {
  name: string;
  unit: string;
  value: number;
  /** At most this. */
  bound: number;
  /** What the bare baseline had beside it, where there is one. */
  baseline?: number;
}

/** The middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  if (low === undefined || high === undefined) throw new Error('There is no median of nothing');
  return (low + high) / 2;
}

/** The value that 99 of 100 do not exceed. */
export function p99(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN;
}

const perSecond = ({ ms, units }: Sample): number => (units / ms) * 1_000;

/** Times `work`, which answers how many units it did. */
export async function timed(work: () => Promise<number>): Promise<Sample> {
  const started = performance.now();
  const units = await work();
  return { ms: performance.now() - started, units };
}

/**
 * Runs both sides in turn, so that a machine that slows down slows both; the first round warms up and does not count.
 * Every second round begins with ours.
 */
export async function compare(contest: Contest): Promise<Figure> {
  const [baselines, oursAll]: [Sample[], Sample[]] = [[], []];
  for (let round = 0; round <= contest.rounds; round += 1) {
    const isBaselineFirst = round % 2 === 0;
    const first = await (isBaselineFirst ? contest.runBaseline() : contest.runOurs());
    const second = await (isBaselineFirst ? contest.runOurs() : contest.runBaseline());
    if (round === 0) continue;
    baselines.push(isBaselineFirst ? first : second);
    oursAll.push(isBaselineFirst ? second : first);
  }
  const [baseline, ours] = [baselines.map(perSecond), oursAll.map(perSecond)];
  const { name, unit, rounds } = contest;
  return {
    name,
    unit,
    baseline: contest.baseline,
    rounds,
    baselinePerSecond: Math.round(median(baseline)),
    oursPerSecond: Math.round(median(ours)),
    ratio: Number(median(ours.map((value, index) => value / (baseline[index] ?? Number.NaN))).toFixed(2)),
    ...tail('baselineP99Ms', baselines),
    ...tail('oursP99Ms', oursAll),
  };
}

/** The median of the rounds' p99, where the rounds have one. */
function tail(name: 'baselineP99Ms' | 'oursP99Ms', samples: Sample[]): Partial<Figure> {
  const values = samples.flatMap(({ p99Ms }) => p99Ms ?? []);
  return values.length === 0 ? {} : { [name]: Number(median(values).toFixed(1)) };
}
