import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { refusal } from '../../../../test/support/scripted-answers.js';
import type { RenewalLinkView } from './renewal-link.dto.js';
import type { RenewalList } from './renewal.dto.js';

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let connectionId: string;
let customers = 0;
const hourMs = 3_600_000;
const asking = 'POST /account-auth-requests';

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant('Corner Shop');
});
afterAll(() => bff.close());
beforeEach(async () => {
  customers += 1;
  bff.aggregator.heal();
  ({ token } = await bff.session(merchant, `customer-${customers}`));
  ({ id: connectionId } = await bff.connected(token));
  bff.aggregator.calls.length = 0;
});

const create = (body: object = {}, as = token) =>
  bff.ask<RenewalLinkView>(`POST /v1/connections/${connectionId}/renewal-links`, { as, body });
const made = async (body: object = {}): Promise<RenewalLinkView> => (await create(body)).body;
const pathOf = ({ url }: RenewalLinkView) => new URL(url).pathname;
const open = (link: RenewalLinkView) => bff.ask(`GET ${pathOf(link)}` as 'GET /');
const goOn = (link: RenewalLinkView, form = '') =>
  bff.ask(`POST ${pathOf(link)}` as 'POST /', {
    body: form,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    from: '198.51.100.7',
  });
const renewals = async () =>
  (await bff.ask<RenewalList>(`GET /v1/connections/${connectionId}/renewals`, { as: token })).body.data;

describe('a renewal link', () => {
  it('carries nothing but chance, and nothing that opens it is kept', async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    expect(body.url).toMatch(/^http:\/\/bff\.test\/renew\/[0-9a-f]{64}$/);
    expect(Math.round((Date.parse(body.expiresAt) - Date.parse(body.createdAt)) / hourMs)).toBe(168);
    const { rows } = await bff.db.pool.query('select row_to_json(l) as kept from renewal_links l');
    expect(JSON.stringify(rows)).not.toContain(body.url.split('/').at(-1));
  });

  it('says whom it is from and which bank it is about, and is not used up by being opened', async () => {
    const link = await made();
    for (let time = 0; time < 2; time += 1) {
      const { status, headers, text } = await open(link);
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(text).toContain('Corner Shop asks you to allow access to Bank again.');
      expect(text).not.toContain(`customer-${customers}`);
    }
    expect(await renewals()).toEqual([]);
  });

  it('leads to the bank, in the presence of whoever goes on, and only once', async () => {
    const link = await made();
    const answers = await Promise.all([goOn(link), goOn(link)]);
    const [renewal, ...more] = await renewals();
    expect(more).toEqual([]);
    expect(renewal).toMatchObject({ status: 'awaiting-authorisation' });
    const led = answers.find(({ status }) => status === 303);
    expect(led?.headers['location']).toBe(renewal?.authorisationUrl);
    expect(bff.aggregator.callsOf(asking).map(({ headers }) => headers['psu-ip-address'])).toEqual(['198.51.100.7']);
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([303, 410]);
    for (const again of [await goOn(link), await open(link)]) {
      expect(again.status).toBe(410);
      expect(again.text).toContain('This link is not valid any more.');
    }
  });

  it('sends the customer back where the merchant wants them, and the consent in use stays until then', async () => {
    const link = await made({ returnUrl: 'https://shop.example/bank' });
    const { headers } = await goOn(link);
    const back = bff.aggregator.approve(new URL(headers['location'] ?? '').searchParams.get('consent') ?? '');
    const returned = await bff.ask(`GET ${back.pathname}${back.search}` as 'GET /');
    expect(returned.headers['location']).toMatch(/^https:\/\/shop\.example\/bank\?.*renewal-status=completed/);
  });

  it('ends after its time', async () => {
    const link = await made({ lifetimeHours: 2 });
    expect((await later(hourMs, () => open(link))).status).toBe(200);
    await later(2 * hourMs + 1_000, async () => {
      expect((await open(link)).status).toBe(410);
      expect((await goOn(link)).status).toBe(410);
    });
  });

  it('stays good where the renewal cannot begin', async () => {
    const link = await made();
    bff.aggregator.fail({ route: asking, status: 503 });
    const { status, text } = await goOn(link);
    expect(status).toBe(503);
    expect(text).toContain('the link still works');
    expect((await goOn(link)).status).toBe(303);
  });

  it('asks by what name the bank knows the customer where that is needed', async () => {
    const link = await made();
    bff.aggregator.fail({ route: asking, status: 400, body: refusal(400, 'psu-id') });
    const asked = await goOn(link);
    expect(asked.status).toBe(400);
    expect(asked.text).toContain('Your user name at Bank<br><input name="psu-id"');
    expect((await goOn(link, 'psu-id=ada+lovelace')).status).toBe(303);
    expect(bff.aggregator.callsOf(asking).at(-1)?.headers['psu-id']).toBe('ada lovelace');
  });

  it('is worth nothing when the connection or its customer has ended', async () => {
    const link = await made();
    await bff.ask(`DELETE /v1/connections/${connectionId}`, { as: token });
    expect((await goOn(link)).text).toContain('This connection cannot be renewed.');
    await bff.db.pool.query(
      `update customers set status = 'deleting' where id = (select customer_id from connections where id = $1)`,
      [connectionId],
    );
    expect((await open(link)).status).toBe(410);
  });

  it('is made only for a connection of one’s own that can be renewed, and for a month at most', async () => {
    const { token: stranger } = await bff.session(merchant, 'stranger');
    expect((await create({}, stranger)).status).toBe(404);
    for (const lifetimeHours of [0, 721]) expect((await create({ lifetimeHours })).status).toBe(400);
    await bff.ask(`DELETE /v1/connections/${connectionId}`, { as: token });
    expect((await create()).status).toBe(409);
    expect((await bff.ask('GET /renew/none')).status).toBe(410);
  });
});
