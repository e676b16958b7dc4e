import type { Range } from '../connector.js';
import { ukSandboxInstitutions } from '../institutions.js';
import type { PageLinks } from '../page-links.js';
import { isPreparing } from '../patience.js';
import { earliestOf, toPage, toPageRequest, transactionDates, type Window } from './pages.js';
import type { Links, UkOpenBankingSettings } from './uk-open-banking.types.js';

const institution = ukSandboxInstitutions('https://bank.example')[0]!;
const base = new URL('https://bank.example/open-banking/v4.0/aisp/accounts/22289/transactions');
const now = new Date('2026-11-21T10:00:00Z');
type Changes = { spanDays?: number; earliest?: Date; pageLinks?: PageLinks };
const request = (range: Range, changes: Changes = {}) => {
  const window: Window = { ...transactionDates(institution), spanDays: changes.spanDays };
  const { pageLinks, earliest } = changes;
  return toPageRequest(base, { range, window, pageLinks, now, earliest });
};
const query = (range: Range, changes?: Changes) => Object.fromEntries(request(range, changes).url.searchParams);
const linked = (links: Links, { range = {}, changes = {} }: { range?: Range; changes?: Changes } = {}) =>
  toPage(
    { rows: [], links },
    { request: request(range, changes), pageLinks: changes.pageLinks, map: (row: object) => row },
  );
const page = (Next: string, range: Range = {}, changes: Changes = {}) => linked({ Next }, { range, changes });

describe('the query dates', () => {
  it('carry no zone and are on London clocks, in summer and in winter', () => {
    expect(query({ from: new Date('2026-07-01T00:00:00Z'), before: new Date('2026-12-01T00:00:00.500Z') })).toEqual({
      fromBookingDateTime: '2026-07-01T01:00:00',
      toBookingDateTime: '2026-12-01T00:00:01',
    });
  });

  it('are sent both or not at all', () => {
    expect(query({})).toEqual({});
    expect(query({ from: now })).toEqual({
      fromBookingDateTime: '2026-11-21T10:00:00',
      toBookingDateTime: '2026-12-22T10:00:00',
    });
    expect(Object.keys(query({ before: now }))).toEqual(['fromBookingDateTime', 'toBookingDateTime']);
  });
});

describe('the next page', () => {
  it('is where the link says, relative or not', () => {
    const { next } = page('?page=2');
    expect(request({ cursor: next! }).url.href).toBe(`${base.href}?page=2`);
    expect(request({ cursor: page(`${base.href}?page=3`).next! }).url.href).toBe(`${base.href}?page=3`);
  });

  it('is at the address that was asked where the link leaves out what comes before the resource', () => {
    const { next } = page('https://bank.example/accounts/22289/transactions?page=2');
    expect(request({ cursor: next! }).url.href).toBe(`${base.href}?page=2`);
  });

  it('is absent at the end', () => {
    expect(linked({})).toEqual({ items: [] });
  });

  it.each([
    'https://evil.example/open-banking/v4.0/aisp/accounts/22289/transactions?page=2',
    'http://bank.example/open-banking/v4.0/aisp/accounts/22289/transactions?page=2',
    '/open-banking/v4.0/aisp/accounts/999/transactions?page=2',
    'https://bank.example/accounts/999/transactions?page=2',
    'http://[broken',
  ])('is refused at %s', (link) => {
    expect(() => page(link)).toThrow(expect.objectContaining({ kind: 'malformed' }));
  });

  it('is refused when the cursor is of another account or is none', () => {
    const cursor = Buffer.from(JSON.stringify({ link: base.href.replace('22289', '1') })).toString('base64url');
    expect(() => request({ cursor })).toThrow(expect.objectContaining({ kind: 'malformed' }));
    expect(() => request({ cursor: 'nonsense' })).toThrow(expect.objectContaining({ kind: 'malformed' }));
  });

  it('of a bank that limits the span goes on with the next slice, and ends', () => {
    const changes = { spanDays: 10 };
    const spans: string[] = [];
    let range: Range = {
      from: new Date('2026-01-01T00:00:00Z'),
      before: new Date('2026-01-25T00:00:00Z'),
    };
    for (let pages = 0; pages < 5; pages += 1) {
      const asked = request(range, changes);
      spans.push([...asked.url.searchParams.values()].join(' '));
      const { next } = linked({}, { range, changes });
      if (next === undefined) break;
      range = { cursor: next };
    }
    expect(spans).toEqual([
      '2026-01-01T00:00:00 2026-01-11T00:00:00',
      '2026-01-11T00:00:01 2026-01-21T00:00:01',
      '2026-01-21T00:00:02 2026-01-25T00:00:00',
    ]);
  });

  it('of a slice is still of that slice, and knows no first or last of the whole', () => {
    const range = { from: new Date('2026-01-01T00:00:00Z'), before: new Date('2026-01-25T00:00:00Z') };
    const changes = { spanDays: 10 };
    const one = linked({ Next: '?page=2', First: '?page=1', Last: '?page=9' }, { range, changes });
    expect(one).toEqual({ items: [], next: expect.any(String) });
    const two = request({ cursor: one.next! }, changes);
    expect(two.url.search).toBe('?page=2');
    expect(two.rest).toEqual({ from: Date.parse('2026-01-11T00:00:01Z'), before: range.before.getTime() });
    const after = linked({ First: '?page=1' }, { range: { cursor: one.next! }, changes });
    expect(Object.keys(after)).toEqual(['items', 'next']);
  });
});

describe('the neighbours of a page', () => {
  it('have cursors where the bank links them', () => {
    const { previous, first, last } = linked({ Prev: '?page=1', First: `${base.href}?page=0`, Last: '?page=9' });
    const led = [previous, first, last].map((cursor) => request({ cursor: cursor! }).url.search);
    expect(led).toEqual(['?page=1', '?page=0', '?page=9']);
  });

  it('are left out, not believed, when their links lead elsewhere', () => {
    expect(linked({ Prev: 'https://evil.example/', First: 'http://[broken', Last: '/accounts' })).toEqual({
      items: [],
    });
  });
});

describe('a bank whose links are not as the standard says', () => {
  it('may have them taken for their query only, at the address that was asked', () => {
    const pageLinks = { areQueriesOnly: true };
    const { next } = page('https://null/transactions?page=2', {}, { pageLinks });
    expect(request({ cursor: next! }, { pageLinks }).url.href).toBe(`${base.href}?page=2`);
  });

  it('may want the first query again', () => {
    const pageLinks = { needFirstQuery: true };
    const range = { from: now, before: now };
    const { next } = page('?page=2', range, { pageLinks });
    expect(query({ cursor: next! }, { pageLinks })).toEqual({
      page: '2',
      fromBookingDateTime: '2026-11-21T10:00:00',
      toBookingDateTime: '2026-11-21T10:00:00',
    });
  });

  it('prepares what it has while an empty page leads to itself', () => {
    const at = { url: new URL('?page=1', base) };
    expect(isPreparing({ rows: 0, next: '?page=1' }, at)).toBe(true);
    expect(isPreparing({ rows: 0, next: at.url.href }, at)).toBe(true);
    expect(isPreparing({ rows: 1, next: '?page=1' }, at)).toBe(false);
    expect(isPreparing({ rows: 0, next: '?page=2' }, at)).toBe(false);
    expect(isPreparing({ rows: 0, next: undefined }, at)).toBe(false);
  });
});

describe('a bank that keeps its history for the first minutes', () => {
  const settings: UkOpenBankingSettings = { ...institution.settings, history: { fullMinutes: 5, days: 89 } };
  const authorisedAt = Date.parse('2026-11-21T09:00:00Z');

  it('is asked for everything until then, afterwards from a day of London’s calendar', () => {
    const soon = new Date('2026-11-21T09:04:59Z');
    expect(earliestOf(settings, { authorisedAt, now: soon })).toBeUndefined();
    expect(earliestOf(settings, { authorisedAt, now })).toEqual(new Date('2026-08-24T00:00:00Z'));
    expect(earliestOf(settings, { authorisedAt: undefined, now })).toEqual(new Date('2026-08-24T00:00:00Z'));
    const summerNight = new Date('2026-07-01T23:30:00Z');
    expect(earliestOf(settings, { authorisedAt: undefined, now: summerNight })).toEqual(
      new Date('2026-04-04T00:00:00Z'),
    );
    expect(earliestOf(institution.settings, { authorisedAt, now })).toBeUndefined();
  });

  it('is never asked for more than it has, and the answer says where it starts', () => {
    const earliest = new Date('2026-08-24T00:00:00Z');
    const asked = request({ from: new Date('2026-01-01T00:00:00Z') }, { earliest });
    expect(asked.url.searchParams.get('fromBookingDateTime')).toBe('2026-08-24T01:00:00');
    expect(linked({}, { changes: { earliest } }).startsAt).toEqual(earliest);
    expect(request({ from: now }, { earliest })).not.toHaveProperty('startsAt');
    const past = query({ from: new Date(0), before: new Date('2026-01-01T00:00:00Z') }, { earliest });
    expect(past['fromBookingDateTime']).toBe(past['toBookingDateTime']);
  });
});
