import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest';
import { call } from '../../apps/stack/src/http-call.js';
import { launchBrowser } from '../support/browser.js';
import { approveAtBank, confirmAtBank } from '../support/psu.js';
import { ReferencePageVisitor } from '../support/reference-page.js';
import { type TestMerchant, type TestSession, TestStack } from '../support/stack.js';

interface Link {
  url: string;
}
interface Connection {
  id: string;
  authorisationUrl: string;
}

/** What a customer is asked elsewhere than in the merchant's frontend: on a device of theirs, or in an e-mail. */
describe('a customer', { timeout: 90_000 }, () => {
  let stack: TestStack;
  let browser: Browser;
  let page: Page;
  let merchant: TestMerchant;
  let session: TestSession;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([TestStack.start(), launchBrowser()]);
    ({ merchant, session } = await stack.merchantWithCustomer());
  });
  afterAll(async () => {
    await browser.close();
    await stack.stop();
  });
  beforeEach(async () => {
    page = await browser.newPage();
  });
  afterEach(() => page.close());

  const bff = <T>(path: string, body?: object): Promise<T> =>
    call<T>(`${stack.urls.bff}/v1${path}`, {
      bearer: session.token,
      ...(body === undefined ? {} : { method: 'POST', body }),
    });

  const approveOnDevice = async (consent: string): Promise<void> => {
    const text = `SELECT institution_consent_id AS "consentId" FROM aggregator.consents WHERE id = (${consent})`;
    const [row] = await stack.sql<{ consentId: string }>(text, ['fjordbank-sandbox']);
    const decision = { bank: 'fjordbank', consentId: row?.consentId, decision: 'approve' };
    await call(`${stack.urls.sandbox}/control/decoupled`, { method: 'POST', body: decision });
  };

  it('says by what name a bank knows them that asks them on a device of theirs, and approves there', async () => {
    await new ReferencePageVisitor(page, stack.urls.bff).signIn(merchant.apiKey, 'customer-2');
    await page.getByRole('searchbox', { name: 'Find a bank' }).fill('Fjordbank');
    await page.getByRole('button', { name: 'Connect Fjordbank' }).click();
    await page.getByLabel('Your user name at Fjordbank').fill('ada');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Fjordbank waiting for you/ }).waitFor();
    await approveOnDevice('SELECT consent_id FROM bff.connections WHERE institution_id = $1');
    await page.getByRole('heading', { name: /^Fjordbank connected/ }).waitFor();
    expect(new URL(page.url()).origin).toBe(stack.urls.bff);
  });

  it('renews there too, and says again by what name', async () => {
    await new ReferencePageVisitor(page, stack.urls.bff).signIn(merchant.apiKey, 'customer-2');
    await page.getByRole('button', { name: 'Renew Fjordbank' }).click();
    await page.getByLabel('Your user name at Fjordbank').fill('ada');
    await page.keyboard.press('Enter');
    await page.getByLabel('Your user name at Fjordbank').waitFor({ state: 'detached' });
    await approveOnDevice(
      'SELECT r.consent_id FROM bff.renewals r JOIN bff.connections c ON c.id = r.connection_id WHERE c.institution_id = $1',
    );
    await page.getByRole('log').getByText('The renewal of Fjordbank is complete').waitFor();
    expect(await page.getByRole('log').innerText()).not.toContain('Fjordbank needs you');
    await page.getByRole('heading', { name: /^Fjordbank connected/ }).waitFor();
  });

  it('renews from an e-mail: one link, one button, the bank’s own pages, and back', async () => {
    const asked = await bff<Connection>('/connections', { institutionId: 'meridian-sandbox' });
    await page.goto(asked.authorisationUrl);
    await confirmAtBank(page, 'ada');
    await approveAtBank(page, ['Everyday'], (url) => url.origin === stack.urls.bff);
    const { url } = await bff<Link>(`/connections/${asked.id}/renewal-links`, { returnUrl: `${stack.urls.bff}/` });
    await page.goto(url);
    await page.getByRole('heading', { name: 'Renew the connection to Meridian Bank' }).waitFor();
    await page.getByRole('button', { name: 'Continue to Meridian Bank' }).click();
    await confirmAtBank(page, 'ada');
    // The reference page takes the answer out of its address at once.
    await approveAtBank(page, ['Everyday'], (back) => back.searchParams.get('renewal-status') === 'completed');
    expect(new URL(page.url()).origin).toBe(stack.urls.bff);
    await page.goto(url);
    await page.getByRole('heading', { name: 'This link is not valid any more.' }).waitFor();
  });
});
