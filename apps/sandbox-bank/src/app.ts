import formbody from '@fastify/formbody';
import Fastify, { type FastifyInstance } from 'fastify';
import { bankKeys, type BankKeys } from './bank-keys.js';
import { berlinGroupBanks, ukBanks } from './banks.js';
import { Authorisations } from './berlin-group/authorisations.js';
import { registerBerlinGroupBank } from './berlin-group/bank-routes.js';
import { BerlinConsents } from './berlin-group/consents.js';
import type { DeviceLogins } from './berlin-group/device-logins.js';
import { createPreStepServer } from './berlin-group/pre-step-server.js';
import { BankClock } from './clock.js';
import { registerControl, type ControlOptions } from './control.js';
import { Front } from './front.js';
import { Ledger } from './ledger.js';
import { listen, type Certificates, type Door } from './listen.js';
import { sweep } from './oidc/adapter.js';
import { createAuthorisationServer, type BankContext } from './oidc/authorisation-server.js';
import { Calls } from './calls.js';
import { Scenarios } from './scenarios.js';
import { houseStyle, startPage } from './start-page.js';
import { Store } from './store.js';
import type { Tpp } from './tpps.js';
import { Consents } from './uk-open-banking/consents.js';
import { PaymentBook } from './uk-open-banking/payment-book.js';
import { registerBank } from './uk-open-banking/bank-routes.js';
import { AuthorisationVisits } from './uk-open-banking/authorisation-visit.js';
import { registerBrand, sendPage, Visits, type VisitRooms } from './visits.js';

export const firstSeed = 'tributary';

/** Banks with an authorisation server. */
const banksWithKeys = [...ukBanks, ...berlinGroupBanks.filter((bank) => bank.preStep !== 'none')];

export interface SandboxOptions {
  host?: string;
  /** Pages, metadata and the remote control, for browsers. */
  plain: Door;
  /** The banks' protocols, for TPPs with certificates. */
  secure: Door & Certificates;
  /** The ledger's file, or `:memory:`. */
  file: string;
  tpps: readonly Tpp[];
  hasControl: boolean;
  /** Takes one line per served call: bank, route template, status, milliseconds; nothing of its content. */
  log?: (entry: object) => void;
}

export interface Sandbox {
  url: string;
  tlsUrl: string;
  store: Store;
  clock: BankClock;
  ledger: Ledger;
  close(): Promise<void>;
}

/** Starts every bank. The ledger is seeded when the file is new; whatever happened before a restart is still there. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const store = new Store(options.file);
  const clock = new BankClock(store);
  const ledger = new Ledger(store, clock);
  // Making a key takes other threads a while, so it runs while this one fills the ledger.
  const making = Promise.all(
    banksWithKeys.map(async (bank): Promise<[string, BankKeys]> => [bank.id, await bankKeys(store, bank)]),
  );
  if (ledger.seed === undefined) ledger.seedWith({ seed: firstSeed });
  sweep(store, clock.now());
  const keys = new Map(await making);

  const listening = await listen(options.host ?? '0.0.0.0', options);
  const { url, tlsUrl } = listening;
  const { app, front } = await assemble(options, { url, tlsUrl, store, clock, ledger, keys });
  listening.serveWith((request, response) => front.handle(request, response));

  return {
    url,
    tlsUrl,
    store,
    clock,
    ledger,
    close: async () => {
      await listening.close();
      await app.close();
      store.close();
    },
  };
}

interface Parts {
  url: string;
  tlsUrl: string;
  store: Store;
  clock: BankClock;
  ledger: Ledger;
  keys: ReadonlyMap<string, BankKeys>;
}

/** What the banks of one standard are put together from. */
interface Ground extends Parts {
  app: FastifyInstance;
  front: Front;
  tpps: readonly Tpp[];
  report: (error: unknown) => void;
}

/** Puts every bank's routes together. */
async function assemble(options: SandboxOptions, parts: Parts): Promise<{ app: FastifyInstance; front: Front }> {
  const { url, tlsUrl, store, clock, ledger } = parts;
  const { tpps, log } = options;
  const scenarios = new Scenarios();
  const calls = new Calls();
  const app = Fastify({ logger: false, bodyLimit: 1_048_576, routerOptions: { maxParamLength: 200 } });
  await app.register(formbody);
  refuseUnknown(app);
  const front = new Front({ url, scenarios, calls, clock, log, app });
  const report = (error: unknown): void => {
    log?.({
      level: 'error',
      name: 'sandbox-bank',
      msg: 'failed',
      error: error instanceof Error ? error.stack : 'unknown',
    });
  };
  const ground = { ...parts, app, front, tpps, report };
  const { consents, payments } = await registerUkBanks(ground);
  const berlin = await registerBerlinGroupBanks(ground);
  registerHouse(app, { url, tlsUrl, clock, ledger, scenarios });
  if (options.hasControl)
    registerControl(app, {
      url,
      store,
      clock,
      ledger,
      scenarios,
      calls,
      consents,
      berlin,
      payments,
      firstSeed,
    });
  await app.ready();
  return { app, front };
}

/** 405 where an address takes another method, 404 where there is none: a bank has not everything that another one has. */
function refuseUnknown(app: FastifyInstance): void {
  const patterns = new Map<string, RegExp>();
  app.addHook('onRoute', ({ url }) => {
    patterns.set(url, new RegExp(`^${url.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}$`));
  });
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = (request.raw.url ?? '').split('?');
    return reply.code([...patterns.values()].some((pattern) => pattern.test(path)) ? 405 : 404).send();
  });
}

async function registerUkBanks(ground: Ground): Promise<{ consents: Consents; payments: PaymentBook }> {
  const { app, front, url, tlsUrl, store, clock, ledger, keys, tpps, report } = ground;
  const consents = new Consents(store, clock);
  const payments = new PaymentBook(store, clock, ledger, consents);
  for (const bank of ukBanks) {
    const issuer = `${url}/banks/${bank.id}`;
    const own = keys.get(bank.id) as BankKeys;
    const resources = `${tlsUrl}/banks/${bank.id}`;
    const context: BankContext = { bank, issuer, resources, keys: own, store, clock, consents, payments, tpps, report };
    const provider = createAuthorisationServer(context);
    front.mount(bank.id, provider.callback());
    const visits = new AuthorisationVisits(context, provider, ledger);
    const open: VisitRooms['open'] = (request, reply, uid) => visits.open(request, reply, uid);
    new Visits({ bank, store, clock, segment: 'psu', open }).register(app);
    registerBrand(app, bank);
    await registerBank(app, { context, provider, ledger, faultOf: (request) => front.faultOf(request) });
  }
  return { consents, payments };
}

async function registerBerlinGroupBanks(ground: Ground): Promise<ControlOptions['berlin']> {
  const { app, front, url, tlsUrl, store, clock, ledger, keys, tpps, report } = ground;
  const consents = new BerlinConsents(store, clock);
  const authorisations = new Authorisations(store, clock, consents);
  const deviceLogins = new Map<string, DeviceLogins>();
  for (const bank of berlinGroupBanks) {
    const address = `${url}/banks/${bank.id}`;
    const resources = `${tlsUrl}/banks/${bank.id}`;
    const own = keys.get(bank.id);
    const provider = own && createPreStepServer({ bank, address, resources, keys: own, store, clock, tpps });
    if (provider) front.mount(bank.id, provider.callback());
    registerBrand(app, bank);
    const logins = await registerBerlinGroupBank(app, {
      bank,
      address,
      resources,
      provider,
      faultOf: (request) => front.faultOf(request),
      store,
      clock,
      ledger,
      consents,
      authorisations,
      tpps,
      report,
    });
    if (logins) deviceLogins.set(bank.id, logins);
  }
  return { consents, authorisations, deviceLogins };
}

function registerHouse(
  app: FastifyInstance,
  {
    url,
    tlsUrl,
    clock,
    ledger,
    scenarios,
  }: Pick<Parts, 'url' | 'tlsUrl' | 'clock' | 'ledger'> & {
    scenarios: Scenarios;
  },
): void {
  app.get('/health', () => ({ status: 'ok' }));
  app.get('/house.css', (_request, reply) => reply.header('content-type', 'text/css; charset=utf-8').send(houseStyle));
  app.get('/', (_request, reply) =>
    sendPage(
      reply,
      startPage({
        url,
        tlsUrl,
        now: new Date(clock.now()).toISOString(),
        offsetMs: clock.offsetMs,
        seed: ledger.seed ?? '',
        faults: scenarios.list(),
      }),
    ),
  );
}
