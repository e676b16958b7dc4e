import type { Bank } from './banks.js';
import { html, type Html } from './html.js';
import { toSortCode } from './identifiers.js';
import type { Account } from './account.js';
import { toDisplay } from './money.js';

/** What every page of a visit knows. `action` is the address of the visit; forms post below it. */
export interface Visit {
  bank: Bank;
  tpp: string;
  action: string;
  alert?: string | undefined;
}

const steps = ['Log in', 'Confirm it is you', 'Review'];

export function layout(page: { bank: Bank; title: string; step?: number; refresh?: string; body: Html }): string {
  const { bank, title, step, refresh, body } = page;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        ${refresh !== undefined && html`<meta http-equiv="refresh" content="0;url=${refresh}" />`}
        <title>${title} – ${bank.name}</title>
        <link rel="stylesheet" href="/banks/${bank.id}/bank.css" />
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        <header>
          <div>
            <span class="mark" aria-hidden="true">${bank.name.slice(0, 1)}</span>
            <span class="name">${bank.name}<span class="tagline">${bank.tagline}</span></span
            ><span class="lock">Open Banking</span>
          </div>
        </header>
        <main id="main">
          ${
            step !== undefined &&
            html`<ol class="steps" aria-label="Progress">
              ${steps.map((name, index) => html`<li${index === step && html` aria-current="step"`}${index < step && html` class="done"`}>${name}</li>`)}
            </ol>`
          }
          <div class="card">${body}</div>
        </main>
        <footer>
          This is a sandbox. ${bank.name} is not a bank, nobody on these pages is real, and no money moves.
        </footer>
      </body>
    </html>`.text;
}

const alertOf = (alert: string | undefined): Html | undefined =>
  alert === undefined ? undefined : html`<p class="alert" role="alert">${alert}</p>`;

export function loginPage({ bank, tpp, action, alert, note }: Visit & { note?: string | undefined }): string {
  return layout({
    bank,
    title: 'Log in',
    step: 0,
    body: html`<h1>Log in to continue</h1>
      <p><strong>${tpp}</strong> has sent you to us. Log in as you always do; they never see your password.</p>
      ${note !== undefined && html`<p class="quiet">${note}</p>`} ${alertOf(alert)}
      <form method="post" action="${action}/login">
        <label class="field" for="username">User name</label>
        <input
          id="username"
          name="username"
          type="text"
          autocomplete="username"
          autocapitalize="none"
          spellcheck="false"
          required
          autofocus
        />
        <label class="field" for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required />
        <div class="actions"><button type="submit">Log in</button></div>
      </form>
      <form method="post" action="${action}/decision">
        <div class="actions"><button class="second" name="decision" value="deny">Cancel and go back</button></div>
      </form>
      <p class="hint">
        Sandbox logins: <code>ada</code> / <code>ada-sandbox</code>, <code>ben</code> / <code>ben-sandbox</code>,
        <code>chloe</code> / <code>chloe-sandbox</code>
      </p>`,
  });
}

export function codePage(visit: Visit & { persona: { name: string; code: string } }): string {
  const { bank, action, alert, persona } = visit;
  return layout({
    bank,
    title: 'Confirm it is you',
    step: 1,
    body: html`<h1>Confirm it is you</h1>
      <p>Welcome back, ${persona.name}. We have sent a six-digit code to your phone.</p>
      ${alertOf(alert)}
      <form method="post" action="${action}/code">
        <label class="field" for="code">One-time code</label>
        <input
          class="code"
          id="code"
          name="code"
          type="text"
          inputmode="numeric"
          autocomplete="one-time-code"
          pattern="[0-9]{6}"
          maxlength="6"
          required
          autofocus
        />
        <div class="actions"><button type="submit">Confirm</button></div>
      </form>
      <form method="post" action="${action}/decision">
        <div class="actions"><button class="second" name="decision" value="deny">Cancel and go back</button></div>
      </form>
      <p class="hint">Sandbox: no phone rings. The code is <code>${persona.code}</code>.</p>`,
  });
}

export type ShownAccount = Account & { availableMinor: number };

/** How an account is written for its holder. */
export function accountNumberOf(account: Account): string {
  if (account.sortCode !== null && account.accountNumber !== null)
    return `${toSortCode(account.sortCode)} ${account.accountNumber}`;
  if (account.iban !== null) return account.iban.replace(/(.{4})(?=.)/g, '$1 ');
  return `•••• ${account.maskedPan?.slice(-4) ?? ''}`;
}

function choice(account: ShownAccount, input: Html): Html {
  return html`<label class="choice"
    >${input}<span
      ><b>${account.nickname}</b>${account.description}<br /><span class="quiet"
        >${accountNumberOf(account)}</span
      ></span
    ><span class="amount">${toDisplay(account.availableMinor, account.currency)}</span></label
  >`;
}

const decisions = html`<div class="actions">
  <button type="submit" name="decision" value="approve">Approve</button
  ><button class="second" type="submit" name="decision" value="deny" formnovalidate>Deny</button>
</div>`;

export function accountAccessPage(
  visit: Visit & {
    accounts: ShownAccount[];
    /** What is shared, in the PSU's words. */
    shared: readonly string[];
    until?: string | undefined;
    checked: string[];
    /** Whether the accounts are settled: they are then shown, not chosen. */
    isSettled?: boolean;
  },
): string {
  const { bank, tpp, action, alert, accounts, shared, until, checked, isSettled = false } = visit;
  const input = (account: ShownAccount): Html =>
    html`<input
      type="checkbox"
      name="account"
      value="${account.id}"
      ${checked.includes(account.id) && html` checked`}
    />`;
  return layout({
    bank,
    title: 'Share account information',
    step: 2,
    body: html`<h1>Share your account information?</h1>
      ${alertOf(alert)}
      <p><strong>${tpp}</strong> asks to read:</p>
      <ul class="ticks">
        ${shared.map((text) => html`<li>${text}</li>`)}
      </ul>
      <p class="quiet">
        ${until === undefined ? 'Until you stop it.' : `Until ${until}, unless you stop it before.`} They cannot make
        payments.
      </p>
      <form method="post" action="${action}/decision">
        <h2 id="which">${isSettled ? 'From these accounts' : 'From which accounts?'}</h2>
        <div role="group" aria-labelledby="which">
          ${accounts.map((account) => choice(account, isSettled ? html`` : input(account)))}
        </div>
        ${decisions}
      </form>`,
  });
}

/** The end of a login that shares nothing by itself: the third party may then ask for something. */
export function loginConsentPage({ bank, tpp, action, alert }: Visit): string {
  return layout({
    bank,
    title: 'Connect',
    step: 2,
    body: html`<h1>Connect ${tpp} with ${bank.name}?</h1>
      ${alertOf(alert)}
      <p>
        <strong>${tpp}</strong> may then ask us in your name. Nothing is shared yet: we show you every request, and you
        decide.
      </p>
      <form method="post" action="${action}/decision">${decisions}</form>`,
  });
}

export function paymentPage(
  visit: Visit & {
    accounts: ShownAccount[];
    payee: { name: string; account: string; reference?: string | undefined };
    amount: string;
    checked: string | undefined;
  },
): string {
  const { bank, tpp, action, alert, accounts, payee, amount, checked } = visit;
  return layout({
    bank,
    title: 'Approve a payment',
    step: 2,
    body: html`<h1>Approve this payment?</h1>
      ${alertOf(alert)}
      <p class="sum">${amount}</p>
      <dl class="facts">
        <dt>To</dt>
        <dd>${payee.name}</dd>
        <dt>Account</dt>
        <dd>${payee.account}</dd>
        ${
          payee.reference !== undefined &&
          html`<dt>Reference</dt>
            <dd>${payee.reference}</dd>`
        }
        <dt>Asked for by</dt>
        <dd>${tpp}</dd>
      </dl>
      <form method="post" action="${action}/decision">
        <h2 id="which">Pay from</h2>
        <div role="radiogroup" aria-labelledby="which">
          ${accounts.map((account) => choice(account, html`<input type="radio" name="account" value="${account.id}" ${checked === account.id && html` checked`} required />`))}
        </div>
        ${decisions}
      </form>`,
  });
}

/** Leads back by a refresh and not by a redirect, so that the form's policy may name this bank alone as its target. */
export function returningPage(bank: Bank, tpp: string, url: string): string {
  return layout({
    bank,
    title: 'Taking you back',
    refresh: url,
    body: html`<h1>Thank you</h1>
      <p>We are taking you back to ${tpp}.</p>
      <div class="actions"><a class="button" href="${url}">Go on</a></div>`,
  });
}

/** The end of a visit that nobody sent a browser to: the PSU confirmed on another device. */
export function donePage(bank: Bank, message: string): string {
  return layout({
    bank,
    title: 'Done',
    body: html`<h1 data-done>Thank you</h1>
      <p>${message}</p>
      <p class="quiet">You can close this page.</p>`,
  });
}

export function renderErrorPage(bank: Bank, message: string): string {
  return layout({
    bank,
    title: 'Something is not right',
    body: html`<h1>We cannot go on</h1>
      <p class="alert" role="alert">${message}</p>
      <p>Nothing has been shared and nothing has been paid. Close this page and start again where you came from.</p>`,
  });
}
