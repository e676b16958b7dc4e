import { bankStyle } from './bank-style.js';
import { banks } from './banks.js';
import { html } from './html.js';
import { personas } from './personas.js';
import type { ActiveFault } from './scenarios.js';

export const houseStyle = bankStyle({ colour: '#2f4858', colourDark: '#1d2d38' });

/** The sandbox's front door: which banks it plays, who can log in, what time it is there, what is switched on. */
export function startPage(state: {
  url: string;
  now: string;
  offsetMs: number;
  seed: string;
  faults: readonly ActiveFault[];
}): string {
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
              >Sandbox bank<span class="tagline">Invented banks that speak UK Open Banking v4.0</span></span
            >
          </div>
        </header>
        <main class="wide">
          <div class="card">
            <h1>Banks</h1>
            <div class="scroll">
              <table>
                <thead>
                  <tr>
                    <th>Bank</th>
                    <th>Issuer</th>
                    <th>Authorisation response</th>
                    <th>Refresh tokens</th>
                    <th>Page size</th>
                  </tr>
                </thead>
                <tbody>
                  ${banks.map(
                    (bank) =>
                      html`<tr>
                        <td>${bank.name}</td>
                        <td>
                          <a href="/banks/${bank.id}/.well-known/openid-configuration">${state.url}/banks/${bank.id}</a>
                        </td>
                        <td>${bank.authorisationResponse === 'hybrid' ? 'code id_token' : 'JARM'}</td>
                        <td>${bank.rotatesRefreshTokens ? 'rotate' : 'stay'}</td>
                        <td>${bank.pageSize}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>
          </div>
          <div class="card">
            <h1>People</h1>
            <p>The same customers at every bank, with accounts of their own at each.</p>
            <div class="scroll">
              <table>
                <thead>
                  <tr>
                    <th>Name</th>
                    <th>User name</th>
                    <th>Password</th>
                    <th>Code</th>
                    <th>Accounts</th>
                    <th>About</th>
                  </tr>
                </thead>
                <tbody>
                  ${personas.map(
                    (persona) =>
                      html`<tr>
                        <td>${persona.name}</td>
                        <td><code>${persona.id}</code></td>
                        <td><code>${persona.password}</code></td>
                        <td><code>${persona.code}</code></td>
                        <td>${persona.accounts.map((account) => account.nickname).join(', ')}</td>
                        <td>${persona.about}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>
          </div>
          <div class="card">
            <h1>State</h1>
            <dl class="facts">
              <dt>The bank's clock</dt>
              <dd>${state.now}</dd>
              <dt>Moved by</dt>
              <dd>${Math.round(state.offsetMs / 1000)} s</dd>
              <dt>Seed</dt>
              <dd>${state.seed}</dd>
            </dl>
            <h2>Faults switched on</h2>
            ${
              state.faults.length === 0
                ? html`<p class="quiet">None.</p>`
                : html`<ul class="ticks">
                    ${state.faults.map((fault) => html`<li><code>${fault.fault}</code> at ${fault.bank} on ${fault.route}, ${fault.left === undefined ? 'until switched off' : `${fault.left} more times`}</li>`)}
                  </ul>`
            }
            <p class="quiet">The remote control is at <code>/control</code>; see the README of apps/sandbox-bank.</p>
          </div>
        </main>
      </body>
    </html>`.text;
}
