import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { signWebhook } from '#libs/client';
import { SecretBox } from '#libs/database';
import { now } from '#libs/server';
import { later, TestBff, type TestMerchant } from '../../../../test/support/bff.js';

let bff: TestBff;
let merchant: TestMerchant;
let secret: string;

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  secret = bff.aggregator.webhooks[0]?.webhookSecret ?? '';
});
afterAll(() => bff.close());
beforeEach(async () => {
  await bff.db.pool.query('delete from inbound_events');
});

const notice = (event: object = {}): object => ({
  id: randomUUID(),
  applicationId: merchant.subApplicationId,
  type: 'single_payment.status.updated',
  event: { id: `pv3-${randomUUID()}`, ...event },
});

function send(body: string | Buffer, signature = signWebhook(body, secret), deliveryId: string = randomUUID()) {
  const headers = {
    'content-type': 'application/json',
    'webhook-id': deliveryId,
    'webhook-signature': signature,
  };
  return bff.ask('POST /v1/webhooks/aggregator', { body, headers });
}

async function stored(): Promise<{ id: string; sealed_body: string }[]> {
  return (await bff.db.pool.query('select id, sealed_body from inbound_events')).rows;
}

describe('the route for webhooks', () => {
  it.each([
    ['spaced', (body: object) => JSON.stringify(body, undefined, 4)],
    ['with blanks around it', (body: object) => ` \r\n${JSON.stringify(body)}\n`],
    ['with letters beyond ASCII', () => JSON.stringify(notice({ payee: 'Zoë 😀', decomposed: 'e\u0301' }))],
    ['with escaped letters', (body: object) => JSON.stringify(body).replaceAll('pv3', String.raw`\u0070v3`)],
    ['with a number no printer writes so', () => JSON.stringify(notice({ amount: 1 })).replace('1}', '1.50E+0}')],
    ['with a member twice', (body: object) => JSON.stringify(body).replace('{', '{"id":"x",')],
  ])('takes a body %s, byte for byte', async (_what, print) => {
    const body = print(notice());
    expect((await send(body)).status).toBe(204);
    const [row = { id: '', sealed_body: '' }] = await stored();
    expect(new SecretBox(bff.env.SEALING_KEYS).open(row.sealed_body, `inbound-event:${row.id}`)).toBe(body);
  });

  it('refuses what was printed anew, in whatever way', async () => {
    const body = JSON.stringify(notice({ payee: 'Zo\u00eb', amount: 1 }), undefined, 1);
    const changed = [
      JSON.stringify(JSON.parse(body)),
      body.normalize('NFD'),
      body.replace('1', '1.0'),
      `${body}\n`,
      body.replaceAll('\n', '\r\n'),
      body.replace('Zo\u00eb', 'Zoe'),
      `\ufeff${body}`,
    ];
    for (const text of changed) {
      expect(text).not.toBe(body);
      const { status, headers } = await send(text, signWebhook(body, secret));
      expect({ text, status }).toEqual({ text, status: 401 });
      expect(headers['content-type']).toBe('application/problem+json');
    }
    expect(await stored()).toEqual([]);
  });

  it('refuses a body that is too large, unread, and one that is none', async () => {
    const large = JSON.stringify(notice({ text: 'a'.repeat(1024 * 1024) }));
    expect((await send(large)).status).toBe(413);
    expect((await send('')).status).toBe(400);
    for (const body of ['null', '[]', '7', '"applicationId"']) expect((await send(body)).status).toBe(401);
    expect(await stored()).toEqual([]);
  });

  it.each(['', 'a'.repeat(201), 'a type', 'a\u0000b', '\ud800'])(
    'refuses the type %j, naming it, and stores others that come with it',
    async (type) => {
      const bad = JSON.stringify({ ...notice(), type });
      const [refused, taken] = await Promise.all([send(bad), send(JSON.stringify(notice()))]);
      expect([refused.status, taken.status]).toEqual([400, 204]);
      expect(JSON.parse(refused.text)).toMatchObject({ issues: [{ pointer: '/type' }] });
      expect(await stored()).toHaveLength(1);
    },
  );

  it('knows a captured delivery again that comes under another id', async () => {
    const body = JSON.stringify(notice());
    const answers = await Promise.all([1, 2, 3].map(() => send(body)));
    answers.push(await send(body));
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
    expect(await stored()).toHaveLength(1);
  });

  it('refuses what happened before everything it remembers, and takes what is younger or tells no time', async () => {
    const day = 86_400_000;
    const happened = (days: number) => ({ statusDetails: { statusUpdateDate: ago(days * day) } });
    expect((await send(JSON.stringify(notice(happened(31))))).status).toBe(400);
    expect((await send(JSON.stringify(notice(happened(29))))).status).toBe(204);
    expect((await send(JSON.stringify(notice({ statusDetails: { statusUpdateDate: 'soon' } })))).status).toBe(204);
    expect(await stored()).toHaveLength(2);
  });

  it('stores each of many that come at once, and each once', async () => {
    const bodies = Array.from({ length: 120 }, () => JSON.stringify(notice()));
    const answers = await Promise.all([...bodies, ...bodies.slice(0, 40)].map((body) => send(body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
    expect(await stored()).toHaveLength(120);
  });

  it('takes a secret that was made a moment ago, though others were read before', async () => {
    expect((await send(JSON.stringify(notice()))).status).toBe(204);
    const id = randomUUID();
    const sealed = new SecretBox(bff.env.SEALING_KEYS).seal('the new one', `webhook-secret:${id}`);
    await bff.db.pool.query(
      `insert into webhook_secrets (id, merchant_id, sub_application_id, webhook_id, sealed_secret, created_at)
       values ($1, $2, $3, 'w', $4, now())`,
      [id, merchant.id, merchant.subApplicationId, sealed],
    );
    const body = JSON.stringify(notice());
    expect((await later(2_000, () => send(body, signWebhook(body, 'the new one')))).status).toBe(204);
    const other = JSON.stringify(notice());
    expect((await send(other)).status).toBe(204);
  });
});

function ago(ms: number): string {
  return new Date(now().getTime() - ms).toISOString();
}
