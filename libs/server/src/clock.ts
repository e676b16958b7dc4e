/** Tells the time. Tests hand in one they can move. */
export type Clock = () => Date;

const systemClock: Clock = () => new Date();
let clock: Clock = systemClock;

/** The only reader of the time: everything that compares or records an instant asks here. */
export function now(): Date {
  return clock();
}

/** Makes every later `now()` come from `replacement`, until `resetClock()`. For tests. */
export function setClock(replacement: Clock): void {
  clock = replacement;
}

/** Goes back to the time of the machine. */
export function resetClock(): void {
  clock = systemClock;
}
