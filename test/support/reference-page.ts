import type { Page } from 'playwright-core';
import { approveAtBank, confirmAtBank } from './psu.js';

/** What a visitor of the reference page does, step by step. */
export class ReferencePageVisitor {
  constructor(
    readonly page: Page,
    private readonly bffUrl: string,
  ) {}

  async signIn(apiKey: string, reference: string): Promise<void> {
    await this.page.goto(`${this.bffUrl}/`);
    await this.page.getByLabel('Merchant API key').fill(apiKey);
    await this.page.getByLabel('Customer').fill(reference);
    await this.page.getByRole('button', { name: 'Open a session' }).click();
    await this.page.getByRole('heading', { name: 'Banks' }).waitFor();
  }

  /** Connects a bank through its own pages, and waits until what its accounts hold has been synchronised. */
  async connect(bank: string, accounts: string[]): Promise<void> {
    await this.page.getByRole('searchbox', { name: 'Find a bank' }).fill(bank);
    await this.page.getByRole('button', { name: `Connect ${bank}` }).click();
    await confirmAtBank(this.page, 'ada');
    await approveAtBank(this.page, accounts, (url) => url.origin === this.bffUrl);
    await this.page.getByText('connection.synced').first().waitFor();
  }

  /** Renews a connection through the bank's own pages. */
  async renew(bank: string, accounts: string[]): Promise<void> {
    await this.page.getByRole('button', { name: `Renew ${bank}` }).click();
    await confirmAtBank(this.page, 'ada');
    await approveAtBank(this.page, accounts, (url) => url.origin === this.bffUrl);
  }

  /** Synchronises a connection, and waits until it is over. */
  async synchronise(bank: string): Promise<void> {
    const button = this.page.getByRole('button', { name: `Synchronise ${bank}` });
    await button.click();
    await this.page.getByRole('progressbar', { name: `Synchronising ${bank}` }).waitFor();
    await button.waitFor();
  }

  /** Pays what the form proposes, and waits until the payment is completed. */
  async pay(): Promise<void> {
    await this.page.getByRole('button', { name: 'Pay by bank' }).click();
    await confirmAtBank(this.page, 'ada');
    await this.page.getByRole('button', { name: 'Approve' }).click();
    await this.page.waitForURL((url) => url.origin === this.bffUrl);
    await this.page.getByRole('list', { name: 'Payments' }).getByText('made', { exact: true }).first().waitFor();
  }
}
