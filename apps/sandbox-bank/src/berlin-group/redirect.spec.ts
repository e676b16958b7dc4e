import { dayMs } from '../clock.js';
import { startForTest, type TppFixture } from '../tpp.fixture.js';
import { dateOf } from './bank-day.js';
import { BerlinTpp, globalAccess, type BerlinRow } from './berlin-tpp.fixture.js';

let fixture: TppFixture;
let tpp: BerlinTpp;
beforeAll(async () => {
  fixture = await startForTest();
  tpp = new BerlinTpp(fixture, 'lindenhof');
});
afterAll(() => fixture.close());
afterEach(async () => {
  await fetch(`${fixture.sandbox.url}/control/faults`, { method: 'DELETE' });
});

const attended = { 'psu-ip-address': '192.0.2.7' };
const yearAgo = (): string => new Date(fixture.sandbox.clock.now() - 365 * dayMs).toISOString().slice(0, 10);

async function accountsOf(consentId: string): Promise<string[]> {
  const { body } = await tpp.read('/v1/accounts', consentId, attended);
  return body.accounts.map((account) => account.resourceId);
}

describe('a consent by redirect', () => {
  it('goes from received to valid by the links alone', async () => {
    const { status, headers, body } = await tpp.createConsent();
    expect(status).toBe(201);
    expect(headers.get('aspsp-sca-approach')).toBe('REDIRECT');
    expect(headers.get('location')).toBe(`${tpp.address}/v1/consents/${body.consentId}`);
    expect(body.consentStatus).toBe('received');
    expect(Object.keys(body._links).toSorted()).toEqual(['scaRedirect', 'scaStatus', 'self', 'status']);
    expect(await tpp.visit(body._links['scaRedirect']!.href)).toBe(tpp.redirect);
    expect((await tpp.call('GET', body._links['scaStatus']!.href)).body.scaStatus).toBe('finalised');
    expect((await tpp.call('GET', body._links['status']!.href)).body.consentStatus).toBe('valid');
    const consent = (await tpp.call('GET', body._links['self']!.href)).body;
    expect(consent).toMatchObject({ access: globalAccess, frequencyPerDay: 4, consentStatus: 'valid' });
    expect(consent.validUntil < '9999-12-31').toBe(true);
  });

  it('starts explicitly when the TPP prefers that', async () => {
    const { body } = await tpp.createConsent(globalAccess, { 'tpp-explicit-authorisation-preferred': 'true' });
    expect(body._links).not.toHaveProperty('scaRedirect');
    const begun = await tpp.call('POST', body._links['startAuthorisation']!.href);
    expect(begun.status).toBe(201);
    await tpp.visit(begun.body._links['scaRedirect']!.href);
    expect(await tpp.status(body.consentId)).toBe('valid');
    const listed = await tpp.call('GET', `/v1/consents/${body.consentId}/authorisations`);
    expect(listed.body).toEqual({ authorisationIds: [begun.body.authorisationId] });
  });

  it('is rejected when the PSU refuses, and the browser goes where refusals go', async () => {
    const nok = 'http://localhost:3000/callback?no=1';
    const { body } = await tpp.createConsent(globalAccess, { 'tpp-nok-redirect-uri': nok });
    expect(await tpp.visit(body._links['scaRedirect']!.href, { decision: 'deny' })).toBe(nok);
    expect(await tpp.status(body.consentId)).toBe('rejected');
    expect((await tpp.call('GET', body._links['scaStatus']!.href)).body.scaStatus).toBe('failed');
    expect((await tpp.read('/v1/accounts', body.consentId)).body.tppMessages[0]).toMatchObject({
      code: 'CONSENT_INVALID',
    });
  });

  it('is rejected when the PSU takes too long', async () => {
    const { body } = await tpp.createConsent();
    await tpp.control('clock', { advance: 'PT16M' });
    expect((await tpp.call('GET', body._links['scaStatus']!.href)).body.scaStatus).toBe('failed');
    expect(await tpp.status(body.consentId)).toBe('rejected');
    await tpp.control('clock', { advance: '-PT16M' });
  });

  it('belongs to the browser that opened it first', async () => {
    const { body } = await tpp.createConsent();
    const address = body._links['scaRedirect']!.href;
    const first = await fetch(address);
    expect(first.status).toBe(200);
    expect(await first.text()).toContain('Lindenhof Bank');
    expect((await fetch(address)).status).toBe(400);
    const login = new URLSearchParams({ username: 'ada', password: 'ada-sandbox' });
    expect((await fetch(`${address}/login`, { method: 'POST', body: login })).status).toBe(400);
  });

  it('opens the accounts it names, for what it names them', async () => {
    const [current, savings] = fixture.sandbox.ledger.accountsOf('lindenhof', 'ada');
    const access = { accounts: [{ iban: savings!.iban }], transactions: [{ iban: current!.iban }] };
    const consentId = await tpp.authorisedConsent(access);
    const { body } = await tpp.read('/v1/accounts', consentId, attended);
    expect(body.accounts.map((account) => account.iban)).toEqual([current!.iban, savings!.iban]);
    expect(body.accounts.map((account) => Object.keys(account._links))).toEqual([['transactions'], []]);
    const path = `/v1/accounts/${body.accounts[0]!.resourceId}/balances`;
    expect((await tpp.read(path, consentId, attended)).body.tppMessages[0]!.code).toBe('CONSENT_INVALID');
  });

  it('names the accounts that the PSU chose when the bank offers them', async () => {
    const { body } = await tpp.createConsent({ accounts: [], balances: [] });
    await tpp.visit(body._links['scaRedirect']!.href, { accounts: ['Rainy day'] });
    const savings = fixture.sandbox.ledger.accountsOf('lindenhof', 'ada')[1]!;
    const named = [{ iban: savings.iban, currency: 'EUR' }];
    expect((await tpp.call('GET', body._links['self']!.href)).body.access).toEqual({
      accounts: named,
      balances: named,
    });
    expect(await accountsOf(body.consentId)).toHaveLength(1);
  });

  it('ends when a newer recurring one of the same person becomes valid, and not before', async () => {
    const older = await tpp.authorisedConsent();
    const { body } = await tpp.createConsent();
    expect(await tpp.status(older)).toBe('valid');
    await tpp.visit(body._links['scaRedirect']!.href, { persona: 'ben' });
    expect(await tpp.status(older)).toBe('valid');
    const newer = await tpp.authorisedConsent();
    expect(await tpp.status(older)).toBe('terminatedByTpp');
    expect(await accountsOf(newer)).toHaveLength(2);
    expect((await tpp.read('/v1/accounts', older)).status).toBe(401);
  });

  it('calls each account otherwise in each consent at this bank', async () => {
    const one = await accountsOf(await tpp.authorisedConsent());
    const other = await accountsOf(await tpp.authorisedConsent());
    expect(one).not.toEqual(other);
  });

  it('ends by DELETE, by the PSU, and by its last day', async () => {
    const deleted = await tpp.authorisedConsent();
    expect((await tpp.call('DELETE', `/v1/consents/${deleted}`)).status).toBe(204);
    expect(await tpp.status(deleted)).toBe('terminatedByTpp');
    const revoked = await tpp.authorisedConsent();
    expect((await tpp.control('withdraw', { bank: 'lindenhof', consentId: revoked })).status).toBe(200);
    expect(await tpp.status(revoked)).toBe('revokedByPsu');
    const today = dateOf(fixture.sandbox.clock.now());
    const short = await tpp.authorisedConsent(globalAccess, { validUntil: today });
    await tpp.control('clock', { advance: 'P2D' });
    expect(await tpp.status(short)).toBe('expired');
    expect((await tpp.read('/v1/accounts', short)).body.tppMessages[0]!.code).toBe('CONSENT_EXPIRED');
    await tpp.control('clock', { advance: '-P2D' });
  });
});

describe('reading', () => {
  let consentId: string;
  let account: string;
  // A newer consent ends an older one, so each fact reads with its own.
  beforeEach(async () => {
    consentId = await tpp.authorisedConsent();
    account = (await accountsOf(consentId))[0]!;
  });
  const read = (query: string): Promise<Awaited<ReturnType<BerlinTpp['read']>>> =>
    tpp.read(`/v1/accounts/${account}/transactions?${query}`, consentId, attended);

  it('walks booked rows through next links to the end, each once', async () => {
    const rows: BerlinRow[] = [];
    let next: string | undefined = `/v1/accounts/${account}/transactions?bookingStatus=booked&dateFrom=2000-01-01`;
    let pages = 0;
    for (; next !== undefined && pages < 200; pages += 1) {
      const { body } = await tpp.read(next, consentId, attended);
      rows.push(...body.transactions.booked);
      next = body.transactions._links['next']?.href;
    }
    const { ledger } = fixture.sandbox;
    const stored = ledger.page(ledger.accountsOf('lindenhof', 'ada')[0]!, { status: 'booked', limit: 1_000_000 });
    expect(rows.map((row) => row.transactionId)).toEqual(stored.map((row) => row.id));
    expect(pages).toBe(Math.ceil(rows.length / 50));
    for (const row of rows) expect(row.transactionAmount.amount).toMatch(/^-?\d{1,14}\.\d\d$/);
  });

  it('keeps booked and pending apart, and dates are days', async () => {
    const { body } = await read(`bookingStatus=both&dateFrom=${yearAgo()}`);
    expect(body.transactions.pending.length).toBeGreaterThan(0);
    for (const row of body.transactions.pending) {
      expect(row).not.toHaveProperty('bookingDate');
      expect(row).not.toHaveProperty('transactionId');
    }
    for (const row of body.transactions.booked) expect(row.bookingDate).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    const only = (await read(`bookingStatus=pending&dateFrom=${yearAgo()}`)).body.transactions;
    expect(only).not.toHaveProperty('booked');
    expect(only.pending).toEqual(body.transactions.pending);
  });

  it('shows one row by its id, and names no other', async () => {
    const { body } = await read(`bookingStatus=booked&dateFrom=${yearAgo()}`);
    const [row] = body.transactions.booked;
    const one = await tpp.read(`/v1/accounts/${account}/transactions/${row!.transactionId}`, consentId, attended);
    expect(one.body).toEqual({ transactionsDetails: row });
    const none = await tpp.read(`/v1/accounts/${account}/transactions/none`, consentId, attended);
    expect([none.status, none.body.tppMessages[0]!.code]).toEqual([404, 'RESOURCE_UNKNOWN']);
  });

  it('takes both dates as included', async () => {
    const { body } = await read('bookingStatus=booked&dateFrom=2026-03-02&dateTo=2026-03-06');
    const days = body.transactions.booked.map((row) => row.bookingDate);
    expect([days.at(-1), days.at(0)]).toEqual(['2026-03-02', '2026-03-06']);
  });

  it.each([
    ['dateFrom=2026-01-01', 'FORMAT_ERROR'],
    ['bookingStatus=information&dateFrom=2026-01-01', 'PARAMETER_NOT_SUPPORTED'],
    ['bookingStatus=booked', 'FORMAT_ERROR'],
    ['bookingStatus=booked&dateFrom=2026-02-30', 'FORMAT_ERROR'],
    ['bookingStatus=booked&deltaList=true', 'PARAMETER_NOT_SUPPORTED'],
    ['bookingStatus=booked&dateFrom=2026-02-01&dateTo=2026-01-01', 'PERIOD_INVALID'],
  ])('refuses %s with %s', async (query, code) => {
    const { status, body } = await read(query);
    expect({ status, code: body.tppMessages[0]!.code }).toEqual({ status: 400, code });
  });

  it('shows balances that agree with the ledger, beside accounts when asked', async () => {
    const { ledger } = fixture.sandbox;
    const stored = ledger.accountsOf('lindenhof', 'ada')[0]!;
    const { body } = await tpp.read(`/v1/accounts/${account}/balances`, consentId, attended);
    const booked = body.balances.find((each) => each.balanceType === 'interimBooked');
    expect(Math.round(Number(booked!.balanceAmount.amount) * 100)).toBe(stored.balanceMinor);
    const beside = await tpp.read('/v1/accounts?withBalance=true', consentId, attended);
    expect(beside.body.accounts[0]!.balances).toEqual(body.balances);
    expect((await tpp.read('/v1/accounts', consentId, attended)).body.accounts[0]).not.toHaveProperty('balances');
  });

  it('counts unattended reads for each endpoint and account; attended ones are free', async () => {
    const fresh = await tpp.authorisedConsent(globalAccess, { frequencyPerDay: 2 });
    const [one, other] = await accountsOf(fresh);
    const path = (id: string | undefined): string => `/v1/accounts/${id}/balances`;
    for (let turn = 0; turn < 2; turn += 1) expect((await tpp.read(path(one), fresh)).status).toBe(200);
    const refused = await tpp.read(path(one), fresh);
    expect({ status: refused.status, code: refused.body.tppMessages[0]!.code }).toEqual({
      status: 429,
      code: 'ACCESS_EXCEEDED',
    });
    expect((await tpp.read(path(other), fresh)).status).toBe(200);
    expect((await tpp.read(path(one), fresh, attended)).status).toBe(200);
    await tpp.control('clock', { advance: 'P1D' });
    expect((await tpp.read(path(one), fresh)).status).toBe(200);
    await tpp.control('clock', { advance: '-P1D' });
  });

  it('counts a walk over pages once', async () => {
    const fresh = await tpp.authorisedConsent(globalAccess, { frequencyPerDay: 1 });
    const [id] = await accountsOf(fresh);
    const first = await tpp.read(`/v1/accounts/${id}/transactions?bookingStatus=booked&dateFrom=2025-01-01`, fresh);
    expect((await tpp.read(first.body.transactions._links['next']!.href, fresh)).status).toBe(200);
    expect(
      (await tpp.read(`/v1/accounts/${id}/transactions?bookingStatus=both&dateFrom=2025-01-01`, fresh)).status,
    ).toBe(429);
  });

  it('knows faults of the wire and of the answer', async () => {
    const route = 'GET /v1/accounts/{accountId}/transactions';
    const query = `bookingStatus=booked&dateFrom=${yearAgo()}`;
    await tpp.control('faults', { bank: 'lindenhof', route, fault: '429', times: 1 });
    const tooMany = await read(query);
    expect([tooMany.status, tooMany.headers.get('retry-after')]).toEqual([429, '2']);
    await tpp.control('faults', { bank: 'lindenhof', route, fault: 'loop-next', times: 1 });
    expect((await read(query)).body.transactions._links['next']!.href).toContain(`dateFrom=${yearAgo()}`);
    await tpp.control('faults', { bank: 'lindenhof', route, fault: 'sca-window' });
    await tpp.control('clock', { advance: 'PT6M' });
    expect((await read(query)).body.tppMessages[0]!.code).toBe('PERIOD_INVALID');
    await tpp.control('clock', { advance: '-PT6M' });
  });
});
