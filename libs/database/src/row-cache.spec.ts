import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { now, resetClock, setClock } from '#libs/server';
import { RowCache } from './row-cache.js';

interface Row {
  id: string;
  owner: string;
}

let changes: { isHeard: boolean; count: number };
let cache: RowCache<Row>;
let reads: number;

beforeEach(() => {
  changes = { isHeard: true, count: 0 };
  cache = new RowCache(changes, ({ id, owner }) => [`rows:${id}`, `owners:${owner}`]);
  reads = 0;
});
afterEach(() => resetClock());

const read = (id = '1') => {
  reads += 1;
  return Promise.resolve({ id, owner: 'ann' });
};

describe('a kept row', () => {
  it('is read once, and cannot be changed by whoever gets it', async () => {
    const row = await cache.get('1', read);
    expect(await cache.get('1', read)).toBe(row);
    expect(reads).toBe(1);
    expect(Object.isFrozen(row)).toBe(true);
  });

  it.each(['rows:1', 'owners:ann'])('is forgotten under every key when %s changes', async (tag) => {
    await cache.get('1', read);
    await cache.get('token-of-1', read);
    cache.forget('rows:2');
    await cache.get('1', read);
    expect(reads).toBe(2);
    cache.forget(tag);
    await cache.get('1', read);
    await cache.get('token-of-1', read);
    expect(reads).toBe(4);
  });

  it('is not kept when a change was heard of while it was read', async () => {
    await cache.get('1', () => {
      changes.count += 1;
      return read();
    });
    await cache.get('1', read);
    expect(reads).toBe(2);
  });

  it('is not kept while changes are not heard of, nor when it does not exist', async () => {
    changes.isHeard = false;
    await cache.get('1', read);
    changes.isHeard = true;
    expect(await cache.get('1', () => Promise.resolve(undefined))).toBeUndefined();
    await cache.get('1', read);
    expect(reads).toBe(2);
  });

  it('is read again after ten seconds all the same', async () => {
    await cache.get('1', read);
    const later = new Date(now().getTime() + 10_001);
    setClock(() => later);
    await cache.get('1', read);
    expect(reads).toBe(2);
  });

  it('makes room for others: ten thousand are kept, the oldest goes first', async () => {
    for (let n = 0; n <= 10_000; n += 1) await cache.get(`${n}`, () => read(`${n}`));
    reads = 0;
    await cache.get('10000', read);
    await cache.get('1', read);
    expect(reads).toBe(0);
    await cache.get('0', read);
    expect(reads).toBe(1);
  });
});
