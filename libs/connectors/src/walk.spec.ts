import type { AccountStatement, Transaction } from '#libs/contract';
import type { Page } from './connector.js';
import { transactionIdentities, walkPages, withIdentities } from './walk.js';

const coffee: Transaction = { date: '2026-04-05T00:00:00.000Z', amount: -3.2, currency: 'GBP', description: 'Coffee' };
const numbered = (from: number, count: number): Transaction[] =>
  Array.from({ length: count }, (_, index) => ({ ...coffee, id: String(from + index) }));
const bounds = { pages: 5, records: 50, ms: 1_000 };
const now = () => new Date(0);

function pages(...answers: Page<Transaction>[]): (cursor: string | undefined) => Promise<Page<Transaction>> {
  return async (cursor) => answers[cursor === undefined ? 0 : Number(cursor)] ?? { items: [] };
}

describe('a walk over pages', () => {
  it('takes every page in order, empty ones too', async () => {
    const read = pages({ items: numbered(0, 2), next: '1' }, { items: [], next: '2' }, { items: numbered(2, 2) });
    const all = await walkPages(read, { bounds, now });
    expect(all.map(({ id }) => id)).toEqual(['0', '1', '2', '3']);
  });

  it('refuses a link it has followed already', async () => {
    const read = pages({ items: numbered(0, 2), next: '1' }, { items: numbered(2, 2), next: '1' });
    await expect(walkPages(read, { bounds, now })).rejects.toMatchObject({
      name: 'InstitutionError',
      kind: 'malformed',
    });
  });

  it.each([
    ['pages', { ...bounds, pages: 2 }, now],
    ['records', { ...bounds, records: 3 }, now],
    ['ms', bounds, clock()],
  ])('says that it reached its bound of %s, and cuts nothing', async (bound, limits, time) => {
    const read = pages(
      { items: numbered(0, 2), next: '1' },
      { items: numbered(2, 2), next: '2' },
      { items: numbered(4, 2), next: '3' },
    );
    await expect(walkPages(read, { bounds: limits, now: time })).rejects.toMatchObject({
      name: 'WalkLimitError',
      bound,
    });
  });

  it('takes a record that slid onto the next page once, and two equal ones of a page twice', async () => {
    const same = { ...coffee, id: 'same' };
    const read = pages({ items: [same, same], next: '1' }, { items: [same, { ...same, amount: -4 }] });
    const all = await walkPages(read, { bounds, now });
    expect(all.map(({ amount }) => amount)).toEqual([-3.2, -3.2, -4]);
  });
});

function clock(): () => Date {
  let ms = 0;
  return () => new Date((ms += 600));
}

describe('identities', () => {
  it('keep the ids of the bank', () => {
    expect(withIdentities('a', numbered(7, 2)).map(({ id }) => id)).toEqual(['7', '8']);
  });

  it('number equal rows, the same in every answer, and differ by account', () => {
    const once = withIdentities('a', [coffee, coffee, { ...coffee, description: ' COFFEE ' }]).map(({ id }) => id);
    expect(once).toEqual([coffee, coffee, coffee].map(transactionIdentities('a')));
    expect(withIdentities('a', [coffee, coffee]).map(({ id }) => id)).toEqual(once.slice(0, 2));
    expect(withIdentities('b', [coffee])[0]?.id).not.toBe(once[0]);
  });

  it('tell rows apart that the bank gave one id', () => {
    const ids = withIdentities('a', [
      { ...coffee, id: 'x' },
      { ...coffee, id: 'x', amount: -9 },
    ]).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    expect(ids).not.toContain('x');
  });
});

it('walks statements too, and takes one that two pages show once', async () => {
  const listed: Record<string, Page<AccountStatement>> = {
    start: { items: [{ id: 's1' }, { id: 's2' }], next: 'two' },
    two: { items: [{ id: 's2' }, { id: 's3' }] },
  };
  const all = await walkPages(async (cursor = 'start') => listed[cursor]!, { bounds, now });
  expect(all).toEqual([{ id: 's1' }, { id: 's2' }, { id: 's3' }]);
});
