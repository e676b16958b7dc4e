import jsQR from 'jsqr';
import { PNG } from 'pngjs';
import { Account, Balances, Transaction, type Envelope, type ResponseListMeta } from '#libs/contract';
import { asOwner, callback } from '../support/authorise.js';
import { adasDevice, BankFlows, type Headers, tokenOf } from '../support/bank-flows.js';
import { expectShape } from '../support/expect-shape.js';

/** What is read, paged, withdrawn and deleted at the sandbox's banks, through the interface. */
let flows: BankFlows;
beforeAll(async () => {
  flows = await BankFlows.start();
});
afterAll(() => flows.close());
afterEach(() => flows.sandbox.calm());

/** The way to a consent token at each bank where reading is something special. */
const grants: Record<string, () => Promise<string>> = {
  isarkasse: async () => {
    const { id } = await flows.ask('POST /embedded-account-auth-requests', {
      expected: 201,
      body: {
        institutionId: 'isarkasse-sandbox',
        applicationUserId: flows.person(),
        userCredentials: { id: 'ben', password: 'ben-sandbox' },
      },
    });
    return (await flows.consentOf(id)).consentToken ?? '';
  },
  fjordbank: async () => {
    const { id, institutionConsentId: consentId } = await flows.begin('fjordbank', {}, adasDevice);
    await flows.sandbox.control('decoupled', { bank: 'fjordbank', consentId, decision: 'approve' });
    return (await flows.polled(id, 'AUTHORIZED')).consentToken ?? '';
  },
  marais: async () => {
    const subject = { institutionId: 'marais-sandbox', applicationUserId: flows.person(), callback };
    const first = await flows.ask('POST /pre-auth-requests', { expected: 201, body: { ...subject, scope: 'AIS' } });
    const token = tokenOf(await flows.visit(first));
    const headers = { consent: token };
    const second = await flows.ask('PUT /account-auth-requests', { expected: 200, headers, body: subject });
    return tokenOf(await flows.visit(second));
  },
  ticino: async () => {
    const begun = await flows.begin('ticino');
    await flows.visit(begun, { persona: 'ada' });
    const wish = { bank: 'ticino', consentId: begun.institutionConsentId, signer: 'ben' };
    await flows.sandbox.control('sign', wish);
    return (await flows.polled(begun.id, 'AUTHORIZED')).consentToken ?? '';
  },
};
const get = <T>(path: `/${string}`, consent: string) => {
  const headers: Headers = { ...adasDevice, consent };
  return flows.aggregator.ask<T>(`GET ${path}`, { as: flows.shop, headers });
};

interface RealTimePage {
  meta: { count: number };
  data: { id?: string }[];
  links: Record<string, string>;
}

describe('data', () => {
  it.each([
    { bank: 'isarkasse', balances: 200, transactions: 200 },
    { bank: 'fjordbank', balances: 424, transactions: 200 },
    { bank: 'marais', balances: 200, transactions: 200 },
    { bank: 'ticino', balances: 200, transactions: 424 },
  ])('are read at $bank, and what it does not offer is said', async ({ bank, ...offered }) => {
    const token = (await grants[bank]?.()) ?? '';
    const [account] = await flows.reads(token, adasDevice);
    if (!account) throw new Error('There is no account');
    expectShape(Account, account);
    const path = `/accounts/${account.id}` as const;
    expect((await get<Envelope<Account>>(path, token)).body.data).toEqual(account);
    const balances = await get<Envelope<Balances>>(`${path}/balances`, token);
    expect(balances.status).toBe(offered.balances);
    if (balances.status === 200) expectShape(Balances, balances.body.data);
    for (const kind of ['transactions', 'real-time/transactions']) {
      const rows = await get<Envelope<Transaction[]>>(`${path}/${kind}`, token);
      expect(rows.status).toBe(offered.transactions);
      if (rows.status === 200) expect(rows.body.data.length).toBeGreaterThan(0);
    }
    for (const kind of ['statements', 'beneficiaries', 'direct-debits', 'periodic-payments', 'scheduled-payments']) {
      expect(await get(`${path}/${kind}`, token)).toMatchObject({
        status: 424,
        body: { error: { issues: [{ code: 'FEATURE_NOT_SUPPORTED' }] } },
      });
    }
  });

  it('come page by page in real time, forwards and back', async () => {
    const token = tokenOf(await flows.visit(await flows.begin('meridian')));
    const [account] = await flows.reads(token);
    const page = async (cursor?: string) => {
      const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
      const path = `/accounts/${account?.id}/real-time/transactions${query}` as const;
      const { body } = await get<RealTimePage>(path, token);
      return { ids: body.data.map(({ id }) => id), links: body.links, count: body.meta.count };
    };
    const first = await page();
    expect(Object.keys(first.links).toSorted()).toEqual(['last', 'next', 'self']);
    const middle = await page(first.links['next']);
    expect(Object.keys(middle.links).toSorted()).toEqual(['first', 'last', 'next', 'prev', 'self']);
    expect(middle.count).toBe(middle.ids.length);
    expect(first.ids.filter((id) => middle.ids.includes(id))).toEqual([]);
    expect((await page(middle.links['prev'])).ids).toEqual(first.ids);
    expect((await page((await page(middle.links['next'])).links['prev'])).ids).toEqual(middle.ids);
    const last = await page(middle.links['last']);
    expect(Object.keys(last.links).toSorted()).toEqual(['first', 'prev', 'self']);
  });
});

describe('a consent', () => {
  it('that awaits its user has a code that leads a camera to the bank', async () => {
    const { qrCodeUrl = '', authorisationUrl = '' } = await flows.begin('meridian');
    const { pathname, search } = new URL(qrCodeUrl);
    const image = await flows.aggregator.app.inject({ url: `${pathname}${search}` });
    const { data, width, height } = PNG.sync.read(image.rawPayload);
    // jsQR is CommonJS: its types call the function the default member of what is imported.
    const told = new URL(jsQR.default(new Uint8ClampedArray(data), width, height)?.data ?? '');
    const target = told.href === authorisationUrl ? told.href : await leadsTo(told);
    expect(target).toBe(authorisationUrl);
  });

  it('whose tokens died at the bank is authorised again under its id and token; a refusal changes nothing (thistle)', async () => {
    const begun = await flows.begin('thistle');
    const token = tokenOf(await flows.visit(begun));
    await flows.sandbox.control('withdraw', { bank: 'thistle', consentId: begun.institutionConsentId });
    expect((await get('/accounts', token)).status).toBe(403);
    const again = () => flows.ask('PATCH /account-auth-requests', { expected: 201, headers: { consent: token } });
    const refused = await again();
    expect(refused).toMatchObject({ id: begun.id, status: 'AWAITING_RE_AUTHORIZATION' });
    await flows.visit(refused, { decision: 'deny' });
    expect((await flows.consentOf(begun.id)).status).toBe('AUTHORIZED');
    expect((await get('/accounts', token)).status).toBe(403);
    expect(tokenOf(await flows.visit(await again()))).toBe(token);
    expect(await flows.consentOf(begun.id)).toMatchObject({ id: begun.id, status: 'AUTHORIZED', consentToken: token });
    await flows.reads(token);
  });

  it.each(['meridian', 'lindenhof'])('outlives a bank that fails unless it is forced to end (%s)', async (bank) => {
    const begun = await flows.begin(bank);
    const token = tokenOf(await flows.visit(begun));
    const remove = async (force: boolean) => {
      const route = `DELETE /consents/${begun.id}?forceDelete=${force}` as const;
      const { body } = await flows.aggregator.ask<Envelope<{ deleteStatus: string }>>(route, { as: flows.shop });
      return body.data.deleteStatus;
    };
    await flows.sandbox.fault({ bank, fault: '500' });
    expect(await remove(false)).toBe('FAILED');
    await flows.sandbox.calm();
    await flows.reads(token);
    await flows.sandbox.fault({ bank, fault: '500' });
    expect(await remove(true)).toBe('SUCCESS');
    expect((await get('/accounts', token)).status).toBe(403);
  });

  it('is listed with a thousand others at most, and all of them by offset', async () => {
    const { id } = await flows.begin('meridian');
    await asOwner(
      flows.aggregator,
      `insert into aggregator.consents (id, state, application_id, user_id, institution_id, kind, status, feature_scope, created_at, updated_at)
       select gen_random_uuid(), replace(gen_random_uuid()::text, '-', ''), application_id, user_id, institution_id, kind,
         'REJECTED', feature_scope, created_at, updated_at from aggregator.consents, generate_series(1, 1200) where id = '${id}'`,
    );
    const list = async (query: string) =>
      (
        await flows.aggregator.ask<{ meta: ResponseListMeta; data: { id: string }[] }>(`GET /consents${query}`, {
          as: flows.shop,
        })
      ).body;
    const all = await list('');
    const total = all.meta.pagination?.totalCount ?? 0;
    expect(total).toBeGreaterThan(1200);
    expect(all).toMatchObject({ data: { length: 1000 }, meta: { count: 1000, pagination: { self: { limit: 1000 } } } });
    const rest = await list('?offset=1000');
    expect(rest.data).toHaveLength(total - 1000);
    expect(new Set([...all.data, ...rest.data].map((consent) => consent.id)).size).toBe(total);
  });
});

/** Where our own short address sends the camera. */
async function leadsTo({ pathname }: URL): Promise<unknown> {
  return (await flows.aggregator.app.inject({ url: pathname })).headers['location'];
}
