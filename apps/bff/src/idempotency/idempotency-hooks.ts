import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readIdempotencyKey, requestHashOf } from './idempotency.js';
import { IdempotencyService, type KeyedWrite } from './idempotency.service.js';

const writing = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const repeatableMethods = new Set(['PUT', 'DELETE']);

/**
 * Every write on a route that says for whom it is may carry an `Idempotency-Key`. The intent is stored before Nest is reached, and
 * the answer before it is sent; a refusal has done nothing, so it leaves the key free.
 */
export function addIdempotency(app: NestFastifyApplication): void {
  const keys = app.get(IdempotencyService, { strict: false });
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('preHandler', async (request, reply) => {
    const write = keyedWrite(request);
    if (!write) return;
    const begun = await keys.begin(write);
    if ('claim' in begun) request.claim = begun.claim;
    else {
      const { status, type, body } = begun.answer;
      await reply.code(status).headers({ 'content-type': type, 'idempotency-replayed': 'true' }).send(body);
    }
  });
  fastify.addHook('onSend', async (request, reply, payload) => {
    if (request.claim) await settle(keys, { request, reply, payload });
    return payload;
  });
}

function keyedWrite(request: FastifyRequest): KeyedWrite | undefined {
  const { caller, scope, method, url, body, headers } = request;
  const { ownIdempotency, repeatable } = request.routeOptions.config;
  const header = headers['idempotency-key'];
  if (header === undefined || !caller || ownIdempotency || !writing.has(method)) return undefined;
  const merchantId = caller.kind === 'operator' ? null : caller.merchantId;
  const customerId = scope?.customerId ?? null;
  return {
    scope: customerId ?? merchantId ?? caller.kind,
    merchantId,
    customerId,
    key: readIdempotencyKey(header),
    requestHash: requestHashOf({ method, url, body }),
    repeatable: repeatable ?? repeatableMethods.has(method),
  };
}

interface Sending {
  request: FastifyRequest;
  reply: FastifyReply;
  payload: unknown;
}

async function settle(keys: IdempotencyService, { request, reply, payload }: Sending): Promise<void> {
  const { claim } = request;
  if (!claim) return;
  delete request.claim;
  const status = reply.statusCode;
  const body = typeof payload === 'string' ? payload : '';
  const type = String(reply.getHeader('content-type') ?? 'application/json');
  if (status < 400) await keys.keep(claim, { status, type, body }, customerIn(body));
  // After a fault of ours nobody knows what was done; whatever may not be made again waits for a person to look.
  else if (status !== 500 || request.routeOptions.config.repeatable) await keys.release(claim);
}

/** The customer that an answer to a merchant names; what is kept of it is deleted with them. */
function customerIn(body: string): string | undefined {
  if (!body.startsWith('{')) return undefined;
  const { customerId, id, reference } = JSON.parse(body) as Record<string, unknown>;
  const named = customerId ?? (reference === undefined ? undefined : id);
  return typeof named === 'string' ? named : undefined;
}
