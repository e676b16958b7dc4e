import { useEffect, useState } from 'preact/hooks';
import { problemOf } from './api.js';

/** What was asked for: not here yet, here, or refused. What was here before stays while it is asked for again. */
export interface Loaded<T> {
  value?: T;
  problem?: string;
}

/** Loads again whenever one of `reasons` changes; a late answer to an older question is dropped. */
export function useLoaded<T>(load: () => Promise<T>, reasons: readonly unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({});
  useEffect(() => {
    let isCurrent = true;
    load().then(
      (value) => {
        if (isCurrent) setLoaded({ value });
      },
      (error: unknown) => {
        if (isCurrent) setLoaded((before) => ({ ...before, problem: problemOf(error) }));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, reasons);
  return loaded;
}
