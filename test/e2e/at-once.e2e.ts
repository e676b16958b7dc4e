import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestStack } from '../support/stack.js';

interface Customer {
  token: string;
  customerId: string;
  connections: string[];
}

interface Connection {
  id: string;
  status: string;
  sync?: { status: string };
}

interface Account {
  id: string;
  institutionId: string;
  name: string;
  connectionId: string;
}

interface Row {
  id: string;
  accountId: string;
  amount: number;
}

interface Page<Item> {
  data: Item[];
  hasMore: boolean;
  nextCursor?: string;
}

interface Changes extends Omit<Page<never>, 'data'> {
  added: Row[];
  modified: Row[];
  removed: Pick<Row, 'id'>[];
}

const banks = ['meridian', 'thistle'];
/** No row of the sandbox's own has it. */
const amount = 3_111.07;
const actsMs = 10_000;

/** The real programs, while customers connect, renew, read, pay and leave at the same time, and banks have passing faults. */
describe('everything at once', { timeout: 120_000 }, () => {
  let world: TestStack;
  let apiKey: string;
  const customers: Customer[] = [];
  const faults: string[] = [];

  beforeAll(async () => {
    world = await TestStack.start();
    await post(world.urls.sandbox, '/control/seed', { seed: 'at once', transactions: 150, months: 3 });
    const { merchant } = await world.merchantWithCustomer();
    ({ apiKey } = merchant);
    for (const reference of ['ada', 'bob', 'cy', 'dee']) {
      const session = await ask<Omit<Customer, 'connections'>>(apiKey, 'POST /v1/sessions', {
        customer: { reference },
      });
      customers.push({ ...session, connections: [] });
    }
  }, 60_000);
  afterAll(() => world?.stop());

  const post = (base: string, path: string, body: object) =>
    fetch(`${base}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  /** What the BFF answers, whatever that is; a fault of its own is noted. */
  const ask = async <Body>(token: string, route: `${string} /${string}`, body?: object): Promise<Body> => {
    const [method = '', path = ''] = route.split(' ');
    const answer = await fetch(`${world.urls.bff}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'psu-ip-address': '192.0.2.7',
        'idempotency-key': crypto.randomUUID(),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status >= 500) faults.push(`${route.replaceAll(/[0-9a-f-]{36}/g, 'id')} ${answer.status} ${text}`);
    return JSON.parse(text) as Body;
  };
  /** The customer goes to the bank, approves and comes back, unless the bank does not let them. */
  const approve = async ({ authorisationUrl }: { authorisationUrl?: string }): Promise<void> => {
    if (authorisationUrl === undefined) return;
    const body = { authorisationUrl, decision: 'approve', persona: 'ada' };
    const answer = await post(world.urls.sandbox, '/control/authorise', body);
    const { redirectUrl } = (await answer.json()) as { redirectUrl?: string };
    if (redirectUrl === undefined) return;
    const back = await fetch(redirectUrl, { redirect: 'manual' });
    if (back.status >= 500) faults.push(`callback ${back.status} ${await back.text()}`);
  };
  const connect = async (customer: Customer, n: number): Promise<void> => {
    const institutionId = `${banks[n % banks.length]}-sandbox`;
    const made = await ask<{ id: string; authorisationUrl?: string }>(customer.token, 'POST /v1/connections', {
      institutionId,
    });
    if (made.authorisationUrl === undefined) return;
    await approve(made);
    customer.connections.push(made.id);
  };
  const one = ({ connections }: Customer, n: number): string =>
    connections[n % connections.length] ?? crypto.randomUUID();

  const payee = {
    name: 'Shop',
    accountIdentifications: [
      { type: 'SORT_CODE', identification: '200000' },
      { type: 'ACCOUNT_NUMBER', identification: '55779911' },
    ],
  };
  const acts: ((customer: Customer, n: number) => Promise<unknown>)[] = [
    connect,
    (customer, n) => ask(customer.token, `POST /v1/connections/${one(customer, n)}/sync`, {}),
    async (customer, n) => approve(await ask(customer.token, `POST /v1/connections/${one(customer, n)}/renewals`, {})),
    (customer, n) => ask(customer.token, `POST /v1/connections/${one(customer, n)}/reconfirmation`, {}),
    (customer) => ask(customer.token, 'GET /v1/transactions?limit=100'),
    async (customer) =>
      approve(
        await ask(customer.token, 'POST /v1/payments', {
          institutionId: 'meridian-sandbox',
          amount,
          currency: 'GBP',
          payee,
          reference: 'ORDER 7',
        }),
      ),
    async (customer, n) => {
      if (customer.connections.length < 3) return;
      const [id = ''] = customer.connections.splice(n % customer.connections.length, 1);
      await ask(customer.token, `DELETE /v1/connections/${id}`);
    },
  ];
  /** How often each: by its place among the acts. */
  const turns = [1, 2, 0, 4, 1, 2, 5, 3, 6, 1, 2];

  const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    for (const end = performance.now() + 40_000; !(await holds()); await pause(250))
      if (performance.now() > end) throw new Error(`${what} did not come to be`);
  };
  /** The active connections, read anew with their customer there. */
  const settle = async ({ token }: Customer): Promise<void> => {
    const { data } = await ask<{ data: Connection[] }>(token, 'GET /v1/connections?limit=500');
    for (const { id } of data.filter(({ status }) => status === 'active')) {
      const read = () => ask<Connection>(token, `GET /v1/connections/${id}`);
      await until('the end of what is read', async () => (await read()).sync?.status !== 'running');
      await ask(token, `POST /v1/connections/${id}/sync`, {});
      await until('a complete synchronisation', async () => (await read()).sync?.status === 'completed');
    }
  };
  const pages = async <Each extends Omit<Page<never>, 'data'>>(token: string, path: string) => {
    const all: Each[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page: Each = await ask<Each>(
        token,
        `GET ${path}?limit=500${cursor && `&cursor=${cursor}`}` as `GET /${string}`,
      );
      all.push(page);
      cursor = page.hasMore ? page.nextCursor : undefined;
    }
    return all;
  };

  /** Whatever the customer has, page by page, and a copy of their transactions that is kept by the change feed alone. */
  const shown = async ({ token }: Customer) => {
    const listed = await pages<Page<Row>>(token, '/v1/transactions');
    const copy = new Map<string, Row>();
    for (const { added, modified, removed } of await pages<Changes>(token, '/v1/transactions/sync')) {
      for (const row of [...added, ...modified]) copy.set(row.id, row);
      for (const { id } of removed) copy.delete(id);
    }
    const { data: connections } = await ask<{ data: Connection[] }>(token, 'GET /v1/connections?limit=500');
    const { data: accounts } = await ask<{ data: Account[] }>(token, 'GET /v1/accounts?limit=500');
    const active = new Set(connections.filter(({ status }) => status === 'active').map(({ id }) => id));
    return {
      rows: listed.flatMap(({ data }) => data).toSorted(byId),
      copy: [...copy.values()].toSorted(byId),
      accounts: accounts.filter(({ connectionId }) => active.has(connectionId)),
    };
  };

  beforeAll(async () => {
    for (const [index, customer] of customers.entries()) await connect(customer, index);
    const transactions = 'GET /aisp/accounts/{AccountId}/transactions';
    await world.fault({ bank: 'thistle', route: transactions, fault: 'lost-query', times: 2 });
    await world.fault({ bank: 'meridian', route: transactions, fault: '503', times: 1 });
    await world.fault({ bank: 'meridian', route: 'GET /aisp/accounts', fault: 'cut-body', times: 1 });
    const end = performance.now() + actsMs;
    let n = 0;
    const worker = async (customer: Customer): Promise<void> => {
      while (performance.now() < end) {
        n += 1;
        await acts[turns[n % turns.length] ?? 0]?.(customer, n);
      }
    };
    await Promise.all([...customers, ...customers].map(worker));
    await fetch(`${world.urls.sandbox}/control/faults`, { method: 'DELETE' });
    const open = `select id from bff.payments where status in ('AUTHORIZED', 'PENDING', 'UNKNOWN')`;
    await until('the end of every payment', async () => (await world.sql(open)).length === 0);
    for (const customer of customers) await settle(customer);
  }, 180_000);

  it('meets no fault of ours, and leaves nothing under way', async () => {
    expect([...new Set(faults)]).toEqual([]);
    expect(await world.sql(`select id from bff.sync_runs where status = 'running'`)).toEqual([]);
    expect(await world.sql('select 1 from bff.staged_rows')).toEqual([]);
    const deadlocks = 'select deadlocks::int as n from pg_stat_database where datname = current_database()';
    expect(await world.sql(deadlocks)).toEqual([{ n: 0 }]);
  });

  it('ends with every row once, told by the change feed, and with every payment once', async () => {
    const figures = new Map<string, Set<string>>();
    for (const customer of customers) {
      const { rows, copy, accounts } = await shown(customer);
      expect(copy).toEqual(rows);
      for (const { id, institutionId, name } of accounts) {
        const own = rows.filter(({ accountId }) => accountId === id);
        const figure = `${own.length} rows, ${own.filter((row) => row.amount === -amount).length} paid`;
        const key = `${institutionId} ${name}`;
        figures.set(key, (figures.get(key) ?? new Set()).add(figure));
      }
    }
    // The same person everywhere, so every customer is shown the same.
    for (const [account, each] of figures) expect([account, ...each]).toHaveLength(2);
    const paid = (await world.sql(`select id from bff.payments where status = 'COMPLETED'`)).length;
    expect(paid).toBeGreaterThan(0);
    expect([...(figures.get('meridian-sandbox Everyday') ?? [])]).toEqual([expect.stringMatching(` ${paid} paid$`)]);
  });
});

function byId(one: Row, other: Row): number {
  return one.id < other.id ? -1 : 1;
}
