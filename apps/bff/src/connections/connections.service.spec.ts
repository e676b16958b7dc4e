import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { AuthorisationService, type Waiting } from './authorisation.service.js';
import type { ConnectionView } from './connection.dto.js';

let bff: TestBff;
let merchant: TestMerchant;
let token: string;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  ({ token } = await bff.session(merchant, 'ada'));
});
afterAll(() => bff.close());
beforeEach(() => {
  bff.aggregator.calls.length = 0;
  bff.aggregator.heal();
});

const connect = (body: object = { institutionId: 'bank' }, as = token) =>
  bff.ask<ConnectionView>('POST /v1/connections', { as, body });
const read = async (id: string, as = token) => bff.ask<ConnectionView>(`GET /v1/connections/${id}`, { as });
const visit = (url: URL) => bff.ask(`GET /${url.pathname.slice(1)}${url.search}`);
const consentOf = (view: ConnectionView): string =>
  new URL(view.authorisationUrl ?? '').searchParams.get('consent') ?? '';
const count = async (): Promise<number> =>
  Number((await bff.db.pool.query('select count(*) from connections')).rows[0].count);

async function lookAfter(id: string): Promise<void> {
  const { rows } = await bff.db.pool.query<Waiting>(
    'select id, merchant_id, institution_id, status, consent_id, return_url, created_at from connections where id = $1',
    [id],
  );
  const [waiting] = rows;
  if (!waiting) throw new Error('no connection');
  await bff.get(AuthorisationService).lookAfter(waiting);
}

describe('POST /v1/connections', () => {
  it('asks for a consent with a one-time token and our callback, as the merchant’s sub-application', async () => {
    const { status, body } = await connect();
    expect(status).toBe(201);
    expect(body).toMatchObject({
      status: 'awaiting-authorisation',
      institutionId: 'bank',
      authorisationUrl: expect.stringContaining('/bank?consent='),
    });
    const [call] = bff.aggregator.callsOf('POST /account-auth-requests');
    expect(call?.headers['sub-application']).toBe(merchant.subApplicationId);
    expect(call?.body).toMatchObject({ institutionId: 'bank', oneTimeToken: true });
    expect(String(call?.body['callback'])).toMatch(
      /^http:\/\/bff\.test\/v1\/connections\/callback\?state=[0-9a-f]{64}$/,
    );
  });

  it('names an unknown institution and leaves no row', async () => {
    const before = await count();
    const answer = await connect({ institutionId: 'unknown' });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('/institutionId');
    expect(await count()).toBe(before);
  });

  it('leaves no row when the aggregator cannot be reached', async () => {
    const before = await count();
    bff.aggregator.fail({ route: 'POST /account-auth-requests' });
    expect((await connect()).status).toBe(503);
    expect(await count()).toBe(before);
  });

  it('refuses a return address that is no address', async () => {
    for (const returnUrl of ['javascript:alert(1)', 'nowhere', ''])
      expect((await connect({ institutionId: 'bank', returnUrl })).status).toBe(400);
  });
});

describe('the callback', () => {
  it('exchanges the token on the server, seals it, and sends the browser on without it', async () => {
    const { body } = await connect({ institutionId: 'bank', returnUrl: 'https://shop.example/back?order=7' });
    const consentId = consentOf(body);
    const answer = await visit(bff.aggregator.approve(consentId));
    expect(answer.status).toBe(303);
    expect(answer.headers['location']).toBe(`https://shop.example/back?order=7&connection=${body.id}&status=active`);
    expect((await read(body.id)).body).toMatchObject({ status: 'active', health: 'unknown' });
    const { rows } = await bff.db.pool.query('select row_to_json(c) as row from connections c where id = $1', [
      body.id,
    ]);
    expect(JSON.stringify(rows)).not.toContain(bff.aggregator.consents.get(consentId)?.consentToken);
    expect((await read(body.id)).text).not.toContain('token');
  });

  it('shows a page of its own where there is nowhere to go', async () => {
    const { body } = await connect();
    const answer = await visit(bff.aggregator.approve(consentOf(body)));
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toContain('text/html');
    expect(answer.text).toContain('Your bank is connected.');
  });

  it('is finished once when it is hit several times at once, and later again', async () => {
    const { body } = await connect();
    const url = bff.aggregator.approve(consentOf(body));
    const answers = await Promise.all([visit(url), visit(url), visit(url)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await visit(url)).text).toContain('Your bank is connected.');
    expect(bff.aggregator.callsOf('POST /consent-one-time-token')).toHaveLength(1);
    const events = await bff.db.pool.query(
      "select 1 from events where data::json->>'connectionId' = $1 and data::json->>'status' = 'active'",
      [body.id],
    );
    expect(events.rowCount).toBe(1);
  });

  it('records that the customer refused', async () => {
    const { body } = await connect({ institutionId: 'bank', returnUrl: 'https://shop.example/' });
    const answer = await visit(bff.aggregator.deny(consentOf(body)));
    expect(answer.headers['location']).toContain('status=denied');
    expect((await read(body.id)).body).toMatchObject({ status: 'denied', reason: 'access-denied' });
  });

  it('believes no state that it has not given', async () => {
    for (const state of ['', 'f'.repeat(64), 'x'])
      expect(
        (await visit(new URL(`http://bff.test/v1/connections/callback?state=${state}&one-time-token=t`))).status,
      ).toBe(404);
    expect(bff.aggregator.callsOf('POST /consent-one-time-token')).toEqual([]);
  });

  it('refuses the token of another consent', async () => {
    const [mine, theirs] = await Promise.all([connect(), connect()]);
    const url = new URL(bff.aggregator.approve(consentOf(mine.body)));
    url.searchParams.set(
      'one-time-token',
      bff.aggregator.approve(consentOf(theirs.body)).searchParams.get('one-time-token') ?? '',
    );
    await visit(url);
    expect((await read(mine.body.id)).body).toMatchObject({ status: 'failed', reason: 'consent-mismatch' });
  });

  it('reads the consent when the token was spent before a crash', async () => {
    const { body } = await connect();
    const url = bff.aggregator.approve(consentOf(body));
    url.searchParams.set('one-time-token', 'spent');
    await visit(url);
    expect((await read(body.id)).body.status).toBe('active');
  });

  it('is made good by the worker when the aggregator did not answer', async () => {
    const { body } = await connect();
    const url = bff.aggregator.approve(consentOf(body));
    bff.aggregator.fail({ route: 'POST /consent-one-time-token' });
    bff.aggregator.fail({ route: 'GET /consents/:id', times: 9 });
    const answer = await visit(url);
    expect(answer.text).toContain('on its way');
    bff.aggregator.heal();
    await lookAfter(body.id);
    expect((await read(body.id)).body.status).toBe('active');
  });
});

describe('an authorisation nobody came back from', () => {
  it('is active when the bank says so, and abandoned after a day', async () => {
    const [one, two] = await Promise.all([connect(), connect()]);
    bff.aggregator.approve(consentOf(one.body));
    await lookAfter(one.body.id);
    expect((await read(one.body.id)).body.status).toBe('active');
    await later(25 * 3_600_000, () => lookAfter(two.body.id));
    expect((await read(two.body.id)).body).toMatchObject({ status: 'abandoned', reason: 'never-came-back' });
    await visit(bff.aggregator.approve(consentOf(two.body)));
    expect((await read(two.body.id)).body.status).toBe('active');
  });
});

describe('an authorisation whose consent the aggregator knows no longer', () => {
  it('has failed', async () => {
    const { body } = await connect();
    const consent = bff.aggregator.consents.get(consentOf(body));
    if (consent) consent.deleted = true;
    await lookAfter(body.id);
    expect((await read(body.id)).body).toMatchObject({ status: 'failed', reason: 'consent-gone' });
  });
});

describe('a connection', () => {
  it('is unknown to other customers and other merchants', async () => {
    const { body } = await connect();
    const bob = await bff.session(merchant, 'bob');
    const eve = await bff.session(await bff.merchant('Other Shop'), 'ada');
    for (const as of [bob.token, eve.token]) {
      expect((await read(body.id, as)).status).toBe(404);
      expect((await bff.ask(`DELETE /v1/connections/${body.id}`, { as })).status).toBe(404);
      expect((await bff.ask<{ data: unknown[] }>('GET /v1/connections', { as })).body.data).toEqual([]);
    }
    expect((await read('not-an-id')).status).toBe(404);
    expect((await read(body.id)).status).toBe(200);
  });

  it('is revoked at the aggregator first, and stays revoked', async () => {
    const { id, consentId } = await bff.connected(token);
    bff.aggregator.fail({ route: 'DELETE /consents/:id', status: 503 });
    expect((await bff.ask(`DELETE /v1/connections/${id}`, { as: token })).status).toBe(503);
    expect((await read(id)).body.status).toBe('active');
    const answer = await bff.ask<ConnectionView>(`DELETE /v1/connections/${id}`, { as: token });
    expect(answer.body).toMatchObject({ status: 'revoked', reason: 'revoked-by-customer' });
    expect(bff.aggregator.consents.get(consentId)?.deleted).toBe(true);
    expect((await bff.ask<ConnectionView>(`DELETE /v1/connections/${id}`, { as: token })).body.status).toBe('revoked');
    const { rows } = await bff.db.pool.query(
      'select sealed_consent_token, next_sync_at from connections where id = $1',
      [id],
    );
    expect(rows).toEqual([{ sealed_consent_token: null, next_sync_at: null }]);
  });
});

describe('GET /v1/institutions', () => {
  it('lists what the aggregator has, asked once for several callers', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map(() => bff.ask<{ data: unknown[] }>('GET /v1/institutions', { as: token })),
    );
    expect(answers[0]?.body.data).toEqual([
      { id: 'bank', name: 'Bank', countries: ['GB'], media: [], features: ['ACCOUNTS'] },
    ]);
    expect(bff.aggregator.callsOf('GET /institutions').length).toBeLessThanOrEqual(1);
  });

  it('finds by name, country and features', async () => {
    const found = async (query: string): Promise<number> =>
      (await bff.ask<{ data: unknown[] }>(`GET /v1/institutions?${query}`, { as: token })).body.data.length;
    for (const query of ['name=bAN', 'country=gb', 'features=ACCOUNTS', 'name=bank&country=GB&features=ACCOUNTS'])
      expect(await found(query)).toBe(1);
    for (const query of ['name=credit', 'country=DE', 'features=ACCOUNTS,IDENTITY']) expect(await found(query)).toBe(0);
    expect((await bff.ask('GET /v1/institutions?country=GBR', { as: token })).status).toBe(400);
  });

  it('gives them by name and in pages, and finds a name however it is typed', async () => {
    const former = bff.aggregator.institutions;
    bff.aggregator.institutions = ['Zebra', 'Ähre', 'bank 10', 'Bank 9', 'Österbank'].map((name, index) => ({
      id: `id-${index}`,
      name,
    }));
    interface Page {
      data: { name: string }[];
      hasMore: boolean;
      nextCursor?: string;
    }
    const page = (query: string) => later(120_000, () => bff.ask<Page>(`GET /v1/institutions?${query}`, { as: token }));
    const names = async (query: string) => (await page(query)).body.data.map(({ name }) => name);
    const first = (await page('limit=2')).body;
    expect(first).toMatchObject({ data: [{ name: 'Ähre' }, { name: 'Bank 9' }], hasMore: true });
    const cursor = `cursor=${first.nextCursor}`;
    expect(await names(`limit=2&${cursor}`)).toEqual(['bank 10', 'Österbank']);
    expect((await page(`limit=3&${cursor}`)).body).toMatchObject({ hasMore: false });
    expect(await names('name=OSTER')).toEqual(['Österbank']);
    for (const wrong of [`name=b&${cursor}`, 'cursor=what'])
      expect(JSON.parse((await page(wrong)).text)).toMatchObject({ status: 400, issues: [{ parameter: 'cursor' }] });
    bff.aggregator.institutions = former.slice(0, 0);
    expect((await later(300_000, () => bff.ask(`GET /v1/institutions?${cursor}`, { as: token }))).status).toBe(400);
    bff.aggregator.institutions = former;
  });
});
