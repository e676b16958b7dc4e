const retrySeconds = [60, 120, 300, 900] as const;
const everySeconds = 3_600;

/** When a deletion is taken up again after `attempts` attempts: later each time, and at the deadline whatever the wait. */
export function nextAttemptAt(attempts: number, at: Date, deadline: Date): Date {
  const seconds = retrySeconds[attempts - 1] ?? everySeconds;
  const next = new Date(at.getTime() + seconds * 1_000);
  return at < deadline && deadline < next ? deadline : next;
}
