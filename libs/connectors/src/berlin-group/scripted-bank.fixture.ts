import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BankHttp } from '../bank-http.js';
import { berlinGroupSandboxInstitutions } from '../berlin-group-institutions.js';
import type { Call, Connector, Consented, Grant, Institution } from '../connector.js';
import { connectBerlinGroup } from './berlin-group.connector.js';
import type { BerlinGroupSettings } from './berlin-group.types.js';

export interface Told {
  status?: number;
  body?: object;
  headers?: Record<string, string>;
}

/** A bank that answers what a test says, by method and path, and remembers what it was asked: for ways no sandbox bank goes. */
export interface ScriptedBank {
  origin: string;
  http: BankHttp;
  /** A list is answered one by one. What is not here is a 404. */
  answers: Record<string, Told | Told[]>;
  asked: { route: string; headers: IncomingHttpHeaders; body: string }[];
  close(): Promise<void>;
}

/** Starts it; `prefix` is left out of the routes. */
export async function startScriptedBank(prefix: string): Promise<ScriptedBank> {
  const http = new BankHttp({ report: () => undefined, deadlineMs: 2_000 });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const route = `${request.method} ${(request.url ?? '').replace(prefix, '')}`;
      bank.asked.push({ route, headers: request.headers, body: Buffer.concat(chunks).toString() });
      const told = bank.answers[route];
      const { status = 200, body = {}, headers = {} } = (Array.isArray(told) ? told.shift() : told) ?? { status: 404 };
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const bank: ScriptedBank = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    http,
    answers: {},
    asked: [],
    close: async () => {
      await http.close();
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
  return bank;
}

const now = () => new Date('2026-11-21T10:00:00Z');
export const state = '0123456789abcdef0123456789abcdef';
export const access = { state, redirectUri: 'https://tpp.example/callback', featureScope: [] };
export const call = (psu: Call['psu'] = {}): Call => ({
  psu,
  tracingId: 'a1b2c3d4e5f6'.padEnd(32, '0'),
  signal: AbortSignal.timeout(5_000),
});

/** Our connector at the scripted bank; `settings` differ from a bank that redirects. */
export function connectScripted(server: ScriptedBank, settings: Partial<BerlinGroupSettings> = {}): Connector {
  const found = berlinGroupSandboxInstitutions(server.origin)[0]!;
  const institution: Institution<'berlin-group'> = { ...found, settings: { ...found.settings, ...settings } };
  const { redirectUri } = access;
  const names = { clientId: 'PSDDE-1', organisationId: 'org', softwareStatementId: 'ssa', redirectUri, kid: 'k' };
  return connectBerlinGroup(institution, {
    http: server.http,
    now,
    credentials: { ...names, signingKey: { kty: 'RSA' } },
  });
}

/** A call under a consent that the bank calls `c-1`. */
export const under = (grant?: Partial<Grant>, psu: Call['psu'] = {}): Consented => ({
  ...call(psu),
  grant: { institutionConsentId: 'c-1', state: { protocol: 'berlin-group' }, ...grant },
  keep: async () => undefined,
});
