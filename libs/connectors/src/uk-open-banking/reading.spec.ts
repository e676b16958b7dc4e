import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, exportJWK, generateKeyPair } from 'jose';
import { now } from '#libs/server';
import { BankHttp } from '../bank-http.js';
import type { Connector, Consented, Institution, Tools } from '../connector.js';
import { ukSandboxInstitutions } from '../institutions.js';
import { operation } from '../registry.js';
import type { GrantState } from './uk-open-banking.access.js';
import { connectUkOpenBanking } from './uk-open-banking.connector.js';
import type { UkOpenBankingSettings } from './uk-open-banking.types.js';

/** A bank that answers what a test says, one answer after the other; the last one stays. */
type Answer = { status?: number; type?: string; body: object | string };
let answers: Record<string, Answer[]> = {};
let asked: string[] = [];
let institution: Institution<'uk-open-banking'>;
let tools: Tools;
const issuerOf = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/banks/meridian`;

const server = createServer((request, response) => {
  const route = `${request.method} ${(request.url ?? '').replace('/banks/meridian', '').replace('/open-banking', '')}`;
  asked.push(route);
  const issuer = issuerOf();
  const endpoints = { issuer, token_endpoint: `${issuer}/token`, authorization_endpoint: `${issuer}/auth` };
  const built: Record<string, object> = {
    'GET /.well-known/openid-configuration': endpoints,
    'POST /token': { access_token: 'client', token_type: 'bearer', expires_in: 600 },
  };
  const left = answers[route] ?? [];
  const answer = (left.length > 1 ? left.shift() : left[0]) ?? {
    status: built[route] ? 200 : 404,
    body: built[route] ?? {},
  };
  response.writeHead(answer.status ?? 200, { 'content-type': answer.type ?? 'application/json' });
  response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  institution = ukSandboxInstitutions(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)[0]!;
  const { privateKey } = await generateKeyPair('PS256', { extractable: true });
  const credentials = {
    clientId: 'tpp',
    organisationId: 'org',
    softwareStatementId: 'ssa',
    redirectUri: 'http://localhost/callback',
    signingKey: await exportJWK(privateKey),
    kid: 'k',
  };
  tools = { http: new BankHttp({ report: () => undefined }), now, credentials };
});
afterAll(async () => {
  await tools.http.close();
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
});
beforeEach(() => {
  asked = [];
  answers = {};
});

const connected = (settings: Partial<UkOpenBankingSettings> = {}, changes: Partial<Institution> = {}): Connector =>
  connectUkOpenBanking(
    {
      ...institution,
      ...changes,
      settings: { ...institution.settings, ...settings },
    } as Institution<'uk-open-banking'>,
    tools,
  );
const under = (state: Partial<GrantState> = {}, signal = new AbortController().signal): Consented => ({
  psu: {},
  tracingId: 'a'.repeat(32),
  signal,
  grant: {
    institutionConsentId: 'aac-1',
    state: { scope: 'accounts', accessToken: 'psu', accessTokenExpiresAt: Infinity, ...state },
  },
  keep: async () => undefined,
});
const failing = (kind: string) => expect.objectContaining({ name: 'InstitutionError', kind });
const PAYEES = 'GET /v4.0/aisp/accounts/1/beneficiaries';
const payees = (ids: string[], Next?: string): Answer => ({
  body: { Data: { Beneficiary: ids.map((BeneficiaryId) => ({ BeneficiaryId })) }, Links: Next ? { Next } : {} },
});
const readPayees = (connector = connected()) => operation(connector, 'ACCOUNT_BENEFICIARIES')(under(), '1');

describe('a list over several pages', () => {
  it('is read to its end', async () => {
    answers = {
      [PAYEES]: [payees(['a', 'b'], '?page=2')],
      [`${PAYEES}?page=2`]: [payees([], '?page=3')],
      [`${PAYEES}?page=3`]: [payees(['c'])],
    };
    expect((await readPayees()).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });

  it('that leads in a circle, to another place, or on for ever, is refused and never cut', async () => {
    answers = { [PAYEES]: [payees(['a'], '?page=2')], [`${PAYEES}?page=2`]: [payees(['b'], '?')] };
    await expect(readPayees()).rejects.toEqual(failing('malformed'));
    answers = { [PAYEES]: [payees(['a'], '?page=2')], [`${PAYEES}?page=2`]: [payees(['b'], '?page=2')] };
    await expect(readPayees()).rejects.toEqual(failing('malformed'));
    answers = { [PAYEES]: [payees(['a'], 'https://elsewhere.example/')] };
    await expect(readPayees()).rejects.toEqual(failing('malformed'));
    answers = { [PAYEES]: [payees(['a'], '?page=2')], [`${PAYEES}?page=2`]: [payees(['b'], '?page=3')] };
    const short = connected({}, { pageBounds: { pages: 2, records: 100, ms: 1000 } });
    await expect(readPayees(short)).rejects.toMatchObject({ name: 'WalkLimitError', bound: 'pages' });
    const hasty = connected({}, { pageBounds: { pages: 9, records: 100, ms: -1 } });
    await expect(readPayees(hasty)).rejects.toMatchObject({ name: 'WalkLimitError', bound: 'ms' });
    const small = connected({}, { pageBounds: { pages: 9, records: 1, ms: 1000 } });
    await expect(readPayees(small)).rejects.toMatchObject({ name: 'WalkLimitError', bound: 'records' });
  });

  it('without its list on the first page is unreadable, not empty', async () => {
    answers = { [PAYEES]: [{ body: { Data: {} } }] };
    await expect(readPayees()).rejects.toEqual(failing('malformed'));
    answers = { [PAYEES]: [payees([])] };
    expect(await readPayees()).toEqual([]);
  });
});

describe('a bank that is still preparing its data', () => {
  const patience = { turns: 3, waitMs: 1 };
  const itself = '/banks/meridian/open-banking/v4.0/aisp/accounts/1/beneficiaries';

  it('is asked again until it has it', async () => {
    answers = { [PAYEES]: [payees([], itself), payees([], itself), payees(['a'])] };
    expect((await readPayees(connected({}, { patience }))).map(({ id }) => id)).toEqual(['a']);
    expect(asked).toEqual([PAYEES, PAYEES, PAYEES]);
  });

  it('is asked so often and no more, and the caller hears when to come back', async () => {
    answers = { [PAYEES]: [payees([], itself)] };
    await expect(readPayees(connected({}, { patience }))).rejects.toMatchObject({
      kind: 'unavailable',
      retryAfterMs: 3,
    });
    expect(asked).toHaveLength(3);
  });

  it('does not hold up a caller that gave up', async () => {
    answers = { [PAYEES]: [payees([], itself)] };
    const caller = new AbortController();
    const slow = connected({}, { patience: { turns: 3, waitMs: 60_000 } });
    const reading = operation(slow, 'ACCOUNT_BENEFICIARIES')(under({}, caller.signal), '1');
    const reason = new Error('gone home');
    await vi.waitFor(() => expect(asked).toHaveLength(1), 10_000);
    caller.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });
});

describe('the version of a consent', () => {
  const older = { version: '3.1' } as const;

  it('is the one it is read on, whatever the bank is asked for new ones', async () => {
    answers = { 'GET /v3.1/aisp/accounts/1/direct-debits': [{ body: { Data: { DirectDebit: [] } } }] };
    expect(await operation(connected(), 'ACCOUNT_DIRECT_DEBITS')(under(older), '1')).toEqual([]);
    answers = { 'GET /v3.1/aisp/account-access-consents/aac-1': [{ body: { Data: { Status: 'Authorised' } } }] };
    expect(await connected().status?.(under(older))).toBe('authorised');
  });

  it('stays when the PSU authorises it again', async () => {
    const access = { state: 'b'.repeat(32), redirectUri: 'http://localhost/callback', featureScope: [] };
    const renews = under(older).grant;
    const step = await operation(connected(), 'INITIATE_ACCOUNT_REQUEST')(under(), { ...access, renews });
    expect(step).toMatchObject({ kind: 'redirect', pending: { state: older } });
  });

  it('is the bank’s own for a new one, which asks for what the features need', async () => {
    const made = { Data: { ConsentId: 'aac-2', Status: 'AwaitingAuthorisation' } };
    answers = { 'POST /v3.1/aisp/account-access-consents': [{ status: 201, body: made }] };
    const access = { state: 'b'.repeat(32), redirectUri: 'http://localhost/callback', featureScope: [] };
    const step = await operation(connected(older), 'INITIATE_ACCOUNT_REQUEST')(under(), access);
    if (step.kind !== 'redirect') throw new Error('Expected a redirect');
    expect(step.pending).toMatchObject({ institutionConsentId: 'aac-2', state: older });
    const request = decodeJwt(new URL(step.url).searchParams.get('request') ?? '');
    expect(request).toMatchObject({ claims: { id_token: { openbanking_intent_id: { value: 'aac-2' } } } });
  });
});

describe('the state of a consent', () => {
  const CONSENT = 'GET /v4.0/aisp/account-access-consents/aac-1';
  const past = '2020-01-01T00:00:00+00:00';

  it.each([
    ['AWAU', undefined, 'awaiting'],
    ['AwaitingAuthorisation', undefined, 'awaiting'],
    ['AUTH', undefined, 'authorised'],
    ['AUTH', '2090-01-01T00:00:00+00:00', 'authorised'],
    ['Authorised', past, 'expired'],
    ['EXPD', past, 'expired'],
    ['RJCT', past, 'rejected'],
    ['CANC', undefined, 'revoked'],
    ['Revoked', undefined, 'revoked'],
  ])('%s that ends at %s is %s', async (Status, ExpirationDateTime, state) => {
    answers = { [CONSENT]: [{ body: { Data: { Status, ExpirationDateTime } } }] };
    expect(await connected().status?.(under())).toBe(state);
  });

  it.each([
    [404, {}],
    [400, {}],
    [400, { Errors: [{ ErrorCode: 'UK.OBIE.Resource.InvalidConsentStatus' }] }],
    [400, { Errors: [{ ErrorCode: 'U011' }] }],
  ])('that the bank no longer knows (%i %j) is revoked', async (status, body) => {
    answers = { [CONSENT]: [{ status, body }] };
    expect(await connected().status?.(under())).toBe('revoked');
  });

  it('is not guessed from a word we do not know, nor from a failure', async () => {
    answers = { [CONSENT]: [{ body: { Data: { Status: 'Dozing' } } }] };
    await expect(connected().status?.(under())).rejects.toEqual(failing('malformed'));
    answers = { [CONSENT]: [{ status: 503, body: {} }] };
    await expect(connected().status?.(under())).rejects.toEqual(failing('unavailable'));
  });
});

const statement = (id: string) => operation(connected(), 'ACCOUNT_STATEMENT')(under(), '1', id);
const statementFile = () => operation(connected(), 'ACCOUNT_STATEMENT_FILE')(under(), '1', 's1');

describe('a statement', () => {
  const STATEMENTS = 'GET /v4.0/aisp/accounts/1/statements';

  it('is found by its id only', async () => {
    const one = { StatementId: 's1', StartDateTime: '2026-01-01T00:00:00Z' };
    answers = { [`${STATEMENTS}/s1`]: [{ body: { Data: { Statement: [one] } } }] };
    expect(await statement('s1')).toEqual({ id: 's1', startDateTime: '2026-01-01T00:00:00.000Z' });
    answers = { [`${STATEMENTS}/s2`]: [{ body: { Data: { Statement: [one] } } }] };
    await expect(statement('s2')).rejects.toEqual(failing('not-found'));
  });

  it.each<[string, Answer]>([
    ['empty', { type: 'application/pdf', body: '' }],
    ['a page', { type: 'text/html; charset=utf-8', body: '<html>' }],
  ])('whose file is %s has none', async (_what, answer) => {
    answers = { [`${STATEMENTS}/s1/file`]: [answer] };
    await expect(statementFile()).rejects.toEqual(failing('malformed'));
  });
});

describe('a bank that keeps its history for the first minutes', () => {
  it('is asked for less later, and the page says where it starts', async () => {
    const history = { fullMinutes: 5, days: 89 };
    const read = (authorisedAt: number) =>
      operation(connected({ history }), 'ACCOUNT_TRANSACTIONS')(under({ authorisedAt }), '1', {});
    answers = { 'GET /v4.0/aisp/accounts/1/transactions': [{ body: { Data: { Transaction: [] } } }] };
    expect(await read(now().getTime())).toEqual({ items: [] });
    await expect(read(0)).rejects.toEqual(failing('not-found'));
    expect(asked.at(-1)).toMatch(/transactions\?fromBookingDateTime=\d{4}-\d\d-\d\dT\d\d%3A00%3A00&toBookingDateTime=/);
  });
});
