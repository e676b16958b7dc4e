import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from '#libs/contract';
import { TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import type { AccountView } from '../accounts/account.dto.js';
import { ConsentProbe } from '../consents/consent-probe.service.js';
import { lineageOf } from './institution-lineage.js';

describe('institutions that become one', () => {
  let bff: TestBff;
  let merchant: TestMerchant;
  let token: string;
  let customerId: string;
  let customers = 0;

  beforeAll(async () => {
    bff = await TestBff.start();
    merchant = await bff.merchant();
    bff.aggregator.institutions = ['bank', 'successor', 'other'].map((id) => ({
      id,
      name: id,
      features: ['ACCOUNTS'],
    }));
  });
  afterAll(() => bff.close());
  beforeEach(async () => {
    customers += 1;
    ({ token, customerId } = await bff.session(merchant, `customer-${customers}`));
    await bff.db.pool.query('delete from institution_successions');
  });

  const succeed = (institutionId: string, successorId: string) =>
    bff.db.pool.query(
      'insert into institution_successions (institution_id, successor_id, created_at) values ($1, $2, now())',
      [institutionId, successorId],
    );
  /** What the bank shows: the account under an id and a number, and a row a day under ids of its own. */
  const show = (id: string, number: string, days: number) => {
    bff.aggregator.accounts = [
      {
        id,
        currency: 'GBP',
        accountIdentifications: [
          { type: 'SORT_CODE', identification: '200000' },
          { type: 'ACCOUNT_NUMBER', identification: number },
        ],
      },
    ];
    const row = (n: number): Transaction => {
      const at = new Date(Date.UTC(2026, 9, 1 + n)).toISOString();
      return {
        id: `${id}-${n}`,
        date: at,
        bookingDateTime: at,
        status: 'BOOKED',
        amount: -(n + 1),
        currency: 'GBP',
        description: `Shop ${n}`,
      };
    };
    bff.aggregator.transactions = new Map([[id, Array.from({ length: days }, (_, n) => row(n))]]);
  };
  const accounts = async () => (await bff.ask<{ data: AccountView[] }>('GET /v1/accounts', { as: token })).body.data;
  const transactions = async (): Promise<string[]> => {
    const text = 'select id from transactions where customer_id = $1 and removed_at is null order by date, id';
    return (await bff.db.pool.query<{ id: string }>(text, [customerId])).rows.map(({ id }) => id);
  };
  const told = async (): Promise<unknown[]> => {
    const text = `select type, data::json ->> 'reason' as reason from events where customer_id = $1 and type like 'account.%' order by sequence`;
    return (await bff.db.pool.query(text, [customerId])).rows;
  };

  it('are one lineage in as many steps as it takes, also in a circle', async () => {
    await succeed('a', 'b');
    await succeed('b', 'c');
    await succeed('x', 'c');
    expect(await lineageOf(bff.db.pool, 'b')).toEqual(['b', 'a', 'c', 'x']);
    await succeed('c', 'a');
    expect(await lineageOf(bff.db.pool, 'c')).toEqual(['c', 'a', 'b', 'x']);
    expect(await lineageOf(bff.db.pool, 'other')).toEqual(['other']);
  });

  it('keep accounts and transactions under their ids, told once, also while both show them', async () => {
    show('old', '55779911', 6);
    const former = await bff.connected(token, 'bank');
    await bff.synchronise(former.id);
    const [account] = await accounts();
    const before = await transactions();
    await succeed('bank', 'successor');
    show('new', '55779911', 7);
    bff.aggregator.terms = { authorizedAt: '2026-02-01T00:00:00.000Z' };
    const later = await bff.connected(token, 'successor');
    await bff.synchronise(later.id);
    expect(await accounts()).toMatchObject([{ id: account?.id, institutionId: 'successor', connectionId: later.id }]);
    expect((await transactions()).slice(0, 6)).toEqual(before);
    expect(await transactions()).toHaveLength(7);
    const linked = [{ type: 'account.linked', reason: 'successor-institution' }];
    expect(await told()).toEqual(linked);
    for (const [name, { id }] of [
      ['old', former],
      ['new', later],
    ] as const) {
      show(name, '55779911', 7);
      await bff.db.pool.query('update connections set next_sync_at = now() where id = $1', [id]);
      await bff.synchronise(id);
    }
    expect(await accounts()).toMatchObject([{ id: account?.id, connectionId: later.id }]);
    expect(await told()).toEqual(linked);
    await bff.get(ConsentProbe).run(later.id);
    const { body } = await bff.ask<{ status: string; reason: string }>(`GET /v1/connections/${former.id}`, {
      as: token,
    });
    expect(body).toMatchObject({ status: 'revoked', reason: 'superseded' });
  });

  it('keep them by their transactions where all numbers are new', async () => {
    show('old', '55779911', 9);
    const former = await bff.connected(token, 'bank');
    await bff.synchronise(former.id);
    const [account] = await accounts();
    const before = await transactions();
    await bff.ask(`DELETE /v1/connections/${former.id}`, { as: token });
    await succeed('bank', 'successor');
    show('new', '11223344', 10);
    await bff.synchronise((await bff.connected(token, 'successor')).id);
    expect(await accounts()).toMatchObject([{ id: account?.id, institutionId: 'successor' }]);
    expect((await transactions()).slice(0, 9)).toEqual(before);
    expect(await told()).toEqual([
      { type: 'account.unresolved', reason: null },
      { type: 'account.joined', reason: null },
    ]);
  });

  it('are two as long as nobody says so', async () => {
    show('old', '55779911', 6);
    await bff.synchronise((await bff.connected(token, 'bank')).id);
    await succeed('bank', 'other');
    show('new', '55779911', 6);
    await bff.synchronise((await bff.connected(token, 'successor')).id);
    expect(await accounts()).toHaveLength(2);
    expect(await transactions()).toHaveLength(12);
  });
});
