import chromiumBinary from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

/**
 * A real headless Chromium, from npm alone. The package's own flags are not used: several of them switch off the
 * web's security rules, which the pages under test must live with.
 */
export async function launchBrowser(): Promise<Browser> {
  chromiumBinary.setGraphicsMode = false;
  return chromium.launch({
    executablePath: await chromiumBinary.executablePath(),
    args: [
      '--headless=shell',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
