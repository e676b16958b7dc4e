import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it came. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** An HTTP server that keeps what it gets and answers as it is told: a status, or `hang` for no answer at all. */
export interface Receiver {
  url: string;
  received: Received[];
  /** Applies to requests that come later; a function decides for each. */
  answer: number | 'hang' | ((request: Received) => number | Promise<number>);
  close(): Promise<void>;
}

/** Starts a receiver that answers 204. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const got = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) };
      receiver.received.push(got);
      if (receiver.answer === 'hang') return;
      const status = typeof receiver.answer === 'number' ? receiver.answer : receiver.answer(got);
      void Promise.resolve(status).then((code) => response.writeHead(code).end());
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    answer: 204,
    close: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
  return receiver;
}

/** Waits until `condition` holds; fails when it does not within `withinMs`. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`The condition did not hold within ${withinMs} ms`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
