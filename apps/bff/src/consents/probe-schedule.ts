const everyMs = 86_400_000;

/** When to probe a connection again: a day on, a tenth sooner or later by its id, so that not all come at once. */
export function nextProbe(connectionId: string, at: Date, intervalMs = everyMs): Date {
  const share = Number.parseInt(connectionId.slice(0, 8), 16) / 0xffffffff;
  return new Date(at.getTime() + Math.round(intervalMs * (0.9 + 0.2 * share)));
}

/** A new consent is looked at soon: by then it has shown its accounts, and whether it takes the place of another. */
export function firstProbe(at: Date): Date {
  return new Date(at.getTime() + 600_000);
}
