import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A port, 0 for a free one, and the public address it is reached at, without a slash at the end; empty: localhost. */
export interface Door {
  port: number;
  url?: string;
}

/** The banks' certificate and key, and the authority whose certificates TPPs have to show. All PEM. */
export interface Certificates {
  certificate: string;
  key: string;
  ca: string;
}

export interface Listening {
  /** Where browsers go. */
  url: string;
  /** Where TPPs go, with their certificates. */
  tlsUrl: string;
  serveWith: (handler: Handler) => void;
  close(): Promise<void>;
}

/** Longer than a TPP pauses between two calls: a handshake costs more than a connection that is kept. */
const keepAliveTimeout = 60_000;

/** Listens first, for issuers carry the port; whoever calls before the banks are put together is told to wait. */
export async function listen(
  host: string,
  { plain, secure }: { plain: Door; secure: Door & Certificates },
): Promise<Listening> {
  let serve: Handler = tellToWait;
  const handle: Handler = (request, response) => serve(request, response);
  const { certificate, key, ca } = secure;
  // Who shows no good certificate is let in so far as to be told so, in the words of the standard.
  const client = { requestCert: true, rejectUnauthorized: false };
  const open = createServer({ keepAliveTimeout }, handle);
  const shut = createSecureServer({ cert: certificate, key, ca, keepAliveTimeout, ...client }, handle);
  const ports = await Promise.all([bind(open, host, plain), bind(shut, host, secure)]);
  return {
    url: plain.url || `http://localhost:${ports[0]}`,
    tlsUrl: secure.url || `https://localhost:${ports[1]}`,
    serveWith: (handler) => (serve = handler),
    close: async () => void (await Promise.all([open, shut].map(end))),
  };
}

async function bind(server: Server, host: string, { port }: Door): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function end(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
}

function tellToWait(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(503, { 'retry-after': '1' }).end();
}
