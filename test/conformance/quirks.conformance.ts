import type { Account, Transaction } from '#libs/contract';
import { operation, walkPages, withIdentities, type Consented, type Institution, type Range } from '#libs/connectors';
import { now } from '#libs/server';
import { consentAt, present } from '../support/bank-reading.js';
import { bankUnderTest, type BankUnderTest } from '../support/bank-under-test.js';
import { startSandboxBank, type SandboxBank } from '../support/sandbox.js';

/** What banks do that no standard says, at banks of both standards: one account apart, odd bodies, links, ids, dates. */

let sandbox: SandboxBank;
beforeAll(async () => {
  sandbox = await startSandboxBank();
});
afterAll(() => sandbox.close());
afterEach(() => sandbox.calm());

const DAY_MS = 86_400_000;
const failing = (kind: string) => expect.objectContaining({ name: 'InstitutionError', kind });

describe.each(['meridian', 'thistle', 'lindenhof', 'marais'])('at %s', (name) => {
  const resources = ['lindenhof', 'marais'].includes(name) ? '/v1' : '/aisp';
  const ACCOUNTS = `GET ${resources}/accounts`;
  const BALANCES = `${ACCOUNTS}/{AccountId}/balances`;
  const TRANSACTIONS = `${ACCOUNTS}/{AccountId}/transactions`;
  const opened: BankUnderTest[] = [];
  let grant: Consented['grant'];
  let account: Account;
  let other: Account;

  /** A reader under the suite's consent, at the bank as it is or with other data. */
  const reader = (changes: Partial<Institution> = {}) => {
    const bank = bankUnderTest(sandbox, { id: `${name}-sandbox`, changes });
    opened.push(bank);
    const { connector } = bank;
    const keep = async (renewed: Consented['grant']): Promise<void> => {
      grant = renewed;
    };
    const call = () => bank.under(grant, { psu: present, keep });
    const page = (range: Range = {}, id = account.id) =>
      operation(connector, 'ACCOUNT_TRANSACTIONS')(call(), id, range);
    const walk = (range: Range = {}): Promise<Transaction[]> =>
      walkPages((cursor) => page({ ...range, ...(cursor === undefined ? {} : { cursor }) }), {
        bounds: bank.institution.pageBounds,
        now,
      });
    return { bank, page, walk, accounts: () => operation(connector, 'ACCOUNTS')(call()) };
  };
  /** Every balance by a call of its own, whatever the list of accounts would hold. */
  const oneByOne = () => {
    const { institution } = bankUnderTest(sandbox, { id: `${name}-sandbox` });
    return { settings: { ...institution.settings, withBalance: false } } as Partial<Institution>;
  };
  const fault = (asked: { fault: string; route?: string; account?: string; times?: number }) =>
    sandbox.fault({ bank: name, ...asked });

  beforeAll(async () => {
    const { bank, accounts } = reader();
    grant = await consentAt(sandbox, bank);
    const [first, second] = await accounts();
    if (!first || !second) throw new Error('Ada has several accounts');
    [account, other] = [first, second];
  });
  afterAll(() => Promise.all(opened.map((each) => each.close())));

  describe('one account', () => {
    it.each(['401', '403', '500', 'bad-json'])(
      'that always fails with %s stands alone: the others are read, and the consent is not thought to have ended',
      async (what) => {
        await fault({ fault: what, route: BALANCES, account: account.id });
        await fault({ fault: what, route: TRANSACTIONS, account: account.id });
        const { accounts, page } = reader(oneByOne());
        const listed = await accounts();
        expect(listed.map(({ id, balance }) => ({ id, hasBalance: balance !== undefined }))).toEqual(
          listed.map(({ id }) => ({ id, hasBalance: id !== account.id })),
        );
        expect(listed.find(({ id }) => id === account.id)).toMatchObject({
          accountIdentifications: account.accountIdentifications,
        });
        const failure = await page().catch((error: unknown) => error);
        expect(failure).toMatchObject({ name: 'InstitutionError' });
        expect(failure).not.toMatchObject({ kind: 'consent-gone' });
        // The word for a token that is dead: only its user could help then.
        expect(failure).not.toMatchObject({ code: 'invalid_token' });
        expect((await page({}, other.id)).items).toBeInstanceOf(Array);
      },
    );

    it('and all others that fail are a failure, and so is having had enough of us', async () => {
      const { accounts } = reader(oneByOne());
      await fault({ fault: '500', route: BALANCES });
      await expect(accounts()).rejects.toEqual(failing('unavailable'));
      await sandbox.calm();
      await fault({ fault: '429', route: BALANCES, account: account.id });
      await expect(accounts()).rejects.toMatchObject({ kind: 'rate-limited', retryAfterMs: 2_000 });
    });

    it('that is closed meanwhile stays on the list, without a balance, and the others are read', async () => {
      const { banks } = await sandbox.state();
      const own = banks.find(({ id }) => id === name)?.personas[0]?.accounts ?? [];
      const { accounts, page } = reader(oneByOne());
      const [before, closing] = [await accounts(), own.find(({ kind }) => kind === 'savings')?.id ?? ''];
      await sandbox.control('close', { account: closing });
      const after = await accounts();
      expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
      const closed = after.filter(({ balance }) => balance === undefined);
      expect(closed).toHaveLength(1);
      await expect(page({}, closed[0]!.id)).rejects.toEqual(failing('not-found'));
      await sandbox.control('seed', { seed: 'open again' });
    });
  });

  describe('an answer', () => {
    it.each(['gzip', 'bom'])('that is packed otherwise (%s) says the same', async (what) => {
      const { accounts, page } = reader();
      const told = async () => (await accounts()).map(({ id, balance }) => ({ id, balance }));
      const [listed, rows] = [await told(), await page()];
      await fault({ fault: what });
      expect(await told()).toEqual(listed);
      expect((await page()).items).toEqual(rows.items);
    });

    it('without content is an empty list, where a list was asked for', async () => {
      await fault({ fault: '204', route: TRANSACTIONS });
      expect(await reader().walk()).toEqual([]);
      await fault({ fault: '204', route: ACCOUNTS });
      expect(await reader().accounts()).toEqual([]);
      await sandbox.calm();
      await fault({ fault: '204', route: `${ACCOUNTS}/{AccountId}` });
      const one = operation(reader().bank.connector, 'ACCOUNT');
      await expect(one(reader().bank.under(grant, { psu: present }), account.id)).rejects.toEqual(failing('malformed'));
    });
  });

  describe('pages', () => {
    const window = { from: new Date(now().getTime() - 300 * DAY_MS), before: now() };
    const ids = (rows: Transaction[]) => rows.map(({ id }) => id);

    it.each<[string, Partial<Institution>]>([
      ['cut-next', { pageLinks: { areQueriesOnly: true } }],
      ['lost-query', { pageLinks: { needFirstQuery: true } }],
    ])('that are linked wrongly (%s) are all read where the institution’s data say so', async (what, changes) => {
      const whole = ids(await reader().walk(window));
      expect(whole.length).toBeGreaterThan(100);
      await fault({ fault: what, route: TRANSACTIONS });
      await expect(reader().walk(window)).rejects.toMatchObject({ name: 'InstitutionError' });
      expect(ids(await reader(changes).walk(window))).toEqual(whole);
    });

    it('are waited for while the bank prepares them, so often and no longer', async () => {
      const whole = ids((await reader().page(window)).items);
      const patient = reader({ patience: { turns: 3, waitMs: 1 } });
      await fault({ fault: 'preparing', route: TRANSACTIONS, times: 2 });
      expect(ids((await patient.page(window)).items)).toEqual(whole);
      await fault({ fault: 'preparing', route: TRANSACTIONS });
      await expect(patient.page(window)).rejects.toMatchObject({ kind: 'unavailable', retryAfterMs: 3 });
    });
  });

  describe('signs', () => {
    it('that are swapped are turned where the institution’s data say so, running balances never', async () => {
      const plain = (await reader().page()).items;
      await fault({ fault: 'swapped-sign', route: TRANSACTIONS });
      const { items } = await reader({ amountSigns: 'swapped' }).page();
      const figures = (rows: Transaction[]) =>
        rows.map(({ amount, transactionAmount, balance }) => [
          amount,
          transactionAmount?.amount,
          balance?.balanceAmount,
        ]);
      expect(figures(items)).toEqual(figures(plain));
      expect(figures((await reader().page()).items)).not.toEqual(figures(plain));
    });
  });

  describe('rows', () => {
    it('with a placeholder for an id have none, and are told apart all the same', async () => {
      await fault({ fault: 'placeholder-ids', route: TRANSACTIONS });
      const { items } = await reader().page();
      expect(items.length).toBeGreaterThan(20);
      expect(items.filter(({ id }) => id !== undefined)).toEqual([]);
      expect(new Set(withIdentities(account.id, items).map(({ id }) => id)).size).toBe(items.length);
    });

    it('without dates have the dates that there are, and none that is made up', async () => {
      const dated = (await reader().page()).items;
      await fault({ fault: 'no-dates', route: TRANSACTIONS });
      const { items } = await reader().page();
      const [booked, pending] = ['BOOKED', 'PENDING'].map((status) => items.filter((each) => each.status === status));
      expect(booked?.length).toBeGreaterThan(20);
      for (const row of booked ?? []) {
        expect(row.bookingDateTime).toBeUndefined();
        expect(row.date).toBe(row.valueDateTime);
      }
      expect(pending?.filter(({ date, valueDateTime }) => date !== undefined || valueDateTime !== undefined)).toEqual(
        [],
      );
      expect(items.map(({ amount }) => amount)).toEqual(dated.map(({ amount }) => amount));
    });
  });

  // Last: a new consent is the end of the one before at some banks.
  it('a chain of refresh tokens that ends before the consent does is the end of access', async () => {
    const { bank } = reader({ refreshChainDays: 30 });
    const { expiresAt, state } = await consentAt(sandbox, bank);
    const hasTokens = JSON.stringify(state).includes('refreshToken');
    const days = ((expiresAt?.getTime() ?? Infinity) - now().getTime()) / DAY_MS;
    expect(hasTokens ? Math.round(days) : days > 90).toBe(hasTokens ? 30 : true);
  });
});
