import { hash } from 'node:crypto';
import type { Transaction } from '#libs/contract';
import type { Page, PageBounds } from './connector.js';
import { InstitutionError, WalkLimitError } from './institution-error.js';

/** What tells the records of a list apart: of one that is not a transaction, its id alone. */
type Identified = Pick<Transaction, 'id' | 'date' | 'amount' | 'currency' | 'reference' | 'description'>;

/**
 * Every item of every page, or an error: a walk is never cut silently. A link seen before is a loop at the bank and
 * ends as malformed, before its page is taken (quirk Q7); more than `bounds` allow ends as WalkLimitError. A record
 * that a page repeats from an earlier page, because the list moved under us, is taken once (no isolation is promised).
 */
export async function walkPages<T extends Identified>(
  read: (cursor: string | undefined) => Promise<Page<T>>,
  { bounds, now }: { bounds: PageBounds; now: () => Date },
): Promise<T[]> {
  const began = now().getTime();
  const links = new Set<string>();
  const earlier = new Map<string, T>();
  const all: T[] = [];
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    if (page > bounds.pages) throw new WalkLimitError('pages', bounds.pages);
    if (now().getTime() - began > bounds.ms) throw new WalkLimitError('ms', bounds.ms);
    const { items, next } = await read(cursor);
    take(items, { all, earlier });
    if (all.length > bounds.records) throw new WalkLimitError('records', bounds.records);
    if (next === undefined) return all;
    if (links.has(next)) throw new InstitutionError('malformed', "The institution's pages lead in a circle");
    links.add(next);
    cursor = next;
  }
}

function take<T extends Identified>(items: T[], walk: { all: T[]; earlier: Map<string, T> }): void {
  const fresh: T[] = [];
  for (const item of items) {
    const before = item.id === undefined ? undefined : walk.earlier.get(item.id);
    if (before && contentOf(before) === contentOf(item)) continue;
    fresh.push(item);
    walk.all.push(item);
  }
  // Rows of one page are never compared with each other: two equal coffees are two coffees (quirk Q6).
  for (const item of fresh) if (item.id !== undefined) walk.earlier.set(item.id, item);
}

/**
 * What identifies each of the transactions of an answer by content: a hash of account, day, amount, currency and
 * normalised text, plus which of its equals it is. The same answer gives the same; nothing else does (quirks Q1, Q3, Q6).
 */
export function transactionIdentities(accountId: string): (transaction: Transaction) => string {
  const seen = new Map<string, number>();
  return (transaction) => {
    const key = hashOf(accountId, transaction);
    const occurrence = (seen.get(key) ?? 0) + 1;
    seen.set(key, occurrence);
    return `${key}.${occurrence}`;
  };
}

/**
 * A whole answer in which every transaction has an id of its own. The bank's ids stay, except one that the bank gave
 * to rows of different amounts (quirk Q2): those are told apart by their content.
 */
export function withIdentities(accountId: string, transactions: Transaction[]): Transaction[] {
  const amounts = new Map<string, number | undefined>();
  const untrusted = new Set<string>();
  for (const { id, amount } of transactions) {
    if (id === undefined) continue;
    if (amounts.has(id) && amounts.get(id) !== amount) untrusted.add(id);
    amounts.set(id, amount);
  }
  const identityOf = transactionIdentities(accountId);
  return transactions.map((transaction) => {
    if (transaction.id !== undefined && !untrusted.has(transaction.id)) return transaction;
    return { ...transaction, id: identityOf(transaction) };
  });
}

function hashOf(accountId: string, transaction: Transaction): string {
  return hash('sha256', `${accountId}\n${contentOf(transaction)}`, 'hex').slice(0, 32);
}

function contentOf({ date, amount, currency, reference, description }: Identified): string {
  const text = `${reference ?? ''} ${description ?? ''}`.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
  return `${date?.slice(0, 10) ?? ''}|${amount ?? ''}|${currency ?? ''}|${text}`;
}
