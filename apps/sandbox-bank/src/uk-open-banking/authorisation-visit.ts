import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import type { Ledger } from '../ledger.js';
import { toDisplay, toMinor } from '../money.js';
import { intentClaim, intentOf, refreshEndClaim, scaAcr, type BankContext } from '../oidc/authorisation-server.js';
import type { Persona } from '../personas.js';
import { accountAccessPage, paymentPage, renderErrorPage, type ShownAccount, type Visit } from '../psu-pages.js';
import type { Outcome, Subject } from '../visits.js';
import { isWaiting } from './consent-state.js';
import type { Consent } from './consents.js';
import { debtorAccounts, paymentFacts } from './debtor.js';

/** Clusters of the UK customer experience guidelines, shortened. */
const meanings: readonly [pattern: RegExp, text: string][] = [
  [/^ReadAccounts/, 'Your account names, numbers and sort codes'],
  [/^ReadBalances$/, 'Your balances'],
  [/^ReadTransactions/, 'Your transactions: what you spent and received, with whom'],
  [/^Read(Beneficiaries|DirectDebits|StandingOrders|ScheduledPayments)/, 'Your regular payments and payees'],
  [/^ReadStatements/, 'Your statements'],
  [/^Read(Products|Offers)$/, 'Your products and offers'],
  [/^ReadParty/, 'Your name and contact details'],
  [/^ReadPAN$/, 'Your card numbers'],
];

interface Arrived {
  request: FastifyRequest;
  reply: FastifyReply;
  params: Record<string, unknown>;
  consent: Consent;
}

/**
 * Visits that an authorisation request of the UK standard starts. They are bound to the browser by oidc-provider's signed,
 * same-site cookie: a form that another site posts carries none, and a visit of somebody else cannot be opened.
 */
export class AuthorisationVisits {
  constructor(
    private readonly context: BankContext,
    private readonly provider: Provider,
    private readonly ledger: Ledger,
  ) {}

  async open(request: FastifyRequest, reply: FastifyReply, uid: string): Promise<Subject | string> {
    const details = await this.provider.interactionDetails(request.raw, reply.raw).catch(() => undefined);
    if (!details || details.uid !== uid) return 'This visit has ended or belongs to another browser.';
    const { params } = details;
    const consent = intentOf(this.context, params);
    if (typeof consent === 'string') return `The request cannot be authorised: ${consent}.`;
    const tpp = this.context.tpps.find((each) => each.clientId === params['client_id']);
    const arrived = { request, reply, params, consent };
    return {
      tpp: tpp?.name ?? String(params['client_id']),
      review: (visit, persona) =>
        consent.family === 'account'
          ? this.#accessPage(visit, persona, consent)
          : this.#paymentPage(visit, persona, consent),
      approve: (persona, chosen) => this.#approve(arrived, persona, chosen),
      deny: (reason) => this.#deny(arrived, reason),
    };
  }

  #accessPage(visit: Visit, persona: Persona, consent: Consent): { page: string } {
    const accounts = this.#accounts(persona, consent);
    const permissions = consent.request.data['Permissions'] as string[];
    const shared = meanings
      .filter(([pattern]) => permissions.some((permission) => pattern.test(permission)))
      .map(([, text]) => text);
    const until = consent.expiresAt === undefined ? undefined : new Date(consent.expiresAt).toUTCString().slice(5, 16);
    const checked = consent.accountIds.length > 0 ? consent.accountIds : accounts.map((account) => account.id);
    return { page: accountAccessPage({ ...visit, accounts, shared, until, checked }) };
  }

  #paymentPage(visit: Visit, persona: Persona, consent: Consent): { page: string; status?: number } {
    const accounts = this.#accounts(persona, consent);
    if (accounts.length === 0)
      return {
        page: renderErrorPage(visit.bank, 'You have no account that this payment can be made from.'),
        status: 422,
      };
    const facts = paymentFacts(consent);
    const amount = toDisplay(toMinor(facts.amount) ?? 0, facts.currency);
    return { page: paymentPage({ ...visit, accounts, payee: facts.payee, amount, checked: accounts[0]?.id }) };
  }

  #accounts(persona: Persona, consent: Consent): ShownAccount[] {
    this.context.payments.settle(this.context.bank.id);
    const all = this.ledger.accountsOf(this.context.bank.id, persona.id);
    const offered = consent.family === 'account' ? all : debtorAccounts(all, consent);
    return offered.map((account) => ({ ...account, availableMinor: this.ledger.balances(account).availableMinor }));
  }

  async #approve(arrived: Arrived, persona: Persona, wanted: string[]): Promise<Outcome> {
    const { consent, params } = arrived;
    const offered = new Set(this.#accounts(persona, consent).map((account) => account.id));
    const chosen = wanted.filter((id) => offered.has(id));
    if (chosen.length === 0) return { again: 'Choose at least one account.' };
    if (consent.family === 'payment' && chosen.length > 1) return { again: 'Choose one account.' };
    const grant = new this.provider.Grant({ accountId: persona.id, clientId: String(params['client_id']) });
    grant.addOIDCScope(String(params['scope']));
    grant.addOIDCClaims([intentClaim, refreshEndClaim, 'acr']);
    const grantId = await grant.save();
    if (!this.context.consents.authorise(consent, { persona: persona.id, accountIds: chosen, grantId }))
      return { late: 'This request has been decided already.' };
    return this.#finish(arrived, {
      login: { accountId: persona.id, acr: scaAcr, amr: ['pwd', 'otp'], remember: false },
      consent: { grantId },
    });
  }

  #deny(arrived: Arrived, reason: string): Promise<Outcome> {
    // A refused renewal leaves the consent as it was; a refused new consent is over.
    if (isWaiting(arrived.consent.status)) this.context.consents.move(arrived.consent, 'RJCT', reason);
    return this.#finish(arrived, { error: 'access_denied', error_description: reason });
  }

  async #finish({ request, reply }: Arrived, result: Parameters<Provider['interactionResult']>[2]): Promise<Outcome> {
    const next = await this.provider.interactionResult(request.raw, reply.raw, result, {
      mergeWithLastSubmission: false,
    });
    return { next };
  }
}
