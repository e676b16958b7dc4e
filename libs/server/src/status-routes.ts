import type { FastifyInstance } from 'fastify';
import { type Metrics, exposition } from './metrics.js';

/** Answers when the named thing is usable, and throws or takes too long when it is not. */
export type ReadinessCheck = () => Promise<unknown>;

export interface StatusRouteOptions {
  readiness: Readonly<Record<string, ReadinessCheck>>;
  metrics?: Metrics | undefined;
}

const checkWithinMs = 2_000;

/** `/health`: the program serves. `/ready`: what it depends on answers, too. `/metrics`: its figures, for Prometheus. None asks who calls. */
export function addStatusRoutes(fastify: FastifyInstance, { readiness, metrics }: StatusRouteOptions): void {
  fastify.get('/health', (_request, reply) => reply.send({ status: 'ok' }));
  fastify.get('/ready', async (_request, reply) => {
    const failing = await failingChecks(readiness);
    return reply
      .code(failing.length === 0 ? 200 : 503)
      .send(failing.length === 0 ? { status: 'ok' } : { status: 'failing', failing });
  });
  if (!metrics) return;
  fastify.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await exposition(metrics);
    return reply.header('content-type', contentType).send(text);
  });
}

async function failingChecks(readiness: Readonly<Record<string, ReadinessCheck>>): Promise<string[]> {
  const results = await Promise.all(
    Object.entries(readiness).map(async ([name, check]) => ((await passes(check)) ? [] : [name])),
  );
  return results.flat();
}

async function passes(check: ReadinessCheck): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), checkWithinMs);
  });
  const answered = check().then(
    () => true,
    () => false,
  );
  const passed = await Promise.race([answered, tooLate]);
  clearTimeout(timer);
  return passed;
}
