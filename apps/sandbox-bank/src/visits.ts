import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bankStyle } from './bank-style.js';
import type { Bank } from './banks.js';
import type { BankClock } from './clock.js';
import { findPersona, type Persona } from './personas.js';
import { codePage, donePage, loginPage, renderErrorPage, returningPage, type Visit } from './psu-pages.js';
import type { Store } from './store.js';

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

/** How a decision ends: the browser goes on, the PSU has to try again, it came too late, or there is nowhere to go on to. */
export type Outcome = { next: string } | { again: string } | { late: string } | { done: string };

/** What a PSU has come to decide. Each standard knows its own; logging in and SCA are the same for all of them. */
export interface Subject {
  /** What the PSU reads as the name of the third party. */
  tpp: string;
  /** Told on the login page, such as who has signed already. */
  note?: string | undefined;
  /** Why this person cannot decide, if so. */
  refuses?: ((persona: Persona) => string | undefined) | undefined;
  review(visit: Visit, persona: Persona): { page: string; status?: number };
  approve(persona: Persona, chosen: string[]): Promise<Outcome>;
  deny(reason: string): Promise<Outcome>;
}

/** How far the PSU has come on this visit. */
interface Progress {
  persona?: string;
  isStrong?: boolean;
  failures: number;
}

interface Opened {
  uid: string;
  subject: Subject;
  progress: Progress;
  persona: Persona | undefined;
  visit: Visit;
}

export interface VisitRooms {
  bank: Bank;
  store: Store;
  clock: BankClock;
  /** The part of the path below the bank, before the visit's id. */
  segment: string;
  /** The subject of a visit that this browser may open, or why it may not. */
  open: (request: FastifyRequest, reply: FastifyReply, uid: string) => Promise<Subject | string>;
}

export function sendPage(reply: FastifyReply, page: string, status = 200): FastifyReply {
  return reply.code(status).headers(pageHeaders).send(page);
}

/** The bank's stylesheet and its mark. */
export function registerBrand(app: FastifyInstance, bank: Bank): void {
  const style = bankStyle(bank);
  const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="${bank.colour}"/><text x="32" y="44" font-family="sans-serif" font-size="34" font-weight="700" fill="#fff" text-anchor="middle">${bank.name.slice(0, 1)}</text></svg>`;
  const files = {
    'bank.css': ['text/css', style],
    'logo.svg': ['image/svg+xml', mark],
    'icon.svg': ['image/svg+xml', mark],
  };
  for (const [name, [type, text]] of Object.entries(files)) {
    app.get(`/banks/${bank.id}/${name}`, (_request, reply) =>
      reply.header('content-type', `${type}; charset=utf-8`).header('cache-control', 'max-age=300').send(text),
    );
  }
}

/** A bank's own pages: log in, apply SCA, decide. Who may open a visit is for the standard to say. */
export class Visits {
  constructor(private readonly on: VisitRooms) {}

  register(app: FastifyInstance): void {
    const path = `/banks/${this.on.bank.id}/${this.on.segment}/:uid`;
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
    const { bank, segment, open } = this.on;
    const { uid } = request.params as { uid: string };
    const subject = await open(request, reply, uid);
    if (typeof subject === 'string') return sendPage(reply, renderErrorPage(bank, subject), 400);
    const progress = this.#progress(uid);
    const persona = progress.persona === undefined ? undefined : findPersona(progress.persona);
    const visit = { bank, tpp: subject.tpp, action: `/banks/${bank.id}/${segment}/${uid}` };
    return then({ uid, subject, progress, persona, visit });
  }

  #progress(uid: string): Progress {
    const stored = this.on.store.get<{ state: string }>('SELECT state FROM visits WHERE uid = ?', uid);
    return stored ? (JSON.parse(stored.state) as Progress) : { failures: 0 };
  }

  #keep(uid: string, progress: Progress): void {
    const { store, clock } = this.on;
    store.run(
      'INSERT INTO visits (uid, state, startedAt) VALUES (?, ?, ?) ON CONFLICT (uid) DO UPDATE SET state = excluded.state',
      uid,
      JSON.stringify(progress),
      clock.now(),
    );
  }

  #show(opened: Opened, reply: FastifyReply, alert?: string): FastifyReply {
    const { persona, progress, subject } = opened;
    const visit = { ...opened.visit, alert };
    const status = alert === undefined ? 200 : 422;
    if (!persona) return sendPage(reply, loginPage({ ...visit, note: subject.note }), status);
    if (!progress.isStrong) return sendPage(reply, codePage({ ...visit, persona }), status);
    const review = subject.review(visit, persona);
    return sendPage(reply, review.page, review.status ?? status);
  }

  #login(opened: Opened, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> {
    const form = formOf(request);
    const persona = findPersona(form.one('username').trim().toLowerCase());
    if (!persona || persona.password !== form.one('password'))
      return this.#failed(opened, reply, 'That user name and password do not match.');
    const refusal = opened.subject.refuses?.(persona);
    if (refusal !== undefined) return this.#failed(opened, reply, refusal);
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

  async #failed(opened: Opened, reply: FastifyReply, alert: string): Promise<FastifyReply> {
    const progress = { ...opened.progress, failures: opened.progress.failures + 1 };
    this.#keep(opened.uid, progress);
    return progress.failures >= triesMax
      ? this.#finish(opened, reply, await opened.subject.deny('The PSU failed to authenticate'))
      : this.#show(opened, reply, alert);
  }

  async #decide(opened: Opened, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const form = formOf(request);
    const { persona, progress, subject } = opened;
    if (form.one('decision') !== 'approve')
      return this.#finish(opened, reply, await subject.deny('The PSU rejected the request'));
    if (!persona || !progress.isStrong) return reply.redirect(opened.visit.action, 303);
    return this.#finish(opened, reply, await subject.approve(persona, [...new Set(form.all('account'))]));
  }

  #finish(opened: Opened, reply: FastifyReply, outcome: Outcome): FastifyReply {
    const { bank, store } = this.on;
    if ('again' in outcome) return this.#show(opened, reply, outcome.again);
    if ('late' in outcome) return sendPage(reply, renderErrorPage(bank, outcome.late), 409);
    store.run('DELETE FROM visits WHERE uid = ?', opened.uid);
    return sendPage(
      reply,
      'next' in outcome ? returningPage(bank, opened.visit.tpp, outcome.next) : donePage(bank, outcome.done),
    );
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
