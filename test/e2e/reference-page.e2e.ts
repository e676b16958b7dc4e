import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../support/browser.js';
import { ReferencePageVisitor } from '../support/reference-page.js';
import { type TestMerchant, TestStack } from '../support/stack.js';

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

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

  it('connects a bank through the bank’s own pages and shows its accounts as they come', async () => {
    await visitor.signIn(merchant.apiKey, 'customer-1');
    await visitor.connect('Meridian Bank (GB)', ['Everyday', 'Credit card']);
    const accounts = page.getByRole('region', { name: 'Accounts' }).getByRole('list').getByRole('button');
    expect(await accounts.count()).toBe(2);
    expect(await page.getByRole('img', { name: /^Balance from .* to / }).getAttribute('aria-label')).toMatch(/now -?£/);
    expect(page.url()).toBe(`${stack.urls.bff}/`);
  });

  it('finds transactions by their text', async () => {
    const rows = page.getByRole('region', { name: 'Found transactions' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(50);
    await page.getByRole('searchbox', { name: 'Search' }).fill('salary');
    await expect.poll(async () => (await rows.allInnerTexts()).every((row) => /salary/i.test(row))).toBe(true);
    expect(await rows.count()).toBeGreaterThan(10);
    await page.getByRole('searchbox', { name: 'Search' }).fill('nothing that is written anywhere');
    await page.getByText('Nothing found.').waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('');
  });

  it('shows a synchronisation while it goes on', async () => {
    await page.getByRole('button', { name: 'Synchronise Meridian Bank' }).click();
    await page.getByRole('progressbar', { name: 'Synchronising Meridian Bank' }).waitFor();
    await page.getByRole('button', { name: 'Synchronise Meridian Bank' }).waitFor();
    expect(await page.getByText(/synchronised \d/).count()).toBe(1);
  });

  it('pays, and tells the end of it', async () => {
    await visitor.pay();
    const log = page.getByRole('log');
    await expect.poll(() => log.innerText()).toContain('payment.completed');
  });

  it('is used with the keyboard alone', async () => {
    await page.getByRole('combobox', { name: 'Bank', exact: true }).focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Connect');
    const reached = new Set<string>();
    for (let step = 0; step < 60; step += 1) {
      await page.keyboard.press('Tab');
      reached.add(
        String(
          await page.evaluate(
            '(document.activeElement.closest("section")?.querySelector("h2") ?? document.activeElement).textContent',
          ),
        ),
      );
    }
    expect([...reached]).toEqual(expect.arrayContaining(['Banks', 'Accounts', 'Transactions', 'Pay', 'Events']));
  });

  it('has no barrier that a machine can find, in light and in dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers()).toEqual([]);
    }
  });

  it('keeps the merchant’s key nowhere, and complains about nothing', async () => {
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])',
    );
    expect(kept).not.toContain(merchant.apiKey);
    expect(kept).toContain('customer-1');
    expect(complaints).toEqual([]);
  });
});
