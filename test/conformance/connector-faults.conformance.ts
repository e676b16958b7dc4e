import { operation, walkPages, withIdentities, type Consented, type Grant, type Range } from '#libs/connectors';
import { now } from '#libs/server';
import { bankUnderTest, newState, type BankUnderTest } from '../support/bank-under-test.js';
import { startSandboxBank, type SandboxBank } from '../support/sandbox.js';

/** What a connector makes of a bank that misbehaves, of tokens that die, and of consents that end at the bank. */

let sandbox: SandboxBank;
beforeAll(async () => {
  sandbox = await startSandboxBank();
});
afterAll(() => sandbox.close());
afterEach(() => sandbox.calm());

const failing = (kind: string, more: object = {}) =>
  expect.objectContaining({ name: 'InstitutionError', kind, ...more });
const transactions = 'GET /aisp/accounts/{AccountId}/transactions';

describe.each(['meridian-sandbox', 'tamar-sandbox', 'thistle-sandbox'])('faults at %s', (id) => {
  let bank: BankUnderTest;
  let grant: Grant;
  let accountId: string;
  beforeAll(async () => {
    bank = bankUnderTest(sandbox, { id, deadlineMs: 3_500 });
    grant = await bank.consent();
    const accounts = await operation(bank.connector, 'ACCOUNTS')(bank.under(grant));
    accountId = accounts.find(({ accountType }) => accountType === 'CURRENT')?.id ?? '';
  });
  afterAll(() => bank.close());

  const accounts = () => operation(bank.connector, 'ACCOUNTS')(bank.under(grant));
  const page = (range: Range = {}) =>
    operation(bank.connector, 'ACCOUNT_TRANSACTIONS')(bank.under(grant), accountId, range);
  const walk = () =>
    walkPages((cursor) => page(cursor === undefined ? {} : { cursor }), {
      bounds: bank.institution.pageBounds,
      now,
    });
  const fault = (name: string, more: { route?: string; times?: number } = {}) =>
    sandbox.fault({ bank: bank.name, route: 'GET /aisp/accounts', fault: name, ...more });

  it.each<[string, string, object]>([
    ['429', 'rate-limited', { httpStatus: 429, retryAfterMs: 2_000 }],
    ['500', 'unavailable', { httpStatus: 500, code: expect.stringMatching(/^(?:U000|UK\.OBIE\.UnexpectedError)$/) }],
    ['503', 'unavailable', { httpStatus: 503 }],
    ['timeout', 'timeout', {}],
    ['cut', 'unavailable', {}],
    ['cut-body', 'unavailable', {}],
    ['bad-json', 'malformed', {}],
    ['html', 'malformed', {}],
    ['403', 'unauthorised', { httpStatus: 403, code: expect.stringMatching(/^(?:U028|UK\.OBIE\.Reauthenticate)$/) }],
    ['401', 'unauthorised', { httpStatus: 401 }],
  ])('of the kind %s end as %s', async (name, kind, more) => {
    await fault(name);
    await expect(accounts()).rejects.toEqual(failing(kind, more));
    await sandbox.calm();
    grant = await bank.consent();
  });

  it('of one cut connection are mended by one repetition', async () => {
    await fault('cut', { times: 1 });
    expect((await accounts()).length).toBeGreaterThan(0);
  });

  it.each(['loop-next', 'cut-next'])('of paging (%s) end as malformed', async (name) => {
    await fault(name, { route: transactions });
    await expect(walk()).rejects.toEqual(failing('malformed'));
  });

  it('of blank ids are mended by identities that stay the same', async () => {
    const before = await page();
    await fault('blank-ids', { route: transactions });
    const blank = await page();
    expect(blank.items.map(({ id: each }) => each)).toEqual(before.items.map(() => undefined));
    const ids = withIdentities(accountId, blank.items).map((each) => each.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(withIdentities(accountId, (await page()).items).map((each) => each.id)).toEqual(ids);
  });

  it('of a minus beside the indicator change no amount', async () => {
    const before = await page();
    await fault('wrong-sign', { route: transactions });
    expect((await page()).items.map(({ amount }) => amount)).toEqual(before.items.map(({ amount }) => amount));
  });

  it('while it registers a consent reach the caller', async () => {
    await fault('500', { route: 'POST /aisp/account-access-consents' });
    await expect(bank.begin()).rejects.toEqual(failing('unavailable'));
    await sandbox.calm();
    await fault('500', { route: 'POST /token' });
    const cold = bankUnderTest(sandbox, { id });
    await expect(cold.begin()).rejects.toEqual(failing('unavailable'));
    await sandbox.calm();
    await expect(cold.begin()).resolves.toMatchObject({ url: expect.any(String) });
    await cold.close();
  });

  it('leave a caller that gave up with its own reason', async () => {
    await fault('timeout');
    const patience = new AbortController();
    const reason = new Error('gone home');
    const asked = operation(bank.connector, 'ACCOUNTS')(bank.under(grant, { signal: patience.signal }));
    patience.abort(reason);
    await expect(asked).rejects.toBe(reason);
  });
});

describe.each([
  ['meridian-sandbox', true],
  ['tamar-sandbox', false],
  ['thistle-sandbox', true],
])('tokens at %s (rotating refresh tokens: %s)', (id, rotates) => {
  let bank: BankUnderTest;
  let at = now().getTime();
  beforeEach(async () => {
    at = now().getTime();
    bank = bankUnderTest(sandbox, { id, now: () => new Date(at) });
  });
  afterEach(() => bank.close());

  const read = (call: Consented) => operation(bank.connector, 'ACCOUNTS')(call);
  const refreshes = () => bank.reports.filter(({ template }) => template.endsWith('/token')).length;

  it('are renewed when the bank lets them die, and kept before the read goes on', async () => {
    const call = bank.under(await bank.consent());
    const before = refreshTokenOf(call.grant);
    await sandbox.control('clock', { advance: 'PT20M' });
    const answered = () =>
      bank.reports.filter(({ template, status }) => template === '/aisp/accounts' && status === 200);
    const alreadyRead: number[] = [];
    const keep = async (renewed: Grant): Promise<void> => {
      // Two round trips to the bank: a read that does not wait for us is done by then.
      await sandbox.state();
      await sandbox.state();
      alreadyRead.push(answered().length);
      await call.keep(renewed);
    };
    expect((await read({ ...call, keep })).length).toBeGreaterThan(0);
    expect(alreadyRead).toEqual([0]);
    expect(answered()).toHaveLength(1);
    expect(call.kept).toHaveLength(1);
    expect(refreshTokenOf(call.kept[0]) === before).toBe(!rotates);
    // The kept grant is good on a connector that remembers nothing.
    const fresh = bankUnderTest(sandbox, { id });
    expect((await operation(fresh.connector, 'ACCOUNTS')(fresh.under(call.kept[0]!))).length).toBeGreaterThan(0);
    await fresh.close();
  });

  it('are renewed before they are used when they have expired by our clock', async () => {
    const call = bank.under(await bank.consent());
    at += 700_000;
    await read(call);
    expect(call.kept).toHaveLength(1);
    expect(bank.reports.filter(({ status }) => status === 401)).toEqual([]);
  });

  it('are renewed once for many calls, those with the old grant too', async () => {
    const grant = await bank.consent();
    at += 700_000;
    const before = refreshes();
    const calls = [bank.under(grant), bank.under(grant), bank.under(grant)];
    await Promise.all(calls.map(read));
    await read(bank.under(grant));
    expect(refreshes() - before).toBe(1);
    expect(calls.flatMap(({ kept }) => kept)).toHaveLength(1);
  });

  it('are renewed once by two processes that take turns', async () => {
    const grant = await bank.consent();
    at += 700_000;
    const other = bankUnderTest(sandbox, { id, now: () => new Date(at) });
    const store = { grant, kept: 0, turn: Promise.resolve() };
    const keep = async (renewed: Grant): Promise<void> => {
      store.grant = renewed;
      store.kept += 1;
    };
    const alone = (work: (stored: Grant) => Promise<Grant>): Promise<Grant> => {
      const result = store.turn.then(() => work(store.grant));
      store.turn = result.then(() => undefined);
      return result;
    };
    const before = refreshes();
    await Promise.all(
      [bank, other].map(({ connector }) => operation(connector, 'ACCOUNTS')(bank.under(grant, { keep, alone }))),
    );
    expect(store.kept).toBe(1);
    expect(refreshes() - before + other.reports.filter(({ template }) => template.endsWith('/token')).length).toBe(1);
    await other.close();
  });

  it('stay usable when keeping them failed once', async () => {
    const grant = await bank.consent();
    at += 700_000;
    const lost = new Error('no database');
    await expect(read(bank.under(grant, { keep: () => Promise.reject(lost) }))).rejects.toBe(lost);
    const call = bank.under(grant);
    await read(call);
    expect(call.kept).toHaveLength(1);
  });

  it('that the bank burnt behind a 500 are asked for once more, and then need the customer', async () => {
    const call = bank.under(await bank.consent());
    at += 700_000;
    await sandbox.fault({ bank: bank.name, route: 'POST /token', fault: 'token-500', times: 1 });
    const asked = read(call);
    if (rotates) await expect(asked).rejects.toEqual(failing('unauthorised', { code: 'invalid_grant' }));
    else expect((await asked).length).toBeGreaterThan(0);
  });

  it('of a consent past its date say that the consent is gone', async () => {
    const access = {
      state: newState(),
      redirectUri: sandbox.credentials.redirectUri,
      featureScope: ['ACCOUNTS' as const],
      expiresAt: new Date(at + 86_400_000),
    };
    const step = await operation(bank.connector, 'INITIATE_ACCOUNT_REQUEST')(bank.call(), access);
    if (step.kind !== 'redirect') throw new Error('Expected a redirect');
    expect(step.pending.expiresAt?.getTime()).toBeGreaterThan(at);
    const done = await bank.connector.proceed(bank.call(), step.pending, { callback: await sandbox.visit(step.url) });
    if (done.kind !== 'authorised') throw new Error('Expected an authorisation');
    await sandbox.control('clock', { advance: 'P2D' });
    at += 2 * 86_400_000;
    await expect(read(bank.under(done.grant))).rejects.toEqual(failing('consent-gone'));
  });
});

it('writes no account number, token, name or address of a person anywhere', async () => {
  const bank = bankUnderTest(sandbox, { id: 'meridian-sandbox' });
  const call = bank.under(await bank.consent(), { psu: { id: 'psu-4711', ipAddress: '192.0.2.77' } });
  const accounts = await operation(bank.connector, 'ACCOUNTS')(call);
  await operation(bank.connector, 'ACCOUNT_TRANSACTIONS')(call, accounts[0]!.id, { from: new Date(0) });
  await sandbox.fault({ bank: bank.name, route: 'GET /aisp/accounts', fault: '500' });
  const error = await operation(bank.connector, 'ACCOUNTS')(call).catch((fault: unknown) => fault);
  const { accessToken, refreshToken } = call.grant.state as { accessToken: string; refreshToken: string };
  const numbers = accounts.flatMap(({ accountIdentifications = [] }) =>
    accountIdentifications.map((each) => each.identification),
  );
  const written = `${JSON.stringify(bank.reports)}\n${sandbox.lines.join('\n')}\n${String(error)} ${JSON.stringify(error)}`;
  expect(written).toContain('/aisp/accounts/{AccountId}/transactions');
  for (const secret of [
    ...numbers,
    accounts[0]!.id,
    accessToken,
    refreshToken,
    'psu-4711',
    '192.0.2.77',
    call.grant.institutionConsentId,
  ]) {
    expect(secret.length).toBeGreaterThan(3);
    expect(written).not.toContain(secret);
  }
  await bank.close();
});

function refreshTokenOf(grant: Grant | undefined): string | undefined {
  return (grant?.state as { refreshToken?: string } | undefined)?.refreshToken;
}
