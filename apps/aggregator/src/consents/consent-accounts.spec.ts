import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { problems, type Account, type AccountRequest, type Envelope } from '#libs/contract';
import { TestAggregator } from '../../../../test/support/aggregator.js';
import { applicationWithCallback, grantedAccount } from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import {
  scriptedConnector,
  scriptInstitution,
  type ScriptedConnector,
} from '../../../../test/support/scripted-connector.js';
import type { IssuedKey } from '../applications/application-keys.service.js';
import { accountLimits, isNamed } from './consent-accounts.js';

const named = (identification: string, accountId?: string) => ({
  ...(accountId === undefined ? {} : { accountId }),
  accountIdentification: { type: 'IBAN', identification } as const,
});
const account = (id: string, identification: string): Account => ({
  id,
  accountIdentifications: [{ type: 'IBAN', identification }],
});

describe('the accounts of a consent', () => {
  it('are all where none is named', () => {
    expect(accountLimits({})).toBeUndefined();
    expect(accountLimits({ accountIdentifiersForBalance: [] })).toBeUndefined();
  });

  it('are the one that is named alone, for everything', () => {
    const only = [named('X1')];
    const request = { accountIdentifiers: named('X1') };
    expect(accountLimits(request)).toEqual({ account: only, balances: only, transactions: only, rest: only });
  });

  it('are those named for a use, for that use', () => {
    const request: AccountRequest = {
      accountIdentifiersForTransaction: [named('X1')],
      accountIdentifiersForBalance: [named('X2')],
    };
    expect(accountLimits(request)).toEqual({
      account: [named('X1'), named('X2')],
      transactions: [named('X1')],
      balances: [named('X2')],
      rest: [],
    });
  });

  it('are known by the bank’s id or by a number, however it is written', () => {
    expect(isNamed([named('DE12 3456')], account('a-1', 'de123456'))).toBe(true);
    expect(isNamed([named('DE99', 'a-1')], account('a-1', 'DE12'))).toBe(true);
    expect(isNamed([named('DE99', 'a-2')], account('a-1', 'DE12'))).toBe(false);
    expect(isNamed([named('DE12')], { id: 'DE12' })).toBe(false);
    expect(
      isNamed([named('DE12')], { id: 'a', accountIdentifications: [{ type: 'BBAN', identification: 'DE12' }] }),
    ).toBe(false);
  });
});

describe('reading under a consent for some accounts', () => {
  let aggregator: TestAggregator;
  let bank: ScriptedConnector;
  let shop: IssuedKey;

  beforeAll(async () => {
    aggregator = await TestAggregator.start();
  });
  afterAll(() => aggregator.close());
  beforeEach(async () => {
    bank = scriptedConnector();
    bank.operations.ACCOUNTS.mockResolvedValue([account('a-1', 'X1'), account('a-2', 'X2'), account('a-3', 'X3')]);
    scriptInstitution(aggregator, bank);
    shop = await applicationWithCallback(aggregator);
  });

  const under = async (accountRequest: AccountRequest) => {
    const { token: consent } = await grantedAccount(aggregator, shop, { accountRequest });
    const get = (path: string) =>
      aggregator.ask<Envelope<Account[]>>(`GET /accounts${path}`, { as: shop, headers: { consent } });
    const statusOf = async (path: string) => (await get(path)).status;
    return { get, statusOf };
  };

  it('shows these alone, and refuses every other', async () => {
    const { get, statusOf } = await under({ accountIdentifiers: named('X1') });
    expect((await get('')).body.data.map(({ id }) => id)).toEqual(['a-1']);
    for (const path of ['/a-1', '/a-1/balances', '/a-1/transactions', '/a-1/beneficiaries']) {
      expect([path, (await statusOf(path)) === 403]).toEqual([path, false]);
    }
    const refused = problems.forbidden({ parameter: 'accountId' });
    for (const path of ['/a-2', '/a-2/balances', '/a-2/transactions', '/a-2/beneficiaries', '/unknown']) {
      await expectProblem(get(path), refused, { shape: 'minimal' });
    }
    expect(bank.operations.ACCOUNT_TRANSACTIONS).toHaveBeenCalledTimes(1);
  });

  it('allows transactions of some and balances of others', async () => {
    const { get, statusOf } = await under({
      accountIdentifiersForTransaction: [named('X1')],
      accountIdentifiersForBalance: [named('X2')],
    });
    expect((await get('')).body.data.map(({ id }) => id)).toEqual(['a-1', 'a-2']);
    const statuses = [
      '/a-1/transactions',
      '/a-1/balances',
      '/a-2/transactions',
      '/a-2/balances',
      '/a-1',
      '/a-2',
      '/a-3',
    ];
    expect(await Promise.all(statuses.map(statusOf))).toEqual([200, 403, 403, 200, 200, 200, 403]);
    expect(await statusOf('/a-1/direct-debits')).toBe(403);
  });

  it('asks the bank nothing more where the request gave the bank’s id, or named no account', async () => {
    const byId = await under({ accountIdentifiers: named('other', 'a-2') });
    expect(await byId.statusOf('/a-2/transactions')).toBe(200);
    const whole = await under({});
    expect(await whole.statusOf('/a-3/transactions')).toBe(200);
    expect(bank.operations.ACCOUNTS).not.toHaveBeenCalled();
  });
});
