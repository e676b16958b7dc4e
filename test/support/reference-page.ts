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
    await this.page.getByRole('combobox', { name: 'Bank', exact: true }).selectOption({ label: bank });
    await this.page.getByRole('button', { name: 'Connect', exact: true }).click();
    await confirmAtBank(this.page, 'ada');
    await approveAtBank(this.page, accounts, (url) => url.origin === this.bffUrl);
    await this.page.getByText('connection.synced').first().waitFor();
  }

  /** Pays what the form proposes, and waits until the payment is completed. */
  async pay(): Promise<void> {
    await this.page.getByRole('button', { name: 'Pay by bank' }).click();
    await confirmAtBank(this.page, 'ada');
    await this.page.getByRole('button', { name: 'Approve' }).click();
    await this.page.waitForURL((url) => url.origin === this.bffUrl);
    await this.page.getByRole('list', { name: 'Payments' }).getByText('COMPLETED').first().waitFor();
  }
}
