import { describe, expect, it } from 'vitest';
import { problems, type AccountAuthorisationResponse, type Consent, type Envelope } from '#libs/contract';
import { InstitutionError } from '#libs/connectors';
import { now, setClock } from '#libs/server';
import { applicationWithCallback, asOwner, callback, comeBack } from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { scriptedInstitution } from '../../../../test/support/scripted-connector.js';
import { scriptedShop } from '../../../../test/support/scripted-shop.js';

const world = scriptedShop();

async function begin(changes: object = {}): Promise<{ id: string; state: string }> {
  const body = { institutionId: scriptedInstitution.id, applicationUserId: 'ann', callback, ...changes };
  const answer = await world.aggregator.ask<Envelope<AccountAuthorisationResponse>>('POST /account-auth-requests', {
    as: world.shop,
    body,
  });
  return { id: answer.body.data.id, state: answer.body.data.state ?? '' };
}

const consentOf = async (id: string) =>
  (await world.aggregator.ask<Envelope<Consent>>(`GET /consents/${id}`, { as: world.shop })).body.data;
const exchange = (oneTimeToken: string | null | undefined, as = world.shop) =>
  world.aggregator.ask<Consent>('POST /consent-one-time-token', { as, body: { oneTimeToken } });
const inMinutes = (minutes: number) => {
  const at = new Date(now().getTime() + minutes * 60_000);
  setClock(() => at);
};

describe('the callback', () => {
  it('authorises the consent and hands its token to the application', async () => {
    const { id, state } = await begin();
    const { status, location, headers } = await comeBack(world.aggregator, { code: 'c-1', state });
    expect(status).toBe(303);
    expect(location?.origin).toBe('https://shop.test');
    expect([...(location?.searchParams.keys() ?? [])]).toEqual([
      'consent',
      'application-user-id',
      'user-uuid',
      'institution',
    ]);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    const consent = await consentOf(id);
    expect(consent).toMatchObject({
      status: 'AUTHORIZED',
      authorizedAt: expect.any(String),
      lastConfirmedAt: consent.authorizedAt,
      reconfirmBy: expect.any(String),
      consentToken: location?.searchParams.get('consent'),
    });
  });

  it('takes the answer that the page lifted out of the fragment', async () => {
    const { id, state } = await begin();
    const { status } = await comeBack(
      world.aggregator,
      { code: 'c-1', id_token: 'x.y.z', state, response: '', error: '' },
      'form',
    );
    expect(status).toBe(303);
    expect(world.bank.proceed.mock.calls[0]?.[2]).toEqual({
      callback: new URLSearchParams({ code: 'c-1', id_token: 'x.y.z', state }),
    });
    expect((await consentOf(id)).status).toBe('AUTHORIZED');
  });

  it('serves the lifting page while the answer is in the fragment, with nothing foreign in it', async () => {
    const { status, page, headers } = await comeBack(world.aggregator, {});
    expect(status).toBe(200);
    expect(page).toContain('<form method="post" action="/callback" data-from-fragment>');
    expect(page).toContain('<script src="/callback.js"></script>');
    expect(page).toContain('<noscript>');
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; script-src 'self'; style-src 'sha256-/),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    });
    const script = await world.aggregator.app.inject({ method: 'GET', url: '/callback.js' });
    expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(script.payload).toContain('data-from-fragment');
  });

  it('changes nothing for a state that was tampered with', async () => {
    const { id, state } = await begin();
    const tampered = `${state.startsWith('0') ? '1' : '0'}${state.slice(1)}`;
    for (const wrong of [tampered, 'x', '']) {
      const { status, page } = await comeBack(world.aggregator, { code: 'c-1', state: wrong });
      expect(status).toBe(400);
      expect(page).toContain('This link is not valid');
    }
    expect(world.bank.proceed).not.toHaveBeenCalled();
    expect((await consentOf(id)).status).toBe('AWAITING_AUTHORIZATION');
  });

  it('does nothing the second time', async () => {
    const { id, state } = await begin();
    await comeBack(world.aggregator, { code: 'c-1', state });
    const before = await consentOf(id);
    const again = await comeBack(world.aggregator, { code: 'c-1', state });
    expect(again.status).toBe(200);
    expect(again.location).toBeUndefined();
    expect(again.page).toContain('Already done');
    expect(world.bank.proceed).toHaveBeenCalledTimes(1);
    expect(await consentOf(id)).toEqual({ ...before, timeToExpire: expect.any(String) });
  });

  it('lets one of two answers at once through to the bank', async () => {
    const { state } = await begin({ oneTimeToken: true });
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => comeBack(world.aggregator, { code: 'c-1', state })),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(world.bank.proceed).toHaveBeenCalledTimes(1);
  });

  it('tells the application that the user refused', async () => {
    const { id, state } = await begin();
    const { location } = await comeBack(world.aggregator, { error: 'access_denied', state });
    const query = location?.searchParams;
    expect(query?.get('error')).toBe('access_denied');
    expect(query?.get('error-source')).toBe('user');
    expect(query?.has('consent')).toBe(false);
    expect(await consentOf(id)).toMatchObject({ status: 'REJECTED' });
  });

  it('fails the consent when the bank fails, and says whose failure it was', async () => {
    const { id, state } = await begin();
    world.bank.proceed.mockRejectedValue(new InstitutionError('unavailable', 'Down', { httpStatus: 500 }));
    const { location } = await comeBack(world.aggregator, { code: 'c-1', state });
    const query = location?.searchParams;
    expect(query?.get('error')).toBe('uncategorized_error');
    expect(query?.get('error-source')).toBe('institution');
    expect(Buffer.from(query?.get('error-description') ?? '', 'base64').toString('utf8')).toBe('Down');
    expect((await consentOf(id)).status).toBe('FAILED');
  });

  it('shows a page where the request has no callback', async () => {
    const { state } = await begin({ callback: undefined });
    const { status, page } = await comeBack(world.aggregator, { code: 'c-1', state });
    expect(status).toBe(200);
    expect(page).toContain('Access granted');
  });

  it('can be answered again after a crash in the middle, once the lease is over', async () => {
    const { id, state } = await begin();
    world.bank.proceed.mockRejectedValueOnce(new Error('crash'));
    expect((await comeBack(world.aggregator, { code: 'c-1', state })).status).toBe(500);
    expect((await comeBack(world.aggregator, { code: 'c-1', state })).page).toContain('One moment');
    inMinutes(2);
    expect((await comeBack(world.aggregator, { code: 'c-1', state })).status).toBe(303);
    expect((await consentOf(id)).status).toBe('AUTHORIZED');
  });

  it('writes consent and tokens together or not at all', async () => {
    const { id, state } = await begin({ oneTimeToken: true });
    await asOwner(world.aggregator, 'ALTER TABLE aggregator.one_time_tokens RENAME TO out_of_reach');
    try {
      expect((await comeBack(world.aggregator, { code: 'c-1', state })).status).toBe(500);
    } finally {
      await asOwner(world.aggregator, 'ALTER TABLE aggregator.out_of_reach RENAME TO one_time_tokens');
    }
    const consent = await consentOf(id);
    expect(consent.status).toBe('AWAITING_AUTHORIZATION');
    expect(consent).not.toHaveProperty('authorizedAt');
    expect(consent).not.toHaveProperty('consentToken');
    inMinutes(2);
    expect(
      (await comeBack(world.aggregator, { code: 'c-2', state })).location?.searchParams.has('one-time-token'),
    ).toBe(true);
  });

  it('is not answered after the consent was deleted', async () => {
    const { id, state } = await begin();
    await world.aggregator.ask(`DELETE /consents/${id}`, { as: world.shop });
    expect((await comeBack(world.aggregator, { code: 'c-1', state })).status).toBe(400);
    expect(world.bank.proceed).not.toHaveBeenCalled();
  });
});

describe('a one-time token', () => {
  async function oneTimeToken(): Promise<{ id: string; token: string }> {
    const { id, state } = await begin({ oneTimeToken: true });
    const { location } = await comeBack(world.aggregator, { code: 'c-1', state });
    expect(location?.searchParams.has('consent')).toBe(false);
    return { id, token: location?.searchParams.get('one-time-token') ?? '' };
  }

  it('is exchanged for the consent, once', async () => {
    const { id, token } = await oneTimeToken();
    const { status, body } = await exchange(token);
    expect(status).toBe(201);
    expect(body).toMatchObject({ id, status: 'AUTHORIZED', consentToken: expect.any(String) });
    await expectProblem(exchange(token), problems.notFound({ parameter: '$.oneTimeToken' }), { shape: 'minimal' });
  });

  it('is won by one of two exchanges at once', async () => {
    const { token } = await oneTimeToken();
    const answers = await Promise.all(Array.from({ length: 5 }, () => exchange(token)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 404, 404, 404, 404]);
  });

  it('lives ten minutes', async () => {
    const { token } = await oneTimeToken();
    inMinutes(10);
    await expectProblem(exchange(token), problems.notFound({ parameter: '$.oneTimeToken' }), { shape: 'minimal' });
  });

  it('is worth nothing to another application', async () => {
    const { token } = await oneTimeToken();
    const other = await applicationWithCallback(world.aggregator);
    await expectProblem(exchange(token, other), problems.notFound({ parameter: '$.oneTimeToken' }), {
      shape: 'minimal',
    });
    expect((await exchange(token)).status).toBe(201);
  });
});
