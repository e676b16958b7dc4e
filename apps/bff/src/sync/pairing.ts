import type { KnownTransaction } from './reconcile.js';
import type { Comparable } from './transaction-row.js';

/** What has not found its counterpart yet, on both sides. */
export interface Open<R> {
  known: KnownTransaction[];
  rows: R[];
}

export interface Pair<R> {
  known: KnownTransaction;
  row: R;
}

/** The keys of one comparison; undefined takes no part in it. */
export interface Keys {
  known: (known: KnownTransaction) => string | undefined;
  row: (row: Comparable) => string | undefined;
}

/**
 * Pairs equal keys one to one and leaves the surplus of either side open: three equal rows against two known ones make two
 * pairs and leave one row. Linear. Within one key, transactions come before the other faces of one, and what carries no flag
 * comes first, so that a repeated answer finds the same pairs again.
 */
export function pairUp<R extends Comparable>(open: Open<R>, keys: Keys): Pair<R>[] {
  const waiting = new Map<string, KnownTransaction[]>();
  for (const each of open.known) {
    const key = keys.known(each);
    if (key === undefined) continue;
    const same = waiting.get(key);
    if (same) same.push(each);
    else waiting.set(key, [each]);
  }
  for (const same of waiting.values()) if (same.length > 1) same.sort(lastFirst);
  const pairs: Pair<R>[] = [];
  open.rows = open.rows.filter((row) => {
    const key = keys.row(row);
    const found = key === undefined ? undefined : waiting.get(key)?.pop();
    if (found) pairs.push({ known: found, row });
    return found === undefined;
  });
  remove(open, pairs);
  return pairs;
}

/** Takes the known sides of pairs out of what is open. */
export function remove<R>(open: Open<R>, pairs: readonly Pick<Pair<R>, 'known'>[]): void {
  if (pairs.length === 0) return;
  const gone = new Set(pairs.map(({ known }) => known));
  open.known = open.known.filter((each) => !gone.has(each));
}

function lastFirst(a: KnownTransaction, b: KnownTransaction): number {
  if ((a.into === null) !== (b.into === null)) return a.into === null ? 1 : -1;
  if ((a.flag === null) !== (b.flag === null)) return a.flag === null ? 1 : -1;
  return a.id < b.id ? 1 : -1;
}
