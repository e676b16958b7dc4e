import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccountStatement, problems, type Envelope } from '#libs/contract';
import { InstitutionError } from '#libs/connectors';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { applicationWithCallback, grantedAccount } from '../../../../test/support/authorise.js';
import { expectPage } from '../../../../test/support/expect-page.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { expectShape } from '../../../../test/support/expect-shape.js';
import {
  scriptedConnector,
  scriptInstitution,
  statements,
  type ScriptedConnector,
} from '../../../../test/support/scripted-connector.js';
import type { IssuedKey } from '../applications/application-keys.service.js';

let aggregator: TestAggregator;
let bank: ScriptedConnector;
let shop: IssuedKey;
let token: string;

beforeAll(async () => {
  aggregator = await TestAggregator.start();
});
afterAll(() => aggregator.close());
beforeEach(async () => {
  bank = scriptedConnector();
  scriptInstitution(aggregator, bank);
  shop = await applicationWithCallback(aggregator);
  ({ token } = await grantedAccount(aggregator, shop));
});

const shape = { shape: 'minimal' } as const;
const read = <T>(path: `/${string}`, consent = token) =>
  aggregator.ask<Envelope<T>>(`GET ${path}`, { as: shop, headers: { consent } });
const rows = (query = '', consent = token) => read<AccountStatement[]>(`/accounts/a-1/statements${query}`, consent);
const unknown = () => new InstitutionError('not-found', 'No such thing', { httpStatus: 400 });

describe('statements', () => {
  it('obey the rules of offset paging', async () => {
    const items = statements(23);
    bank.operations.ACCOUNT_STATEMENTS.mockImplementation(async (_call, _accountId, { cursor }) => {
      const start = Number(cursor ?? 0);
      return { items: items.slice(start, start + 10), ...(start < 20 ? { next: String(start + 10) } : {}) };
    });
    const dateOf = (row: unknown) => (row as AccountStatement).creationDateTime ?? '';
    await expectPage((query) => rows(`?${new URLSearchParams(query).toString()}`), { total: 23, dateOf });
  });

  it('have the form of the contract and the links of the interface', async () => {
    const { body } = await rows('?limit=2');
    for (const statement of body.data) expectShape(AccountStatement, statement);
    expect(body.links?.['self']).toBe(
      `${aggregator.env.AGGREGATOR_URL}/accounts/a-1/statements?from&before&limit=2&sort=-date&offset=0`,
    );
  });

  it('are served from the snapshot at later offsets, and never from that of the transactions', async () => {
    await rows('?limit=2');
    await read('/accounts/a-1/transactions?limit=2');
    expect((await rows('?limit=2&offset=2')).body.data.map(({ id }) => id)).toEqual(['st-1']);
    expect(bank.operations.ACCOUNT_STATEMENTS).toHaveBeenCalledTimes(1);
  });

  it('are clipped to the period of the consent by the date of their making', async () => {
    const items = statements(6);
    for (const item of items) item.startDateTime = '2025-12-01T00:00:00.000Z';
    bank.operations.ACCOUNT_STATEMENTS.mockResolvedValue({ items });
    const accountRequest = { transactionFrom: '2026-01-03T00:00:00.000Z', transactionTo: '2026-01-04T00:00:00.000Z' };
    const clipped = await grantedAccount(aggregator, shop, { accountRequest });
    expect((await rows('', clipped.token)).body.data.map(({ id }) => id)).toEqual(['st-4', 'st-3']);
  });

  it('of an account that the bank does not know are 404', async () => {
    bank.operations.ACCOUNT_STATEMENTS.mockRejectedValue(unknown());
    await expectProblem(rows(), problems.notFound({ parameter: 'accountId' }), shape);
  });
});

describe('one statement', () => {
  it('is shown', async () => {
    expect((await read('/accounts/a-1/statements/st-7')).body.data).toEqual({ id: 'st-7' });
    expect(bank.operations.ACCOUNT_STATEMENT.mock.calls[0]?.slice(1)).toEqual(['a-1', 'st-7']);
  });

  it('that the bank does not know is 404, its document too', async () => {
    bank.operations.ACCOUNT_STATEMENT.mockRejectedValue(unknown());
    bank.operations.ACCOUNT_STATEMENT_FILE.mockRejectedValue(unknown());
    const expected = problems.notFound({ parameter: 'statementId' });
    await expectProblem(read('/accounts/a-1/statements/x'), expected, shape);
    await expectProblem(read('/accounts/a-1/statements/x/file'), expected, shape);
  });

  it('has a document that comes byte for byte', async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256);
    bank.operations.ACCOUNT_STATEMENT_FILE.mockResolvedValue({ contentType: 'application/pdf', body: bytes });
    const authorization = `Basic ${Buffer.from(`${shop.id}:${shop.secret}`).toString('base64')}`;
    const url = '/accounts/a-1/statements/st-7/file';
    const answer = await aggregator.app.inject({ method: 'GET', url, headers: { authorization, consent: token } });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({ 'content-type': 'application/pdf', 'content-length': '70000' });
    expect(Buffer.compare(answer.rawPayload, bytes)).toBe(0);
  });

  it('is not handed on when the bank sends something else than a PDF', async () => {
    const body = new TextEncoder().encode('<html>');
    bank.operations.ACCOUNT_STATEMENT_FILE.mockResolvedValue({ contentType: 'text/html', body });
    const errorMessage = 'The institution sent a document that is no PDF';
    const failed = problems.institutionFailed({ errorMessage, httpStatusCode: 200 });
    await expectProblem(read('/accounts/a-1/statements/st-7/file'), failed, shape);
  });
});

describe.each([
  ['ACCOUNT_STATEMENTS', '/accounts/a-1/statements'],
  ['ACCOUNT_STATEMENT', '/accounts/a-1/statements/st-1'],
  ['ACCOUNT_STATEMENT_FILE', '/accounts/a-1/statements/st-1/file'],
] as const)('the feature %s', (feature, path) => {
  it('is 424 where the institution lacks it', async () => {
    scriptInstitution(aggregator, bank, { without: [feature] });
    await expectProblem(read(path), problems.featureNotSupported(), shape);
  });

  it('is 403 where the consent does not cover it', async () => {
    const narrow = await grantedAccount(aggregator, shop, { accountRequest: { featureScope: ['ACCOUNTS'] } });
    await expectProblem(read(path, narrow.token), problems.forbidden({ parameter: 'consent' }), shape);
    expect(bank.operations[feature]).not.toHaveBeenCalled();
  });
});
