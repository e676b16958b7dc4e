import { bankStyle } from './bank-style.js';
import { berlinGroupBanks, ukBanks } from './banks.js';
import { html, type Html } from './html.js';
import { personas } from './personas.js';
import type { ActiveFault } from './scenarios.js';

export const houseStyle = bankStyle({ colour: '#2f4858', colourDark: '#1d2d38' });

interface StartState {
  url: string;
  /** Where TPPs go, with their certificates. */
  tlsUrl: string;
  now: string;
  offsetMs: number;
  seed: string;
  faults: readonly ActiveFault[];
}

/** The sandbox's front door: which banks it plays, who can log in, what time it is there, what is switched on. */
export function startPage(state: StartState): string {
  const body = [ukCard(state), berlinGroupCard(state), peopleCard(), stateCard(state)];
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Sandbox bank</title>
        <link rel="stylesheet" href="/house.css" />
      </head>
      <body>
        <header class="wide">
          <div>
            <span class="mark" aria-hidden="true">S</span
            ><span class="name"
              >Sandbox bank<span class="tagline">Invented banks that speak what real ones speak</span></span
            >
          </div>
        </header>
        <main class="wide">${body.map((part) => html`<div class="card">${part}</div>`)}</main>
      </body>
    </html>`.text;
}

function table(headings: string[], rows: Html[]): Html {
  const head = headings.map((heading) => html`<th scope="col">${heading}</th>`);
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function ukCard({ url, tlsUrl }: StartState): Html {
  const rows = ukBanks.map((bank) => {
    const issuer = `${url}/banks/${bank.id}`;
    const answer = bank.authorisationResponse === 'hybrid' ? 'code id_token' : 'JARM';
    return html`<tr>
      <td>${bank.name}</td>
      <td><a href="/banks/${bank.id}/.well-known/openid-configuration">${issuer}</a></td>
      <td>${bank.version}</td>
      <td>${bank.clientAuthentication}</td>
      <td>${bank.bindsTokens ? 'bound' : 'bearer'}</td>
      <td>${answer}</td>
      <td>${bank.rotatesRefreshTokens ? 'rotate' : 'stay'}</td>
      <td>${bank.pageSize}</td>
    </tr>`;
  });
  const headings = ['Bank', 'Issuer', 'Version', 'TPP known by', 'Tokens', 'Answer', 'Refresh tokens', 'Page size'];
  return html`<h1>UK Open Banking</h1>
    <p>Tokens and resources over mutual TLS, at <code>${tlsUrl}</code>.</p>
    ${table(headings, rows)}`;
}

function berlinGroupCard({ tlsUrl }: StartState): Html {
  const rows = berlinGroupBanks.map((bank) => {
    const approach = [
      bank.preStep === 'redirect' ? 'OAuth 2.0 pre-step, then ' : '',
      bank.approach,
      bank.authorisers > 1 ? ', two people sign' : '',
    ];
    return html`<tr>
      <td>${bank.name}</td>
      <td><code>${tlsUrl}/banks/${bank.id}/v1</code></td>
      <td>
        ${approach} ${bank.approach === 'decoupled' && html`(<a href="/banks/${bank.id}/device">the PSUs' devices</a>)`}
      </td>
      <td>${bank.country}</td>
      <td>${bank.errorShape === 'tpp-messages' ? 'tppMessages' : 'problem+json'}</td>
    </tr>`;
  });
  return html`<h1>Berlin Group NextGenPSD2</h1>
    <p>Over mutual TLS: the certificate's organizationIdentifier says who the TPP is.</p>
    ${table(['Bank', 'Address', 'Approach', 'Country', 'Errors'], rows)}`;
}

function peopleCard(): Html {
  const rows = personas.map((persona) => {
    const accounts = persona.accounts.map((account) => account.nickname).join(', ');
    return html`<tr>
      <td>${persona.name}</td>
      <td><code>${persona.id}</code></td>
      <td><code>${persona.password}</code></td>
      <td><code>${persona.code}</code></td>
      <td>${accounts}</td>
      <td>${persona.about}</td>
    </tr>`;
  });
  const people = table(['Name', 'User name', 'Password', 'Code', 'Accounts', 'About'], rows);
  return html`<h1>People</h1>
    <p>The same customers at every bank, with accounts of their own at each; abroad, current and savings in euros.</p>
    ${people}`;
}

function stateCard({ now, offsetMs, seed, faults }: StartState): Html {
  const lines = faults.map((fault) => {
    const left = fault.left === undefined ? 'until switched off' : `${fault.left} more times`;
    return html`<li><code>${fault.fault}</code> at ${fault.bank} on ${fault.route}, ${left}</li>`;
  });
  const shown =
    lines.length === 0
      ? html`<p class="quiet">None.</p>`
      : html`<ul class="ticks">
          ${lines}
        </ul>`;
  return html`<h1>State</h1>
    <dl class="facts">
      <dt>The bank's clock</dt>
      <dd>${now}</dd>
      <dt>Moved by</dt>
      <dd>${Math.round(offsetMs / 1000)} s</dd>
      <dt>Seed</dt>
      <dd>${seed}</dd>
    </dl>
    <h2>Faults switched on</h2>
    ${shown}
    <p class="quiet">The remote control is at <code>/control</code>; see the README of apps/sandbox-bank.</p>`;
}
