import { startForTest, TppAtBank, type TppFixture } from './tpp.fixture.js';

let fixture: TppFixture;
let tpp: TppAtBank;
beforeAll(async () => {
  fixture = await startForTest();
  tpp = new TppAtBank(fixture, 'tamar');
});
afterAll(() => fixture.close());

/** A browser by hand: one step at a time, cookies kept. */
class Steps {
  readonly #cookies = new Map<string, string>();
  url = '';

  async go(url: string, form?: Record<string, string>): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, ...(form && { 'content-type': 'application/x-www-form-urlencoded' }) };
    const answer = await fetch(url, {
      redirect: 'manual',
      headers,
      ...(form && { method: 'POST', body: new URLSearchParams(form).toString() }),
    });
    for (const line of answer.headers.getSetCookie())
      this.#cookies.set(line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1).split(';')[0] ?? '');
    this.url = url;
    const location = answer.headers.get('location');
    return location !== null && new URL(location, url).pathname.includes('/psu/')
      ? this.go(new URL(location, url).href)
      : answer;
  }

  below(path: string): string {
    return `${this.url.replace(/(\/psu\/[\w-]+).*/, '$1')}/${path}`;
  }
}

async function arrive(): Promise<{ steps: Steps; page: string; consentId: string }> {
  const consentId = await tpp.createAccountConsent();
  const { url } = await tpp.authorisationUrl(consentId, 'accounts');
  const steps = new Steps();
  return { steps, page: await (await steps.go(url.href)).text(), consentId };
}

it('shows pages that work without a script and trust nothing', async () => {
  const { steps, page } = await arrive();
  expect(page).toContain('Tamar Building Society');
  expect(page).toContain('Spec &amp; Sons');
  expect(page).not.toContain('<script');
  const answer = await steps.go(steps.url);
  expect(answer.headers.get('content-security-policy')).toContain("form-action 'self'");
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const code = await (await steps.go(steps.below('login'), { username: ' Ada ', password: 'ada-sandbox' })).text();
  expect(code).toContain('One-time code');
  const review = await (await steps.go(steps.below('code'), { code: '123456' })).text();
  expect(review.match(/type="checkbox"/g)).toHaveLength(4);
  expect(review).toContain('00-65-28');
});

it('lets nobody past a wrong password or code, and gives up after three', async () => {
  const { steps, consentId } = await arrive();
  const wrong = await steps.go(steps.below('login'), { username: 'ada', password: 'guess' });
  expect(wrong.status).toBe(422);
  expect(await wrong.text()).toContain('do not match');
  expect(await (await steps.go(steps.below('decision'), { decision: 'approve' })).text()).toContain(
    'Log in to continue',
  );
  await steps.go(steps.below('login'), { username: 'ada', password: 'ada-sandbox' });
  for (const code of ['000000', '111111']) expect((await steps.go(steps.below('code'), { code })).status).toBe(422);
  expect(await (await steps.go(steps.below('code'), { code: '222222' })).text()).toContain('Taking you back');
  const consent = (await (
    await tpp.get(`/aisp/account-access-consents/${consentId}`, await tpp.clientToken('accounts'))
  ).json()) as { Data: { Status: string } };
  expect(consent.Data.Status).toBe('RJCT');
});

it('takes a form only from the browser the visit belongs to', async () => {
  const { steps } = await arrive();
  const stranger = await fetch(steps.below('login'), {
    method: 'POST',
    body: new URLSearchParams({ username: 'ada', password: 'ada-sandbox' }),
  });
  expect(stranger.status).toBe(400);
  const other = await arrive();
  const swapped = await other.steps.go(steps.below('login'), { username: 'ada', password: 'ada-sandbox' });
  expect(swapped.status).toBe(400);
});

it('asks again when no account is chosen, and ignores one that is not offered', async () => {
  const { steps } = await arrive();
  await steps.go(steps.below('login'), { username: 'ben', password: 'ben-sandbox' });
  await steps.go(steps.below('code'), { code: '234567' });
  const foreign = fixture.sandbox.ledger.accountsOf('tamar', 'ada')[0]!.id;
  const answer = await steps.go(steps.below('decision'), { decision: 'approve', account: foreign });
  expect(answer.status).toBe(422);
  expect(await answer.text()).toContain('Choose at least one account');
});

it('has a front door that names banks, people and what is switched on', async () => {
  await tpp.control('faults', { bank: 'tamar', fault: 'slow', times: 2 });
  const page = await (await fetch(fixture.sandbox.url)).text();
  for (const word of ['Meridian Bank', 'ada-sandbox', '345678', '<code>slow</code> at tamar'])
    expect(page).toContain(word);
});
