import { startForTest, type TppFixture } from '../tpp.fixture.js';
import { BerlinTpp, globalAccess } from './berlin-tpp.fixture.js';

let fixture: TppFixture;
let tpp: BerlinTpp;
beforeAll(async () => {
  fixture = await startForTest();
  tpp = new BerlinTpp(fixture, 'lindenhof');
});
afterAll(() => fixture.close());

describe('what every call must bring', () => {
  it.each([
    ['no request id', { 'x-request-id': '' }, 400, 'FORMAT_ERROR', 'X-Request-ID'],
    ['a request id that is none', { 'x-request-id': 'one' }, 400, 'FORMAT_ERROR', 'X-Request-ID'],
    ['no PSU address', { 'psu-ip-address': '' }, 400, 'FORMAT_ERROR', 'PSU-IP-Address'],
    ['no redirect address', { 'tpp-redirect-uri': '' }, 400, 'FORMAT_ERROR', 'TPP-Redirect-URI'],
    [
      'a foreign redirect address',
      { 'tpp-redirect-uri': 'http://evil.test/' },
      400,
      'FORMAT_ERROR',
      'TPP-Redirect-URI',
    ],
  ])('refuses %s', async (_case, headers, status, code, path) => {
    const answer = await tpp.createConsent(globalAccess, headers);
    expect(answer.status).toBe(status);
    expect(answer.body.tppMessages[0]).toMatchObject({ category: 'ERROR', code, ...(path && { path }) });
  });

  it.each([
    [{ access: {} }, 'FORMAT_ERROR'],
    [{ access: { allPsd2: 'some' } }, 'FORMAT_ERROR'],
    [{ access: { allPsd2: 'allAccounts', accounts: [] } }, 'PARAMETER_NOT_CONSISTENT'],
    [{ access: { accounts: [{ iban: 'x' }] } }, 'FORMAT_ERROR'],
    [{ frequencyPerDay: 0 }, 'FORMAT_ERROR'],
    [{ recurringIndicator: false }, 'FORMAT_ERROR'],
    [{ combinedServiceIndicator: true }, 'SESSIONS_NOT_SUPPORTED'],
    [{ validUntil: '2020-01-01' }, 'FORMAT_ERROR'],
    [{ validUntil: 'soon' }, 'FORMAT_ERROR'],
  ])('refuses the consent %j with %s', async (more, code) => {
    const { status, body } = await tpp.createConsent(globalAccess, {}, more);
    expect({ status, code: body.tppMessages[0]!.code }).toEqual({ status: 400, code });
  });

  it('plays the request id back, in refusals too', async () => {
    const id = 'a1a2a3a4-0000-4000-8000-000000000001';
    expect((await tpp.createConsent(globalAccess, { 'x-request-id': id })).headers.get('x-request-id')).toBe(id);
    const refused = await tpp.call('GET', '/v1/consents/none', undefined, { 'x-request-id': id });
    expect([refused.status, refused.headers.get('x-request-id')]).toEqual([403, id]);
    expect(refused.body.tppMessages[0]!.code).toBe('CONSENT_UNKNOWN');
    expect((await tpp.read('/v1/accounts', 'none')).status).toBe(400);
  });
});
