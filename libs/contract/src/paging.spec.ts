import * as fc from 'fast-check';
import { linksOf, paginationOf, pageSizeMax, readOffsetPage, slicePage, statementParameters } from './paging.js';
import { Problem } from './problem.js';

const records = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const url = 'https://service.example/accounts/a/transactions';

function refusal(query: object): Problem {
  try {
    readOffsetPage(query);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('the query was accepted');
}

describe('the worked cases of the interface', () => {
  it('walks 6500 records without a limit in seven pages', () => {
    const second = slicePage(records(6500), readOffsetPage({ offset: '1000' }));
    expect([second.at(0), second.at(-1), second.length]).toEqual([1001, 2000, 1000]);
    const last = slicePage(records(6500), readOffsetPage({ offset: '6000' }));
    expect([last.at(0), last.at(-1), last.length]).toEqual([6001, 6500, 500]);
  });

  it('ends 467 records with limit 50 at offset 450', () => {
    const last = slicePage(records(467), readOffsetPage({ limit: '50', offset: '450' }));
    expect([last.at(0), last.at(-1), last.length]).toEqual([451, 467, 17]);
  });
});

it('takes the defaults of the interface', () => {
  expect(readOffsetPage({})).toEqual({ limit: 1000, sort: '-date', offset: 0 });
  expect(readOffsetPage({ from: '', limit: '', sort: '' })).toEqual({ limit: 1000, sort: '-date', offset: 0 });
});

it.each(['1', '1000', '999'])('accepts limit %s', (limit) => {
  expect(readOffsetPage({ limit }).limit).toBe(Number(limit));
});

it.each(['0', '1001', '-1', '1.5', 'ten', '1e2', ' 5', '99999999999999999999'])('refuses limit %s', (limit) => {
  expect(refusal({ limit }).issues).toMatchObject([
    { type: 'INVALID_REQUEST', code: 'INVALID_PROPERTY_UNEXPECTED_VALUE', parameter: 'limit' },
  ]);
});

it.each(['-1', '0.5', 'x'])('refuses offset %s', (offset) => {
  expect(refusal({ offset }).issues).toMatchObject([{ parameter: 'offset' }]);
});

it.each(['asc', 'DATE', 'date,-date', '--date', 'toString'])('refuses sort %s', (sort) => {
  expect(refusal({ sort }).issues).toMatchObject([{ parameter: 'sort' }]);
});

it('refuses a parameter that is given twice', () => {
  expect(refusal({ limit: ['1', '2'] }).issues).toMatchObject([{ parameter: 'limit' }]);
});

it('names every faulty parameter at once', () => {
  const faulty = refusal({ from: 'yesterday', before: '2021-13-01T00:00:00Z', limit: '0', offset: '-1', sort: 'up' });
  expect(faulty.status).toBe(400);
  expect(faulty.issues.map((issue) => issue.parameter)).toEqual(['from', 'before', 'limit', 'offset', 'sort']);
});

it('refuses a window that ends before it starts', () => {
  expect(refusal({ from: '2024-02-01T00:00:00Z', before: '2024-01-01T00:00:00Z' }).issues).toMatchObject([
    { parameter: 'from' },
  ]);
});

it.each([
  ['2021-06-08T10:59:35.138Z', '2021-06-08T10:59:35.138Z'],
  ['2021-06-08T12:59:35.138+0200', '2021-06-08T10:59:35.138Z'],
  ['2021-06-08T12:59:35.138 0200', '2021-06-08T10:59:35.138Z'],
  ['2021-06-08T09:29:35-01:30', '2021-06-08T10:59:35.000Z'],
])('reads %s', (text, instant) => {
  expect(readOffsetPage({ from: text }).from?.toISOString()).toBe(instant);
});

it('says what was asked, leaving out what was not', () => {
  expect(paginationOf(readOffsetPage({}), 3)).toEqual({
    totalCount: 3,
    self: { limit: 1000, sort: '-date', offset: 0 },
  });
  expect(paginationOf(readOffsetPage({ from: '2021-06-08T10:59:35.138Z', limit: '5', sort: 'date' }), 9)).toEqual({
    totalCount: 9,
    self: { from: '2021-06-08T10:59:35.138Z', limit: 5, sort: 'date', offset: 0 },
  });
});

it('links to itself with bare names for what was not sent', () => {
  expect(linksOf(url, readOffsetPage({}))).toEqual({
    self: `${url}?from&before&limit=1000&sort=-date&offset=0&cursor`,
  });
  expect(linksOf(url, readOffsetPage({ before: '2024-01-01T00:00:00Z', limit: '7' }), statementParameters)).toEqual({
    self: `${url}?from&before=2024-01-01T00:00:00.000Z&limit=7&sort=-date&offset=0`,
  });
});

it('shows every record exactly once, whatever the sizes', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 1, max: pageSizeMax }), (count, limit) => {
      const seen: number[] = [];
      for (let offset = 0; offset < count; offset += limit) {
        seen.push(...slicePage(records(count), readOffsetPage({ limit: String(limit), offset: String(offset) })));
      }
      expect(seen).toEqual(records(count));
    }),
    { numRuns: 50 },
  );
});
