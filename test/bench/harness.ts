/** One measurement of one round. `units` is what was done in `ms` milliseconds. */
export interface Sample {
  ms: number;
  units: number;
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
}

/** The middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  if (low === undefined || high === undefined) throw new Error('There is no median of nothing');
  return (low + high) / 2;
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
  const [baseline, ours]: [number[], number[]] = [[], []];
  for (let round = 0; round <= contest.rounds; round += 1) {
    const isBaselineFirst = round % 2 === 0;
    const first = perSecond(await (isBaselineFirst ? contest.runBaseline() : contest.runOurs()));
    const second = perSecond(await (isBaselineFirst ? contest.runOurs() : contest.runBaseline()));
    if (round === 0) continue;
    baseline.push(isBaselineFirst ? first : second);
    ours.push(isBaselineFirst ? second : first);
  }
  const { name, unit, rounds } = contest;
  return {
    name,
    unit,
    baseline: contest.baseline,
    rounds,
    baselinePerSecond: Math.round(median(baseline)),
    oursPerSecond: Math.round(median(ours)),
    ratio: Number(median(ours.map((value, index) => value / (baseline[index] ?? Number.NaN))).toFixed(2)),
  };
}
