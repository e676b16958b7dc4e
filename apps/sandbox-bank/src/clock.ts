import type { Store } from './store.js';

export const dayMs = 86_400_000;
const reachMs = 10 * 366 * dayMs;

/** The machine's time in epoch milliseconds: what TPPs go by, so signatures and id_tokens are stamped with it. */
export function wallClock(): number {
  return Date.now();
}

/** The bank's own time: the machine's plus an offset that survives a restart. Consents, tokens, payments and rows go by it. */
export class BankClock {
  readonly #store: Store;
  #offsetMs: number;

  constructor(store: Store) {
    this.#store = store;
    this.#offsetMs = Number(store.setting('clock.offset') ?? 0);
  }

  /** Epoch milliseconds. */
  now(): number {
    return wallClock() + this.#offsetMs;
  }

  get offsetMs(): number {
    return this.#offsetMs;
  }

  /** Moves the clock by an ISO 8601 duration such as `P90D`, `PT5M` or `-PT1H`. Answers false when it is none. */
  advance(duration: string): boolean {
    const ms = durationMs(duration);
    return ms !== undefined && this.#move(this.#offsetMs + ms);
  }

  /** Sets the clock to an ISO instant. Answers false when it is none, or more than ten years away. */
  set(instant: string): boolean {
    const at = Date.parse(instant);
    return !Number.isNaN(at) && this.#move(at - wallClock());
  }

  reset(): void {
    this.#move(0);
  }

  #move(offsetMs: number): boolean {
    if (Math.abs(offsetMs) > reachMs) return false;
    this.#offsetMs = Math.round(offsetMs);
    this.#store.keep('clock.offset', String(this.#offsetMs));
    return true;
  }
}

const durationPattern =
  /^(-)?P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** Years count 365 days and months 30: a test that needs a calendar date sets the clock instead. */
export function durationMs(duration: string): number | undefined {
  const match = durationPattern.exec(duration);
  if (!match || /[PT]$/.test(duration)) return undefined;
  const [years, months, weeks, days, hours, minutes, seconds] = match.slice(2).map((part) => Number(part ?? 0));
  const wholeDays = (years ?? 0) * 365 + (months ?? 0) * 30 + (weeks ?? 0) * 7 + (days ?? 0);
  const ms = wholeDays * dayMs + ((hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0)) * 1000;
  return match[1] ? -ms : ms;
}

/** An instant as the standard writes it in JSON: with a zone, whole seconds. */
export function toWire(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}+00:00`;
}

/** British and European summer time run from the last Sunday of March to the last Sunday of October, 01:00 UTC both. */
export function isSummerTime(ms: number): boolean {
  const year = new Date(ms).getUTCFullYear();
  const lastSunday = (month: number): number => {
    const last = new Date(Date.UTC(year, month + 1, 0, 1));
    return last.getTime() - last.getUTCDay() * dayMs;
  };
  return ms >= lastSunday(2) && ms < lastSunday(9);
}

/**
 * Reads a query date (Read/Write v4.0, "Filtering": ISO 8601 without a zone, a zone that is sent is ignored) by the clock
 * on the bank's wall, Europe/London. Answers undefined when it is no date.
 */
export function fromQueryDate(text: string): number | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?))?(?:Z|[+ -]\d{2}:?\d{2})?$/.exec(text);
  if (!match) return undefined;
  const local = Date.parse(`${match[1]}T${match[2] ?? '00:00:00'}Z`);
  if (Number.isNaN(local)) return undefined;
  return isSummerTime(local - 3_600_000) ? local - 3_600_000 : local;
}
