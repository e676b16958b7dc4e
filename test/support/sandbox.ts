import { exportJWK, generateKeyPair } from 'jose';
import { sandboxInstitutions, type Institution, type TppCredentials } from '#libs/connectors';
import { now } from '#libs/server';
import { distinguishedName } from '../../apps/stack/src/certificates.js';
import { startSandbox } from '../../apps/sandbox-bank/src/app.js';
import type { Tpp } from '../../apps/sandbox-bank/src/tpps.js';
import { bankCertificates, makeTransport, tppSubject } from './certificates.js';

export interface Visit {
  decision?: 'approve' | 'deny';
  persona?: string;
  accounts?: string[];
}

export interface SandboxState {
  banks: { id: string; personas: { id: string; accounts: { id: string; kind: string; transactions: number }[] }[] }[];
}

/** The sandbox bank in this process, on a free port with a ledger of its own, and one TPP that both banks know. */
export interface SandboxBank {
  url: string;
  /** Where it takes certificates. */
  tlsUrl: string;
  institutions: Institution[];
  credentials: TppCredentials;
  /** The lines it logged. */
  lines: string[];
  /** Calls the control API; throws when it refuses. */
  control<T = object>(path: string, body: object): Promise<T>;
  state(): Promise<SandboxState>;
  /** Switches a fault on; `times` undefined: until `calm`. */
  fault(fault: { bank?: string; route?: string; fault: string; account?: string; times?: number }): Promise<void>;
  /** Switches every fault off and sets the bank's clock to ours. */
  calm(): Promise<void>;
  /** Plays the PSU through the bank's pages; answers what the bank's redirect carries to the TPP. */
  visit(authorisationUrl: string, wish?: Visit): Promise<URLSearchParams>;
  close(): Promise<void>;
}

export const sandboxRedirectUri = 'http://localhost:3000/callback';

/** Starts it. Making the TPP's key takes a moment, so a suite starts one sandbox and resets it. */
export async function startSandboxBank({ redirectUri = sandboxRedirectUri } = {}): Promise<SandboxBank> {
  const { credentials, tpp } = await registeredTpp(redirectUri);
  const lines: string[] = [];
  const log = (entry: object): void => void lines.push(JSON.stringify(entry));
  const bank = await startSandbox({
    host: '127.0.0.1',
    plain: { port: 0 },
    secure: { port: 0, ...bankCertificates },
    file: ':memory:',
    tpps: [tpp],
    hasControl: true,
    log,
  });
  const ask = async <T>(path: string, init: RequestInit): Promise<T> => {
    const response = await fetch(`${bank.url}/control/${path}`, { ...init, signal: AbortSignal.timeout(30_000) });
    if (!response.ok) throw new Error(`control/${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const control = <T>(path: string, body: object): Promise<T> =>
    ask<T>(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  return {
    url: bank.url,
    tlsUrl: bank.tlsUrl,
    institutions: sandboxInstitutions(bank.url, bank.tlsUrl),
    credentials,
    lines,
    control,
    state: () => ask<SandboxState>('state', {}),
    fault: async (fault) => void (await control('faults', fault)),
    calm: async () => {
      await ask('faults', { method: 'DELETE' });
      await control('clock', { set: now().toISOString() });
    },
    visit: async (authorisationUrl, wish = {}) => {
      const asked = { authorisationUrl, decision: 'approve', follow: false, ...wish };
      const { redirectUrl } = await control<{ redirectUrl: string }>('authorise', asked);
      const { hash, search } = new URL(redirectUrl);
      return new URLSearchParams(hash ? hash.slice(1) : search);
    },
    close: () => bank.close(),
  };
}

/** Both sides of one registration with all the banks. */
async function registeredTpp(redirectUri: string): Promise<{ credentials: TppCredentials; tpp: Tpp }> {
  const pair = await generateKeyPair('PS256', { extractable: true });
  const { kty, n, e } = await exportJWK(pair.publicKey);
  const transport = makeTransport();
  const credentials: TppCredentials = {
    clientId: 'tributary-under-test',
    organisationId: 'tributary-org',
    softwareStatementId: 'tributary-ssa',
    redirectUri,
    signingKey: await exportJWK(pair.privateKey),
    kid: 'tributary-1',
    transport,
    ipAddress: '127.0.0.1',
  };
  const key = { kty: kty ?? 'RSA', n: n ?? '', e: e ?? '', kid: credentials.kid, alg: 'PS256', use: 'sig' };
  const { clientId, organisationId, softwareStatementId } = credentials;
  const tpp = {
    clientId,
    organisationId,
    softwareStatementId,
    certificateSubject: distinguishedName(transport),
    organisationIdentifier: tppSubject.organisationIdentifier,
    jwks: { keys: [key] },
    redirectUris: [redirectUri],
    banks: ['meridian', 'tamar', 'thistle', 'lindenhof', 'marais', 'isarkasse', 'fjordbank', 'ticino'],
  };
  return { credentials, tpp };
}
