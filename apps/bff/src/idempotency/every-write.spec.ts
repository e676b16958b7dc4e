import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeModule } from '#libs/server';
import { TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { AppModule, programModule } from '../app.module.js';
import { Env } from '../config.js';
import { describedAs } from '../openapi-description.js';

/** A write that may be made now: each call prepares another one. */
interface Write {
  as: string;
  params?: Record<string, string>;
  body?: object;
  /** Another request to the same address; a member more, unless told. */
  other?: object;
}

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let count = 0;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
  bff.aggregator.terms = { reconfirmBy: '2030-01-01T00:00:00.000Z' };
});
afterAll(() => bff.close());

const fresh = (what: string): string => `${what}-${(count += 1)}`;
const operator = () => bff.env.OPERATOR_KEY;
const newMerchant = () => ({
  name: fresh('Shop'),
  merchantCategoryCode: '5411',
  ppcUserGroup: 'CONSUMER_GOODS_SERVICES',
  isContractPresent: true,
});
const asMerchant = async <Body>(route: `${string} /${string}`, body?: object): Promise<Body> =>
  (await bff.ask<Body>(route, { as: merchant.apiKey, ...(body === undefined ? {} : { body }) })).body;

async function customer(): Promise<string> {
  ({ token } = await bff.session(merchant, fresh('customer')));
  return token;
}

async function connection(): Promise<{ as: string; params: { connectionId: string } }> {
  const as = await customer();
  return { as, params: { connectionId: (await bff.connected(as)).id } };
}

async function transactions(): Promise<{ as: string; ids: [string, string] }> {
  const row = { currency: 'GBP', date: '2026-03-01T00:00:00.000Z' };
  const rows = [1, 2].map((amount) => ({ ...row, id: fresh('row'), amount, description: `Shop ${amount}` }));
  bff.aggregator.transactions = new Map([['acc', rows]]);
  const { as, params } = await connection();
  await bff.synchronise(params.connectionId);
  const { body } = await bff.ask<{ data: { id: string }[] }>('GET /v1/transactions', { as });
  const [one, two] = body.data.map(({ id }) => id);
  return { as, ids: [one ?? '', two ?? ''] };
}

/** Two accounts, the second of which no institution shows. */
async function accounts(): Promise<{ as: string; ids: [string, string] }> {
  const { as, params } = await connection();
  await bff.synchronise(params.connectionId);
  const { rows } = await bff.db.pool.query<{ id: string; other: string }>(
    `insert into accounts (id, customer_id, connection_id, institution_id, identification_hash, aggregator_account_id, wire, created_at)
     select gen_random_uuid(), customer_id, connection_id, institution_id, 'former', 'former', '{}', created_at
     from accounts where connection_id = $1 returning id as other, (select id from accounts where connection_id = $1) as id`,
    [params.connectionId],
  );
  return { as, ids: [rows[0]?.id ?? '', rows[0]?.other ?? ''] };
}

async function endpoint(): Promise<{ as: string; params: { id: string } }> {
  const { data } = await asMerchant<{ data: { id: string }[] }>('GET /v1/webhook-endpoints');
  for (const { id } of data) await asMerchant(`DELETE /v1/webhook-endpoints/${id}`);
  const made = await asMerchant<{ id: string }>('POST /v1/webhook-endpoints', { url: 'http://127.0.0.1:9/hook' });
  return { as: merchant.apiKey, params: { id: made.id } };
}

/** How each write of the description is prepared. */
const writes: Readonly<Record<string, () => Promise<Write> | Write>> = {
  'post /v1/merchants': () => ({ as: operator(), body: newMerchant() }),
  'post /v1/merchants/{merchantId}/api-keys': () => ({ as: operator(), params: { merchantId: merchant.id }, body: {} }),
  'post /v1/api-keys': () => ({ as: merchant.apiKey, body: {} }),
  'delete /v1/api-keys/{apiKeyId}': async () => {
    const { id } = await asMerchant<{ id: string }>('POST /v1/api-keys', {});
    return { as: merchant.apiKey, params: { apiKeyId: id } };
  },
  'post /v1/customers': () => ({ as: merchant.apiKey, body: { reference: fresh('customer') } }),
  'delete /v1/customers/{customerId}': async () => {
    const { id } = await asMerchant<{ id: string }>('POST /v1/customers', { reference: fresh('customer') });
    return { as: merchant.apiKey, params: { customerId: id } };
  },
  'post /v1/sessions': () => ({ as: merchant.apiKey, body: { customer: { reference: fresh('customer') } } }),
  'post /v1/connections': async () => ({ as: await customer(), body: { institutionId: 'bank' } }),
  'delete /v1/connections/{connectionId}': connection,
  'post /v1/connections/{connectionId}/renewals': async () => ({ ...(await connection()), body: {} }),
  'post /v1/connections/{connectionId}/renewal-links': async () => ({ ...(await connection()), body: {} }),
  'post /v1/connections/{connectionId}/reconfirmation': connection,
  'post /v1/connections/{connectionId}/sync': connection,
  'post /v1/payments': async () => {
    const payee = {
      name: 'Shop',
      accountIdentifications: [{ type: 'IBAN', identification: 'GB33BUKB20201555555555' }],
    };
    const body = { institutionId: 'bank', amount: 5, currency: 'GBP', payee };
    return { as: await customer(), body, other: { ...body, amount: 6 } };
  },
  'post /v1/accounts/{accountId}/join': async () => {
    const { as, ids } = await accounts();
    return { as, params: { accountId: ids[0] }, body: { accountId: ids[1] } };
  },
  'post /v1/transactions/{transactionId}/join': async () => {
    const { as, ids } = await transactions();
    return { as, params: { transactionId: ids[0] }, body: { transactionId: ids[1] } };
  },
  'post /v1/transactions/{transactionId}/split': async () => {
    const { as, ids } = await transactions();
    await bff.ask(`POST /v1/transactions/${ids[0]}/join`, { as, body: { transactionId: ids[1] } });
    return { as, params: { transactionId: ids[0] } };
  },
  'delete /v1/transactions/{transactionId}/flag': async () => {
    const { as, ids } = await transactions();
    const flag = JSON.stringify({ reason: 'look-alike', candidates: [] });
    await bff.db.pool.query('update transactions set flag = $2 where id = $1', [ids[0], flag]);
    return { as, params: { transactionId: ids[0] } };
  },
  'post /v1/events/replay': () => ({ as: merchant.apiKey, body: { after: 0 } }),
  'post /v1/events/{id}/replay': async () => {
    const { params } = await endpoint();
    const { id } = await asMerchant<{ id: string }>(`POST /v1/webhook-endpoints/${params.id}/ping`);
    return { as: merchant.apiKey, params: { id }, body: {} };
  },
  'post /v1/webhook-endpoints': async () => {
    const { as, params } = await endpoint();
    await asMerchant(`DELETE /v1/webhook-endpoints/${params.id}`);
    return { as, body: { url: 'http://127.0.0.1:9/other' } };
  },
  'patch /v1/webhook-endpoints/{id}': async () => ({ ...(await endpoint()), body: { description: fresh('Shop') } }),
  'delete /v1/webhook-endpoints/{id}': endpoint,
  'post /v1/webhook-endpoints/{id}/rotate-secret': async () => ({ ...(await endpoint()), body: {} }),
  'post /v1/webhook-endpoints/{id}/ping': endpoint,
};

/** What nobody can take up again after a crash: the customer's change log may already hold it, and a second one would undo it. */
const notTakenUp = [
  'post /v1/accounts/{accountId}/join',
  'post /v1/transactions/{transactionId}/join',
  'post /v1/transactions/{transactionId}/split',
];

/** What is gone afterwards, and how whoever asks again is told so. */
const gone: Readonly<Record<string, number>> = {
  'delete /v1/webhook-endpoints/{id}': 404,
  'delete /v1/transactions/{transactionId}/flag': 409,
};

/** Payments have a key of their own for ever; see their own tests. */
const elsewhere = new Set([...notTakenUp, ...Object.keys(gone), 'post /v1/payments']);

/** A second ping harms nobody. */
const madeAnew = new Set(['post /v1/webhook-endpoints/{id}/ping']);

async function prepared(route: string): Promise<Write> {
  const write = await writes[route]?.();
  if (!write) throw new Error('The write is not prepared');
  return write;
}

const send = (route: string, { as, params = {}, body }: Write, key: string) => {
  const [method = '', path = ''] = route.split(' ');
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
  const headers = { 'idempotency-key': key };
  return bff.ask<{ id?: string }>(`${method.toUpperCase()} ${url}` as `POST /${string}`, {
    as,
    headers,
    ...(body === undefined ? {} : { body }),
  });
};

/** The same write once more, after a crash has lost the answer and not the work. */
async function cutOff(route: string) {
  const write = await prepared(route);
  const key = randomUUID();
  const first = await send(route, write, key);
  await bff.db.pool.query(
    `update idempotency_keys set answer_status = null, sealed_answer = null, claimed_at = now() - interval '10 minutes'`,
  );
  return { first, again: await send(route, write, key) };
}

interface Described {
  parameters?: { name: string; in: string }[];
}

describe('every write of the description', () => {
  it('is prepared here, and documents its key', async () => {
    const document = await describeModule(programModule(new Env(), [AppModule]), describedAs);
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item as Record<string, Described>).map(([method, operation]) => ({ method, path, operation })),
    );
    const found = described.filter(({ method }) => method !== 'get');
    expect(found.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(Object.keys(writes).toSorted());
    for (const { method, path, operation } of found) {
      const keys = (operation.parameters ?? []).filter(({ name }) => name.toLowerCase() === 'idempotency-key');
      expect({ method, path, in: keys.map((key) => key.in) }).toEqual({ method, path, in: ['header'] });
    }
  });

  it.each(Object.keys(writes))(
    '%s answers the same again, and refuses another request under its key',
    async (route) => {
      const write = await writes[route]?.();
      if (!write) throw new Error('The write is not prepared');
      const key = randomUUID();
      const first = await send(route, write, key);
      expect({ text: first.text, ok: first.status < 300 }).toEqual({ text: first.text, ok: true });
      const again = await send(route, write, key);
      expect([again.status, again.headers['idempotency-replayed']]).toEqual([first.status, 'true']);
      expect(again.text).toBe(first.text);
      const other = { ...write, body: write.other ?? { ...write.body, more: 1 } };
      expect((await send(route, other, key)).status).toBe(422);
    },
  );

  it.each(Object.keys(writes))('%s has one effect when two ask at once', async (route) => {
    const write = await prepared(route);
    const key = randomUUID();
    const answers = await Promise.all([send(route, write, key), send(route, write, key), send(route, write, key)]);
    const done = answers.filter(({ status }) => status < 300);
    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ status }) => status >= 300).map(({ status }) => status)).toEqual(
      Array.from({ length: answers.length - done.length }, () => 409),
    );
  });

  it.each(Object.keys(writes).filter((route) => !elsewhere.has(route)))(
    '%s is taken up after a crash',
    async (route) => {
      const { first, again } = await cutOff(route);
      expect({ text: again.text, ok: again.status < 300 }).toEqual({ text: again.text, ok: true });
      expect(again.body.id === first.body.id).toBe(!madeAnew.has(route));
    },
  );

  it.each(notTakenUp)('%s says after a crash that nobody knows', async (route) => {
    const { again } = await cutOff(route);
    expect(again.status).toBe(409);
    expect(again.text).toContain('IDEMPOTENCY_OUTCOME_UNKNOWN');
  });

  it.each(Object.entries(gone))('%s says after a crash that there is nothing left, by %d', async (route, status) => {
    expect((await cutOff(route)).again.status).toBe(status);
  });
});
