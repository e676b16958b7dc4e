import { beforeEach, describe, expect, it } from 'vitest';
import { ApiListResponseOfRealTimeTransaction, problems } from '#libs/contract';
import { now, setClock } from '#libs/server';
import { grantedAccount } from '../../../../test/support/authorise.js';
import { expectProblem } from '../../../../test/support/expect-problem.js';
import { expectShape } from '../../../../test/support/expect-shape.js';
import { scriptInstitution, transactions } from '../../../../test/support/scripted-connector.js';
import { scriptedShop } from '../../../../test/support/scripted-shop.js';

const world = scriptedShop();

type Answered = ApiListResponseOfRealTimeTransaction;
type Link = keyof Answered['links'];
let token: string;
beforeEach(async () => {
  ({ token } = await grantedAccount(world.aggregator, world.shop));
});

const ask = (query: Record<string, string> = {}, consent = token, account = 'a-1') =>
  world.aggregator.ask<Answered>(
    `GET /accounts/${account}/real-time/transactions?${new URLSearchParams(query).toString()}`,
    {
      as: world.shop,
      headers: { consent },
    },
  );
const read = async (query: Record<string, string> = {}) => {
  const { status, body } = await ask(query);
  expect({ status, body }).toMatchObject({ status: 200 });
  expectShape(ApiListResponseOfRealTimeTransaction, body);
  return { ids: body.data.map(({ id }) => id), links: body.links, body };
};
const follow = async ({ links }: { links: Answered['links'] }, link: Link) => read({ cursor: links[link] ?? '' });
const namesOf = ({ links }: { links: Answered['links'] }) => Object.keys(links).toSorted();

/** `pages` pages of two, newest first; with `isRich`, the bank also says which page was before. */
function inPages(pages: number, isRich = false): void {
  const all = transactions(pages * 2);
  world.bank.operations.ACCOUNT_TRANSACTIONS.mockImplementation(async (_call, _accountId, { cursor }) => {
    const page = Number(cursor?.split('-').at(-1) ?? 1);
    return {
      items: all.slice(page * 2 - 2, page * 2),
      ...(page < pages ? { next: `bank-page-${page + 1}` } : {}),
      ...(isRich && page > 1 ? { previous: `bank-page-${page - 1}` } : {}),
    };
  });
}

const all = ['first', 'last', 'next', 'prev', 'self'];

describe('the links of real-time transactions', () => {
  it('are self, next and last on the first page, all five in the middle, first, prev and self on the final one', async () => {
    inPages(3);
    const first = await read();
    expect(namesOf(first)).toEqual(['last', 'next', 'self']);
    const middle = await follow(first, 'next');
    expect(namesOf(middle)).toEqual(all);
    const final = await follow(middle, 'next');
    expect(namesOf(final)).toEqual(['first', 'prev', 'self']);
    expect([first.ids, middle.ids, final.ids]).toEqual([
      ['t-6', 't-5'],
      ['t-4', 't-3'],
      ['t-2', 't-1'],
    ]);
    expect(world.bank.operations.ACCOUNT_TRANSACTIONS).toHaveBeenCalledTimes(3);
  });

  it('are self alone on a single page', async () => {
    inPages(1);
    expect(namesOf(await read())).toEqual(['self']);
  });

  it.each([true, false])('lead to every page from every page (the bank links backwards: %s)', async (isRich) => {
    inPages(5, isRich);
    const first = await read();
    const last = await follow(first, 'last');
    expect({ ids: last.ids, names: namesOf(last) }).toEqual({ ids: ['t-2', 't-1'], names: ['first', 'prev', 'self'] });
    let page = last;
    const seen = [];
    for (let step = 0; step < 4; step += 1) {
      page = await follow(page, 'prev');
      seen.push(page.ids[0]);
    }
    expect(seen).toEqual(['t-4', 't-6', 't-8', 't-10']);
    expect(namesOf(page)).toEqual(['last', 'next', 'self']);
    expect((await follow(await follow(page, 'next'), 'self')).ids).toEqual(['t-8', 't-7']);
    expect((await follow(last, 'first')).ids).toEqual(first.ids);
  });

  it('tell nothing of the bank’s own', async () => {
    inPages(2);
    const { links } = await read();
    expect(Buffer.from(links.next ?? '', 'base64url').toString()).not.toContain('bank-page-2');
    expect(links.next).not.toContain('bank-page-2');
  });
});

describe('a cursor', () => {
  const refused = problems.unexpectedValue({ parameter: 'cursor' });
  const cursorOf = async () => {
    inPages(3);
    return (await read()).links.next ?? '';
  };

  it('wins over from and before, and keeps those of the first request', async () => {
    inPages(3);
    const { links } = await read({ from: '2026-01-02T00:00:00.000Z' });
    const cursor = links.last ?? '';
    expect((await read({ cursor, from: 'nonsense', before: '2020-01-01T00:00:00.000Z' })).ids).toEqual(['t-2']);
    const [, , range] = world.bank.operations.ACCOUNT_TRANSACTIONS.mock.lastCall ?? [];
    expect(range).toEqual({ cursor: 'bank-page-3', from: new Date('2026-01-02T00:00:00.000Z') });
  });

  it('is good for an hour', async () => {
    const cursor = await cursorOf();
    const began = now().getTime();
    setClock(() => new Date(began + 3_590_000));
    expect((await ask({ cursor })).status).toBe(200);
    setClock(() => new Date(began + 3_601_000));
    await expectProblem(ask({ cursor }), refused);
  });

  it('opens for its own consent and account only', async () => {
    const cursor = await cursorOf();
    const other = await grantedAccount(world.aggregator, world.shop);
    await expectProblem(ask({ cursor }, other.token), refused);
    await expectProblem(ask({ cursor }, token, 'a-2'), refused);
    await expectProblem(ask({ cursor: `${cursor.slice(0, -2)}AA` }), refused);
    await expectProblem(ask({ cursor: 'bank-page-2' }), refused);
  });
});

describe('real-time transactions', () => {
  it('leave out what we add to transactions, and parties without an account', async () => {
    const accountIdentifications = [{ type: 'SORT_CODE' as const, identification: '400100' }];
    const [row] = transactions(1);
    world.bank.operations.ACCOUNT_TRANSACTIONS.mockResolvedValue({
      items: [
        { ...row, transactionMutability: 'Mutable', payeeDetails: { name: 'Shop', accountIdentifications } },
        { ...row, payeeDetails: { name: 'Nobody' }, payerDetails: { accountIdentifications } },
      ],
    });
    const { body } = await read();
    expect(body.meta).toEqual({ tracingId: expect.stringMatching(/^[0-9a-f]{32}$/), count: 2 });
    const { amount: _amount, currency: _currency, ...rest } = row ?? {};
    expect(body.data).toEqual([
      { ...rest, payeeDetails: { name: 'Shop', accountIdentifications } },
      { ...rest, payerDetails: { accountIdentifications } },
    ]);
  });

  it('are clipped to the period of the consent', async () => {
    inPages(3);
    const accountRequest = { transactionFrom: '2026-01-06T00:00:00.000Z' };
    const clipped = await grantedAccount(world.aggregator, world.shop, { accountRequest });
    expect((await ask({}, clipped.token)).body.data.map(({ id }) => id)).toEqual(['t-6']);
    const outside = await ask({ before: '2026-01-01T00:00:00.000Z' }, clipped.token);
    expect(outside.body).toMatchObject({ data: [], meta: { count: 0 } });
    expect(world.bank.operations.ACCOUNT_TRANSACTIONS).toHaveBeenCalledTimes(1);
  });

  it('are refused where the institution or the consent lacks them, or a date cannot be read', async () => {
    const narrow = await grantedAccount(world.aggregator, world.shop, {
      accountRequest: { featureScope: ['ACCOUNTS'] },
    });
    await expectProblem(ask({}, narrow.token), problems.forbidden({ parameter: 'consent' }));
    await expectProblem(ask({ from: 'yesterday' }), problems.unexpectedValue({ parameter: 'from' }));
    scriptInstitution(world.aggregator, world.bank, { without: ['ACCOUNT_TRANSACTIONS'] });
    await expectProblem(ask(), problems.featureNotSupported());
  });

  it('stop looking for the last page at a circle and at the bound', async () => {
    world.bank.operations.ACCOUNT_TRANSACTIONS.mockResolvedValue({ items: [], next: 'again' });
    const circle = await read();
    const errorMessage = "The institution's pages lead in a circle";
    await expectProblem(ask({ cursor: circle.links.last ?? '' }), problems.institutionFailed({ errorMessage }));
    scriptInstitution(world.aggregator, world.bank, { pageBounds: { pages: 2, records: 10, ms: 10_000 } });
    inPages(5);
    await expectProblem(ask({ cursor: (await read()).links.last ?? '' }), problems.tooManyRecords());
  });
});
