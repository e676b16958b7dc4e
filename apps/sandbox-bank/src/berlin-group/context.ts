import type { FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import type { BerlinGroupBank } from '../banks.js';
import type { BankClock } from '../clock.js';
import type { Ledger } from '../ledger.js';
import type { FaultName } from '../scenarios.js';
import type { Store } from '../store.js';
import type { Tpp } from '../tpps.js';
import type { Authorisations } from './authorisations.js';
import type { BerlinConsents } from './consents.js';
import type { Link } from './error.js';

/** What the handlers of one Berlin Group bank work with. */
export interface BerlinContext {
  bank: BerlinGroupBank;
  /** Where browsers find the bank, without a slash at the end. */
  address: string;
  /** Where TPPs find it, with their certificates. */
  resources: string;
  store: Store;
  clock: BankClock;
  ledger: Ledger;
  consents: BerlinConsents;
  authorisations: Authorisations;
  tpps: readonly Tpp[];
  /** The authorisation server of a bank that wants a token before anything else. */
  provider: Provider | undefined;
  faultOf: (request: FastifyRequest) => FaultName | undefined;
  report: (error: unknown) => void;
}

/** A link to a resource of the bank. The framework allows both forms, so a TPP has to resolve what it is given. */
export function linkTo({ bank, resources }: BerlinContext, path: string): Link {
  return { href: bank.links === 'absolute' ? `${resources}/v1${path}` : `/banks/${bank.id}/v1${path}` };
}

/** One header; undefined when it is absent or empty. */
export function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
