import { beforeEach, describe, expect, it } from 'vitest';
import { Beneficiary, DirectDebitResponse, Identity, PaymentResponse, problems, type Envelope } from '#libs/contract';
import { InstitutionError } from '#libs/connectors';
import { grantedAccount } from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { expectShape } from '../../../../test/support/expect-shape.js';
import { scriptInstitution } from '../../../../test/support/scripted-connector.js';
import { scriptedShop } from '../../../../test/support/scripted-shop.js';

const world = scriptedShop();
let token: string;
beforeEach(async () => {
  ({ token } = await grantedAccount(world.aggregator, world.shop));
});

const shape = { shape: 'minimal' } as const;
const read = <T>(path: `/${string}`, consent = token) =>
  world.aggregator.ask<Envelope<T>>(`GET ${path}`, { as: world.shop, headers: { consent } });

const reads = [
  ['ACCOUNT_BENEFICIARIES', '/accounts/a-1/beneficiaries', Beneficiary],
  ['ACCOUNT_DIRECT_DEBITS', '/accounts/a-1/direct-debits', DirectDebitResponse],
  ['ACCOUNT_PERIODIC_PAYMENTS', '/accounts/a-1/periodic-payments', PaymentResponse],
  ['ACCOUNT_SCHEDULED_PAYMENTS', '/accounts/a-1/scheduled-payments', PaymentResponse],
  ['IDENTITY', '/identity', Identity],
] as const;

describe.each(reads)('the feature %s', (feature, path, type) => {
  it('answers what the bank has, in the form of the contract', async () => {
    const { status, body } = await read<object | object[]>(path);
    expect(status).toBe(200);
    for (const item of [body.data].flat()) expectShape<object>(type, item);
    expect(world.bank.operations[feature]).toHaveBeenCalledTimes(1);
  });

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

  it('is 424, never empty, when the bank fails', async () => {
    const failure = new InstitutionError('malformed', 'Unreadable', { httpStatus: 200 });
    world.bank.operations[feature].mockRejectedValue(failure);
    const failed = problems.institutionFailed({ errorMessage: 'Unreadable', httpStatusCode: 200 });
    await expectProblem(read(path), failed, shape);
  });

  it('passes the user’s address on to the bank', async () => {
    await world.aggregator.ask(`GET ${path}`, {
      as: world.shop,
      headers: { consent: token, 'psu-ip-address': '192.0.2.7' },
    });
    expect(world.bank.operations[feature].mock.calls[0]?.[0].psu).toEqual({ ipAddress: '192.0.2.7' });
  });
});

describe('the beneficiaries', () => {
  it('come with `data` and nothing else', async () => {
    expect((await read('/accounts/a-1/beneficiaries')).body).toEqual({ data: [{ id: 'b-1' }] });
  });

  it('of an account that the bank does not know are 404', async () => {
    world.bank.operations.ACCOUNT_BENEFICIARIES.mockRejectedValue(new InstitutionError('not-found', 'No such account'));
    await expectProblem(read('/accounts/x/beneficiaries'), problems.notFound({ parameter: 'accountId' }), shape);
  });
});

describe.each(['direct-debits', 'periodic-payments', 'scheduled-payments'] as const)('the %s', (list) => {
  const path = `/accounts/a-1/${list}` as const;
  const all = Array.from({ length: 5 }, (_, index) => ({ id: `x-${index}`, status: 'PENDING' as const }));
  beforeEach(() => {
    world.bank.operations.ACCOUNT_DIRECT_DEBITS.mockResolvedValue(all.map(({ id }) => ({ id })));
    world.bank.operations.ACCOUNT_PERIODIC_PAYMENTS.mockResolvedValue(all);
    world.bank.operations.ACCOUNT_SCHEDULED_PAYMENTS.mockResolvedValue(all);
  });

  it('are limited, and count them all', async () => {
    const { body } = await read<{ id: string }[]>(`${path}?limit=2`);
    expect(body.data.map(({ id }) => id)).toEqual(['x-0', 'x-1']);
    expect(body.meta).toMatchObject({ count: 2, pagination: { totalCount: 5, self: { limit: 2 } } });
    expect(body.links).toEqual({ self: `${world.aggregator.env.AGGREGATOR_URL}${path}?limit=2` });
  });

  it('are a thousand at most, without a limit', async () => {
    expect((await read(path)).body).toMatchObject({
      meta: { count: 5, pagination: { totalCount: 5, self: { limit: 1000 } } },
      links: { self: `${world.aggregator.env.AGGREGATOR_URL}${path}?limit=1000` },
    });
  });

  it.each(['0', '1001', '-1', 'ten'])('refuse the limit %s', async (limit) => {
    const expected = problems.unexpectedValue({ parameter: 'limit' });
    await expectProblem(read(`${path}?limit=${limit}`), expected, shape);
  });
});

describe('a header that the institution wants with reads', () => {
  const ask = (path: `/${string}`, headers: Record<string, string> = {}) =>
    world.aggregator.ask(`GET ${path}`, { as: world.shop, headers: { consent: token, ...headers } });
  const demanding = ['/accounts', '/accounts/a-1', '/accounts/a-1/balances', '/accounts/a-1/transactions'] as const;

  it.each(demanding)('is demanded by name: %s', async (path) => {
    scriptInstitution(world.aggregator, world.bank, { psuHeadersOfReads: ['id', 'corporateId'] });
    const [first, second] = ['psu-id', 'psu-corporate-id'].map((parameter) => problems.unexpectedValue({ parameter }));
    const both = problems.unexpectedValues([...(first?.issues ?? []), ...(second?.issues ?? [])]);
    await expectProblem(ask(path), both, shape);
    await expectProblem(
      ask(path, { 'psu-corporate-id': 'c' }),
      problems.unexpectedValue({ parameter: 'psu-id' }),
      shape,
    );
    expect((await ask(path, { 'psu-id': 'u', 'psu-corporate-id': 'c' })).status).toBe(200);
  });

  it('is not demanded where the operation has no such header', async () => {
    scriptInstitution(world.aggregator, world.bank, { psuHeadersOfReads: ['id'] });
    expect((await ask('/accounts/a-1/statements')).status).toBe(200);
  });
});
