import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../apps/stack/src/free-port.js';
import type { ConnectionView } from '../../apps/bff/src/connections/connection.dto.js';
import { later, TestBff } from '../support/bff.js';
import { killed, startBffProgram } from '../support/bff-program.js';
import { until } from '../support/receiver.js';

/** A worker of its own process is killed in the middle of a synchronisation: nothing is half written, and the next one repairs it. */

let bff: TestBff;
let token: string;
let customerId: string;
const rows = 2_500;

beforeAll(async () => {
  bff = await TestBff.start();
  ({ token, customerId } = await bff.session(await bff.merchant(), 'ada'));
});
afterAll(() => bff.close());

const count = async (text: string): Promise<number> =>
  Number((await bff.db.pool.query<{ count: string }>(`select count(*) ${text}`, [customerId])).rows[0]?.count);

describe('a worker that is killed while it reads', () => {
  it.each([0, 1_000, 2_000])(
    'the page at %i leaves nothing half written, and the next run repairs it',
    async (offset) => {
      const name = `acc-${offset}`;
      bff.aggregator.accounts = [{ id: name, currency: 'GBP' }];
      bff.aggregator.transactions.set(
        name,
        Array.from({ length: rows }, (_, index) => ({ id: `${name}-${index}`, amount: index + 1, currency: 'GBP' })),
      );
      const before = await count('from transactions where customer_id = $1');
      let arrived = false;
      const hold = new Promise<void>(() => {});
      bff.aggregator.onPage = async (at) => {
        if (at !== offset) return;
        arrived = true;
        await hold;
      };
      const { id } = await bff.connected(token);
      const worker = startBffProgram(bff, 'worker', await freePort());
      await until(() => arrived, 20_000);
      await killed(worker);
      bff.aggregator.onPage = () => {};

      expect(await count('from transactions where customer_id = $1')).toBe(before);
      expect(await count('from changes where customer_id = $1')).toBe(before);
      await later(61_000, () => bff.synchronise(id));
      expect(await count('from transactions where customer_id = $1')).toBe(before + rows);
      expect(await count('from changes where customer_id = $1')).toBe(before + rows);
      expect(await count('from staged_rows s join accounts a on a.id = s.account_id where a.customer_id = $1')).toBe(0);
      const { body } = await bff.ask<ConnectionView>(`GET /v1/connections/${id}`, { as: token });
      expect(body).toMatchObject({ health: 'healthy', sync: { status: 'completed', accounts: 1, accountsDone: 1 } });
    },
  );
});
