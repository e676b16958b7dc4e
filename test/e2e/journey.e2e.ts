import { spawnSync } from 'node:child_process';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { call } from '../../apps/stack/src/http-call.js';
import { launchBrowser } from '../support/browser.js';
import { approveAtBank, logInAtBank } from '../support/psu.js';
import { until } from '../support/receiver.js';
import { type TestMerchant, type TestSession, TestStack } from '../support/stack.js';

interface Connection {
  id: string;
  status: string;
  authorisationUrl: string;
  sync?: { status: string; rowsRead: number; added: number; modified: number; removed: number };
}
interface Account {
  id: string;
  name?: string;
  currency?: string;
  mainBalance?: { amount: number };
}
interface Transaction {
  id: string;
  accountId: string;
  date: string;
  amount: number;
  status: string;
}
interface Payment {
  id: string;
  status: string;
  authorisationUrl: string;
}

describe('a customer, from the first connection to a completed payment', () => {
  let stack: TestStack;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let merchant: TestMerchant;
  let session: TestSession;

  const bff = <T>(path: string, options: Parameters<typeof call>[1] = {}): Promise<T> =>
    call<T>(`${stack.urls.bff}/v1${path}`, { bearer: session.token, ...options });
  /** Where the BFF leaves a browser whose merchant named no address: its own page. */
  const backAtBff = (url: URL): boolean => url.origin === stack.urls.bff;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([TestStack.start(), launchBrowser()]);
    context = await browser.newContext();
    page = await context.newPage();
    ({ merchant, session } = await stack.merchantWithCustomer());
  });
  afterAll(async () => {
    await browser.close();
    await stack.stop();
  });

  it('starts with a root application that an operator makes', async () => {
    const { databaseUrl, sandbox, aggregator } = stack.stack;
    const made = spawnSync(
      process.execPath,
      ['dist/aggregator/console.mjs', 'applications', 'create', '--name', 'Root', '--json'],
      {
        env: {
          ...process.env,
          DATABASE_URL: databaseUrl,
          SANDBOX_URL: sandbox,
          SEALING_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
        },
        encoding: 'utf8',
      },
    );
    expect(made.stderr).toBe('');
    const { id, secret } = JSON.parse(made.stdout) as { id: string; secret: string };
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(secret.length).toBeGreaterThanOrEqual(43);
    const stored = await stack.sql<{ secret_hash: string }>(
      'SELECT secret_hash FROM aggregator.applications WHERE id = $1',
      [id],
    );
    expect(stored).toHaveLength(1);
    expect(stored[0]?.secret_hash).not.toContain(secret);
    expect(aggregator).toMatch(/^http:/);
  });

  it('creates a merchant as a sub-application over the interface', async () => {
    const { data } = await stack.client().getApplicationById(merchant.subApplicationId);
    expect(data).toMatchObject({
      id: merchant.subApplicationId,
      name: 'Test Shop',
      rootApplicationId: stack.stack.application.id,
    });
  });

  let connectionId = '';
  it('connects a bank through the bank’s own pages and the fragment they answer in', async () => {
    const asked = await bff<Connection>('/connections', {
      method: 'POST',
      body: { institutionId: 'meridian-sandbox' },
    });
    expect(asked.status).toBe('awaiting-authorisation');
    await logInAtBank(page, asked.authorisationUrl, 'ada');
    await approveAtBank(page, ['Everyday', 'Credit card'], backAtBff);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(page.url()).not.toContain('#');
    const connection = await bff<Connection>(`/connections/${asked.id}`);
    expect(connection.status).toBe('active');
    connectionId = asked.id;
  });

  it('keeps the consent token sealed, and hands it to no one', async () => {
    const [row] = await stack.sql<{ sealed_consent_token: string; consent_id: string }>(
      'SELECT sealed_consent_token, consent_id FROM bff.connections WHERE id = $1',
      [connectionId],
    );
    const client = stack.client().forSubApplication(merchant.subApplicationId);
    const { data } = await client.getConsentById(row?.consent_id ?? '');
    expect(data.status).toBe('AUTHORIZED');
    expect(row?.sealed_consent_token).not.toContain(data.consentToken);
    expect(JSON.stringify(await bff(`/connections/${connectionId}`))).not.toContain(data.consentToken);
  });

  it('syncs every transaction of the chosen accounts, and no other account', async () => {
    await until(async () => {
      const { sync } = await bff<Connection>(`/connections/${connectionId}`);
      return sync !== undefined && sync.status !== 'running';
    }, 60_000);
    const { sync } = await bff<Connection>(`/connections/${connectionId}`);
    expect(sync).toMatchObject({ status: 'completed', modified: 0, removed: 0 });
    expect(sync?.rowsRead).toBeGreaterThanOrEqual(2_000);
    expect(sync?.added).toBe(sync?.rowsRead);
    const { data } = await bff<{ data: Account[] }>('/accounts');
    expect(data).toHaveLength(2);
    for (const account of data) expect(typeof account.mainBalance?.amount).toBe('number');
  });

  it('serves the frontend every synced row once, newest first, over two years', async () => {
    const rows: Transaction[] = [];
    let cursor: string | undefined;
    do {
      const query = new URLSearchParams({ limit: '500', ...(cursor === undefined ? {} : { cursor }) });
      const answer = await bff<{ data: Transaction[]; nextCursor?: string }>(`/transactions?${query.toString()}`);
      rows.push(...answer.data);
      cursor = answer.nextCursor;
    } while (cursor !== undefined);
    const { sync } = await bff<Connection>(`/connections/${connectionId}`);
    expect(rows).toHaveLength(sync?.rowsRead ?? 0);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    const dates = rows.map(({ date }) => date);
    expect(dates).toEqual(dates.toSorted((one, other) => other.localeCompare(one)));
    expect(new Set(dates.map((date) => date.slice(0, 7))).size).toBeGreaterThanOrEqual(24);
    expect(rows.some(({ status }) => status === 'PENDING')).toBe(true);
  });

  it('tells the same rows by the change feed, from the beginning', async () => {
    const ids = new Set<string>();
    let cursor = '';
    for (;;) {
      const query = cursor === '' ? '' : `?cursor=${encodeURIComponent(cursor)}`;
      const feed = await bff<{ added: Transaction[]; hasMore: boolean; nextCursor: string }>(
        `/transactions/sync${query}`,
      );
      for (const { id } of feed.added) ids.add(id);
      cursor = feed.nextCursor;
      if (!feed.hasMore) break;
    }
    const { sync } = await bff<Connection>(`/connections/${connectionId}`);
    expect(ids.size).toBe(sync?.added);
  });

  it('pays through the bank’s pages, and shows COMPLETED when the signed webhook has been handled', async () => {
    const asked = await bff<Payment>('/payments', {
      method: 'POST',
      headers: { 'idempotency-key': 'order-1042' },
      body: {
        institutionId: 'meridian-sandbox',
        amount: 12.5,
        currency: 'GBP',
        reference: 'ORDER 1042',
        payee: {
          name: 'Test Shop Ltd',
          accountIdentifications: [
            { type: 'SORT_CODE', identification: '203002' },
            { type: 'ACCOUNT_NUMBER', identification: '10203345' },
          ],
        },
      },
    });
    await logInAtBank(page, asked.authorisationUrl, 'ada');
    await page.getByText('£12.50').first().waitFor();
    await approveAtBank(page, ['Everyday'], backAtBff);
    await until(async () => (await bff<Payment>(`/payments/${asked.id}`)).status === 'COMPLETED', 60_000);

    const completed = async (): Promise<boolean> => {
      const events = `${stack.urls.bff}/v1/events`;
      const { data } = await call<{ data: { type: string; data: { paymentId?: string } }[] }>(events, {
        bearer: merchant.apiKey,
      });
      return data.some((event) => event.data.paymentId === asked.id);
    };
    await until(completed, 30_000);
    const stored = await stack.sql<{ type: string; status: string }>(
      'SELECT type, status FROM bff.inbound_events WHERE merchant_id = $1',
      [merchant.id],
    );
    expect(stored.map(({ type }) => type)).toContain('single_payment.status.completed');
    const [debit] = await stack.sql<{ count: string }>(
      'SELECT count(*) FROM aggregator.payments p JOIN aggregator.consents c ON c.id = p.consent_id WHERE c.application_id = $1',
      [merchant.subApplicationId],
    );
    expect(debit?.count).toBe('1');
  });
});
