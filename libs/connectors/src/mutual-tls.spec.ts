import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { now } from '#libs/server';
import { makeAuthority } from '../../../apps/stack/src/certificates.js';
import { bankCertificates, directory, makeTransport } from '../../../test/support/certificates.js';
import { BankHttp, type Transport } from './bank-http.js';
import type { Call } from './connector.js';
import { ukSandboxInstitutions } from './institutions.js';
import { OpenId } from './uk-open-banking/uk-open-banking.openid.js';

/** A bank that speaks to nobody without a certificate from the directory, and keeps its metadata where anyone may look. */
const transportOf = (commonName: string, authority = directory): Transport =>
  makeTransport({ commonName }, { authority });
const ours = transportOf('tributary');

let seen: { client: string; port: number | undefined; path: string; body: string }[] = [];
const bank = createServer(
  { ...bankCertificates, cert: bankCertificates.certificate, requestCert: true, rejectUnauthorized: true },
  (request, response) => void answer(request, response),
);
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const client = String((request.socket as TLSSocket).getPeerCertificate().subject.CN);
  seen.push({ client, port: request.socket.remotePort, path: request.url ?? '', body: await bodyOf(request) });
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ access_token: `for ${client}`, token_type: 'bearer', expires_in: 600 }));
}
const front = createPlainServer((_request, response) => {
  const issuer = `${originOf(front, 'http')}/banks/meridian`;
  const token_endpoint = `${issuer}/token`;
  const mtls_endpoint_aliases = { token_endpoint: `${originOf(bank, 'https')}/token` };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ issuer, token_endpoint, mtls_endpoint_aliases }));
});
const http = new BankHttp({ report: () => undefined, deadlineMs: 5_000 });
let signingKey: JWK;

beforeAll(async () => {
  for (const server of [bank, front]) {
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  }
  const { privateKey } = await generateKeyPair('PS256', { extractable: true });
  signingKey = await exportJWK(privateKey);
});
afterAll(async () => {
  await http.close();
  for (const server of [bank, front]) {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  }
});
beforeEach(() => {
  seen = [];
});

const call: Call = { psu: {}, tracingId: 'a'.repeat(32), signal: new AbortController().signal };
const send = (transport: Transport | undefined) =>
  http.send({
    institutionId: 'meridian',
    method: 'GET',
    url: new URL('/accounts', originOf(bank, 'https')),
    template: '/accounts',
    signal: call.signal,
    tracingId: call.tracingId,
    transport,
  });
const unavailable = expect.objectContaining({ name: 'InstitutionError', kind: 'unavailable' });

describe('a bank that wants a certificate', () => {
  it('sees ours, and answers', async () => {
    expect((await send(ours)).status).toBe(200);
    expect(seen).toMatchObject([{ client: 'tributary', path: '/accounts' }]);
  });

  it('is not reached without one, nor with one of another directory', async () => {
    await expect(send(undefined)).rejects.toEqual(unavailable);
    await expect(send(transportOf('tributary', makeAuthority({ commonName: 'Elsewhere' })))).rejects.toEqual(
      unavailable,
    );
    expect(seen).toEqual([]);
  });

  it('is not believed when nobody we trust signed its own', async () => {
    const { certificate, key } = ours;
    await expect(send({ certificate, key })).rejects.toEqual(unavailable);
    expect(seen).toEqual([]);
  });

  it('gets a connection of its own for each certificate, and the same one for the same', async () => {
    const renewed = transportOf('tributary-2');
    for (const transport of [ours, renewed, { ...ours }, renewed]) await send(transport);
    expect(seen.map(({ client }) => client)).toEqual(['tributary', 'tributary-2', 'tributary', 'tributary-2']);
    const ports = seen.map(({ port }) => port);
    expect(ports[0]).not.toBe(ports[1]);
    expect(ports.slice(2)).toEqual(ports.slice(0, 2));
  });
});

const tokenFrom = (clientAuthentication: 'private_key_jwt' | 'tls_client_auth') => {
  const institution = ukSandboxInstitutions(originOf(front, 'http'))[0]!;
  const settings = { ...institution.settings, clientAuthentication };
  const credentials = {
    clientId: 'tpp',
    organisationId: 'org',
    softwareStatementId: 'ssa',
    redirectUri: 'http://localhost/callback',
    signingKey,
    kid: 'k',
    transport: ours,
  };
  return new OpenId({ ...institution, settings }, { http, now, credentials }).clientToken(call, 'accounts');
};

describe('a token from such a bank', () => {
  it('is asked for at the address for certificates, by the certificate alone (RFC 8705, section 2)', async () => {
    expect(await tokenFrom('tls_client_auth')).toBe('for tributary');
    const asked = new URLSearchParams(seen[0]?.body);
    expect(seen[0]?.path).toBe('/token');
    expect(asked.get('client_id')).toBe('tpp');
    expect(asked.has('client_assertion')).toBe(false);
  });

  it('is asked for there with a signed assertion too, where the bank wants that', async () => {
    expect(await tokenFrom('private_key_jwt')).toBe('for tributary');
    expect(new URLSearchParams(seen[0]?.body).get('client_assertion')?.split('.')).toHaveLength(3);
  });
});

function originOf(server: Server, scheme: 'http' | 'https'): string {
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
