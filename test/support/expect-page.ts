import { expect } from 'vitest';
import { problems } from '#libs/contract';
import { expectProblem } from './expect-problem.js';
import type { Answer } from './serve-controller.js';

/** Asks the list under test with these query parameters. */
export type List = (query: Record<string, string>) => Promise<Answer>;

export interface PageExpectation {
  /** How many records the list has, all pages together. At least 3. */
  total: number;
  /** What tells one record from another; its JSON unless said. */
  identify?: (record: unknown) => string;
  /** The record's instant, where the list has `sort`, `from` and `before`. */
  dateOf?: (record: unknown) => string;
}

interface Page {
  data: unknown[];
  meta: { tracingId: string; count: number; pagination: { totalCount: number; self: Record<string, unknown> } };
  links: { self: string };
}

/** Proves the rules of offset paging (interface, part 4.2.1) for a list, in one line. */
export async function expectPage(list: List, expectation: PageExpectation): Promise<void> {
  const all = await expectWhole(list, expectation);
  await expectPagesToAddUp(list, all, expectation);
  await expectRefusals(list);
  if (expectation.dateOf) await expectOrder(list, { all, expectation, dateOf: expectation.dateOf });
}

async function read(list: List, query: Record<string, string>): Promise<Page> {
  const { status, body } = await list(query);
  expect({ query, status }).toEqual({ query, status: 200 });
  expect(body).toMatchObject({
    data: expect.any(Array),
    meta: { count: expect.any(Number), pagination: { self: {} } },
  });
  const page = body as Page;
  expect(page.meta.count).toBe(page.data.length);
  expect(page.links.self).toMatch(/^https?:\/\//);
  return page;
}

const asJson = (record: unknown): string => JSON.stringify(record);

async function expectWhole(list: List, { total }: PageExpectation): Promise<unknown[]> {
  if (total < 3) throw new Error('Paging is only proved with three records or more');
  const records: unknown[] = [];
  const first = await read(list, {});
  expect(first.data).toHaveLength(Math.min(total, 1000));
  expect(first.meta.pagination).toMatchObject({ totalCount: total, self: { limit: 1000, offset: 0 } });
  records.push(...first.data);
  while (records.length < total) {
    const { data } = await read(list, { offset: String(records.length) });
    if (data.length === 0) throw new Error(`The list ends after ${records.length} of ${total} records`);
    records.push(...data);
  }
  return records;
}

/** Pages of a third each meet without a gap or an overlap, and what is past the end is empty. */
async function expectPagesToAddUp(list: List, all: unknown[], expectation: PageExpectation): Promise<void> {
  const identify = expectation.identify ?? asJson;
  const limit = Math.min(1000, Math.ceil(all.length / 3));
  const records: unknown[] = [];
  for (let offset = 0; offset < all.length; offset += limit) {
    const page = await read(list, { limit: String(limit), offset: String(offset) });
    expect(page.data).toHaveLength(Math.min(limit, all.length - offset));
    expect(page.meta.pagination).toMatchObject({ totalCount: all.length, self: { limit, offset } });
    expect(page.links.self).toMatch(new RegExp(`[?&]limit=${limit}(&|$)`));
    records.push(...page.data);
  }
  expect(records.map(identify)).toEqual(all.map(identify));
  expect((await read(list, { limit: '1' })).data.map(identify)).toEqual(all.slice(0, 1).map(identify));
  expect((await read(list, { offset: String(all.length) })).data).toEqual([]);
}

const refusedValues: Readonly<Record<string, readonly string[]>> = {
  limit: ['0', '1001', '-1', '1.5', 'ten'],
  offset: ['-1', '0.5', 'first'],
};

async function expectRefusals(list: List): Promise<void> {
  for (const [parameter, values] of Object.entries(refusedValues)) {
    for (const value of values) {
      await expectProblem(list({ [parameter]: value }), problems.unexpectedValue({ parameter }));
    }
  }
}

interface Dated {
  all: unknown[];
  expectation: PageExpectation;
  dateOf: (record: unknown) => string;
}

/** Newest first unless asked; the window holds both of its ends. */
async function expectOrder(list: List, { all, expectation, dateOf }: Dated): Promise<void> {
  const identify = expectation.identify ?? asJson;
  const instants = (records: unknown[]) => records.map((record) => Date.parse(dateOf(record)));
  const ascending = (records: unknown[]) => instants(records).toSorted((a, b) => a - b);
  expect(instants(all)).toEqual(ascending(all).toReversed());
  const oldestFirst = await read(list, { sort: 'date' });
  expect(instants(oldestFirst.data)).toEqual(ascending(all).slice(0, 1000));
  expect((await read(list, { sort: '-date' })).data.map(identify)).toEqual(all.slice(0, 1000).map(identify));
  await expectWindow(list, all, { dateOf, identify });
  await expectProblem(list({ sort: 'amount' }), problems.unexpectedValue({ parameter: 'sort' }));
  await expectProblem(list({ from: 'yesterday' }), problems.unexpectedValue({ parameter: 'from' }));
}

async function expectWindow(
  list: List,
  all: unknown[],
  { dateOf, identify }: { dateOf: (record: unknown) => string; identify: (record: unknown) => string },
): Promise<void> {
  const middle = all[Math.floor(all.length / 2)];
  const at = new Date(dateOf(middle)).toISOString();
  const within = await read(list, { from: at, before: at });
  const sameInstant = all.filter((record) => Date.parse(dateOf(record)) === Date.parse(at));
  expect(within.data.map(identify)).toEqual(sameInstant.map(identify));
  expect(within.meta.pagination).toMatchObject({ totalCount: sameInstant.length, self: { from: at, before: at } });
}
