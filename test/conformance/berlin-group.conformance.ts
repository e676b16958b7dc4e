import type { Feature } from '#libs/contract';
import { features, operation, type AccountAccess, type Call, type Grant, type Step } from '#libs/connectors';
import { bankUnderTest, newState, type BankUnderTest } from '../support/bank-under-test.js';
import { isKind, present, readsEverything } from '../support/bank-reading.js';
import { startSandboxBank, type SandboxBank } from '../support/sandbox.js';

/** The Berlin Group banks of the sandbox: each way of authenticating, reading, faults, the end of a consent. */

let sandbox: SandboxBank;
beforeAll(async () => {
  sandbox = await startSandboxBank();
});
afterAll(() => sandbox.close());
afterEach(() => sandbox.calm());

const failing = (kind: string, more: object = {}) =>
  expect.objectContaining({ name: 'InstitutionError', kind, ...more });
const scope: Feature[] = ['ACCOUNTS', 'ACCOUNT', 'ACCOUNT_BALANCES', 'ACCOUNT_TRANSACTIONS'];

function access(changes: Partial<AccountAccess> = {}): AccountAccess {
  return { state: newState(), redirectUri: sandbox.credentials.redirectUri, featureScope: scope, ...changes };
}

/** The sandbox bank with an id, closed with its suite. */
function at(id: string): {
  bank: BankUnderTest;
  ask(changes?: Partial<AccountAccess>, call?: Partial<Call>): Promise<Step>;
} {
  const suite = {} as { bank: BankUnderTest };
  beforeAll(() => {
    suite.bank = bankUnderTest(sandbox, { id, deadlineMs: 3_500 });
  });
  afterAll(() => suite.bank.close());
  return Object.assign(suite, {
    ask: (changes?: Partial<AccountAccess>, call?: Partial<Call>) =>
      operation(suite.bank.connector, 'INITIATE_ACCOUNT_REQUEST')(
        suite.bank.call({ psu: present, ...call }),
        access(changes),
      ),
  });
}

async function back({ bank }: { bank: BankUnderTest }, step: Step, wish = {}): Promise<Step> {
  const { url, pending } = isKind(step, 'redirect');
  return bank.connector.proceed(bank.call({ psu: present }), pending, { callback: await sandbox.visit(url, wish) });
}

describe('every Berlin Group bank', () => {
  it.each(['lindenhof', 'marais', 'isarkasse', 'fjordbank', 'ticino'])(
    'has the operations that its features promise (%s)',
    async (name) => {
      const bank = bankUnderTest(sandbox, { id: `${name}-sandbox` });
      const promised = features(bank.institution).filter((feature) => !bank.institution.modifiers?.includes(feature));
      expect(Object.keys(bank.connector.operations).toSorted()).toEqual(promised);
      await bank.close();
    },
  );
});

describe('redirect (lindenhof)', () => {
  const here = at('lindenhof-sandbox');

  it('leads from the bank’s page to everything, until the bank’s own last day', async () => {
    const { grant } = isKind(await back(here, await here.ask()), 'authorised');
    expect(grant.expiresAt?.toISOString()).toMatch(/T23:59:59.000Z$/);
    expect(await here.bank.connector.status?.(here.bank.under(grant))).toBe('authorised');
    await readsEverything(here.bank, grant);
  });

  it('ends when the PSU refuses', async () => {
    expect(await back(here, await here.ask(), { decision: 'deny' })).toMatchObject({ kind: 'rejected' });
  });

  it('knows only its own answer', async () => {
    const { url, pending } = isKind(await here.ask(), 'redirect');
    const callback = await sandbox.visit(url);
    callback.set('state', newState());
    await expect(here.bank.connector.proceed(here.bank.call(), pending, { callback })).rejects.toEqual(
      failing('malformed'),
    );
  });

  it('still waits for who has not been there', async () => {
    const { url, pending } = isKind(await here.ask(), 'redirect');
    expect(await here.bank.connector.proceed(here.bank.call(), pending, { poll: true })).toMatchObject({
      kind: 'redirect',
      url,
    });
  });

  it('reads a window of whole days', async () => {
    const { grant } = isKind(await back(here, await here.ask()), 'authorised');
    const under = () => here.bank.under(grant, { psu: present });
    const { id } = (await operation(here.bank.connector, 'ACCOUNTS')(under()))[0]!;
    const [from, before] = ['2026-09-01', '2026-09-30'].map((day) => new Date(`${day}T12:00:00Z`));
    const { items } = await operation(here.bank.connector, 'ACCOUNT_TRANSACTIONS')(under(), id, { from, before });
    const days = items.filter(({ status }) => status === 'BOOKED').map(({ date }) => date?.slice(0, 10) ?? '');
    expect(days.length).toBeGreaterThan(0);
    expect(days.every((day) => day >= '2026-09-01' && day <= '2026-09-30')).toBe(true);
  });

  it('says that an unknown account is not found', async () => {
    const { grant } = isKind(await back(here, await here.ask()), 'authorised');
    const asked = operation(here.bank.connector, 'ACCOUNT')(here.bank.under(grant, { psu: present }), 'nobody');
    await expect(asked).rejects.toEqual(failing('not-found'));
  });

  it('counts unattended reads, and says so', async () => {
    const { grant } = isKind(await back(here, await here.ask()), 'authorised');
    const read = () => operation(here.bank.connector, 'ACCOUNTS')(here.bank.under(grant));
    for (let turn = 0; turn < 4; turn += 1) await read();
    await expect(read()).rejects.toEqual(failing('rate-limited', { httpStatus: 429, code: 'ACCESS_EXCEEDED' }));
  });

  it.each<[string, string]>([
    ['429', 'rate-limited'],
    ['500', 'unavailable'],
    ['timeout', 'timeout'],
    ['cut', 'unavailable'],
    ['bad-json', 'malformed'],
    ['html', 'malformed'],
  ])('makes of the fault %s an error of the kind %s', async (fault, kind) => {
    const { grant } = isKind(await back(here, await here.ask()), 'authorised');
    await sandbox.fault({ bank: 'lindenhof', route: 'GET /v1/accounts', fault });
    const read = operation(here.bank.connector, 'ACCOUNTS')(here.bank.under(grant, { psu: present }));
    await expect(read).rejects.toEqual(failing(kind));
  });

  it('reports exchanges without a query, an account, a consent or a person', async () => {
    const { grant } = isKind(await back(here, await here.ask({}, { psu: { ...present, id: 'ada' } })), 'authorised');
    await readsEverything(here.bank, grant);
    const reported = JSON.stringify(here.bank.reports);
    expect(reported).not.toMatch(/DE\d{10}|\?|\bada\b|192\.0\.2\.7/);
    expect(reported).not.toContain(grant.institutionConsentId);
  });

  it('ends a consent at the bank, once or twice, and says afterwards that it is gone', async () => {
    const { grant } = isKind(await back(here, await here.ask()), 'authorised');
    await here.bank.connector.revoke(here.bank.under(grant));
    await here.bank.connector.revoke(here.bank.under(grant));
    expect(await here.bank.connector.status?.(here.bank.under(grant))).toBe('revoked');
    const read = operation(here.bank.connector, 'ACCOUNTS')(here.bank.under(grant, { psu: present }));
    await expect(read).rejects.toEqual(failing('consent-gone'));
    const { pending } = isKind(await here.ask(), 'redirect');
    await expect(here.bank.connector.revoke(here.bank.under(pending))).resolves.toBeUndefined();
  });
});

describe('an OAuth pre-step (marais)', () => {
  const here = at('marais-sandbox');
  const preAuthorise = () =>
    operation(here.bank.connector, 'INITIATE_PRE_AUTHORISATION')(here.bank.call({ psu: present }), {
      state: newState(),
      redirectUri: sandbox.credentials.redirectUri,
      scope: 'AIS',
    });

  it('gives a token first, then the consent under it', async () => {
    const { grant: preAuthorised } = isKind(await back(here, await preAuthorise()), 'authorised');
    const { grant } = isKind(await back(here, await here.ask({ preAuthorised })), 'authorised');
    await readsEverything(here.bank, grant);
    await here.bank.connector.revoke(here.bank.under(grant));
    expect(await here.bank.connector.status?.(here.bank.under(grant))).toBe('revoked');
  });

  it('goes through both by itself when it is asked for access at once', async () => {
    const consent = await back(here, await here.ask());
    await readsEverything(here.bank, isKind(await back(here, consent), 'authorised').grant);
  });

  it('ends when the PSU refuses the token', async () => {
    expect(await back(here, await preAuthorise(), { decision: 'deny' })).toMatchObject({ kind: 'rejected' });
  });

  it('waits for who has not been there, and has nothing to end at the bank', async () => {
    const { pending, url } = isKind(await preAuthorise(), 'redirect');
    expect(await here.bank.connector.proceed(here.bank.call(), pending, { poll: true })).toMatchObject({ url });
    await expect(here.bank.connector.revoke(here.bank.under(pending))).resolves.toBeUndefined();
  });

  it('renews the token once for many readers, and keeps it', async () => {
    const { grant: preAuthorised } = isKind(await back(here, await preAuthorise()), 'authorised');
    const { grant } = isKind(await back(here, await here.ask({ preAuthorised })), 'authorised');
    const { tokens } = grant.state as { tokens: object };
    const old: Grant = {
      ...grant,
      state: { protocol: 'berlin-group', tokens: { ...tokens, accessTokenExpiresAt: 0 } },
    };
    const before = here.bank.reports.filter(({ template }) => template.endsWith('/token')).length;
    const calls = Array.from({ length: 5 }, () => here.bank.under(old, { psu: present }));
    await Promise.all(calls.map((call) => operation(here.bank.connector, 'ACCOUNTS')(call)));
    expect(here.bank.reports.filter(({ template }) => template.endsWith('/token')).length).toBe(before + 1);
    expect(calls.flatMap(({ kept }) => kept)).toHaveLength(1);
  });
});

describe('embedded (isarkasse)', () => {
  const here = at('isarkasse-sandbox');
  const logIn = (id: string, password = `${id}-sandbox`) =>
    operation(here.bank.connector, 'INITIATE_EMBEDDED_ACCOUNT_REQUEST')(here.bank.call({ psu: present }), access(), {
      id,
      password,
    });
  const go = (pending: Grant, answer: Parameters<BankUnderTest['connector']['proceed']>[2]) =>
    here.bank.connector.proceed(here.bank.call({ psu: present }), pending, answer);

  it('lets the PSU choose among several methods, type a code, and read', async () => {
    const { methods, pending } = isKind(await logIn('ada'), 'choose-method');
    expect(methods.map(({ type }) => type)).toEqual(['SMS_OTP', 'CHIP_OTP', 'PHOTO_OTP']);
    const chosen = isKind(await go(pending, { method: methods[1]! }), 'enter-code');
    expect(chosen.method).toMatchObject({
      type: 'CHIP_OTP',
      information: expect.any(String),
      data: [expect.stringMatching(/^\d{8}$/)],
    });
    const { grant } = isKind(await go(chosen.pending, { code: '123456' }), 'authorised');
    await readsEverything(here.bank, grant);
  });

  it('asks for the code at once where there is one method, and shows a picture where there is one', async () => {
    const only = isKind(await logIn('chloe'), 'enter-code');
    expect(only.method?.type).toBe('SMS_OTP');
    expect(await go(only.pending, { code: '345678' })).toMatchObject({ kind: 'authorised' });
    const { methods, pending } = isKind(await logIn('ada'), 'choose-method');
    const photo = isKind(await go(pending, { method: methods[2]! }), 'enter-code');
    expect(
      Buffer.from(photo.method?.data?.[0] ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
  });

  it('is over at once where there is no method', async () => {
    expect(await logIn('ben')).toMatchObject({ kind: 'authorised' });
  });

  it('passes on what the bank says of a wrong password', async () => {
    await expect(logIn('ada', 'guess')).rejects.toEqual(
      failing('rejected', { httpStatus: 401, code: 'PSU_CREDENTIALS_INVALID' }),
    );
  });

  it('lets a wrong code be mended, and ends with the third', async () => {
    const { pending } = isKind(await logIn('chloe'), 'enter-code');
    const wrong = failing('rejected', { httpStatus: 400, code: 'SCA_INVALID', message: expect.any(String) });
    await expect(go(pending, { code: '000000' })).rejects.toEqual(wrong);
    expect(await go(pending, { code: '345678' })).toMatchObject({ kind: 'authorised' });
    const { pending: again } = isKind(await logIn('chloe'), 'enter-code');
    for (let turn = 0; turn < 3; turn += 1) await expect(go(again, { code: '000000' })).rejects.toEqual(wrong);
    expect(await go(again, { poll: true })).toMatchObject({ kind: 'rejected' });
  });
});

function confirm(consentId: string, decision: 'approve' | 'deny'): Promise<object> {
  return sandbox.control('decoupled', { bank: 'fjordbank', consentId, decision });
}

describe('decoupled (fjordbank)', () => {
  const here = at('fjordbank-sandbox');
  const who = { psu: { ...present, id: 'chloe' } };
  const poll = (pending: Grant) => here.bank.connector.proceed(here.bank.call(), pending, { poll: true });

  it('waits for the other device, then reads', async () => {
    const { message, pending } = isKind(await here.ask({}, who), 'decoupled');
    expect(message).toContain('Fjordbank');
    const waiting = isKind(await poll(pending), 'decoupled');
    await confirm(pending.institutionConsentId, 'approve');
    await readsEverything(here.bank, isKind(await poll(waiting.pending), 'authorised').grant);
  });

  it('ends when the PSU refuses there', async () => {
    const { pending } = isKind(await here.ask({}, who), 'decoupled');
    await confirm(pending.institutionConsentId, 'deny');
    expect(await poll(pending)).toMatchObject({ kind: 'rejected' });
  });

  it('is not ended by a bank that is down meanwhile', async () => {
    const { pending } = isKind(await here.ask({}, who), 'decoupled');
    await sandbox.fault({ bank: 'fjordbank', fault: '500' });
    expect(await poll(pending)).toMatchObject({ kind: 'decoupled' });
  });
});

describe('two people who sign (ticino)', () => {
  const here = at('ticino-sandbox');

  it('are waited for', async () => {
    const first = isKind(await back(here, await here.ask(), { persona: 'ada' }), 'further-authorisation');
    const poll = (pending: Grant) => here.bank.connector.proceed(here.bank.call(), pending, { poll: true });
    expect(await poll(first.pending)).toMatchObject({ kind: 'further-authorisation' });
    expect(
      await here.bank.connector.status?.(here.bank.under({ ...first.pending, state: { protocol: 'berlin-group' } })),
    ).toBe('awaiting');
    await sandbox.control('sign', { bank: 'ticino', consentId: first.pending.institutionConsentId, signer: 'ben' });
    const { grant } = isKind(await poll(first.pending), 'authorised');
    await readsEverything(here.bank, grant);
  });
});
