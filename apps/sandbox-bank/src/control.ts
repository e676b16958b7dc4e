import type { FastifyInstance, FastifyReply } from 'fastify';
import { banks, findBank } from './banks.js';
import type { Authorisations } from './berlin-group/authorisations.js';
import { isHalfSigned } from './berlin-group/consent-state.js';
import type { DeviceLogins } from './berlin-group/device-logins.js';
import type { BerlinConsents } from './berlin-group/consents.js';
import type { Calls } from './calls.js';
import type { BankClock } from './clock.js';
import { type Body, bodyOf, optionalCount, optionalInstant, optionalText, Refusal } from './control-body.js';
import type { Ledger } from './ledger.js';
import { personas } from './personas.js';
import { BrowsingError, PsuBrowser } from './psu-browser.js';
import { accountNumberOf } from './psu-pages.js';
import { faults, isFault, readRoute, type Scenarios } from './scenarios.js';
import { isSlipKind, slip } from './slips.js';
import type { Store } from './store.js';
import type { Consents } from './uk-open-banking/consents.js';
import type { PaymentBook } from './uk-open-banking/payment-book.js';

export interface ControlOptions {
  url: string;
  store: Store;
  clock: BankClock;
  ledger: Ledger;
  scenarios: Scenarios;
  calls: Calls;
  consents: Consents;
  berlin: {
    consents: BerlinConsents;
    authorisations: Authorisations;
    /** By bank, where a pre-step is on the PSU's device. */
    deviceLogins: ReadonlyMap<string, DeviceLogins>;
  };
  payments: PaymentBook;
  firstSeed: string;
}

/** The tests' remote control (design, section 13). It stands outside every bank and is not there in production. */
export function registerControl(app: FastifyInstance, options: ControlOptions): void {
  const { url, clock, scenarios } = options;
  const post = (path: string, work: (body: Body) => object | Promise<object>): void => {
    app.post(`/control/${path}`, (request, reply) => answer(reply, () => work(bodyOf(request.body))));
  };
  post('authorise', (body) => authorise(new URL(url).origin, body));
  post('decoupled', (body) => confirmElsewhere(options, body));
  post('sign', (body) => signAsWell(options, body));
  post('clock', (body) => {
    const advance = optionalText(body, 'advance');
    const set = optionalText(body, 'set');
    if ((advance === undefined) === (set === undefined)) throw new Refusal('advance or set must be given');
    if (advance !== undefined && !clock.advance(advance))
      throw new Refusal('advance is no ISO 8601 duration within ten years');
    if (set !== undefined && !clock.set(set)) throw new Refusal('set is no ISO 8601 instant within ten years');
    return clockState(clock);
  });
  post('faults', (body) => switchOn(scenarios, body));
  app.get('/control/faults', () => ({
    faults: Object.entries(faults).map(([fault, { does }]) => ({ fault, does })),
    active: scenarios.list(),
  }));
  app.delete('/control/faults', (request, reply) =>
    answer(reply, () => {
      const body = bodyOf(request.body ?? request.query);
      const route = optionalText(body, 'route');
      scenarios.switchOff({
        bank: optionalText(body, 'bank'),
        fault: optionalText(body, 'fault'),
        account: optionalText(body, 'account'),
        route: route === undefined ? undefined : (readRoute(route) ?? route),
      });
      return { active: scenarios.list() };
    }),
  );
  post('seed', (body) => sow(options, body));
  post('withdraw', (body) => {
    const bank = optionalText(body, 'bank') ?? '';
    const consentId = optionalText(body, 'consentId') ?? '';
    const by = body.get('by') ?? 'psu';
    if (by !== 'psu' && by !== 'bank') throw new Refusal('by must be psu or bank');
    const { consents, berlin } = options;
    if (!consents.withdraw(bank, consentId, by) && !berlin.consents.withdraw(bank, consentId, by))
      throw new Refusal('bank and consentId name no authorised account consent');
    return { bank, consentId };
  });
  post('close', (body) => {
    const account = optionalText(body, 'account') ?? '';
    if (!options.ledger.close(account)) throw new Refusal('account must be the id of an open account');
    return { account };
  });
  post('slip', (body) => slipOnce(options, body));
  post('reset', () => {
    reset(options);
    return state(options);
  });
  app.get('/control/state', () => state(options));
  app.get('/control/calls', () => ({ calls: options.calls.list() }));
}

async function answer(reply: FastifyReply, work: () => object | Promise<object>): Promise<object> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return reply.code(400).send({ error: error.message });
    if (error instanceof BrowsingError) return reply.code(422).send({ error: error.message });
    throw error;
  }
}

async function authorise(bankOrigin: string, body: Body): Promise<object> {
  const authorisationUrl = optionalText(body, 'authorisationUrl') ?? '';
  const decision = body.get('decision');
  const accounts = body.get('accounts');
  if (!URL.canParse(authorisationUrl) || new URL(authorisationUrl).origin !== bankOrigin)
    throw new Refusal('authorisationUrl must be an address of this bank');
  if (decision !== 'approve' && decision !== 'deny') throw new Refusal('decision must be approve or deny');
  if (accounts !== undefined && !(Array.isArray(accounts) && accounts.every((each) => typeof each === 'string')))
    throw new Refusal('accounts must be a list of texts');
  const persona = optionalText(body, 'persona');
  if (persona !== undefined && !personas.some((each) => each.id === persona))
    throw new Refusal(`persona must be one of ${personas.map((each) => each.id).join(', ')}`);
  return new PsuBrowser(bankOrigin).authorise({
    authorisationUrl,
    decision,
    persona,
    accounts,
    follow: body.get('follow') !== false,
  });
}

/** Plays the PSU's own device: the same pages, opened without the TPP. Without a consent it is a login that waits for them. */
async function confirmElsewhere({ url, berlin }: ControlOptions, body: Body): Promise<object> {
  const bank = optionalText(body, 'bank') ?? '';
  const consentId = optionalText(body, 'consentId') ?? '';
  const decision = body.get('decision');
  if (decision !== 'approve' && decision !== 'deny') throw new Refusal('decision must be approve or deny');
  if (consentId === '') {
    const persona = optionalText(body, 'persona') ?? '';
    const login = (await berlin.deviceLogins.get(bank)?.waiting())?.find(({ psuId }) => psuId === persona);
    if (!login) throw new Refusal('bank and persona name nobody whose device is asked who they are');
    const authorisationUrl = `${url}/banks/${bank}/login/${login.id}`;
    await new PsuBrowser(new URL(url).origin).authorise({ authorisationUrl, decision, persona, follow: false });
    return { bank, persona, decision };
  }
  const waiting = berlin.authorisations.waiting(bank).find((each) => each.consentId === consentId);
  if (!waiting) throw new Refusal('bank and consentId name no consent that waits for its PSU');
  const authorisationUrl = `${url}/banks/${bank}/psu/${waiting.id}`;
  const persona = optionalText(body, 'persona') ?? waiting.psuId ?? undefined;
  await new PsuBrowser(new URL(url).origin).authorise({ authorisationUrl, decision, persona, follow: false });
  return { bank, consentId, decision };
}

/** Plays a further person who has to sign: they come to the bank by themselves, in their own time. */
async function signAsWell({ url, berlin }: ControlOptions, body: Body): Promise<object> {
  const bank = optionalText(body, 'bank') ?? '';
  const consentId = optionalText(body, 'consentId') ?? '';
  const persona = optionalText(body, 'signer');
  const decision = body.get('decision') ?? 'approve';
  if (decision !== 'approve' && decision !== 'deny') throw new Refusal('decision must be approve or deny');
  const consent = berlin.consents.find(bank, consentId);
  if (!consent || !isHalfSigned(consent.status))
    throw new Refusal('bank and consentId name no consent that waits for another signature');
  if (persona !== undefined && !personas.some((each) => each.id === persona && !consent.signers.includes(each.id)))
    throw new Refusal('signer must be a person who has not signed yet');
  const { id } = berlin.authorisations.start(consent, 'received', undefined);
  const authorisationUrl = `${url}/banks/${bank}/psu/${id}`;
  await new PsuBrowser(new URL(url).origin).authorise({ authorisationUrl, decision, persona, follow: false });
  return { bank, consentId, status: berlin.consents.find(bank, consentId)?.status };
}

function slipOnce({ ledger, store }: ControlOptions, body: Body): object {
  const account = ledger.account(optionalText(body, 'account') ?? '');
  const kind = body.get('kind');
  if (!isSlipKind(kind)) throw new Refusal('kind must be lose or double');
  const [since = 0, madeBy = Number.MAX_SAFE_INTEGER] = [
    optionalInstant(body, 'since'),
    optionalInstant(body, 'madeBy'),
  ];
  const entry = account && slip(store, account, { kind, since, madeBy });
  if (!entry) throw new Refusal('account must be the id of an account with such a row');
  return { account: entry.accountId, id: entry.id, amountMinor: entry.amountMinor };
}

function sow(options: ControlOptions, body: Body): object {
  const seed = body.get('seed');
  if (typeof seed !== 'string' && typeof seed !== 'number') throw new Refusal('seed must be a text or a number');
  const bank = optionalText(body, 'bank');
  if (bank !== undefined && !findBank(bank)) throw new Refusal('bank must name a bank');
  options.ledger.seedWith({
    seed: String(seed),
    bank,
    transactions: optionalCount(body, 'transactions', 200_000),
    months: optionalCount(body, 'months', 120),
  });
  return state(options);
}

function switchOn(scenarios: Scenarios, body: Body): object {
  const bank = optionalText(body, 'bank') ?? '*';
  const asked = optionalText(body, 'route') ?? '*';
  const fault = body.get('fault');
  if (bank !== '*' && !findBank(bank))
    throw new Refusal(`bank must be * or one of ${banks.map((each) => each.id).join(', ')}`);
  if (!isFault(fault)) throw new Refusal(`fault must be one of ${Object.keys(faults).join(', ')}`);
  const route = readRoute(asked);
  if (route === undefined)
    throw new Refusal('route must be * or a method and a path template, such as GET /aisp/accounts');
  const account = optionalText(body, 'account');
  scenarios.switchOn({ bank, route, fault, account, left: optionalCount(body, 'times', 1_000_000) });
  return { active: scenarios.list() };
}

/** Back to the first state: seed, clock, no consents, no tokens, no faults. Keys stay, or every TPP would have to fetch them anew. */
function reset({ store, clock, ledger, scenarios, calls, firstSeed }: ControlOptions): void {
  scenarios.switchOff();
  calls.clear();
  clock.reset();
  const tables = [
    'consents',
    'idempotency',
    'oidc',
    'visits',
    'berlin_consents',
    'berlin_authorisations',
    'berlin_reads',
  ];
  for (const table of tables) store.run(`DELETE FROM ${table}`);
  ledger.seedWith({ seed: firstSeed });
}

function clockState(clock: BankClock): object {
  return { now: new Date(clock.now()).toISOString(), offsetMs: clock.offsetMs };
}

function state({ url, store, clock, ledger, scenarios, payments }: ControlOptions): object {
  for (const bank of banks) payments.settle(bank.id);
  // A history is lived when somebody first looks, so accounts are looked at before rows are counted.
  for (const bank of banks) for (const persona of personas) ledger.accountsOf(bank.id, persona.id);
  const rows = store.all<{ accountId: string; rows: number }>(
    'SELECT accountId, COUNT(*) AS rows FROM entries GROUP BY accountId',
  );
  const count = new Map(rows.map((each) => [each.accountId, each.rows]));
  return {
    url,
    clock: clockState(clock),
    seed: ledger.seed,
    faults: scenarios.list(),
    consents: store.all<{ bank: string; family: string; status: string; count: number }>(
      `SELECT bank, family, status, COUNT(*) AS count FROM consents GROUP BY bank, family, status UNION ALL
       SELECT bank, 'account', status, COUNT(*) FROM berlin_consents GROUP BY bank, status`,
    ),
    payments: store.all<{ bank: string; status: string; count: number }>(
      'SELECT bank, status, COUNT(*) AS count FROM payments GROUP BY bank, status',
    ),
    banks: banks.map((bank) => ({
      id: bank.id,
      name: bank.name,
      standard: bank.standard,
      issuer: `${url}/banks/${bank.id}`,
      personas: personas.map((persona) => ({
        id: persona.id,
        name: persona.name,
        password: persona.password,
        code: persona.code,
        accounts: ledger.accountsOf(bank.id, persona.id).map((account) => ({
          id: account.id,
          kind: account.kind,
          nickname: account.nickname,
          currency: account.currency,
          number: accountNumberOf(account),
          transactions: count.get(account.id) ?? 0,
          openingMinor: account.openingMinor,
          ...ledger.balances(account),
        })),
      })),
    })),
  };
}
