import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Transaction } from '#libs/contract';
import { TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { until } from '../../../../test/support/receiver.js';
import { TransactionExportService } from './transaction-export.service.js';

/** Frees what nobody holds any more, so that what is held can be told. */
const collect: () => void = (() => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
})();

let bff: TestBff;
let merchant: TestMerchant;
let token: string;
let customerId: string;
let accountId: string;

const rows: Transaction[] = Array.from({ length: 1_203 }, (_, n) => ({
  id: `b${n}`,
  date: new Date(Date.UTC(2026, 0, 1) + Math.floor(n / 5) * 3_600_000).toISOString(),
  status: 'BOOKED',
  amount: n - 600,
  currency: 'GBP',
  description: n % 2 === 0 ? `Row ${n}, "quoted"` : `=HYPERLINK(${n})`,
}));

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  ({ token, customerId } = await bff.session(merchant, 'ada'));
  bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
  bff.aggregator.transactions = new Map([['acc', rows]]);
  await bff.synchronise((await bff.connected(token)).id);
  const { rows: accounts } = await bff.db.pool.query<{ id: string }>('select id from accounts');
  accountId = accounts[0]?.id ?? '';
});
afterAll(() => bff.close());

const ask = (path: string, as = token) => bff.ask(`GET /v1/${path}` as 'GET /', { as });

describe('the export', () => {
  it('has every row once in CSV, in the order of the list', async () => {
    const { status, headers, text } = await ask('transactions/export');
    expect(status).toBe(200);
    expect(headers['content-type']).toContain('text/csv');
    expect(headers['content-disposition']).toBe('attachment; filename="transactions.csv"');
    const lines = text.split('\r\n');
    expect(lines).toHaveLength(rows.length + 2);
    expect(lines[0]).toMatch(/^id,accountId,date,/);
    expect(new Set(lines.slice(1, -1).map((line) => line.split(',', 1)[0])).size).toBe(rows.length);
    expect(text).toContain('"Row 600, ""quoted"""');
    expect(text).toContain(",'=HYPERLINK(601),");
    const dates = lines.slice(1, -1).map((line) => line.split(',')[2] ?? '');
    expect(dates).toEqual(dates.toSorted().toReversed());
  });

  it('has the list’s own objects as lines of JSON', async () => {
    const { headers, text } = await ask('transactions/export?format=ndjson&amountMin=598');
    expect(headers['content-type']).toBe('application/x-ndjson');
    const lines = text.trimEnd().split('\n');
    const listed = await ask('transactions?amountMin=598');
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual(
      (JSON.parse(listed.text) as { data: object[] }).data,
    );
    expect(lines).toHaveLength(5);
  });

  it('is of one account, and of nobody else’s', async () => {
    const own = await ask(`accounts/${accountId}/transactions/export?format=ndjson`);
    expect(own.text.trimEnd().split('\n')).toHaveLength(rows.length);
    const other = await bff.session(merchant, 'bob');
    expect((await ask(`accounts/${accountId}/transactions/export`, other.token)).status).toBe(404);
    expect((await ask('transactions/export?format=ndjson', other.token)).text).toBe('');
  });

  it('names a faulty filter before anything is sent', async () => {
    for (const query of ['format=xml', 'amountMin=x', 'from=yesterday', 'flagged=perhaps']) {
      const answer = await ask(`transactions/export?${query}`);
      expect(answer.status).toBe(400);
      expect(answer.text).toContain(`"parameter":"${query.split('=')[0]}"`);
    }
  });

  it('reads no faster than it is read, runs few at a time, and gives its connection back when it is left', async () => {
    const exports = bff.get(TransactionExportService);
    const scope = { merchantId: merchant.id, customerId };
    const streams = [1, 2, 3].map(() => exports.start(scope, {}));
    expect((await ask('transactions/export')).status).toBe(429);
    for (const stream of streams) stream.destroy();
    await until(() => bff.db.pool.totalCount >= 0 && streams.every((stream) => stream.closed));
    expect((await ask('transactions/export')).status).toBe(200);
  });

  it('keeps its memory while it sends 200,000 rows', async () => {
    await bff.db.pool.query(
      `insert into transactions (id, customer_id, account_id, status, date, amount, currency, description, fingerprint, wire, sequence, first_seen_at)
       select gen_random_uuid(), $1, $2, 'BOOKED', now() - n * interval '1 minute', n, 'GBP', 'x', 'f',
         '{"id":"' || n || '","text":"' || repeat('x', 600) || '"}', 0, now() from generate_series(1, 200000) n`,
      [customerId, accountId],
    );
    await bff.app.listen(0, '127.0.0.1');
    const url = `${await bff.app.getUrl()}/v1/transactions/export?format=ndjson`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    const inUse = (): number => {
      collect();
      return process.memoryUsage().heapUsed + process.memoryUsage().external;
    };
    const before = inUse();
    let [bytes, lines, most, measured] = [0, 0, 0, 0];
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.length;
      for (const byte of chunk) if (byte === 10) lines += 1;
      if (bytes < measured) continue;
      measured += 10_000_000;
      most = Math.max(most, inUse() - before);
    }
    expect(lines).toBe(200_000 + rows.length);
    expect(bytes).toBeGreaterThan(120_000_000);
    expect(most).toBeLessThan(70_000_000);
  }, 180_000);

  it('says nothing of a customer who has nothing', async () => {
    const { token: fresh } = await bff.session(merchant, randomUUID());
    expect((await ask('transactions/export', fresh)).text.split('\r\n')).toHaveLength(2);
  });
});
