import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refusals } from './error.js';

const bodies = new WeakMap<FastifyRequest, Buffer>();

/** The body as it came over the wire: what a detached signature and an idempotency key cover. */
export function rawBodyOf(request: FastifyRequest): Buffer {
  return bodies.get(request) ?? Buffer.alloc(0);
}

/** Takes JSON only, and keeps its bytes. */
export function keepRawBody(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      bodies.set(request, body);
      try {
        return JSON.parse(body.toString('utf8')) as unknown;
      } catch {
        throw refusals.malformed('The body is not JSON');
      }
    },
  );
}
