import type { Account, Envelope } from '#libs/contract';
import { BankFlows, tokenOf } from '../support/bank-flows.js';

/** What a bank does that no standard says, as a client of the interface sees it. */
describe('a bank with quirks', () => {
  let flows: BankFlows;
  beforeAll(async () => {
    flows = await BankFlows.start();
  });
  afterEach(() => flows.sandbox.calm());
  afterAll(() => flows.close());

  const consentAt = async (bank: string) => {
    const begun = await flows.begin(bank);
    const token = tokenOf(await flows.visitTwice(begun));
    const headers = { consent: token, 'psu-ip-address': '192.0.2.7' };
    const read = (path: string) =>
      flows.aggregator.ask<Envelope<Account[]>>(`GET ${path as `/${string}`}`, { as: flows.shop, headers });
    return { id: begun.id, accounts: await flows.reads(token, { 'psu-ip-address': '192.0.2.7' }), read };
  };
  const resources = (bank: string) => `GET ${bank === 'marais' ? '/v1' : '/aisp'}/accounts/{AccountId}`;

  it.each([
    ['meridian', '401'],
    ['meridian', '403'],
    ['thistle', '401'],
    ['marais', '401'],
  ])('that refuses one account alone (%s, %s) fails for that one, and its consent goes on', async (bank, fault) => {
    const { id, accounts, read } = await consentAt(bank);
    const [ill = '', well = ''] = accounts.map((each) => each.id);
    for (const part of ['balances', 'transactions'])
      await flows.sandbox.fault({ bank, route: `${resources(bank)}/${part}`, fault, account: ill });
    const refused = await read(`/accounts/${ill}/transactions`);
    expect(refused).toMatchObject({
      status: 424,
      body: { error: { source: 'INSTITUTION', institutionError: { httpStatusCode: Number(fault) } } },
    });
    expect((await read('/accounts')).body.data.map((each) => each.id)).toEqual(accounts.map((each) => each.id));
    expect((await read(`/accounts/${well}/transactions`)).status).toBe(200);
    expect((await flows.consentOf(id)).status).toBe('AUTHORIZED');
  });

  it.each(['meridian', 'marais'])('that wants to be left alone (%s) says for how long', async (bank) => {
    const { accounts, read } = await consentAt(bank);
    await flows.sandbox.fault({ bank, route: `${resources(bank)}/transactions`, fault: '429' });
    const refused = await read(`/accounts/${accounts[0]?.id}/transactions`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([424, '2']);
    expect(refused.body).toMatchObject({ error: { institutionError: { httpStatusCode: 429 } } });
  });
});
