import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from '../../apps/stack/src/http-call.js';
import { launchBrowser } from '../support/browser.js';
import { ReferencePageVisitor } from '../support/reference-page.js';
import { type TestMerchant, TestStack } from '../support/stack.js';

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const bank = 'Meridian Bank';
const route = 'GET /aisp/accounts/{AccountId}/transactions';

interface AxeResult {
  violations: { id: string; impact: string; nodes: { target: string[] }[] }[];
}

describe('the reference page', () => {
  let stack: TestStack;
  let browser: Browser;
  let page: Page;
  let visitor: ReferencePageVisitor;
  let merchant: TestMerchant;
  const complaints: string[] = [];

  beforeAll(async () => {
    [stack, browser] = await Promise.all([TestStack.start(), launchBrowser()]);
    page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (line) => {
      if (line.type() === 'error') complaints.push(line.text());
    });
    ({ merchant } = await stack.merchantWithCustomer());
    visitor = new ReferencePageVisitor(page, stack.urls.bff);
  });
  afterAll(async () => {
    await browser.close();
    await stack.stop();
  });

  const region = (name: string): Locator => page.getByRole('region', { name, exact: true });
  const found = (): Locator => region('Found transactions').locator('.day li');

  /** What axe-core finds against WCAG 2.2 at levels A and AA, and against good practice. */
  async function barriers(): Promise<string[]> {
    const axe = await readFile(axePath, 'utf8');
    // Evaluated through the debugger, so the page's own content security policy stays in force for everything else.
    await page.evaluate(axe);
    const { violations } = await page.evaluate<AxeResult>('axe.run()');
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
  }

  it('refuses a key that is none, and says so to a screen reader', async () => {
    await page.goto(`${stack.urls.bff}/`);
    await page.getByLabel('Merchant API key').fill('trb_nothing');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await barriers()).toEqual([]);
    // The refused call is the browser's to report.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('401')]);
  });

  it('finds a bank by its name or country, shows its picture, and says which cannot be connected', async () => {
    await visitor.signIn(merchant.apiKey, 'customer-1');
    const banks = page.getByRole('list', { name: 'Banks to connect' }).getByRole('button');
    await expect.poll(() => banks.count()).toBe(8);
    expect(await page.getByRole('button', { name: /Isarkasse.*no login page/ }).isDisabled()).toBe(true);
    await page.getByRole('searchbox', { name: 'Find a bank' }).fill('gb');
    await expect.poll(() => banks.count()).toBe(3);
    const drawn = 'Array.from(document.querySelectorAll(".choice img"), (picture) => picture.naturalWidth > 0)';
    await expect.poll(() => page.evaluate(drawn)).toEqual([true, true, true]);
    await page.getByRole('searchbox', { name: 'Find a bank' }).fill('nowhere');
    await page.getByText('No bank is called “nowhere”.').waitFor();
  });

  it('connects a bank through the bank’s own pages and shows its accounts as they come', async () => {
    await visitor.connect(bank, ['Everyday', 'Credit card']);
    await page.getByText(`${bank} is connected.`).waitFor();
    await expect.poll(() => region('Accounts').getByRole('list').getByRole('button').count()).toBe(2);
    await region('Checks').getByText('All balances agree with their transactions: 2 accounts').waitFor();
    await region('Banks')
      .getByText(/Data stop on .* \(in \d+ days\), because the consent ends at the bank/)
      .waitFor();
    expect(page.url()).toBe(`${stack.urls.bff}/`);
  });

  it('draws the balance of a year, and reads any day of it by key and by pointer', async () => {
    expect(await page.getByRole('img', { name: /^Balance from .* to / }).getAttribute('aria-label')).toMatch(/now −?£/);
    const slider = page.getByRole('slider', { name: 'Balance on a day' });
    const today = await slider.getAttribute('aria-valuetext');
    await slider.press('Home');
    const first = await slider.getAttribute('aria-valuetext');
    expect(first).not.toBe(today);
    expect(first).toMatch(/^\d+ \w+ \d{4}: −?£/);
    await slider.press('ArrowRight');
    expect(await page.locator('.reading').innerText()).toBe(await slider.getAttribute('aria-valuetext'));
    expect(await slider.getAttribute('aria-valuetext')).not.toBe(first);
    await page.locator('.plot').hover({ position: { x: 40, y: 100 } });
    await expect.poll(() => page.locator('.reading').innerText()).toBe(first);
  });

  it('shows what is pending as expected, more as one scrolls, and finds transactions by their text', async () => {
    await expect.poll(() => found().count()).toBe(50);
    expect(await page.getByRole('group', { name: 'Pending' }).locator('li').first().textContent()).toMatch(
      /made \d+ \w+ \d{4}, expected \d+ \w+ \d{4}/,
    );
    await page.getByRole('button', { name: 'Show more' }).scrollIntoViewIfNeeded();
    await expect.poll(() => found().count()).toBeGreaterThan(50);
    await page.getByRole('searchbox', { name: 'Search' }).fill('salary');
    const shown = async () => (await found().allTextContents()).map((row) => /salary/i.test(row));
    await expect.poll(async () => new Set(await shown())).toEqual(new Set([true]));
    expect(await found().count()).toBeGreaterThan(10);
    await found().first().locator('summary').click();
    await page.getByRole('button', { name: 'Split: these are two' }).click();
    await page
      .getByRole('alert')
      .getByText(/nothing to split \(409, tracing id [0-9a-f]+\)/)
      .waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('409')]);
    await page.getByRole('searchbox', { name: 'Search' }).fill('nothing that is written anywhere');
    await page.getByText('Nothing found.').waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('');
  });

  it('shows a synchronisation while it goes on, and what it has brought', async () => {
    await visitor.synchronise(bank);
    await expect.poll(() => region('Banks').innerText()).toMatch(/Read at \d\d:\d\d: [\d,]+ rows? read, /);
  });

  it('says why the progress cannot be followed, and still tells the end', async () => {
    await page.route('**/progress', (intercepted) => intercepted.fulfill({ status: 503 }));
    await stack.fault({ bank: 'meridian', route, fault: 'slow', times: 2 });
    await page.getByRole('button', { name: `Synchronise ${bank}` }).click();
    await page.getByText('The progress cannot be followed: the server answered 503.').waitFor();
    await page.unroute('**/progress');
    await page.getByRole('button', { name: `Synchronise ${bank}` }).waitFor();
    expect(complaints.splice(0)).not.toEqual([]);
  });

  it('pays, and what it says of the payment follows it to its end', async () => {
    await visitor.pay();
    await page.locator('.told').getByText('Your payment of £12.50 is made.').waitFor();
    const log = page.getByRole('log');
    await expect.poll(() => log.innerText()).toContain('payment.completed');
    expect(await log.innerText()).not.toMatch(/\d{4}-\d\d-\d\dT|[a-z]+At|null/);
  });

  it('says that data are late while a bank fails, and by whom it is mended', async () => {
    await stack.fault({ bank: 'meridian', route, fault: '503', times: 100 });
    await visitor.synchronise(bank);
    await region('Banks')
      .getByText(/Data are late, because the bank failed\..* You need not do anything\./)
      .waitFor();
    await call(`${stack.urls.sandbox}/control/faults`, { method: 'DELETE' });
    await visitor.synchronise(bank);
    await expect.poll(() => region('Banks').innerText()).not.toContain('Data are late');
  });

  it('renews before data stop, with one click', async () => {
    await visitor.renew(bank, ['Everyday', 'Credit card']);
    await page.getByText(`The consent of ${bank} is renewed.`).waitFor();
    await expect.poll(() => page.getByRole('log').innerText()).toContain(`The renewal of ${bank} is complete`);
    await page.getByRole('button', { name: `Synchronise ${bank}` }).waitFor();
  });

  it('shows a booking that the bank no longer shows, until a person says that it is right', async () => {
    await stack.fault({ bank: 'meridian', route, fault: 'late-booking', times: 100 });
    await visitor.synchronise(bank);
    const doubts = page.getByRole('button', { name: 'It is right as it is' });
    await region('Checks').getByText('The bank no longer shows this booking').first().waitFor();
    const before = await doubts.count();
    await doubts.first().click();
    await expect.poll(() => doubts.count()).toBe(before - 1);
    await call(`${stack.urls.sandbox}/control/faults`, { method: 'DELETE' });
    await visitor.synchronise(bank);
    await region('Checks').getByText('No transaction is in doubt.').waitFor();
    // A flag may be answered between the list and the question what it says.
    expect(complaints.splice(0).filter((each) => !each.includes('404'))).toEqual([]);
  });

  it('joins what may be one purchase as a person says, and undoes it', async () => {
    const [pair] = await stack.sql<{ booked: string; pending: string }>(
      `select b.id as booked, p.id as pending from bff.transactions b join bff.transactions p using (account_id)
       where b.status = 'BOOKED' and p.status = 'PENDING' and coalesce(b.removed_at, p.removed_at) is null
       order by b.date desc, p.id limit 1`,
    );
    const flag = JSON.stringify({ reason: 'uncertain-link', candidates: [pair?.pending] });
    await stack.sql('update bff.transactions set flag = $2 where id = $1', [pair?.booked, flag]);
    await page.reload();
    const live = async () => (await stack.sql('select 1 from bff.transactions where removed_at is null')).length;
    const before = await live();
    await page.getByRole('button', { name: 'They are one' }).click();
    await region('Checks').getByText('No transaction is in doubt.').waitFor();
    expect(await live()).toBe(before - 1);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
    expect(await live()).toBe(before);
  });

  it('shows a balance that its transactions do not explain, with those that may', async () => {
    await stack.sql(
      `update bff.balance_proofs p set difference = -6.5, candidates = json_build_array(
         (select id from bff.transactions t where t.account_id = p.account_id and removed_at is null order by date limit 1))::text
       where account_id = (select id from bff.accounts where name = 'Everyday')`,
    );
    await page.reload();
    await region('Checks').getByText('1 of 2 balances agree').waitFor();
    await region('Checks').getByText('the balance has moved −£6.50 beyond the transactions').waitFor();
    const explaining = page.getByRole('list', { name: 'What may explain it' }).getByRole('listitem');
    await expect.poll(() => explaining.count()).toBe(1);
  });

  it('lists every call that it makes', async () => {
    const calls = () => region('API calls').getByRole('listitem').allInnerTexts();
    const listed = expect.stringMatching(/^GET \/v1\/connections\s+200 · \d+ ms$/);
    await expect.poll(calls).toEqual(expect.arrayContaining([listed]));
  });

  it('is used with the keyboard alone', async () => {
    await page.getByRole('button', { name: 'Leave' }).focus();
    const reached = new Set<string>();
    for (let step = 0; step < 40; step += 1) {
      await page.keyboard.press('Tab');
      reached.add(
        String(
          await page.evaluate(
            '(document.activeElement.closest("main > div > section")?.querySelector("h2") ?? document.activeElement).textContent',
          ),
        ),
      );
    }
    const sections = ['Banks', 'Accounts', 'Transactions', 'Pay', 'Events', 'API calls'];
    expect([...reached]).toEqual(expect.arrayContaining(sections));
  });

  it('walks the transactions with the arrow keys, as one stop of the tab key', async () => {
    await found().first().locator('summary').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await found().nth(2).getByText('Transaction id, for life').waitFor();
    await page.keyboard.press('Home');
    const focused = await page.evaluate('document.activeElement.textContent');
    expect(focused).toBe(await found().first().locator('summary').textContent());
  });

  it('has no barrier that a machine can find, in light and in dark, wide and narrow', async () => {
    await page.evaluate('document.querySelectorAll(".choice, .more").forEach((each) => (each.open = true))');
    await found().first().locator('summary').click();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 1000 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await barriers()).toEqual([]);
      }
    }
  }, 90_000);

  it('fits a phone: nothing sticks out, and a thumb hits every control', async () => {
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    const small = `Array.from(document.querySelectorAll('button, summary, select, input, a.button'))
      .filter((control) => control.checkVisibility() && control.getBoundingClientRect().height < 44)
      .map((control) => control.outerHTML)`;
    expect(await page.evaluate(small)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 1000 });
  });

  it('keeps the merchant’s key nowhere, and complains about nothing', async () => {
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])',
    );
    expect(kept).not.toContain(merchant.apiKey);
    expect(kept).toContain('customer-1');
    expect(complaints).toEqual([]);
  });

  it('disconnects a bank only when asked twice', async () => {
    await page.evaluate('document.querySelector(".more").open = true');
    await page.getByRole('button', { name: `Disconnect ${bank}` }).click();
    await page.getByRole('button', { name: `Keep ${bank}` }).click();
    // The focus is where the question was: enter asks it again, and then answers it.
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByText('Connect a bank', { exact: true }).waitFor();
    await expect.poll(() => page.getByRole('log').innerText()).toContain(`${bank} is disconnected`);
  });

  it('asks to sign in again when the session has ended', async () => {
    await page.route('**/v1/accounts', (intercepted) => intercepted.fulfill({ status: 401 }));
    await page.reload();
    await page.getByText('The session has ended').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });
});
