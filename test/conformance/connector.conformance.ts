import { Account, Balances, Transaction } from '#libs/contract';
import { features, operation, walkPages, type Grant } from '#libs/connectors';
import { now } from '#libs/server';
import { bankUnderTest, newState, type BankUnderTest } from '../support/bank-under-test.js';
import { expectShape } from '../support/expect-shape.js';
import { startSandboxBank, type SandboxBank } from '../support/sandbox.js';

/** One suite over every institution that the sandbox plays: authorisation, accounts, transactions, the end of a consent. */

let sandbox: SandboxBank;
beforeAll(async () => {
  sandbox = await startSandboxBank();
});
afterAll(() => sandbox.close());
afterEach(() => sandbox.calm());

const failing = (kind: string, more: object = {}) =>
  expect.objectContaining({ name: 'InstitutionError', kind, ...more });

describe.each(['meridian-sandbox', 'tamar-sandbox', 'thistle-sandbox'])('authorisation at %s', (id) => {
  let bank: BankUnderTest;
  beforeAll(() => {
    bank = bankUnderTest(sandbox, { id });
  });
  afterAll(() => bank.close());

  it('sends the PSU to the bank with a signed request and ends with a grant', async () => {
    const { url, pending, state } = await bank.begin();
    const asked = new URL(url).searchParams;
    expect(asked.get('request')?.split('.')).toHaveLength(3);
    expect(asked.get('state')).toBe(state);
    const step = await bank.connector.proceed(bank.call(), pending, { callback: await sandbox.visit(url) });
    expect(step).toMatchObject({
      kind: 'authorised',
      grant: { institutionConsentId: pending.institutionConsentId, state: { scope: 'accounts' } },
    });
  });

  it('says that the PSU refused', async () => {
    expect(await bank.authorise({ decision: 'deny' })).toMatchObject({ kind: 'rejected', reason: expect.any(String) });
  });

  it('refuses an answer to another request', async () => {
    const one = await bank.begin();
    const other = await bank.begin();
    const callback = await sandbox.visit(one.url);
    await expect(bank.connector.proceed(bank.call(), other.pending, { callback })).rejects.toEqual(
      failing('malformed'),
    );
  });

  it.each(['state', 'nonce', 'consentId', 'codeVerifier'])(
    'refuses an answer that does not fit its %s',
    async (member) => {
      const { url, pending } = await bank.begin();
      const state = { ...(pending.state as Record<string, unknown>), [member]: `${newState()}${newState()}` };
      const callback = await sandbox.visit(url);
      const failed = bank.connector.proceed(bank.call(), { ...pending, state }, { callback });
      await expect(failed).rejects.toEqual(failing(member === 'codeVerifier' ? 'unauthorised' : 'malformed'));
    },
  );

  it('refuses a code, a token or a response that was changed on the way, before it asks for tokens', async () => {
    const { url, pending } = await bank.begin();
    const callback = await sandbox.visit(url);
    for (const name of ['code', 'id_token', 'response'].filter((each) => callback.has(each))) {
      const changed = new URLSearchParams(callback);
      changed.set(name, alter(callback.get(name) ?? ''));
      const before = bank.reports.filter(({ template }) => template.endsWith('/token')).length;
      await expect(bank.connector.proceed(bank.call(), pending, { callback: changed })).rejects.toEqual(
        failing('malformed'),
      );
      expect(bank.reports.filter(({ template }) => template.endsWith('/token')).length).toBe(before);
    }
    // The untouched answer is still good: nothing above has used the code.
    expect(await bank.connector.proceed(bank.call(), pending, { callback })).toMatchObject({ kind: 'authorised' });
  });

  it('takes a code once', async () => {
    const { url, pending } = await bank.begin();
    const callback = await sandbox.visit(url);
    await bank.connector.proceed(bank.call(), pending, { callback });
    await expect(bank.connector.proceed(bank.call(), pending, { callback })).rejects.toEqual(
      failing('unauthorised', { code: 'invalid_grant' }),
    );
  });

  it('refuses an empty answer', async () => {
    const { pending, state } = await bank.begin();
    const callback = new URLSearchParams({ state });
    await expect(bank.connector.proceed(bank.call(), pending, { callback })).rejects.toEqual(failing('malformed'));
  });

  it('authorises the same consent again', async () => {
    const grant = await bank.consent();
    const access = { state: newState(), redirectUri: sandbox.credentials.redirectUri, featureScope: [], renews: grant };
    const step = await operation(bank.connector, 'INITIATE_ACCOUNT_REQUEST')(bank.call(), access);
    if (step.kind !== 'redirect') throw new Error('Expected a redirect');
    expect(step.pending.institutionConsentId).toBe(grant.institutionConsentId);
    const again = await bank.connector.proceed(bank.call(), step.pending, { callback: await sandbox.visit(step.url) });
    expect(again).toMatchObject({ kind: 'authorised' });
  });
});

describe.each(['meridian-sandbox', 'tamar-sandbox', 'thistle-sandbox'])('account data at %s', (id) => {
  let bank: BankUnderTest;
  let grant: Grant;
  let accounts: Account[];
  beforeAll(async () => {
    bank = bankUnderTest(sandbox, { id });
    grant = await bank.consent();
    accounts = await operation(bank.connector, 'ACCOUNTS')(bank.under(grant));
  });
  afterAll(() => bank.close());

  const page = (accountId: string, range = {}) =>
    operation(bank.connector, 'ACCOUNT_TRANSACTIONS')(bank.under(grant), accountId, range);
  const everything = (accountId: string, range = {}) =>
    walkPages((cursor) => page(accountId, { ...range, ...(cursor === undefined ? {} : { cursor }) }), {
      bounds: bank.institution.pageBounds,
      now,
    });
  const biggest = async (): Promise<string> => {
    const { banks } = await sandbox.state();
    const ada = banks.find(({ id: name }) => name === bank.name)?.personas[0];
    return ada?.accounts.toSorted((a, b) => b.transactions - a.transactions)[0]?.id ?? '';
  };

  it('has every operation that its features promise', () => {
    const operations = features(bank.institution).filter((feature) => !bank.institution.modifiers?.includes(feature));
    expect(Object.keys(bank.connector.operations).toSorted()).toEqual(operations);
  });

  it('reads accounts with their balances, each of the shape of the contract', async () => {
    expect(accounts.length).toBeGreaterThan(1);
    for (const account of accounts) {
      expectShape(Account, account);
      expect(account.accountBalances?.length).toBeGreaterThan(0);
      expect(account.balance).toEqual(expect.any(Number));
      expect(account.accountIdentifications?.length).toBeGreaterThan(0);
    }
    const [first] = accounts;
    const alone = await operation(bank.connector, 'ACCOUNT')(bank.under(grant), first!.id);
    expect(withoutInstants(alone)).toEqual(withoutInstants(first!));
    const balances = await operation(bank.connector, 'ACCOUNT_BALANCES')(bank.under(grant), first!.id);
    expectShape(Balances, balances);
    expect(balances.mainBalanceAmount?.amount).toBe(first!.balance);
  });

  it('says that an unknown account is not found', async () => {
    await expect(operation(bank.connector, 'ACCOUNT')(bank.under(grant), 'nobody')).rejects.toEqual(
      failing('not-found'),
    );
    await expect(page('../accounts')).rejects.toEqual(failing('not-found'));
  });

  it('reads all pages to the end, without overlap, of the shape of the contract', async () => {
    const account = await biggest();
    const all = await everything(account);
    expect(all.length).toBeGreaterThan(500);
    expect(new Set(all.map((transaction) => transaction.id)).size).toBe(all.length);
    for (const transaction of all) {
      expect(transaction).toMatchObject({
        amount: expect.any(Number),
        currency: expect.any(String),
        status: expect.any(String),
      });
    }
    for (const transaction of all.slice(0, 100)) expectShape(Transaction, transaction);
    expect(all.some(({ merchant }) => merchant?.merchantName)).toBe(true);
    expect(all.some(({ amount }) => (amount ?? 0) > 0) && all.some(({ amount }) => (amount ?? 0) < 0)).toBe(true);
  });

  it('reads a window with both its ends', async () => {
    const account = await biggest();
    const all = await everything(account);
    const booked = all.filter(({ status }) => status === 'BOOKED').map(({ date }) => date ?? '');
    const [before = '', from = ''] = [booked[10], booked[40]];
    const window = await everything(account, { from: new Date(from), before: new Date(before) });
    const expected = all.filter(({ date = '' }) => date >= from && date <= before).map((transaction) => transaction.id);
    expect(new Set(window.map((transaction) => transaction.id))).toEqual(new Set(expected));
    expect(expected.length).toBeGreaterThan(20);
  });

  it('ends a consent at the bank, once or twice, and says afterwards that it is gone', async () => {
    const own = await bank.consent();
    await bank.connector.revoke(bank.under(own));
    await bank.connector.revoke(bank.under(own));
    await expect(operation(bank.connector, 'ACCOUNTS')(bank.under(own))).rejects.toEqual(failing('consent-gone'));
  });

  it('ends a consent that nobody has authorised yet', async () => {
    const { pending } = await bank.begin();
    await expect(bank.connector.revoke(bank.under(pending))).resolves.toBeUndefined();
  });
});

/** Another text of the same length that still is one: a character in the middle is changed. */
function alter(text: string): string {
  const at = Math.floor(text.length / 2);
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
}

/** The balances of a later reading tell a later instant. */
function withoutInstants({ accountBalances, ...account }: Account) {
  return { ...account, accountBalances: accountBalances?.map((balance) => ({ ...balance, dateTime: undefined })) };
}
