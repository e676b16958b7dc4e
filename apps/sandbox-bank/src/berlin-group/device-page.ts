import type { FastifyInstance } from 'fastify';
import { html } from '../html.js';
import { layout } from '../psu-pages.js';
import { sendPage } from '../visits.js';
import type { BerlinContext } from './context.js';
import type { DeviceLogins } from './device-logins.js';
import { visitAddress } from './sca.js';

/** Stands in for the phones of all PSUs: the requests that wait for a confirmation, each with a link to confirm it. */
export function registerDevicePage(app: FastifyInstance, context: BerlinContext, logins?: DeviceLogins): void {
  const { bank, address, authorisations, consents, tpps } = context;
  app.get(`/banks/${bank.id}/device`, async (_request, reply) => {
    const loginItems = (await logins?.waiting())?.map(({ id, psuId, clientId }) => {
      const name = tpps.find((tpp) => tpp.clientId === clientId)?.name ?? clientId;
      return html`<li><a href="${address}/login/${id}">${name} asks who ${psuId} is</a></li>`;
    });
    const accessItems = authorisations.waiting(bank.id).map((each) => {
      const clientId = consents.find(bank.id, each.consentId)?.clientId;
      const name = tpps.find((tpp) => tpp.clientId === clientId)?.name ?? clientId;
      return html`<li>
        <a href="${visitAddress(context, each)}">${name} asks ${each.psuId ?? 'somebody'} for access</a>
      </li>`;
    });
    const items = [...(loginItems ?? []), ...accessItems];
    const list =
      items.length === 0
        ? html`<p>Nothing waits for anybody.</p>`
        : html`<ul class="ticks">
            ${items}
          </ul>`;
    const body = html`<h1>Your ${bank.name} app</h1>
      ${list}
      <p class="hint">Sandbox: this page stands in for the phones of all customers. Load it again to look anew.</p>`;
    return sendPage(reply, layout({ bank, title: 'App', body }));
  });
}
