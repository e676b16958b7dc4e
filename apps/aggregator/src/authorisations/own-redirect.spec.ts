import jsQR from 'jsqr';
import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import { problems, type AccountAuthorisationResponse, type Consent, type Envelope } from '#libs/contract';
import { InstitutionError } from '#libs/connectors';
import { applicationWithCallback, asOwner, callback, comeBack } from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { scriptedInstitution } from '../../../../test/support/scripted-connector.js';
import { scriptedShop } from '../../../../test/support/scripted-shop.js';

const world = scriptedShop({ AGGREGATOR_URL: 'https://aggregator.test' });

const shape = { shape: 'minimal' } as const;
const asked = { institutionId: scriptedInstitution.id, applicationUserId: 'ann' };
const begin = (changes: object = {}) =>
  world.aggregator.ask<Envelope<AccountAuthorisationResponse>>('POST /account-auth-requests', {
    as: world.shop,
    body: { ...asked, ...changes },
  });
const consentOf = async (id: string) =>
  (await world.aggregator.ask<Envelope<Consent>>(`GET /consents/${id}`, { as: world.shop })).body.data;
const exchange = (authCode: string, authState: string, as = world.shop) =>
  world.aggregator.ask<Consent>('POST /consent-auth-code', { as, body: { authCode, authState } });

describe('an authorisation with the client’s own redirect', () => {
  const ownRedirect = { redirect: { url: `${callback}?order=7` } };

  async function begun(): Promise<{ id: string; state: string }> {
    const { id, state = '' } = (await begin(ownRedirect)).body.data;
    return { id, state };
  }

  it('sends code and state to it, and grants when the client sends them on', async () => {
    const { id, state } = await begun();
    const { status, location } = await comeBack(world.aggregator, { code: 'c-1', id_token: 'x.y.z', state }, 'form');
    expect(status).toBe(303);
    expect(location?.href).toBe(`${callback}?order=7&code=c-1&state=${state}`);
    expect(world.bank.proceed).not.toHaveBeenCalled();
    expect((await consentOf(id)).status).toBe('AWAITING_AUTHORIZATION');

    const answer = await exchange('c-1', state);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ id, status: 'AUTHORIZED', consentToken: expect.any(String) });
    // The signed parts of the bank's answer are checked although the client never had them.
    expect(world.bank.proceed.mock.calls[0]?.[2]).toEqual({
      callback: new URLSearchParams({ code: 'c-1', id_token: 'x.y.z', state }),
    });
    await expectProblem(exchange('c-1', state), problems.unexpectedValue({ parameter: '$.authCode' }), shape);
  });

  it('finds the code inside a JARM response', async () => {
    const { state } = await begun();
    const claims = Buffer.from(JSON.stringify({ state, code: 'c-7' })).toString('base64url');
    const { location } = await comeBack(world.aggregator, { response: `e30.${claims}.c2ln` });
    expect(location?.searchParams.get('code')).toBe('c-7');
    expect((await exchange('c-7', state)).body.status).toBe('AUTHORIZED');
  });

  it('makes a code where the bank has none', async () => {
    const { state } = await begun();
    const { location } = await comeBack(world.aggregator, { state });
    const code = location?.searchParams.get('code') ?? '';
    expect(code).toMatch(/^[\w-]{32}$/);
    expect((await exchange(code, state)).status).toBe(200);
  });

  it('refuses a wrong code, a state that is unknown or foreign, and an answer that has not come', async () => {
    const { id, state } = await begun();
    const wrongCode = problems.unexpectedValue({ parameter: '$.authCode' });
    await expectProblem(exchange('c-1', state), wrongCode, shape);
    await comeBack(world.aggregator, { code: 'c-1', state });
    await expectProblem(exchange('c-2', state), wrongCode, shape);
    const unknown = problems.notFound({ parameter: '$.authState' });
    await expectProblem(exchange('c-1', '0'.repeat(32)), unknown, shape);
    const other = await applicationWithCallback(world.aggregator);
    await expectProblem(exchange('c-1', state, other), unknown, shape);
    expect((await consentOf(id)).status).toBe('AWAITING_AUTHORIZATION');
    expect((await exchange('c-1', state)).status).toBe(200);
  });

  it('is granted once when the code is sent twice at once', async () => {
    const { state } = await begun();
    await comeBack(world.aggregator, { code: 'c-1', state });
    const answers = await Promise.all([1, 2, 3].map(() => exchange('c-1', state)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400, 400]);
    expect(world.bank.proceed).toHaveBeenCalledTimes(1);
  });

  it('tells the client’s address that the user refused', async () => {
    const { id, state } = await begun();
    const { location } = await comeBack(world.aggregator, { error: 'access_denied', state });
    expect([...(location?.searchParams ?? [])]).toEqual([
      ['order', '7'],
      ['error', 'access_denied'],
      ['error_description', 'access_denied'],
      ['state', state],
    ]);
    expect((await consentOf(id)).status).toBe('REJECTED');
  });

  it('fails with the bank that does not take its own code', async () => {
    const { id, state } = await begun();
    await comeBack(world.aggregator, { code: 'c-1', state });
    world.bank.proceed.mockRejectedValueOnce(new InstitutionError('rejected', 'invalid_grant', { httpStatus: 400 }));
    const failed = problems.institutionFailed({ errorMessage: 'invalid_grant', httpStatusCode: 400 });
    await expectProblem(exchange('c-1', state), failed, shape);
    expect((await consentOf(id)).status).toBe('FAILED');
  });

  it('keeps nothing readable of the bank’s answer', async () => {
    const { id, state } = await begun();
    await comeBack(world.aggregator, { code: 'readable-code', state });
    const [row] = await asOwner(world.aggregator, `SELECT * FROM aggregator.consents WHERE id = '${id}'`);
    expect(JSON.stringify(row)).not.toContain('readable-code');
  });

  it.each([
    [{ redirect: { url: 'https://elsewhere.test/cb' } }, '$.redirect.url'],
    [{ redirect: { url: callback }, callback }, '$.redirect'],
    [{ redirect: { url: callback }, oneTimeToken: true }, '$.oneTimeToken'],
    [{ redirect: {} }, '$.redirect.url'],
  ])('refuses %j by name', async (changes, parameter) => {
    await expectProblem(begin(changes), problems.unexpectedValue({ parameter }), shape);
  });
});

describe('a client that polls', () => {
  it('needs no callback: the page says that the user is done, and the consent has the token', async () => {
    const { id, state = '' } = (await begin()).body.data;
    expect((await consentOf(id)).status).toBe('AWAITING_AUTHORIZATION');
    expect((await comeBack(world.aggregator, { code: 'c-1', state })).page).toContain('Access granted');
    expect(await consentOf(id)).toMatchObject({ status: 'AUTHORIZED', consentToken: expect.any(String) });
  });
});

describe('parameters to be forwarded', () => {
  async function forwarded(forwardParameters: unknown): Promise<[string, string][]> {
    const { state = '' } = (await begin({ callback, forwardParameters })).body.data;
    const { location } = await comeBack(world.aggregator, { code: 'c-1', state, ref: 'bank-7' });
    const own = new Set(['consent', 'application-user-id', 'user-uuid', 'institution']);
    return [...(location?.searchParams ?? [])].filter(([name]) => !own.has(name));
  }

  it('are entries, or names of the bank’s parameters', async () => {
    expect(await forwarded(['order=7', 'note=a%20b', 'ref', 'code'])).toEqual([
      ['order', '7'],
      ['note', 'a b'],
      ['ref', 'bank-7'],
    ]);
  });

  it('may be an object too', async () => {
    expect(await forwarded({ order: '7', 'a&b': 'c=d é' })).toEqual([
      ['order', '7'],
      ['a&b', 'c=d é'],
    ]);
  });
});

describe('the QR code of an authorisation', () => {
  const image = async (qrCodeUrl: string | undefined) => {
    const { pathname, search, origin } = new URL(qrCodeUrl ?? '');
    expect(origin).toBe('https://aggregator.test');
    return world.aggregator.app.inject({ method: 'GET', url: pathname + search });
  };
  const decoded = (png: Buffer) => {
    const { data, width, height } = PNG.sync.read(png);
    // jsQR is CommonJS: its types call the function the default member of what is imported.
    return jsQR.default(new Uint8ClampedArray(data), width, height)?.data;
  };

  it('is an image that says where the user is sent, without credentials', async () => {
    const { qrCodeUrl, authorisationUrl, state = 'none', id } = (await begin()).body.data;
    const answer = await image(qrCodeUrl);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('image/png');
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(decoded(answer.rawPayload)).toBe(authorisationUrl);
    expect(qrCodeUrl).not.toContain(state);
    expect(qrCodeUrl).not.toContain(id);
  });

  it('is as wide as asked', async () => {
    const { qrCodeUrl = '' } = (await begin()).body.data;
    const answer = await image(qrCodeUrl.replace('size=0', 'size=300'));
    expect(PNG.sync.read(answer.rawPayload).width).toBe(300);
    expect((await image(qrCodeUrl.replace('size=0', 'size=2001'))).statusCode).toBe(400);
    expect((await image(qrCodeUrl.replace('?size=0', ''))).statusCode).toBe(200);
  });

  it('leads through a short address of ours where the bank’s is too long for a camera', async () => {
    const long = `https://bank.test/authorise?request=${'x'.repeat(3_000)}`;
    world.bank.operations.INITIATE_ACCOUNT_REQUEST.mockResolvedValueOnce({
      kind: 'redirect',
      url: long,
      pending: { institutionConsentId: 'aac-1', state: {} },
    });
    const { qrCodeUrl } = (await begin()).body.data;
    const text = decoded((await image(qrCodeUrl)).rawPayload) ?? '';
    expect(text).toMatch(/^https:\/\/aggregator\.test\/qr-codes\/[0-9a-f-]{36}$/);
    const followed = await world.aggregator.app.inject({ method: 'GET', url: new URL(text).pathname });
    expect(followed.statusCode).toBe(303);
    expect(followed.headers['location']).toBe(long);
  });

  it('is gone when its user is no longer awaited, and unknown under any other name', async () => {
    const { qrCodeUrl, state = '' } = (await begin()).body.data;
    await comeBack(world.aggregator, { code: 'c-1', state });
    expect((await image(qrCodeUrl)).statusCode).toBe(404);
    const invented = 'https://aggregator.test/qr-codes/00000000-0000-4000-8000-000000000000';
    expect((await image(invented)).statusCode).toBe(404);
    expect((await image(`${invented}/image`)).statusCode).toBe(404);
    expect((await image('https://aggregator.test/qr-codes/x/image')).statusCode).toBe(400);
  });
});
