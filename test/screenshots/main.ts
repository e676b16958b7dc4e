import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { startPostgres } from '../../apps/stack/src/embedded-postgres.js';
import { startStack } from '../../apps/stack/src/stack.js';
import { launchBrowser } from '../support/browser.js';
import { ReferencePageVisitor } from '../support/reference-page.js';

const folder = 'apps/bff/page/screenshots';

/** Takes the README's pictures of the reference page: a stack of its own, a real bank's way, a real browser. */
async function takeScreenshots(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tributary-screenshots-'));
  const postgres = await startPostgres({ dataDir });
  const stack = await startStack({
    ports: { aggregator: 0, bff: 0, sandbox: 0, sandboxTls: 0 },
    dataDir,
    databaseUrl: postgres.connectionString,
    logLevel: 'warn',
  });
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1280 } });
    const visitor = new ReferencePageVisitor(page, stack.bff);
    await visitor.signIn(stack.merchant.apiKey, 'customer-1');
    await visitor.connect('Meridian Bank', ['Everyday', 'Credit card']);
    await visitor.pay();
    await page.getByRole('button', { name: /^Everyday/ }).click();
    await shoot(page, 'light');
    await shoot(page, 'dark');
  } finally {
    await browser.close();
    await stack.stop();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function shoot(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await mkdir(folder, { recursive: true });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.getByRole('img', { name: /^Balance from / }).waitFor();
  await page.evaluate('window.scrollTo(0, 0)');
  const path = join(folder, `dashboard-${colorScheme}.png`);
  await page.screenshot({ path });
  console.log(`wrote ${path}`);
}

takeScreenshots().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
