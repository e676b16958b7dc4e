import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '#libs/contract';
import { type BffPrisma, transaction } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { type AccountsOwner, type KnownAccount, recordAccounts } from './record-accounts.js';
import { newAccount } from './recorded-account.fixture.js';

let db: FreshDatabase<BffPrisma>;
let owner: AccountsOwner;

beforeAll(async () => {
  db = await freshDatabase('bff');
});
afterAll(() => db.close());

beforeEach(async () => {
  const { merchantId, customerId } = await newAccount(db.pool);
  owner = { id: '', customer_id: customerId, merchant_id: merchantId, institution_id: 'bank', lineage: ['bank'] };
  owner = { ...owner, id: await newConnection('2026-01-01') };
});

/** A consent of the customer, authorised then. */
async function newConnection(authorisedAt: string): Promise<string> {
  const id = randomUUID();
  await db.pool.query(
    `insert into connections (id, customer_id, merchant_id, institution_id, status, created_at, authorised_at)
     values ($1, $2, $3, 'bank', 'active', now(), $4)`,
    [id, owner.customer_id, owner.merchant_id, authorisedAt],
  );
  return id;
}

const iban = 'GB33BUKB20201555555555';
const domestic = [
  { type: 'SORT_CODE', identification: '202015' },
  { type: 'ACCOUNT_NUMBER', identification: '55555555' },
] as const;

function account(id: string, more: Partial<Account> = {}): Account {
  return { id, type: 'CURRENT', currency: 'GBP', accountIdentifications: [...domestic], ...more };
}

function record(whose: AccountsOwner, list: readonly Account[]): Promise<KnownAccount[]> {
  return transaction(db.pool, (tx) => recordAccounts(tx, whose, list));
}

async function told(): Promise<unknown[]> {
  const { rows } = await db.pool.query<{ type: string; data: string }>(
    `select type, data from events where merchant_id = $1 and type like 'account.%' order by sequence`,
    [owner.merchant_id],
  );
  return rows.map(({ type, data }) => ({ type, ...JSON.parse(data) }));
}

describe('an account of a list', () => {
  it('keeps its id under a new consent with new ids, and as it gains an IBAN', async () => {
    const [first] = await record(owner, [account('one')]);
    const renewed = { ...owner, id: await newConnection('2026-04-01') };
    expect(await record(renewed, [account('two')])).toEqual([{ id: first?.id, aggregatorAccountId: 'two' }]);
    const both = [...domestic, { type: 'IBAN', identification: iban } as const];
    await record(renewed, [account('two', { accountIdentifications: both })]);
    const alone = [{ type: 'IBAN', identification: iban } as const];
    expect(await record(renewed, [account('three', { accountIdentifications: alone })])).toEqual([
      { id: first?.id, aggregatorAccountId: 'three' },
    ]);
    expect(await told()).toEqual([
      { type: 'account.linked', accountId: first?.id, reason: 'new-id' },
      { type: 'account.linked', accountId: first?.id, reason: 'new-identifier' },
      { type: 'account.linked', accountId: first?.id, reason: 'new-id' },
    ]);
  });

  it('is told once to be renumbered, and is known by both numbers from then on', async () => {
    const [first] = await record(owner, [account('one')]);
    const other = [
      { type: 'SORT_CODE', identification: '309921' },
      { type: 'ACCOUNT_NUMBER', identification: '00000001' },
    ] as const;
    const renumbered = account('one', { accountIdentifications: [...other] });
    for (let read = 0; read < 2; read += 1) expect((await record(owner, [renumbered]))[0]?.id).toBe(first?.id);
    expect((await record(owner, [account('three')]))[0]?.id).toBe(first?.id);
    expect(await told()).toEqual([
      { type: 'account.renumbered', accountId: first?.id },
      { type: 'account.linked', accountId: first?.id, reason: 'new-id' },
    ]);
  });

  it('is a new one with candidates where nothing proves which it is', async () => {
    const [first] = await record(owner, [account('one')]);
    const stranger = account('two', {
      accountIdentifications: [{ type: 'IBAN', identification: 'DE02120300000000202051' }],
    });
    const [second] = await record(owner, [stranger]);
    expect(second?.id).not.toBe(first?.id);
    expect(await told()).toEqual([{ type: 'account.unresolved', accountId: second?.id, candidates: first?.id }]);
    expect((await record(owner, [account('one'), stranger])).map(({ id }) => id)).toEqual([first?.id, second?.id]);
  });

  it('stays two where two look the same, and one for each currency', async () => {
    const card = { accountIdentifications: [{ type: 'MASKED_PAN', identification: '4000****1234' } as const] };
    const list = [account('a', card), account('b', card), account('c'), account('c-eur', { currency: 'EUR' })];
    const first = await record(owner, list);
    expect(new Set(first.map(({ id }) => id)).size).toBe(4);
    expect(await record(owner, list.toReversed())).toEqual(first.toReversed());
    expect(await told()).toEqual([]);
  });

  it('of an older consent leaves the account to the younger one', async () => {
    const renewed = { ...owner, id: await newConnection('2026-04-01') };
    await record(renewed, [account('two')]);
    expect(await record(owner, [account('one')])).toEqual([]);
  });

  it('is another one when a person has said that the former is read at another institution now', async () => {
    const [first] = await record(owner, [account('one')]);
    await db.pool.query(`update accounts set institution_id = 'successor' where id = $1`, [first?.id]);
    const [second] = await record(owner, [account('one')]);
    expect(second?.id).not.toBe(first?.id);
    expect(await record(owner, [account('one')])).toEqual([second]);
  });
});
