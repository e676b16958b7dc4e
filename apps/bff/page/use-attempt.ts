import { useState } from 'preact/hooks';
import { problemOf } from './api.js';

/** What a person has set going: one at a time, with the reason where it failed. */
export interface Attempt {
  attempt: (work: () => Promise<void>) => void;
  isBusy: boolean;
  problem: string | undefined;
}

export function useAttempt(): Attempt {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const attempt = (work: () => Promise<void>) => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    work()
      .catch((error: unknown) => setProblem(problemOf(error)))
      .finally(() => setBusy(false));
  };
  return { attempt, isBusy, problem };
}
