import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { problems, type Account, type Balances, type Consent, type Envelope, type Transaction } from '#libs/contract';
import { InstitutionError } from '#libs/connectors';
import { now, resetClock, setClock } from '#libs/server';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import {
  applicationWithCallback,
  asOwner,
  domesticPayment,
  grantedAccount,
  grantedPayment,
} from '../../../../test/support/authorise.js';
import { expectPage } from '../../../../test/support/expect-page.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import {
  scriptedConnector,
  scriptInstitution,
  transactions,
  type ScriptedConnector,
} from '../../../../test/support/scripted-connector.js';
import type { IssuedKey } from '../applications/application-keys.service.js';

let aggregator: TestAggregator;
let bank: ScriptedConnector;
let shop: IssuedKey;
let token: string;
let consentId: string;

beforeAll(async () => {
  aggregator = await TestAggregator.start();
});
afterAll(() => aggregator.close());
beforeEach(async () => {
  bank = scriptedConnector();
  scriptInstitution(aggregator, bank);
  shop = await applicationWithCallback(aggregator);
  ({ id: consentId, token } = await grantedAccount(aggregator, shop));
});
afterEach(() => {
  resetClock();
});

const shape = { shape: 'minimal' } as const;
const read = <T>(path: `/${string}`, consent = token, as = shop) =>
  aggregator.ask<Envelope<T>>(`GET ${path}`, { as, headers: { consent } });
const rows = (query = '') => read<Transaction[]>(`/accounts/a-1/transactions${query}`);
const idsOf = async (query = '') => (await rows(query)).body.data.map(({ id }) => id);
/** A bank that hands out `items` in pages of `size`. */
const inPages = (items: Transaction[], size: number) => {
  bank.operations.ACCOUNT_TRANSACTIONS.mockImplementation(async (_call, _accountId, { cursor }) => {
    const start = Number(cursor ?? 0);
    const end = start + size;
    return { items: items.slice(start, end), ...(end < items.length ? { next: String(end) } : {}) };
  });
};

describe('accounts', () => {
  it('are listed, shown and balanced as the bank has them', async () => {
    expect((await read<Account[]>('/accounts')).body).toMatchObject({
      meta: { count: 1 },
      data: [{ id: 'a-1', balance: 12.5 }],
    });
    expect((await read<Account>('/accounts/a-2')).body.data.id).toBe('a-2');
    expect((await read<Balances>('/accounts/a-1/balances')).body.data.mainBalanceAmount).toEqual({
      amount: 12.5,
      currency: 'GBP',
    });
  });

  it('are 404 when the bank does not know them', async () => {
    bank.operations.ACCOUNT.mockRejectedValue(
      new InstitutionError('not-found', 'No such account', { httpStatus: 400 }),
    );
    await expectProblem(read('/accounts/x'), problems.notFound({ parameter: 'accountId' }), shape);
  });

  it('are never empty because the bank failed', async () => {
    bank.operations.ACCOUNTS.mockRejectedValue(new InstitutionError('malformed', 'Unreadable', { httpStatus: 200 }));
    const failed = problems.institutionFailed({ errorMessage: 'Unreadable', httpStatusCode: 200 });
    await expectProblem(read('/accounts'), failed, shape);
  });

  it('are refused with the bank’s own time to wait when it has had enough', async () => {
    const refused = { httpStatus: 429, code: 'ACCESS_EXCEEDED', retryAfterMs: 3_600_000 };
    bank.operations.ACCOUNTS.mockRejectedValue(new InstitutionError('rate-limited', 'Enough', refused));
    const failed = { errorMessage: 'Enough', httpStatusCode: 429, retryAfterMs: 3_600_000 };
    await expectProblem(read('/accounts'), problems.institutionFailed(failed), shape);
  });

  it('pass the user’s address on to the bank', async () => {
    await aggregator.ask('GET /accounts', { as: shop, headers: { consent: token, 'psu-ip-address': '192.0.2.7' } });
    expect(bank.operations.ACCOUNTS.mock.calls[0]?.[0].psu).toEqual({ ipAddress: '192.0.2.7' });
  });
});

describe('the consent header', () => {
  it('is mandatory, and must be a token of the caller’s own consent', async () => {
    const without = aggregator.ask('GET /accounts', { as: shop });
    await expectProblem(without, problems.badRequest({ parameter: 'consent' }), shape);
    await expectProblem(read('/accounts', 'nonsense'), problems.consentUnknown({ parameter: 'consent' }), shape);
    const other = await applicationWithCallback(aggregator);
    await expectProblem(read('/accounts', token, other), problems.consentUnknown({ parameter: 'consent' }), shape);
  });

  it('must belong to a consent whose scope has the feature', async () => {
    const narrow = await grantedAccount(aggregator, shop, { accountRequest: { featureScope: ['ACCOUNTS'] } });
    expect((await read('/accounts', narrow.token)).status).toBe(200);
    await expectProblem(read('/accounts/a-1', narrow.token), problems.forbidden({ parameter: 'consent' }), shape);
    await expectProblem(
      read('/accounts/a-1/transactions', narrow.token),
      problems.forbidden({ parameter: 'consent' }),
      shape,
    );
    const payment = await grantedPayment(aggregator, shop, domesticPayment('p1'));
    await expectProblem(read('/accounts', payment.token), problems.forbidden({ parameter: 'consent' }), shape);
  });

  it('is answered 424 where the institution lacks the feature', async () => {
    scriptInstitution(aggregator, bank, { without: ['ACCOUNT_BALANCES'] });
    await expectProblem(read('/accounts/a-1/balances'), problems.featureNotSupported(), shape);
  });

  it('is refused once the bank has ended the consent, without asking the bank again', async () => {
    bank.operations.ACCOUNTS.mockRejectedValue(new InstitutionError('consent-gone', 'Revoked', { httpStatus: 403 }));
    await expectProblem(read('/accounts'), problems.consentNotAuthorised(), shape);
    const consent = await aggregator.ask<Envelope<Consent>>(`GET /consents/${consentId}`, { as: shop });
    expect(consent.body.data.status).toBe('REVOKED');
    await expectProblem(read('/accounts'), problems.consentNotAuthorised({ parameter: 'consent' }), shape);
    expect(bank.operations.ACCOUNTS).toHaveBeenCalledTimes(1);
  });

  it('uses the grant that the bank renewed during the last call', async () => {
    bank.operations.ACCOUNTS.mockImplementationOnce(async (call) => {
      await call.keep({ ...call.grant, state: { refreshToken: 'r-2' } });
      return [];
    });
    await read('/accounts');
    await read('/accounts');
    expect(bank.operations.ACCOUNTS.mock.calls.map(([{ grant }]) => grant.state)).toEqual([
      { refreshToken: 'r-1' },
      { refreshToken: 'r-2' },
    ]);
  });
});

describe('transactions', () => {
  it('obey the rules of offset paging', async () => {
    inPages(transactions(23), 10);
    await expectPage((query) => rows(`?${new URLSearchParams(query).toString()}`), {
      total: 23,
      dateOf: (row) => (row as Transaction).date ?? '',
    });
  });

  it.each([
    [6500, '?offset=1000', 1001, 2000],
    [6500, '?offset=6000', 6001, 6500],
    [467, '?limit=50&offset=450', 451, 467],
  ])('of %d records answer %s with records %d to %d', async (total, query, first, last) => {
    inPages(transactions(total), 700);
    const { body } = await rows(query);
    const limit = query.startsWith('?limit') ? 50 : 1000;
    expect(body.meta).toMatchObject({ count: last - first + 1, pagination: { totalCount: total, self: { limit } } });
    // The rows of the scripted bank are numbered from the oldest on, and the page begins with the newest.
    expect(body.data.map(({ id }) => id)).toEqual(
      Array.from({ length: last - first + 1 }, (_, index) => `t-${total - (first - 1) - index}`),
    );
  });

  it('name every faulty parameter at once', async () => {
    const issues = ['limit', 'sort', 'with'].map((parameter) => problems.unexpectedValue({ parameter }).issues[0]!);
    await expectProblem(rows('?with=foo&limit=0&sort=x'), problems.unexpectedValues(issues), shape);
  });

  it('carry the hash by which Data Plus knows them, twins apart', async () => {
    const [row] = transactions(1);
    inPages(
      [
        { ...row, id: 'x' },
        { ...row, id: 'y' },
      ],
      10,
    );
    const hashes = (await rows()).body.data.map(({ enrichment }) => enrichment?.transactionHash?.hash ?? '');
    expect(hashes).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.1$/), expect.stringMatching(/^[0-9a-f]{32}\.2$/)]);
    expect(hashes[0]?.slice(0, 32)).toBe(hashes[1]?.slice(0, 32));
  });

  it('cost the bank one walk for all the pages of ten minutes', async () => {
    inPages(transactions(120), 50);
    const seen = [];
    for (let offset = 0; offset < 120; offset += 25) seen.push(...(await idsOf(`?limit=25&offset=${offset}`)));
    expect(new Set(seen).size).toBe(120);
    expect(bank.operations.ACCOUNT_TRANSACTIONS).toHaveBeenCalledTimes(3);
    const at = new Date(now().getTime() + 600_000);
    setClock(() => at);
    await idsOf('?limit=25&offset=25');
    expect(bank.operations.ACCOUNT_TRANSACTIONS).toHaveBeenCalledTimes(6);
  });

  it('are walked anew at offset 0, which is how a caller refreshes', async () => {
    inPages(transactions(4), 50);
    await idsOf('?limit=2');
    inPages(transactions(6), 50);
    expect(await idsOf('?limit=2&offset=2')).toEqual(['t-2', 't-1']);
    expect(await idsOf('?limit=2')).toEqual(['t-6', 't-5']);
    expect(await idsOf('?limit=2&offset=2')).toEqual(['t-4', 't-3']);
  });

  it('are not served to another query, account or consent from the snapshot of one', async () => {
    inPages(transactions(10), 50);
    await idsOf('?limit=5');
    const other = await grantedAccount(aggregator, shop);
    await read('/accounts/a-2/transactions?limit=5&offset=5');
    await read('/accounts/a-1/transactions?limit=5&offset=5', other.token);
    await idsOf('?limit=5&offset=5&from=2026-01-02T00:00:00.000Z');
    expect(bank.operations.ACCOUNT_TRANSACTIONS).toHaveBeenCalledTimes(4);
    await idsOf('?limit=5&offset=5&sort=date');
    expect(bank.operations.ACCOUNT_TRANSACTIONS).toHaveBeenCalledTimes(4);
  });

  it('are kept sealed', async () => {
    inPages(transactions(10), 50);
    await idsOf('?limit=5');
    const kept = await asOwner(
      aggregator,
      'SELECT * FROM aggregator.snapshots s JOIN aggregator.snapshot_chunks ON snapshot_id = s.id',
    );
    expect(kept.length).toBeGreaterThan(0);
    const isReadable = kept.some((row) => JSON.stringify(row).includes('transactionAmount'));
    expect(isReadable).toBe(false);
  });

  it('are walked once for callers that ask at the same time', async () => {
    inPages(transactions(10), 50);
    const answers = await Promise.all(Array.from({ length: 6 }, () => idsOf('?limit=5')));
    for (const ids of answers) expect(ids).toEqual(['t-10', 't-9', 't-8', 't-7', 't-6']);
    expect(bank.operations.ACCOUNT_TRANSACTIONS.mock.calls.length).toBeLessThan(6);
  });

  it('are clipped to the period of the consent', async () => {
    const window = { transactionFrom: '2026-01-03T00:00:00.000Z', transactionTo: '2026-01-05T00:00:00.000Z' };
    const clipped = await grantedAccount(aggregator, shop, { accountRequest: window });
    inPages(transactions(10), 50);
    const ids = async (query: string) =>
      (await read<Transaction[]>(`/accounts/a-1/transactions${query}`, clipped.token)).body.data.map(({ id }) => id);
    expect(await ids('')).toEqual(['t-5', 't-4', 't-3']);
    expect(await ids('?from=2026-01-05T00:00:00.000Z')).toEqual(['t-5']);
    bank.operations.ACCOUNT_TRANSACTIONS.mockClear();
    expect(await ids('?from=2026-01-06T00:00:00.000Z')).toEqual([]);
    expect(bank.operations.ACCOUNT_TRANSACTIONS).not.toHaveBeenCalled();
  });

  it('are refused, not cut, when there are more than can be walked', async () => {
    scriptInstitution(aggregator, bank, { pageBounds: { pages: 2, records: 1_000, ms: 10_000 } });
    inPages(transactions(30), 10);
    await expectProblem(rows(), problems.tooManyRecords({ parameter: 'from' }), shape);
  });

  it('fail as a whole when a later page fails', async () => {
    bank.operations.ACCOUNT_TRANSACTIONS.mockResolvedValueOnce({ items: transactions(2), next: '2' });
    bank.operations.ACCOUNT_TRANSACTIONS.mockRejectedValueOnce(new InstitutionError('timeout', 'Too slow'));
    await expectProblem(rows(), problems.institutionFailed({ errorMessage: 'Too slow' }), shape);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=ten', 'limit'],
    ['offset=-1', 'offset'],
    ['sort=amount', 'sort'],
    ['from=2026-13-01T00:00:00.000Z', 'from'],
    ['before=yesterday', 'before'],
  ])('refuse %s by name', async (query, parameter) => {
    await expectProblem(rows(`?${query}`), problems.unexpectedValue({ parameter }), shape);
    expect(bank.operations.ACCOUNT_TRANSACTIONS).not.toHaveBeenCalled();
  });
});
