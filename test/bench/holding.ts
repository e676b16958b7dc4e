/** Something that a benchmark has started and that must end whatever happens: a program, a database, a folder. */
export interface Held {
  stop(): Promise<void>;
}

/** Keeps what is being started until the benchmark ends; it is ended also if the start finishes after a signal. */
export type Hold = <H extends Held>(starting: Promise<H>) => Promise<H>;

const open = new Set<() => Promise<void>>();

/** Runs `work` and then ends, in reverse order, everything that it held; whether it succeeds, fails or is interrupted. */
export async function holding<T>(work: (hold: Hold) => Promise<T>): Promise<T> {
  const held: Promise<Held>[] = [];
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => (ending ??= endAll(held));
  open.add(end);
  try {
    return await work((starting) => {
      held.push(starting);
      return ending ? ending.then(() => Promise.reject(new Error('The benchmark was interrupted'))) : starting;
    });
  } finally {
    await end();
    open.delete(end);
  }
}

async function endAll(held: Promise<Held>[]): Promise<void> {
  for (let starting = held.pop(); starting; starting = held.pop()) {
    // What failed to start has cleared up after itself, and its error went to whoever awaited it.
    const started = await starting.catch(() => undefined);
    await started?.stop();
  }
}

/** Ends whatever every benchmark of this process holds. */
export async function endHeld(): Promise<void> {
  // What was begun last stands on what was begun before it.
  for (const end of [...open].toReversed()) await end();
}

/** A signal ends what is held before it ends the process: a database of ours is in a group of its own and would stay. */
export function endOnSignals(): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => {
      endHeld().then(
        () => process.exit(code),
        (error: unknown) => {
          console.error(error);
          process.exit(1);
        },
      );
    });
  }
}
