import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { now } from '#libs/server';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import type { CustomerPage, CustomerView } from './customer.dto.js';
import { ErasureService } from './erasure.service.js';

let bff: TestBff;
let merchant: TestMerchant;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
});
afterAll(() => bff.close());
beforeEach(() => bff.aggregator.heal());

const create = (reference: string, as = merchant.apiKey) =>
  bff.ask<CustomerView>('POST /v1/customers', { as, body: { reference } });
const read = (id: string, as = merchant.apiKey) => bff.ask<CustomerView>(`GET /v1/customers/${id}`, { as });
const remove = (id: string, as = merchant.apiKey) => bff.ask<CustomerView>(`DELETE /v1/customers/${id}`, { as });

describe('customers', () => {
  it('are one for each reference of a merchant, however often and at once they are made', async () => {
    const made = await Promise.all([1, 2, 3].map(() => create('one')));
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
    expect((await bff.session(merchant, 'one')).customerId).toBe(made[0]?.body.id);
    const other = await bff.merchant('Other Shop');
    const id = made[0]?.body.id ?? '';
    expect((await read(id)).body).toMatchObject({ reference: 'one', status: 'active' });
    expect((await read(id, other.apiKey)).status).toBe(404);
    expect((await remove(id, other.apiKey)).status).toBe(404);
  });

  it('are listed in pages, the newest first, each once, and found by reference', async () => {
    const fresh = await bff.merchant('List Shop');
    for (let n = 0; n < 7; n += 1) await create(`ref-${n}`, fresh.apiKey);
    for (const limit of [1, 3, 7, 8]) {
      const seen: string[] = [];
      let cursor = '';
      for (let pages = 0; pages < 10; pages += 1) {
        const route = `GET /v1/customers?limit=${limit}${cursor}` as const;
        const { body } = await bff.ask<CustomerPage>(route, { as: fresh.apiKey });
        seen.push(...body.data.map(({ reference }) => reference));
        if (!body.hasMore) break;
        cursor = `&cursor=${body.nextCursor}`;
      }
      expect(seen.toSorted()).toEqual(['ref-0', 'ref-1', 'ref-2', 'ref-3', 'ref-4', 'ref-5', 'ref-6']);
    }
    const { body } = await bff.ask<CustomerPage>('GET /v1/customers?reference=ref-3', { as: fresh.apiKey });
    expect(body.data.map(({ reference }) => reference)).toEqual(['ref-3']);
    const page = await bff.ask<CustomerPage>('GET /v1/customers?limit=1', { as: fresh.apiKey });
    const elsewhere = `GET /v1/customers?reference=ref-3&cursor=${page.body.nextCursor}` as const;
    expect((await bff.ask(elsewhere, { as: fresh.apiKey })).status).toBe(400);
  });
});

/** Every value of every row of every table of the schema, as text. */
async function everything(): Promise<string> {
  const tables = await bff.db.pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'`,
  );
  expect(tables.rows.length).toBeGreaterThan(12);
  const texts: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await bff.db.pool.query<{ text: string }>(`select to_jsonb(t)::text as text from "${name}" t`);
    texts.push(...rows.map(({ text }) => `${name} ${text}`));
  }
  return texts.join('\n');
}

/** A customer with accounts, transactions, changes, a payment and kept answers; and all that stands for them. */
async function lived(reference: string): Promise<{ customerId: string; token: string; traces: string[] }> {
  bff.aggregator.accounts = [
    {
      id: `bank-account-${reference}`,
      currency: 'GBP',
      accountNames: [{ name: `Ms ${reference} Lovelace` }],
      accountIdentifications: [{ type: 'IBAN', identification: `GB33BUKB2020155555${reference}` }],
    },
  ];
  const row = { id: `row-${reference}`, amount: 1, currency: 'GBP', date: '2026-03-01T00:00:00.000Z' };
  bff.aggregator.transactions = new Map([
    [`bank-account-${reference}`, [{ ...row, description: `For ${reference} only` }]],
  ]);
  const opened = await bff.ask<{ token: string; customerId: string }>('POST /v1/sessions', {
    as: merchant.apiKey,
    body: { customer: { reference } },
    headers: { 'idempotency-key': `session-${reference}` },
  });
  const { token, customerId } = opened.body;
  const { id: connectionId, consentId } = await bff.connected(token);
  await bff.synchronise(connectionId);
  // As a worker leaves it that was killed while it read.
  await bff.db.pool.query(
    `insert into staged_rows (answer_id, account_id, ordinal, status, fingerprint, served)
     select gen_random_uuid(), id, 1, 'BOOKED', 'f', $2 from accounts where customer_id = $1`,
    [customerId, `{"description":"For ${reference} only"}`],
  );
  const { id: paymentId } = await pay(token, reference);
  const consentToken = bff.aggregator.consents.get(consentId)?.consentToken ?? '';
  const { rows } = await bff.db.pool.query<{ id: string }>(
    `select id from accounts where customer_id = $1 union select id from transactions where customer_id = $1
     union select paid.consent_id from payments paid where paid.customer_id = $1`,
    [customerId],
  );
  expect(rows).toHaveLength(3);
  const named = [`Ms ${reference} Lovelace`, `GB33BUKB2020155555${reference}`, `For ${reference} only`, reference];
  const ids = [customerId, connectionId, consentId, paymentId, ...rows.map(({ id }) => id)];
  return { customerId, token, traces: [...named, ...ids, consentToken, token] };
}

async function pay(token: string, reference: string): Promise<{ id: string }> {
  const payee = {
    name: `Payee of ${reference}`,
    accountIdentifications: [{ type: 'IBAN', identification: 'GB33BUKB20201555555555' }],
  };
  const body = { institutionId: 'bank', amount: 5, currency: 'GBP', payee, reference: `Inv ${reference}` };
  const headers = { 'idempotency-key': `pay-${reference}` };
  return (await bff.ask<{ id: string }>('POST /v1/payments', { as: token, body, headers })).body;
}

interface Proof {
  id: string;
  status: string;
  attempts: number;
  nextAttemptAt?: string;
  problem?: string;
  consents: object[];
  userDeleted: boolean;
  erased: Record<string, number>;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const proofOf = async (id: string, as = merchant.apiKey) => bff.ask<Proof>(`GET /v1/deletions/${id}`, { as });
const newestEvent = async (): Promise<{ type: string; data: string; customer_id: string | null }> => {
  const text = 'select type, data, customer_id from events where merchant_id = $1 order by sequence desc limit 1';
  const [row] = (
    await bff.db.pool.query<{ type: string; data: string; customer_id: string | null }>(text, [merchant.id])
  ).rows;
  if (!row) throw new Error('There is no event');
  return row;
};

describe('the deletion of a customer', () => {
  it('withdraws the consents, deletes the user at the aggregator and leaves no trace in any table', async () => {
    const { customerId, token, traces } = await lived('ada-the-first');
    const stays = await lived('bob-the-second');
    const before = await everything();
    // Sealed texts and hashes hide these from anybody's search, not only from this one.
    const hidden = traces.filter((trace) => !before.includes(trace));
    expect(hidden).toHaveLength(2);
    expect((await remove(customerId)).status).toBe(202);
    expect((await bff.ask('GET /v1/accounts', { as: token })).status).toBe(401);
    expect((await read(customerId)).body.status).toBe('deleting');
    expect((await create('ada-the-first')).status).toBe(409);
    await bff.get(ErasureService).run(customerId);

    expect((await read(customerId)).status).toBe(404);
    expect([...bff.aggregator.users.keys()]).toEqual([stays.customerId]);
    const theirs = [...bff.aggregator.consents.values()].filter((each) => each.applicationUserId === customerId);
    expect(theirs.map(({ deleted }) => deleted)).toEqual([true, true]);
    const after = await everything();
    for (const trace of traces) expect({ trace, found: after.includes(trace) }).toEqual({ trace, found: false });
    for (const trace of stays.traces.filter((each) => before.includes(each))) expect(after).toContain(trace);
    const keys = await bff.db.pool.query('select 1 from idempotency_keys where customer_id is null');
    expect(keys.rows).toEqual([]);
    const gaps = await bff.db.pool.query(
      'select 1 from merchants m where event_sequence <> (select count(*) from events where merchant_id = m.id)',
    );
    expect(gaps.rows).toEqual([]);
  });

  it('proves what was deleted and that the bank has confirmed it, and names nobody', async () => {
    const { customerId } = await lived('una-the-proven');
    const deletionId = (await remove(customerId)).body.deletionId ?? '';
    expect((await proofOf(deletionId)).body).toMatchObject({ status: 'running', consents: [] });
    expect((await remove(customerId)).body.deletionId).toBe(deletionId);
    await bff.get(ErasureService).run(customerId);
    const proof = await proofOf(deletionId);
    expect(proof.body).toMatchObject({
      status: 'completed',
      attempts: 1,
      consents: [{ institutionId: 'bank', outcome: 'revoked' }],
      userDeleted: true,
      erased: { connections: 1, accounts: 1, transactions: 1, payments: 1 },
    });
    expect(proof.text).not.toContain(customerId);
    const event = await newestEvent();
    expect(event).toMatchObject({ type: 'customer.deleted', customer_id: null });
    expect(JSON.parse(event.data)).toEqual({ deletionId, unconfirmedConsents: 0 });
    const listed = await bff.ask<{ data: Proof[] }>('GET /v1/deletions?limit=1', { as: merchant.apiKey });
    expect(listed.body.data.map(({ id }) => id)).toEqual([deletionId]);
    const stranger = await bff.merchant('Stranger');
    expect((await proofOf(deletionId, stranger.apiKey)).status).toBe(404);
  });

  it('waits three days for a bank that cannot be reached, then deletes all the same and says so', async () => {
    const { customerId, traces } = await lived('ray-the-stuck');
    const deletionId = (await remove(customerId)).body.deletionId ?? '';
    const erasure = bff.get(ErasureService);
    const failed = { data: { deleteStatus: 'FAILED' } };
    bff.aggregator.fail({ route: 'DELETE /consents/:id', status: 200, body: failed, times: 1_000 });
    const waits: number[] = [];
    let ms = 0;
    for (;;) {
      await later(ms, () => erasure.run(customerId));
      const { body } = await proofOf(deletionId);
      if (body.nextAttemptAt === undefined) break;
      expect(body).toMatchObject({ status: 'running', problem: 'consent-unconfirmed' });
      const next = Date.parse(body.nextAttemptAt) - now().getTime();
      waits.push(Math.round((next - ms) / minuteMs));
      ms = next;
    }
    expect(waits.slice(0, 6)).toEqual([1, 2, 5, 15, 60, 60]);
    expect(Math.round(ms / hourMs)).toBe(72);
    const { body } = await proofOf(deletionId);
    const consents = [{ institutionId: 'bank', outcome: 'unconfirmed', reason: 'institution-refused' }];
    expect(body).toMatchObject({ status: 'completed', consents, userDeleted: true });
    expect(JSON.parse((await newestEvent()).data)).toEqual({ deletionId, unconfirmedConsents: 1 });
    const after = await everything();
    expect(traces.filter((trace) => after.includes(trace))).toEqual([]);
  });

  it('does not hold data for ever where the aggregator is gone', async () => {
    const { customerId, traces } = await lived('ida-the-last');
    const deletionId = (await remove(customerId)).body.deletionId ?? '';
    const erasure = bff.get(ErasureService);
    for (const route of ['DELETE /consents/:id', 'GET /users'])
      bff.aggregator.fail({ route, status: 503, times: 1_000 });
    await expect(erasure.run(customerId)).rejects.toMatchObject({ name: 'ClientError' });
    expect((await proofOf(deletionId)).body).toMatchObject({ status: 'running', problem: 'aggregator-failed' });
    await later(73 * hourMs, () => erasure.run(customerId));
    const consents = [{ institutionId: 'bank', outcome: 'unconfirmed', reason: 'aggregator-failed' }];
    expect((await proofOf(deletionId)).body).toMatchObject({ status: 'completed', consents, userDeleted: false });
    const after = await everything();
    expect(traces.filter((trace) => after.includes(trace))).toEqual([]);
  });

  it('makes the reference free for a new customer', async () => {
    const before = await create('again');
    await remove(before.body.id);
    await bff.get(ErasureService).run(before.body.id);
    const after = await create('again');
    expect(after.status).toBe(201);
    expect(after.body.id).not.toBe(before.body.id);
  });

  it('goes on where it was interrupted', async () => {
    const { customerId, traces } = await lived('eve-the-third');
    await remove(customerId);
    const erasure = bff.get(ErasureService);
    bff.aggregator.fail({ route: 'DELETE /consents/:id', afterWork: true });
    await erasure.run(customerId);
    expect((await read(customerId)).body.status).toBe('deleting');
    bff.aggregator.fail({ route: 'DELETE /users/:id', afterWork: true });
    await later(minuteMs, () => expect(erasure.run(customerId)).rejects.toMatchObject({ name: 'ClientError' }));
    const { rows } = await bff.db.pool.query('select next_erasure_at from customers where id = $1', [customerId]);
    expect(rows).toEqual([{ next_erasure_at: expect.any(Date) }]);
    await erasure.run(customerId);
    const after = await everything();
    expect(traces.filter((trace) => after.includes(trace))).toEqual([]);
    await erasure.run(customerId);
  });

  it('waits a day for a payment on its way, and keeps the money without the person', async () => {
    const { customerId, token } = await lived('pat-the-fourth');
    const { rows } = await bff.db.pool.query<{ id: string; consent_id: string }>(
      'select id, consent_id from payments where customer_id = $1',
      [customerId],
    );
    const back = bff.aggregator.approve(rows[0]?.consent_id ?? '');
    await bff.ask(`GET ${back.pathname}${back.search}` as `GET /${string}`);
    const paymentId = rows[0]?.id ?? '';
    expect((await bff.ask<{ status: string }>(`GET /v1/payments/${paymentId}`, { as: token })).body.status).toBe(
      'PENDING',
    );
    await remove(customerId);
    await bff.get(ErasureService).run(customerId);
    expect((await read(customerId)).body.status).toBe('deleting');
    await later(25 * 3_600_000, () => bff.get(ErasureService).run(customerId));
    expect((await read(customerId)).status).toBe(404);
    const records = await bff.db.pool.query('select * from payment_records');
    expect(records.rows).toEqual([
      expect.objectContaining({ id: paymentId, merchant_id: merchant.id, amount: '5.000000', status: 'PENDING' }),
    ]);
    expect(
      Object.keys(records.rows[0] as object).filter((name) => /customer|payee|reference|sealed/.test(name)),
    ).toEqual([]);
  });
});
