import { problems, type Feature } from '#libs/contract';
import { BankHttp } from './bank-http.js';
import { connectBerlinGroup } from './berlin-group/berlin-group.connector.js';
import type { Connector, Institution, Operations, Protocol, Tools } from './connector.js';
import { connectUkOpenBanking } from './uk-open-banking/uk-open-banking.connector.js';

/** A protocol without a connector does not compile. */
const connectors: { [P in Protocol]: (institution: Institution<P>, tools: Tools) => Connector } = {
  'uk-open-banking': connectUkOpenBanking,
  'berlin-group': connectBerlinGroup,
};

/** Every operation is a feature of the contract; a key that is none makes this type `never` and the line an error. */
type OperationsAreFeatures = keyof Operations extends Feature ? true : never;
const operationsAreFeatures: OperationsAreFeatures = true;

/** The bank, reached. Make it once per institution: a connector keeps discovery, tokens and keys to itself. */
export function connect<P extends Protocol>(institution: Institution<P>, tools: Tools): Connector {
  const connector = connectors[institution.protocol](institution, tools);
  const lacking = new Set<string>(institution.without);
  if (lacking.size === 0) return connector;
  const present = Object.entries(connector.operations).filter(([feature]) => !lacking.has(feature));
  return { ...connector, operations: Object.fromEntries(present) };
}

/** What an institution can do: the keys of its connector's operations, its modifiers, minus what it lacks. */
export function features(institution: Institution): Feature[] {
  const present = Object.keys(connect(institution, unused).operations) as (keyof Operations)[];
  const modifiers = (institution.modifiers ?? []).filter((feature) => !institution.without?.includes(feature));
  return operationsAreFeatures ? [...present, ...modifiers].toSorted() : [];
}

/** The function behind a feature. Throws the contract's "feature not supported" when the bank has none. */
export function operation<K extends keyof Operations>(connector: Connector, feature: K): Operations[K] {
  const work = connector.operations[feature];
  if (!work) throw problems.featureNotSupported();
  return work;
}

/** The list of accounts, with balances or, at banks that tell none, without. */
export function accountsOperation(connector: Connector): Operations['ACCOUNTS'] {
  return connector.operations.ACCOUNTS ?? operation(connector, 'ACCOUNTS_WITHOUT_BALANCE');
}

/** One account, with balances or, at banks that tell none, without. */
export function accountOperation(connector: Connector): Operations['ACCOUNT'] {
  return connector.operations.ACCOUNT ?? operation(connector, 'ACCOUNT_WITHOUT_BALANCE');
}

/** Enough to build a connector and list its operations; calling one of them would be a bug, and fails. */
const unused: Tools = {
  http: new BankHttp({ report: refuse }),
  now: refuse,
  credentials: {
    clientId: '',
    organisationId: '',
    softwareStatementId: '',
    redirectUri: '',
    signingKey: { kty: 'RSA' },
    kid: '',
  },
};

function refuse(): never {
  throw new TypeError('This connector was built to list its features only');
}
