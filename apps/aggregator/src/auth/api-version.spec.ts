import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { problems, type Consent, type Envelope, type Transaction } from '#libs/contract';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { applicationWithCallback, grantedAccount } from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import {
  scriptedConnector,
  scriptInstitution,
  transactions,
  type ScriptedConnector,
} from '../../../../test/support/scripted-connector.js';
import type { IssuedKey } from '../applications/application-keys.service.js';

const own = 'x-yapily-api-version';
const literal = 'x-service-api-version';
const shape = { shape: 'minimal' } as const;

let aggregator: TestAggregator;
let bank: ScriptedConnector;
let shop: IssuedKey;
let consent: { id: string; token: string };

beforeAll(async () => {
  aggregator = await TestAggregator.start();
});
afterAll(() => aggregator.close());
beforeEach(async () => {
  bank = scriptedConnector();
  scriptInstitution(aggregator, bank);
  shop = await applicationWithCallback(aggregator);
  consent = await grantedAccount(aggregator, shop);
});

const ask = <T>(path: `/${string}`, headers: Record<string, string> = {}) =>
  aggregator.ask<Envelope<T>>(`GET ${path}`, { as: shop, headers: { consent: consent.token, ...headers } });
const rows = async (query: string, version = '1.0') =>
  (await ask<Transaction[]>(`/accounts/a-1/transactions${query}`, { [own]: version })).body;

describe('the version header', () => {
  it.each([
    [{}, '1.0'],
    [{ [literal]: '1' }, '1.0'],
    [{ [literal]: '2.0-ALPHA' }, '2.0-ALPHA'],
    [{ [own]: '2.0-ALPHA' }, '2.0-ALPHA'],
  ])('of %j is answered as %s', async (headers, version) => {
    const answer = await ask('/institutions', headers);
    expect([answer.headers.get(literal), answer.headers.get(own)]).toEqual([version, version]);
  });

  it.each([literal, own])('%s is refused by name when there is no such version', async (name) => {
    const refused = problems.unexpectedValue({ parameter: name });
    await expectProblem(ask('/consents', { [name]: '3.0' }), refused, shape);
    await expectProblem(ask('/users', { [name]: '2.0' }), refused, shape);
  });

  it.each([
    ['GET /consents', 401],
    ['GET /nothing-here', 404],
    ['PATCH /accounts', 405],
    ['GET /accounts/%E0%A4%A', 400],
    [`GET /accounts/${'x'.repeat(600)}`, 400],
  ] as const)('is said in the refusal of %s, %d', async (route, status) => {
    const answer = await aggregator.ask(route, { headers: { [literal]: '2.0-ALPHA' } });
    expect([answer.status, answer.headers.get(literal), answer.headers.get(own)]).toEqual([
      status,
      '2.0-ALPHA',
      '2.0-ALPHA',
    ]);
    expect(answer.headers.get('x-tracing-id')).toMatch(/^[0-9a-f]{32}$/);
  });

  it('is read only of those who may ask', async () => {
    const asked = aggregator.ask('GET /consents', { headers: { [literal]: '3.0' } });
    await expectProblem(asked, problems.credentialsMissing(), shape);
  });
});

describe('version 2 of consents', () => {
  const gone = ['timeToExpire', 'expiresAt', 'authorizedAt', 'featureScope'];

  it('leaves out what it does not return yet, from one and from the list', async () => {
    const one = await ask<Consent>(`/consents/${consent.id}`);
    expect(Object.keys(one.body.data)).toEqual(expect.arrayContaining(gone));
    const headers = { [literal]: '2.0-ALPHA' };
    const [single, list] = [
      await ask<Consent>(`/consents/${consent.id}`, headers),
      await ask<Consent[]>('/consents', headers),
    ];
    for (const shown of [single.body.data, ...list.body.data]) {
      expect(shown).toMatchObject({ id: consent.id, status: 'AUTHORIZED' });
      expect(Object.keys(shown).filter((member) => gone.includes(member))).toEqual([]);
    }
    expect(list.body.data).toHaveLength(1);
  });
});

describe('the enrichment of transactions', () => {
  const enrichment = {
    categorisation: { categories: ['Groceries'], source: 'bank' },
    merchant: { merchantName: 'Shop' },
    cleansedDescription: 'Shop',
  };
  beforeEach(() => {
    const items = transactions(3);
    for (const item of items) item.enrichment = enrichment;
    bank.operations.ACCOUNT_TRANSACTIONS.mockResolvedValue({ items });
  });

  it.each([
    ['', ['transactionHash']],
    ['?with=merchants', ['cleansedDescription', 'merchant', 'transactionHash']],
    ['?with=categories', ['categorisation', 'cleansedDescription', 'transactionHash']],
    ['?with=categorisation,merchant', ['categorisation', 'cleansedDescription', 'merchant', 'transactionHash']],
  ])('shows what %s asks for, and the hash always', async (query, members) => {
    for (const version of ['1.0', '2.0-ALPHA']) {
      const { data } = await rows(query, version);
      for (const row of data) expect(Object.keys(row.enrichment ?? {}).toSorted()).toEqual(members);
      expect(data).toHaveLength(3);
    }
  });

  it('is not served at a later offset from what another `with` asked for', async () => {
    await rows('?limit=1');
    const { data } = await rows('?limit=1&offset=1&with=merchant');
    expect(data[0]?.enrichment?.merchant).toEqual({ merchantName: 'Shop' });
  });

  it('refuses another word by name', async () => {
    const asked = ask('/accounts/a-1/transactions?with=colour');
    await expectProblem(asked, problems.unexpectedValue({ parameter: 'with' }), shape);
  });

  it('comes with rows that version 2 does not filter', async () => {
    const query = '?from=2026-01-02T00:00:00.000Z&limit=1&sort=date';
    expect((await rows(query)).data.map(({ id }) => id)).toEqual(['t-2']);
    const { data, meta } = await rows(`${query}&offset=1`, '2.0-ALPHA');
    expect(data.map(({ id }) => id)).toEqual(['t-2', 't-1']);
    expect(meta.pagination?.self).toEqual({ limit: 1000, sort: '-date', offset: 1 });
  });
});
