import type { PoolClient } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestBff } from '../../../../test/support/bff.js';
import { until } from '../../../../test/support/receiver.js';
import { lockConnection } from '../connections/connection-lock.js';
import { startReading } from './consent-change.js';

describe('an answer that is recorded', () => {
  let bff: TestBff;
  let holder: PoolClient;
  let holderPid: number | undefined;

  beforeAll(async () => {
    bff = await TestBff.start();
    holder = await bff.db.pool.connect();
    ({ pid: holderPid } = (await holder.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0] ?? {});
  });
  afterAll(async () => {
    holder.release();
    await bff.close();
  });

  /** Whether somebody waits for what the holder has. */
  const isAwaited = async (): Promise<boolean> => {
    const text = 'select 1 from pg_locks where not granted and $1 = any (pg_blocking_pids(pid))';
    return (await bff.db.pool.query(text, [holderPid])).rowCount !== 0;
  };

  it('has touched nothing of its connection while a renewal has it, so neither waits for the other', async () => {
    const { token } = await bff.session(await bff.merchant(), 'ada');
    bff.aggregator.accounts = [{ id: 'acc', currency: 'GBP' }];
    const at = '2026-03-01T00:00:00.000Z';
    bff.aggregator.transactions = new Map([
      ['acc', [{ id: 'r', date: at, status: 'BOOKED', amount: -1, currency: 'GBP' }]],
    ]);
    const { id } = await bff.connected(token);
    let isHeld = false;
    bff.aggregator.onPage = async () => {
      if (isHeld) return;
      isHeld = true;
      await holder.query('begin');
      await lockConnection(holder, id);
    };
    const reading = bff.synchronise(id);
    await until(async () => isHeld && (await isAwaited()));
    await startReading(holder, id);
    await holder.query('commit');
    await reading;
    const { rows } = await bff.db.pool.query(
      'select bank_id from transactions where customer_id = (select customer_id from connections where id = $1)',
      [id],
    );
    expect(rows).toEqual([{ bank_id: 'r' }]);
  });

  it('counts its changes before its customer is marked as deleted, so neither waits for the other', async () => {
    const merchant = await bff.merchant();
    const { token, customerId } = await bff.session(merchant, 'bob');
    const { id } = await bff.connected(token);
    await holder.query('begin');
    await lockConnection(holder, id);
    const deletion = bff.ask(`DELETE /v1/customers/${customerId}`, { as: merchant.apiKey });
    await until(isAwaited);
    await holder.query('update customers set change_sequence = change_sequence + 1 where id = $1', [customerId]);
    await holder.query('commit');
    expect((await deletion).status).toBe(202);
  });
});
