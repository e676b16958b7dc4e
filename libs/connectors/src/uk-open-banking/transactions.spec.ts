import type { Institution } from '../connector.js';
import { ukSandboxInstitutions } from '../institutions.js';
import { toPage, toPageRequest } from './transactions.js';
import { defaults as map } from './uk-open-banking.map.js';

const institution = ukSandboxInstitutions('https://bank.example')[0]!;
const base = new URL('https://bank.example/open-banking/v4.0/aisp/accounts/22289/transactions');
const now = new Date('2026-11-21T10:00:00Z');
const request = (
  range: Parameters<typeof toPageRequest>[1]['range'],
  changes: Partial<Institution<'uk-open-banking'>> = {},
) => toPageRequest(base, { range, institution: { ...institution, ...changes }, now });
const query = (range: Parameters<typeof request>[0], changes?: Partial<Institution<'uk-open-banking'>>) =>
  Object.fromEntries(request(range, changes).url.searchParams);
const page = (Next: string, range = {}) =>
  toPage({ Data: { Transaction: [] }, Links: { Next } }, { request: request(range), map });

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

  it('is absent at the end', () => {
    expect(toPage({ Data: {} }, { request: request({}), map })).toEqual({ items: [] });
  });

  it.each([
    'https://evil.example/open-banking/v4.0/aisp/accounts/22289/transactions?page=2',
    'http://bank.example/open-banking/v4.0/aisp/accounts/22289/transactions?page=2',
    '/open-banking/v4.0/aisp/accounts/999/transactions?page=2',
    'https://bank.example/accounts/22289/transactions',
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
    const changes = { transactionsSpanDays: 10 };
    const spans: string[] = [];
    let range: Parameters<typeof request>[0] = {
      from: new Date('2026-01-01T00:00:00Z'),
      before: new Date('2026-01-25T00:00:00Z'),
    };
    for (let pages = 0; pages < 5; pages += 1) {
      const asked = request(range, changes);
      spans.push([...asked.url.searchParams.values()].join(' '));
      const { next } = toPage({ Data: { Transaction: [] } }, { request: asked, map });
      if (next === undefined) break;
      range = { cursor: next };
    }
    expect(spans).toEqual([
      '2026-01-01T00:00:00 2026-01-11T00:00:00',
      '2026-01-11T00:00:01 2026-01-21T00:00:01',
      '2026-01-21T00:00:02 2026-01-25T00:00:00',
    ]);
  });
});
