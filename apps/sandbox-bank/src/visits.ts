import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import { bankStyle } from './bank-style.js';
import type { Ledger } from './ledger.js';
import { toDisplay, toMinor } from './money.js';
import { intentClaim, intentOf, refreshEndClaim, scaAcr, type BankContext } from './oidc/authorisation-server.js';
import { findPersona, type Persona } from './personas.js';
import {
  accountAccessPage,
  codePage,
  loginPage,
  paymentPage,
  renderErrorPage,
  returningPage,
  type ShownAccount,
  type Visit,
} from './psu-pages.js';
import type { Consent } from './uk-open-banking/consents.js';
import { debtorAccounts, paymentFacts } from './uk-open-banking/debtor.js';
import { isWaiting } from './uk-open-banking/consent-state.js';

const triesMax = 3;
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** How far the PSU has come on this visit. */
interface Progress {
  persona?: string;
  isStrong?: boolean;
  failures: number;
}

interface Opened {
  uid: string;
  params: Record<string, unknown>;
  progress: Progress;
  consent: Consent;
  persona: Persona | undefined;
  visit: Visit;
}

export function sendPage(reply: FastifyReply, page: string, status = 200): FastifyReply {
  return reply.code(status).headers(pageHeaders).send(page);
}

/**
 * The bank's own pages. A visit is bound to the browser by oidc-provider's signed, same-site cookie: a form that another site
 * posts carries none, and a visit of somebody else cannot be opened.
 */
export class Visits {
  constructor(
    private readonly context: BankContext,
    private readonly provider: Provider,
    private readonly ledger: Ledger,
  ) {}

  register(app: FastifyInstance): void {
    const { bank } = this.context;
    const path = `/banks/${bank.id}/psu/:uid`;
    const style = bankStyle(bank);
    app.get(`/banks/${bank.id}/bank.css`, (_request, reply) =>
      reply.header('content-type', 'text/css; charset=utf-8').header('cache-control', 'max-age=300').send(style),
    );
    app.get(path, (request, reply) => this.#guarded(request, reply, (opened) => this.#show(opened, reply)));
    app.post(`${path}/login`, (request, reply) =>
      this.#guarded(request, reply, (opened) => this.#login(opened, request, reply)),
    );
    app.post(`${path}/code`, (request, reply) =>
      this.#guarded(request, reply, (opened) => this.#code(opened, request, reply)),
    );
    app.post(`${path}/decision`, (request, reply) =>
      this.#guarded(request, reply, (opened) => this.#decide(opened, request, reply)),
    );
  }

  async #guarded(
    request: FastifyRequest,
    reply: FastifyReply,
    then: (opened: Opened) => FastifyReply | Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const { bank } = this.context;
    const { uid } = request.params as { uid: string };
    const details = await this.provider.interactionDetails(request.raw, reply.raw).catch(() => undefined);
    if (!details || details.uid !== uid)
      return sendPage(reply, renderErrorPage(bank, 'This visit has ended or belongs to another browser.'), 400);
    const consent = intentOf(this.context, details.params);
    if (typeof consent === 'string')
      return sendPage(reply, renderErrorPage(bank, `The request cannot be authorised: ${consent}.`), 400);
    const progress = this.#progress(uid);
    const persona = progress.persona === undefined ? undefined : findPersona(progress.persona);
    const tpp = this.context.tpps.find((each) => each.clientId === details.params['client_id']);
    const visit = {
      bank,
      tpp: tpp?.name ?? String(details.params['client_id']),
      action: `/banks/${bank.id}/psu/${uid}`,
    };
    return then({ uid, params: details.params, progress, consent, persona, visit });
  }

  #progress(uid: string): Progress {
    const stored = this.context.store.get<{ state: string }>('SELECT state FROM visits WHERE uid = ?', uid);
    return stored ? (JSON.parse(stored.state) as Progress) : { failures: 0 };
  }

  #keep(uid: string, progress: Progress): void {
    const { store, clock } = this.context;
    store.run(
      'INSERT INTO visits (uid, state, startedAt) VALUES (?, ?, ?) ON CONFLICT (uid) DO UPDATE SET state = excluded.state',
      uid,
      JSON.stringify(progress),
      clock.now(),
    );
  }

  #show(opened: Opened, reply: FastifyReply, alert?: string): FastifyReply {
    const { persona, progress, consent } = opened;
    const visit = { ...opened.visit, alert };
    const status = alert === undefined ? 200 : 422;
    if (!persona) return sendPage(reply, loginPage(visit), status);
    if (!progress.isStrong) return sendPage(reply, codePage({ ...visit, persona }), status);
    const accounts = this.#accounts(persona, consent);
    if (consent.family === 'account') {
      const permissions = consent.request.data['Permissions'] as string[];
      const until =
        consent.expiresAt === undefined ? undefined : new Date(consent.expiresAt).toUTCString().slice(5, 16);
      const checked = consent.accountIds.length > 0 ? consent.accountIds : accounts.map((account) => account.id);
      return sendPage(reply, accountAccessPage({ ...visit, accounts, permissions, until, checked }), status);
    }
    if (accounts.length === 0)
      return sendPage(
        reply,
        renderErrorPage(opened.visit.bank, 'You have no account that this payment can be made from.'),
        422,
      );
    const facts = paymentFacts(consent);
    const amount = toDisplay(toMinor(facts.amount) ?? 0, facts.currency);
    return sendPage(
      reply,
      paymentPage({ ...visit, accounts, payee: facts.payee, amount, checked: accounts[0]?.id }),
      status,
    );
  }

  #accounts(persona: Persona, consent: Consent): ShownAccount[] {
    this.context.payments.settle(this.context.bank.id);
    const all = this.ledger.accountsOf(this.context.bank.id, persona.id);
    const offered = consent.family === 'account' ? all : debtorAccounts(all, consent);
    return offered.map((account) => ({ ...account, availableMinor: this.ledger.balances(account).availableMinor }));
  }

  #login(opened: Opened, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> {
    const form = formOf(request);
    const persona = findPersona(form.one('username').trim().toLowerCase());
    if (!persona || persona.password !== form.one('password'))
      return this.#failed(opened, reply, 'That user name and password do not match.');
    this.#keep(opened.uid, { persona: persona.id, failures: 0 });
    return reply.redirect(opened.visit.action, 303);
  }

  #code(opened: Opened, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> {
    if (!opened.persona) return reply.redirect(opened.visit.action, 303);
    if (formOf(request).one('code').trim() !== opened.persona.code)
      return this.#failed(opened, reply, 'That code is not right.');
    this.#keep(opened.uid, { persona: opened.persona.id, isStrong: true, failures: 0 });
    return reply.redirect(opened.visit.action, 303);
  }

  #failed(opened: Opened, reply: FastifyReply, alert: string): FastifyReply | Promise<FastifyReply> {
    const progress = { ...opened.progress, failures: opened.progress.failures + 1 };
    this.#keep(opened.uid, progress);
    return progress.failures >= triesMax
      ? this.#deny(opened, reply, 'The PSU failed to authenticate')
      : this.#show(opened, reply, alert);
  }

  async #decide(opened: Opened, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const form = formOf(request);
    if (form.one('decision') !== 'approve') return this.#deny(opened, reply, 'The PSU rejected the request');
    const { persona, progress, consent, params } = opened;
    if (!persona || !progress.isStrong) return reply.redirect(opened.visit.action, 303);
    const offered = new Set(this.#accounts(persona, consent).map((account) => account.id));
    const chosen = [...new Set(form.all('account'))].filter((id) => offered.has(id));
    if (chosen.length === 0) return this.#show(opened, reply, 'Choose at least one account.');
    if (consent.family === 'payment' && chosen.length > 1) return this.#show(opened, reply, 'Choose one account.');
    const grant = new this.provider.Grant({ accountId: persona.id, clientId: String(params['client_id']) });
    grant.addOIDCScope(String(params['scope']));
    grant.addOIDCClaims([intentClaim, refreshEndClaim, 'acr']);
    const grantId = await grant.save();
    if (!this.context.consents.authorise(consent, { persona: persona.id, accountIds: chosen, grantId })) {
      return sendPage(reply, renderErrorPage(this.context.bank, 'This request has been decided already.'), 409);
    }
    return this.#finish(opened, request, reply, {
      login: { accountId: persona.id, acr: scaAcr, amr: ['pwd', 'otp'], remember: false },
      consent: { grantId },
    });
  }

  #deny(opened: Opened, reply: FastifyReply, reason: string): Promise<FastifyReply> {
    // A refused renewal leaves the consent as it was; a refused new consent is over.
    if (isWaiting(opened.consent.status)) this.context.consents.move(opened.consent, 'RJCT', reason);
    return this.#finish(opened, reply.request, reply, { error: 'access_denied', error_description: reason });
  }

  async #finish(
    opened: Opened,
    request: FastifyRequest,
    reply: FastifyReply,
    result: Parameters<Provider['interactionResult']>[2],
  ): Promise<FastifyReply> {
    const url = await this.provider.interactionResult(request.raw, reply.raw, result, {
      mergeWithLastSubmission: false,
    });
    this.context.store.run('DELETE FROM visits WHERE uid = ?', opened.uid);
    return sendPage(reply, returningPage(this.context.bank, opened.visit.tpp, url));
  }
}

/** A posted form; a name may come several times. */
function formOf(request: FastifyRequest): { one: (name: string) => string; all: (name: string) => string[] } {
  const body =
    typeof request.body === 'object' && request.body !== null
      ? new Map<string, unknown>(Object.entries(request.body))
      : new Map<string, unknown>();
  const all = (name: string): string[] => [body.get(name)].flat().filter((value) => typeof value === 'string');
  return { all, one: (name) => all(name)[0] ?? '' };
}
