import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '#libs/database';
import { TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { until } from '../../../../test/support/receiver.js';
import { appendEvent, type NewEvent } from './event-log.js';
import { EventStreams, streamOptions } from './event-streams.js';

let bff: TestBff;
let merchant: TestMerchant;
let url: string;
let leaving: AbortController;

beforeAll(async () => {
  bff = await TestBff.start();
  await bff.app.listen(0, '127.0.0.1');
  url = await bff.app.getUrl();
});
afterAll(() => bff.close());
beforeEach(async () => {
  leaving = new AbortController();
  merchant = await bff.merchant(`Shop ${randomUUID().slice(0, 8)}`);
});
afterEach(() => {
  leaving.abort();
  bff.get(EventStreams).options = streamOptions;
});

const append = (event: Partial<NewEvent> = {}) =>
  transaction(bff.db.pool, (tx) =>
    appendEvent(tx, { merchantId: merchant.id, type: 'payment.updated', data: {}, ...event }),
  );

interface Reading {
  status: number;
  headers: Headers;
  /** What has come so far. */
  text: string;
  isOver: boolean;
  sequences(): number[];
}

/** Opens a stream and reads on until it ends or the test does. */
async function open(query = '', as = merchant.apiKey, headers: Record<string, string> = {}): Promise<Reading> {
  const answer = await fetch(`${url}/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${as}`, ...headers },
    signal: leaving.signal,
  });
  const reading: Reading = {
    status: answer.status,
    headers: answer.headers,
    text: '',
    isOver: false,
    sequences: () =>
      [...reading.text.matchAll(/^data: (.*)$/gm)].map(
        ([, data = '']) => (JSON.parse(data) as { sequence: number }).sequence,
      ),
  };
  const decoder = new TextDecoder();
  const read = async (): Promise<void> => {
    for await (const chunk of answer.body ?? []) reading.text += decoder.decode(chunk, { stream: true });
  };
  read()
    .catch(() => undefined)
    .finally(() => (reading.isOver = true));
  return reading;
}

describe('a stream of events', () => {
  it('begins with what is kept and goes on with what happens', async () => {
    await append();
    const stream = await open();
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    expect(stream.headers.get('cache-control')).toBe('no-store');
    await until(() => stream.sequences().length === 1);
    await append({ type: 'payment.completed' });
    await append();
    await until(() => stream.sequences().length === 3);
    expect(stream.sequences()).toEqual([1, 2, 3]);
    expect(stream.text).toMatch(/^retry: \d+\n\nid: 1\ndata: \{/);
  });

  it('resumes behind the last id that was read, through many pages', async () => {
    for (let count = 0; count < 250; count += 1) await append();
    const stream = await open('?after=0', merchant.apiKey, { 'last-event-id': '20' });
    await until(() => stream.sequences().length === 230);
    expect(stream.sequences()).toEqual(Array.from({ length: 230 }, (_, index) => index + 21));
  });

  it('keeps a session to its own customer, and types to those asked for', async () => {
    const ada = await bff.session(merchant, 'ada');
    const bob = await bff.session(merchant, 'bob');
    const [adas, completed] = [await open('', ada.token), await open('?types=payment.completed')];
    await append({ customerId: bob.customerId, type: 'payment.completed' });
    await append();
    await append({ customerId: ada.customerId });
    await until(() => adas.sequences().length > 0 && completed.sequences().length > 0);
    expect([adas.sequences(), completed.sequences()]).toEqual([[3], [1]]);
  });

  it('shows that it is there, moves its reader on, and ends in time', async () => {
    bff.get(EventStreams).options = { ...streamOptions, heartbeatMs: 50, lifeMs: 2_000 };
    const stream = await open('?types=payment.failed');
    await append();
    await until(() => /^: waiting\nid: 1$/m.test(stream.text));
    await until(() => stream.isOver);
    expect(stream.sequences()).toEqual([]);
  });

  it('is refused when too many are open, and free again when one closes', async () => {
    bff.get(EventStreams).options = { ...streamOptions, perCallerMax: 2 };
    await open();
    await open();
    const refused = await open();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('30');
    leaving.abort();
    leaving = new AbortController();
    await until(async () => (await open()).status === 200);
  });

  it.each([
    ['a place that is no number', {}, { 'last-event-id': 'x' }, 400],
    ['no credentials', { as: 'nobody' }, {}, 401],
  ])('is refused for %s', async (_what, { as }: { as?: string }, headers, status) => {
    expect((await open('', as, headers)).status).toBe(status);
  });
});
