import { beforeEach, describe, expect, it } from 'vitest';
import { AccountStatement, problems, type Envelope } from '#libs/contract';
import { InstitutionError } from '#libs/connectors';
import { grantedAccount } from '../../../../test/support/authorise.js';
import { expectPage } from '../../../../test/support/expect-page.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { expectShape } from '../../../../test/support/expect-shape.js';
import { scriptInstitution, statements } from '../../../../test/support/scripted-connector.js';
import { scriptedShop } from '../../../../test/support/scripted-shop.js';

const world = scriptedShop();
let token: string;
beforeEach(async () => {
  ({ token } = await grantedAccount(world.aggregator, world.shop));
});

const shape = { shape: 'minimal' } as const;
const read = <T>(path: `/${string}`, consent = token) =>
  world.aggregator.ask<Envelope<T>>(`GET ${path}`, { as: world.shop, headers: { consent } });
const rows = (query = '', consent = token) => read<AccountStatement[]>(`/accounts/a-1/statements${query}`, consent);
const unknown = () => new InstitutionError('not-found', 'No such thing', { httpStatus: 400 });

describe('statements', () => {
  it('obey the rules of offset paging', async () => {
    const items = statements(23);
    world.bank.operations.ACCOUNT_STATEMENTS.mockImplementation(async (_call, _accountId, { cursor }) => {
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
      `${world.aggregator.env.AGGREGATOR_URL}/accounts/a-1/statements?from&before&limit=2&sort=-date&offset=0`,
    );
  });

  it('are served from the snapshot at later offsets, and never from that of the transactions', async () => {
    await rows('?limit=2');
    await read('/accounts/a-1/transactions?limit=2');
    expect((await rows('?limit=2&offset=2')).body.data.map(({ id }) => id)).toEqual(['st-1']);
    expect(world.bank.operations.ACCOUNT_STATEMENTS).toHaveBeenCalledTimes(1);
  });

  it('are clipped to the period of the consent by the date of their making', async () => {
    const items = statements(6);
    for (const item of items) item.startDateTime = '2025-12-01T00:00:00.000Z';
    world.bank.operations.ACCOUNT_STATEMENTS.mockResolvedValue({ items });
    const accountRequest = { transactionFrom: '2026-01-03T00:00:00.000Z', transactionTo: '2026-01-04T00:00:00.000Z' };
    const clipped = await grantedAccount(world.aggregator, world.shop, { accountRequest });
    expect((await rows('', clipped.token)).body.data.map(({ id }) => id)).toEqual(['st-4', 'st-3']);
  });

  it('of an account that the bank does not know are 404', async () => {
    world.bank.operations.ACCOUNT_STATEMENTS.mockRejectedValue(unknown());
    await expectProblem(rows(), problems.notFound({ parameter: 'accountId' }), shape);
  });
});

describe('one statement', () => {
  it('is shown', async () => {
    expect((await read('/accounts/a-1/statements/st-7')).body.data).toEqual({ id: 'st-7' });
    expect(world.bank.operations.ACCOUNT_STATEMENT.mock.calls[0]?.slice(1)).toEqual(['a-1', 'st-7']);
  });

  it('that the bank does not know is 404, its document too', async () => {
    world.bank.operations.ACCOUNT_STATEMENT.mockRejectedValue(unknown());
    world.bank.operations.ACCOUNT_STATEMENT_FILE.mockRejectedValue(unknown());
    const expected = problems.notFound({ parameter: 'statementId' });
    await expectProblem(read('/accounts/a-1/statements/x'), expected, shape);
    await expectProblem(read('/accounts/a-1/statements/x/file'), expected, shape);
  });

  it('has a document that comes byte for byte', async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256);
    world.bank.operations.ACCOUNT_STATEMENT_FILE.mockResolvedValue({ contentType: 'application/pdf', body: bytes });
    const authorization = `Basic ${Buffer.from(`${world.shop.id}:${world.shop.secret}`).toString('base64')}`;
    const url = '/accounts/a-1/statements/st-7/file';
    const answer = await world.aggregator.app.inject({
      method: 'GET',
      url,
      headers: { authorization, consent: token },
    });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({ 'content-type': 'application/pdf', 'content-length': '70000' });
    expect(Buffer.compare(answer.rawPayload, bytes)).toBe(0);
  });

  it('is not handed on when the bank sends something else than a PDF', async () => {
    const body = new TextEncoder().encode('<html>');
    world.bank.operations.ACCOUNT_STATEMENT_FILE.mockResolvedValue({ contentType: 'text/html', body });
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
    scriptInstitution(world.aggregator, world.bank, { without: [feature] });
    await expectProblem(read(path), problems.featureNotSupported(), shape);
  });

  it('is 403 where the consent does not cover it', async () => {
    const narrow = await grantedAccount(world.aggregator, world.shop, {
      accountRequest: { featureScope: ['ACCOUNTS'] },
    });
    await expectProblem(read(path, narrow.token), problems.forbidden({ parameter: 'consent' }), shape);
    expect(world.bank.operations[feature]).not.toHaveBeenCalled();
  });
});
