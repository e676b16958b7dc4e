import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BerlinTpp } from './berlin-group/berlin-tpp.fixture.js';
import { everything, startForTest, TppAtBank, type TppFixture } from './tpp.fixture.js';

let fixture: TppFixture;
let tpp: TppAtBank;
let token: string;
beforeAll(async () => {
  fixture = await startForTest();
  tpp = new TppAtBank(fixture, 'tamar');
  token = (await tpp.authorise(await tpp.createAccountConsent(), 'accounts')).access_token;
});
afterAll(() => fixture.close());
afterEach(async () => {
  await fetch(`${fixture.sandbox.url}/control/faults`, { method: 'DELETE' });
});

const fault = async (name: string, route = 'GET /aisp/accounts', times = 1): Promise<void> => {
  expect((await tpp.control('faults', { bank: 'tamar', route, fault: name, times })).status).toBe(200);
};
const account = (): string => fixture.sandbox.ledger.accountsOf('tamar', 'ada')[0]!.id;

describe('faults', () => {
  it.each([
    ['500', 500, 'U000'],
    ['503', 503, ''],
    ['401', 401, ''],
    ['403', 403, 'U028'],
    ['429', 429, ''],
    ['html', 200, '<!doctype html>'],
    ['bad-json', 200, '{"Data"'],
  ])('%s answers %i as often as told', async (name, status, text) => {
    await fault(name);
    const answer = await tpp.get('/aisp/accounts', token);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain(text);
    expect(answer.headers.get('retry-after')).toBe(name === '429' ? '2' : null);
    expect((await tpp.get('/aisp/accounts', token)).status).toBe(200);
  });

  it.each(['cut', 'cut-body'])('%s ends the connection', async (name) => {
    await fault(name);
    await expect(tpp.get('/aisp/accounts', token).then((answer) => answer.text())).rejects.toThrow(/failed|terminated/);
  });

  it('timeout keeps silent', async () => {
    await fault('timeout');
    const answer = fixture.fetch(`${tpp.api}/aisp/accounts`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(300),
    });
    await expect(answer).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('concern one bank and one route', async () => {
    await fault('500', 'GET /aisp/accounts/{AccountId}/balances');
    expect((await tpp.get('/aisp/accounts', token)).status).toBe(200);
    expect((await tpp.get(`/aisp/accounts/${account()}/balances`, token)).status).toBe(500);
    await tpp.control('faults', { bank: 'meridian', fault: '500' });
    expect((await tpp.get('/aisp/accounts', token)).status).toBe(200);
  });

  it('bend transactions: links that loop or leave, blank ids, a wrong sign', async () => {
    const path = `/aisp/accounts/${account()}/transactions`;
    const read = async (
      name: string,
    ): Promise<{
      Links: { Self: string; Next: string };
      Data: { Transaction: { TransactionId: string; Amount: { Amount: string } }[] };
    }> => {
      await fault(name, 'GET /aisp/accounts/{AccountId}/transactions');
      return (await (await tpp.get(path, token)).json()) as never;
    };
    const loop = await read('loop-next');
    expect(loop.Links.Next).toBe(loop.Links.Self);
    expect((await read('cut-next')).Links.Next).toMatch(/^https:\/\/null\//);
    expect(new Set((await read('blank-ids')).Data.Transaction.map((row) => row.TransactionId))).toEqual(new Set([' ']));
    expect((await read('wrong-sign')).Data.Transaction.some((row) => row.Amount.Amount.startsWith('-'))).toBe(true);
  });

  it('concern one account, when they name one, and can be switched off for it', async () => {
    const one = { bank: 'tamar', route: 'GET /aisp/accounts/{AccountId}/balances', fault: '500', account: account() };
    await tpp.control('faults', one);
    const statuses = async () => {
      const { Data } = (await (await tpp.get('/aisp/accounts', token)).json()) as {
        Data: { Account: { AccountId: string }[] };
      };
      const read = Data.Account.map(async ({ AccountId }) => [
        AccountId === account(),
        (await tpp.get(`/aisp/accounts/${AccountId}/balances`, token)).status,
      ]);
      return Promise.all(read);
    };
    expect((await statuses()).map(([isIt, status]) => status === (isIt ? 500 : 200))).not.toContain(false);
    await fetch(`${fixture.sandbox.url}/control/faults?account=${account()}`, { method: 'DELETE' });
    expect((await statuses()).map(([, status]) => status)).not.toContain(500);
  });

  it('play the five minutes after SCA when told so', async () => {
    const fresh = (await tpp.authorise(await tpp.createAccountConsent(), 'accounts')).access_token;
    await tpp.control('faults', { bank: 'tamar', fault: 'sca-window' });
    const path = `/aisp/accounts/${account()}/transactions`;
    expect((await tpp.get(path, fresh)).status).toBe(200);
    await tpp.control('clock', { advance: 'PT6M' });
    expect(await (await tpp.get(path, fresh)).json()).toMatchObject({ Errors: [{ ErrorCode: 'U028' }] });
    const lately = new Date(fixture.sandbox.clock.now() - 80 * 86_400_000).toISOString().slice(0, 19);
    expect((await tpp.get(`${path}?fromBookingDateTime=${lately}`, fresh)).status).toBe(200);
    await tpp.control('clock', { advance: '-PT6M' });
  });

  it('lose the answer of the token endpoint after its work is done', async () => {
    await tpp.config();
    await fault('token-500', 'POST /token');
    await expect(tpp.clientToken('accounts')).rejects.toMatchObject({ cause: { status: 500 } });
    expect(await tpp.clientToken('accounts')).toBeTypeOf('string');
  });

  it('are listed by name, and refused when unknown', async () => {
    const list = (await (await fetch(`${fixture.sandbox.url}/control/faults`)).json()) as {
      faults: { fault: string; does: string }[];
    };
    expect(list.faults.map((each) => each.fault)).toContain('loop-next');
    for (const body of [
      { fault: 'nap' },
      { fault: '500', bank: 'lloyd' },
      { fault: '500', route: 'GET /moon' },
      { fault: '500', times: 0 },
    ]) {
      expect((await tpp.control('faults', body)).status).toBe(400);
    }
  });
});

describe('the remote control', () => {
  it('records calls with the PSU’s presence', async () => {
    await tpp.get('/aisp/accounts', token, {
      'x-fapi-customer-ip-address': '192.0.2.7',
      'x-fapi-interaction-id': 'call-1',
    });
    const { calls } = (await (await fetch(`${fixture.sandbox.url}/control/calls`)).json()) as { calls: object[] };
    expect(calls.at(-1)).toMatchObject({
      bank: 'tamar',
      route: 'GET /aisp/accounts',
      status: 200,
      isAttended: true,
      interactionId: 'call-1',
    });
    expect(JSON.stringify(calls)).not.toContain('192.0.2.7');
  });

  it('records of which account a call was', async () => {
    await tpp.get('/aisp/accounts', token);
    await tpp.get('/aisp/accounts/22289/transactions?page=1', token);
    const { calls } = (await (await fetch(`${fixture.sandbox.url}/control/calls`)).json()) as { calls: object[] };
    expect(calls.slice(-2).map((call) => ('account' in call ? call.account : undefined))).toEqual([undefined, '22289']);
  });

  it('refuses what it cannot play', async () => {
    const url = `${tpp.issuer}/auth`;
    const bodies = [
      {},
      { authorisationUrl: 'http://elsewhere.test/', decision: 'approve' },
      { authorisationUrl: url, decision: 'maybe' },
      { authorisationUrl: url, decision: 'approve', persona: 'zoe' },
    ];
    for (const body of bodies) expect((await tpp.control('authorise', body)).status).toBe(400);
    const asked = await tpp.authorisationUrl(await tpp.createAccountConsent(), 'accounts');
    expect(
      (await tpp.control('authorise', { authorisationUrl: asked.url.href, decision: 'approve', accounts: ['Swiss'] }))
        .status,
    ).toBe(422);
    for (const body of [{}, { advance: 'soon' }, { set: 'never' }, { advance: 'P1D', set: '2026-01-01T00:00:00Z' }])
      expect((await tpp.control('clock', body)).status).toBe(400);
    for (const body of [{}, { seed: 'x', transactions: -1 }, { seed: 'x', months: 'two' }])
      expect((await tpp.control('seed', body)).status).toBe(400);
  });

  it('closes an account for good: it stays on the list, and cannot be looked into', async () => {
    const closing = fixture.sandbox.ledger.accountsOf('tamar', 'ada')[1]!.id;
    for (const path of ['', '/balances', '/transactions'])
      expect((await tpp.get(`/aisp/accounts/${closing}${path}`, token)).status).toBe(200);
    expect((await tpp.control('close', { account: closing })).status).toBe(200);
    for (const body of [{}, { account: 'nobody' }, { account: closing }])
      expect((await tpp.control('close', body)).status).toBe(400);
    const list = (await (await tpp.get('/aisp/accounts', token)).json()) as {
      Data: { Account: { AccountId: string; Status: string }[] };
    };
    const closed = list.Data.Account.filter(({ Status }) => Status === 'Deleted').map(({ AccountId }) => AccountId);
    expect(closed).toEqual([closing]);
    for (const path of ['', '/balances', '/transactions'])
      expect((await tpp.get(`/aisp/accounts/${closing}${path}`, token)).status).toBe(400);
  });

  it.each(['lose', 'double'])('makes a bank %s a row, and keep its balances', async (kind) => {
    const { ledger } = fixture.sandbox;
    const slipping = ledger.accountsOf('tamar', 'ada')[0]!;
    const rows = () => ledger.page(slipping, { status: 'booked', limit: 10_000 });
    const before = rows();
    const newest = before.find(({ madeAt, bookedAt }) => bookedAt > madeAt)!;
    const between = new Date((newest.madeAt + newest.bookedAt) / 2).toISOString();
    const answer = await tpp.control('slip', { account: slipping.id, kind, since: between, madeBy: between });
    expect(await answer.json()).toEqual({ account: slipping.id, id: newest.id, amountMinor: newest.amountMinor });
    const [lost, added] = [before, rows()].map((one, index, both) => {
      const ids = new Set(both[1 - index]!.map(({ id }) => id));
      return one.filter(({ id }) => !ids.has(id));
    });
    const { id: _id, seq: _seq, ...same } = newest;
    expect({ lost, added }).toMatchObject(
      kind === 'lose' ? { lost: [newest], added: [] } : { lost: [], added: [same] },
    );
    expect(ledger.account(slipping.id)!.balanceMinor).toBe(slipping.balanceMinor);
    const { id } = slipping;
    const none = { account: id, kind, since: '2200-01-01T00:00:00Z' };
    for (const body of [
      { kind },
      { account: 'nobody', kind },
      { account: id, kind: 'hide' },
      none,
      { ...none, since: 'x' },
    ])
      expect((await tpp.control('slip', body)).status).toBe(400);
  });

  it('lifts a fragment into the TPP’s own form, and answers where the TPP sends the browser', async () => {
    const seen: URLSearchParams[] = [];
    const callback = createServer((request, response) => {
      if (request.method === 'GET') {
        response.end(
          '<form method="post" action="/callback" data-from-fragment><input type="hidden" name="code"><input type="hidden" name="id_token"><input type="hidden" name="state"><input type="hidden" name="error"></form>',
        );
        return;
      }
      let body = '';
      request
        .on('data', (chunk: Buffer) => (body += chunk.toString()))
        .on('end', () => {
          seen.push(new URLSearchParams(body));
          response.writeHead(303, { location: 'http://app.test/done?ok=1' }).end();
        });
    });
    await new Promise<void>((done) => callback.listen(0, '127.0.0.1', done));
    const redirect = `http://localhost:${(callback.address() as AddressInfo).port}/callback`;
    fixture.tpp.redirectUris.push(redirect);
    const meridian = new TppAtBank(fixture, 'meridian', redirect);
    const asked = await meridian.authorisationUrl(await meridian.createAccountConsent(everything), 'accounts');
    const answer = await meridian.control('authorise', { authorisationUrl: asked.url.href, decision: 'approve' });
    expect(await answer.json()).toEqual({ redirectUrl: 'http://app.test/done?ok=1' });
    expect(seen[0]!.get('state')).toBe(asked.state);
    expect(seen[0]!.get('code')).toBeTruthy();
    expect(seen[0]!.has('error')).toBe(false);
    callback.close();
  });

  it('plays another person who signs, once there is one who has', async () => {
    const berlin = new BerlinTpp(fixture, 'ticino');
    const sign = async (body: object): Promise<{ http: number; status?: string }> => {
      const answer = await tpp.control('sign', { bank: 'ticino', ...body });
      return { ...((await answer.json()) as { status?: string }), http: answer.status };
    };
    for (const [decision, status] of [
      ['approve', 'valid'],
      ['deny', 'rejected'],
    ] as const) {
      const { body } = await berlin.createConsent();
      const { consentId } = body;
      expect((await sign({ consentId })).http).toBe(400);
      const { href } = body._links['startAuthorisation']!;
      const begun = await berlin.call('POST', href);
      await berlin.visit(begun.body._links['scaRedirect']!.href, { persona: 'ada' });
      expect((await sign({ consentId, signer: 'ada' })).http).toBe(400);
      expect((await sign({ consentId, signer: 'ben', decision: 'perhaps' })).http).toBe(400);
      expect(await sign({ consentId, signer: 'ben', decision })).toMatchObject({ http: 200, status });
    }
  });

  it('seeds and resets', async () => {
    const seeded = (await (await tpp.control('seed', { seed: 7, transactions: 5000, months: 12 })).json()) as {
      seed: string;
      banks: { personas: { accounts: { transactions: number }[] }[] }[];
    };
    expect(seeded.seed).toBe('7');
    expect(seeded.banks[0]!.personas[0]!.accounts[0]!.transactions).toBeGreaterThanOrEqual(5000);
    expect((await tpp.get('/aisp/accounts', token)).status).toBe(200);
    await tpp.control('seed', { seed: 7, transactions: 5000, months: 12, bank: 'tamar' });
    const sizes = ['meridian', 'tamar'].map((bank) => {
      const { ledger } = fixture.sandbox;
      return ledger.page(ledger.accountsOf(bank, 'ada')[0]!, { limit: 10_000 }).length >= 5000;
    });
    expect(sizes).toEqual([false, true]);
    expect((await tpp.control('seed', { seed: 7, bank: 'lloyd' })).status).toBe(400);
    const state = await (await tpp.control('reset', {})).json();
    expect(state).toMatchObject({ seed: 'tributary', clock: { offsetMs: 0 }, consents: [], payments: [], faults: [] });
    expect((await tpp.get('/aisp/accounts', token)).status).toBe(401);
  });
});
