import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestBff } from '../../../../test/support/bff.js';
import type { Env } from '../config.js';

const customerAt = '198.51.100.7';
const proxyAt = '10.1.2.3';

let bff: TestBff;
let token: string;

async function start(env: Partial<Env>): Promise<void> {
  bff = await TestBff.start({ env });
  ({ token } = await bff.session(await bff.merchant(), 'ada'));
}

/** What the institution is told when a request comes from `from` and says that it was forwarded for others. */
async function toldWhen({ from, forwarded }: { from: string; forwarded: string }): Promise<unknown> {
  bff.aggregator.calls.length = 0;
  const headers = { 'x-forwarded-for': forwarded };
  const answer = await bff.ask('POST /v1/connections', { as: token, body: { institutionId: 'bank' }, headers, from });
  expect(answer.status).toBe(201);
  return bff.aggregator.callsOf('POST /account-auth-requests')[0]?.headers['psu-ip-address'];
}

describe('behind proxies that the settings name, the address of the customer', () => {
  beforeAll(() => start({ TRUSTED_PROXIES: '10.0.0.0/8' }));
  afterAll(() => bff.close());

  it('is what they say', async () => {
    expect(await toldWhen({ from: proxyAt, forwarded: customerAt })).toBe(customerAt);
  });

  it('is the last one that none of them has written', async () => {
    const forwarded = `203.0.113.9, ${customerAt}, 10.9.9.9`;
    expect(await toldWhen({ from: proxyAt, forwarded })).toBe(customerAt);
  });

  it('is never what somebody else says', async () => {
    expect(await toldWhen({ from: customerAt, forwarded: '203.0.113.9' })).toBe(customerAt);
  });

  it('is none where they have written none', async () => {
    expect(await toldWhen({ from: proxyAt, forwarded: 'unknown' })).toBeUndefined();
  });
});

describe('behind a count of proxies, the address of the customer', () => {
  beforeAll(() => start({ TRUSTED_PROXIES: '2' }));
  afterAll(() => bff.close());

  it('is the one before so many, whatever others have written', async () => {
    const forwarded = `203.0.113.9, ${customerAt}, 192.0.2.5`;
    expect(await toldWhen({ from: proxyAt, forwarded })).toBe(customerAt);
  });
});

describe('without settings, the address of the customer', () => {
  beforeAll(() => start({}));
  afterAll(() => bff.close());

  it('is where the request comes from', async () => {
    expect(await toldWhen({ from: proxyAt, forwarded: '203.0.113.9' })).toBe(proxyAt);
  });

  it('is written as version 4 where it is one', async () => {
    expect(await toldWhen({ from: `::ffff:${customerAt}`, forwarded: '203.0.113.9' })).toBe(customerAt);
  });
});
