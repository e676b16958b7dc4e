import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BerlinGroupBank } from '../banks.js';
import { findPersona, type Persona } from '../personas.js';
import { accountAccessPage, renderErrorPage, type Visit } from '../psu-pages.js';
import type { Outcome, Subject } from '../visits.js';
import type { Authorisation } from './authorisations.js';
import { modelOf } from './consent-request.js';
import { isFinal } from './consent-state.js';
import type { BerlinConsent } from './consents.js';
import type { BerlinContext } from './context.js';
import { offeredAccounts } from './sca.js';

/**
 * The PSU's decision on a consent: in the browser that the TPP sent (redirect), or on the PSU's own device (decoupled). The first
 * browser that opens a visit gets a same-site cookie, and the visit is that browser's from then on.
 */
export class ConsentVisits {
  constructor(private readonly context: BerlinContext) {}

  async open(request: FastifyRequest, reply: FastifyReply, uid: string): Promise<Subject | string> {
    const { bank, authorisations, consents, tpps } = this.context;
    const found = authorisations.find(bank.id, uid);
    const consent = found && consents.find(bank.id, found.consentId);
    const isOpen = consent && !isFinal(found.scaStatus) && bank.approach !== 'embedded';
    if (!isOpen || !this.#isOwnBrowser(request, reply, found))
      return 'This visit has ended or belongs to another browser.';
    const tpp = tpps.find((each) => each.clientId === consent.clientId);
    const others = consent.signers.map((id) => findPersona(id)?.name ?? id).join(' and ');
    return {
      tpp: tpp?.name ?? consent.clientId,
      note: others === '' ? undefined : `${others} has approved. A second authorised person has to approve too.`,
      refuses: (persona) => this.#refusal(found, consent, persona),
      review: (visit, persona) => this.#review(visit, persona, consent),
      approve: (persona, chosen) => this.#approve(found, consent, persona, chosen),
      deny: async () => {
        authorisations.fail(found);
        return this.#leave(consent.redirects.nok ?? consent.redirects.ok, 'The request has been turned down.');
      },
    };
  }

  #isOwnBrowser(request: FastifyRequest, reply: FastifyReply, authorisation: Authorisation): boolean {
    const { bank, authorisations } = this.context;
    const name = `${bank.id}_visit`;
    const cookies = (request.headers.cookie ?? '').split(';').map((each) => each.trim());
    if (authorisation.browser !== null) return cookies.includes(`${name}=${authorisation.browser}`);
    if (request.method !== 'GET') return false;
    const browser = randomBytes(16).toString('hex');
    authorisations.bind(authorisation, browser);
    reply.header(
      'set-cookie',
      `${name}=${browser}; Path=/banks/${bank.id}/psu/${authorisation.id}; HttpOnly; SameSite=Lax`,
    );
    return true;
  }

  #refusal(authorisation: Authorisation, consent: BerlinConsent, persona: Persona): string | undefined {
    if (consent.signers.includes(persona.id))
      return 'You have approved already. Another authorised person has to log in.';
    // A device is one person's own, and so is the token of a pre-step; elsewhere a PSU-ID is only a hint.
    const { approach, preStep } = this.context.bank;
    const owner = approach === 'decoupled' ? authorisation.psuId : preStep === 'redirect' ? consent.psuId : persona.id;
    const isForAnother = owner !== persona.id;
    return isForAnother ? 'This request is for another customer.' : undefined;
  }

  #review(visit: Visit, persona: Persona, consent: BerlinConsent): { page: string; status?: number } {
    const { ledger } = this.context;
    const owner = consent.persona === undefined ? persona : (findPersona(consent.persona) ?? persona);
    const offered = offeredAccounts(this.context, consent, owner);
    const shown = consent.signers.length > 0 ? offered.filter(({ id }) => consent.accountIds.includes(id)) : offered;
    if (shown.length === 0)
      return { page: renderErrorPage(visit.bank, 'You have none of the accounts that are asked for.'), status: 422 };
    const accounts = shown.map((account) => ({ ...account, availableMinor: ledger.balances(account).availableMinor }));
    return {
      page: accountAccessPage({
        ...visit,
        accounts,
        shared: sharedBy(this.context.bank, consent),
        until: consent.ask.validUntil,
        checked: accounts.map((account) => account.id),
        isSettled: consent.signers.length > 0 || modelOf(consent.ask.access) === 'dedicated',
      }),
    };
  }

  async #approve(
    authorisation: Authorisation,
    consent: BerlinConsent,
    persona: Persona,
    wanted: string[],
  ): Promise<Outcome> {
    const { bank, authorisations, consents } = this.context;
    const refusal = this.#refusal(authorisation, consent, persona);
    if (refusal !== undefined) return { again: refusal };
    const offered = offeredAccounts(this.context, consent, persona).map((account) => account.id);
    const isChoice = consent.signers.length === 0 && modelOf(consent.ask.access) !== 'dedicated';
    const accountIds = isChoice ? offered.filter((id) => wanted.includes(id)) : offered;
    if (accountIds.length === 0 && consent.signers.length === 0) return { again: 'Choose at least one account.' };
    if (!consents.sign(bank, consent, { persona: persona.id, accountIds }))
      return { late: 'This request has been decided already.' };
    authorisations.change(authorisation, { scaStatus: 'finalised' });
    return this.#leave(consent.redirects.ok, 'The request is confirmed. Go back to where you came from.');
  }

  /** Back to the TPP after a redirect; a device of the PSU's own has nowhere to go. */
  #leave(redirect: string | undefined, said: string): Outcome {
    return this.context.bank.approach === 'redirect' && redirect !== undefined ? { next: redirect } : { done: said };
  }
}

function sharedBy(bank: BerlinGroupBank, { ask }: BerlinConsent): string[] {
  const { access } = ask;
  const isGlobal = modelOf(access) === 'global';
  const names = ['Your account names and IBANs'];
  if ((isGlobal && bank.tellsBalances) || access.balances || access.availableAccountsWithBalance)
    names.push('Your balances');
  if ((isGlobal && bank.tellsTransactions) || access.transactions)
    names.push('Your transactions: what you spent and received, with whom');
  return names;
}
