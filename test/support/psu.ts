import type { Page } from 'playwright-core';

/** Who logs in at the sandbox banks, as their start page says. */
export const personas = {
  ada: { username: 'ada', password: 'ada-sandbox', code: '123456' },
  ben: { username: 'ben', password: 'ben-sandbox', code: '234567' },
} as const;

/** The person in front of a real browser: opens the bank's page, logs in and confirms with the one-time code. */
export async function logInAtBank(page: Page, authorisationUrl: string, persona: keyof typeof personas): Promise<void> {
  await page.goto(authorisationUrl);
  await confirmAtBank(page, persona);
}

/** The same where the bank's page is open already. */
export async function confirmAtBank(page: Page, persona: keyof typeof personas): Promise<void> {
  const { username, password, code } = personas[persona];
  await page.getByLabel('User name').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('One-time code').fill(code);
  await page.getByRole('button', { name: 'Confirm' }).click();
}

/** Leaves just these accounts ticked, and approves; resolves when the browser has left the bank for `arrival`. */
export async function approveAtBank(page: Page, accounts: string[], arrival: (url: URL) => boolean): Promise<void> {
  for (const box of await page.getByRole('checkbox').all()) await box.uncheck();
  for (const name of accounts) await page.getByLabel(new RegExp(`^${name}`)).check();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.waitForURL(arrival);
}
