import { operation, walkPages, type Grant, type Institution, type Range } from '#libs/connectors';
import { now } from '#libs/server';
import { bankUnderTest, newState, type BankUnderTest } from '../support/bank-under-test.js';
import { startSandboxBank, type SandboxBank } from '../support/sandbox.js';

/** What differs between UK banks is data of the institution; here it meets a bank that behaves so. */

const DAY_MS = 86_400_000;
const failing = (kind: string, more: object = {}) =>
  expect.objectContaining({ name: 'InstitutionError', kind, ...more });
const banks = ['meridian-sandbox', 'tamar-sandbox', 'thistle-sandbox'];

let sandbox: SandboxBank;
beforeAll(async () => {
  sandbox = await startSandboxBank();
});
afterAll(() => sandbox.close());
afterEach(() => sandbox.calm());

async function biggestAccountOf(name: string): Promise<string> {
  const { banks: all } = await sandbox.state();
  const accounts = all.find(({ id }) => id === name)?.personas[0]?.accounts ?? [];
  return accounts.toSorted((a, b) => b.transactions - a.transactions)[0]?.id ?? '';
}

function readerOf(bank: BankUnderTest, grant: Grant, accountId: string) {
  const page = (range: Range = {}) =>
    operation(bank.connector, 'ACCOUNT_TRANSACTIONS')(bank.under(grant), accountId, range);
  const walk = (range: Range = {}) =>
    walkPages((cursor) => page({ ...range, ...(cursor === undefined ? {} : { cursor }) }), {
      bounds: bank.institution.pageBounds,
      now,
    });
  return { page, walk };
}

describe.each(banks)('a history that is short after some minutes, at %s', (id) => {
  it('is whole at first, and later begins where the page says instead of being refused', async () => {
    let at = now().getTime();
    const plain = bankUnderTest(sandbox, { id, now: () => new Date(at) });
    const settings = { ...plain.institution.settings, history: { fullMinutes: 5, days: 89 } };
    const changes = { settings } as Partial<Institution>;
    const careful = bankUnderTest(sandbox, { id, changes, now: () => new Date(at) });
    const grant = await plain.consent();
    const accountId = await biggestAccountOf(plain.name);
    await sandbox.fault({ bank: plain.name, fault: 'sca-window' });
    const whole = await readerOf(careful, grant, accountId).walk();
    expect(whole.length).toBeGreaterThan(500);

    await sandbox.control('clock', { advance: 'PT6M' });
    at += 6 * 60_000;
    const refused = readerOf(plain, grant, accountId).page({ from: new Date(at - 400 * DAY_MS) });
    await expect(refused).rejects.toEqual(failing('unauthorised'));
    const { startsAt } = await readerOf(careful, grant, accountId).page();
    expect(startsAt?.getTime()).toBeGreaterThan(at - 90 * DAY_MS);
    const rows = await readerOf(careful, grant, accountId).walk();
    const expected = whole.filter(({ date = '' }) => date >= startsAt!.toISOString());
    // The clock moved, so there may be a new row; none is missing, and none is older.
    const ids = new Set(rows.map((row) => row.id));
    expect(expected.filter((row) => !ids.has(row.id))).toEqual([]);
    expect(rows.filter(({ date = '' }) => date < startsAt!.toISOString())).toEqual([]);
    expect(expected.length).toBeGreaterThan(50);
    await Promise.all([plain.close(), careful.close()]);
  });
});

describe.each(banks)('a window that is sliced, at %s', (id) => {
  it('holds the same rows as a whole one, each once', async () => {
    const whole = bankUnderTest(sandbox, { id });
    const sliced = bankUnderTest(sandbox, { id, changes: { transactionsSpanDays: 20 } });
    const grant = await whole.consent();
    const accountId = await biggestAccountOf(whole.name);
    const window = { from: new Date(now().getTime() - 100 * DAY_MS), before: now() };
    const expected = await readerOf(whole, grant, accountId).walk(window);
    const rows = await readerOf(sliced, grant, accountId).walk(window);
    expect(expected.length).toBeGreaterThan(50);
    expect(rows).toHaveLength(expected.length);
    expect(new Set(rows.map((row) => row.id))).toEqual(new Set(expected.map((row) => row.id)));
    await Promise.all([whole.close(), sliced.close()]);
  });
});

describe.each(['meridian-sandbox', 'thistle-sandbox'])('a consent as long as the bank allows, at %s', (id) => {
  it('is asked for a little less: the bank’s clock may be behind', async () => {
    const bank = bankUnderTest(sandbox, { id });
    const longest = now().getTime() + bank.institution.maxConsentDays * DAY_MS;
    const ask = async (expiresAt: Date) => {
      const { redirectUri } = sandbox.credentials;
      const access = { state: newState(), redirectUri, featureScope: ['ACCOUNTS' as const], expiresAt };
      const step = await operation(bank.connector, 'INITIATE_ACCOUNT_REQUEST')(bank.call(), access);
      return step.kind === 'redirect' ? step.pending.expiresAt?.getTime() : undefined;
    };
    const given = (await ask(new Date(longest))) ?? longest;
    expect(given).toBeLessThan(longest - 30 * 60_000);
    expect(given).toBeGreaterThan(longest - DAY_MS);
    const sooner = Math.floor(longest / 1000) * 1000 - 10 * DAY_MS;
    expect(await ask(new Date(sooner))).toBe(sooner);
    await bank.close();
  });
});

describe('a consent that the PSU takes back at the bank', () => {
  it.each([
    ['meridian-sandbox', 'consent-gone', 'revoked'],
    ['tamar-sandbox', 'consent-gone', 'revoked'],
    // Up to v3.1 such a consent stays authorised, and only its tokens die.
    ['thistle-sandbox', 'unauthorised', 'authorised'],
  ])('at %s ends reads as %s and is %s there', async (id, kind, state) => {
    const bank = bankUnderTest(sandbox, { id });
    const grant = await bank.consent();
    await sandbox.control('withdraw', { bank: bank.name, consentId: grant.institutionConsentId });
    await expect(operation(bank.connector, 'ACCOUNTS')(bank.under(grant))).rejects.toEqual(failing(kind));
    expect(await bank.connector.status?.(bank.under(grant))).toBe(state);
    await bank.close();
  });
});
