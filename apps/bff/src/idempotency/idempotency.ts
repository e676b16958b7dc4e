import { createHash } from 'node:crypto';
import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Problem, problems } from '#libs/contract';
import { now, RouteSetting } from '#libs/server';

/** A write that is under way with a key of its caller's. */
export interface Claim {
  scope: string;
  keyHash: string;
  workId: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a write that a crash cut off may be made again under its key. PUT and DELETE are so by themselves. */
    repeatable?: boolean;
    /** The route has a rule of its own for the key. */
    ownIdempotency?: boolean;
  }
  interface FastifyRequest {
    claim?: Claim;
  }
}

/** A POST or PATCH that may be made again after a crash, because it makes nothing twice. */
export const Repeatable = (): MethodDecorator => applyDecorators(RouteSetting({ repeatable: true }));

/** The route treats `Idempotency-Key` itself. */
export const OwnIdempotency = (): MethodDecorator => applyDecorators(RouteSetting({ ownIdempotency: true }));

/** The id for what a write makes: the same again when the write is taken up after a crash. Empty without a key. */
export const WorkId = createParamDecorator((_: unknown, context: ExecutionContext): string | undefined => {
  return context.switchToHttp().getRequest<FastifyRequest>().claim?.workId;
});

/** 1 to 200 visible characters. */
const keyForm = /^[\x21-\x7e]{1,200}$/;

/** The key as the header gives it: a string of RFC 9651 in its quotes, or bare. */
export function readIdempotencyKey(header: string | string[] | undefined): string {
  const text = typeof header === 'string' ? header : '';
  const key = /^"(.*)"$/.exec(text)?.[1] ?? text;
  if (keyForm.test(key)) return key;
  const message = 'The header Idempotency-Key must have 1 to 200 visible characters';
  throw problems.unexpectedValue({ parameter: 'idempotency-key', message });
}

function refusal(status: number, code: string, message: string, headers?: Record<string, string>): Problem {
  const issues = [{ type: 'INVALID_REQUEST', code, parameter: 'idempotency-key', message }];
  return new Problem({ status, issues, ...(headers ? { headers } : {}) });
}

/** The first call with the key is at work. Whoever comes back after as long as it has taken so far asks a few times at most. */
export function underWay(claimedAt: Date): Problem {
  const seconds = Math.max(1, Math.ceil((now().getTime() - claimedAt.getTime()) / 1000));
  const message = 'The first call with this Idempotency-Key is not answered yet';
  return refusal(409, 'CONFLICT', message, { 'retry-after': String(seconds) });
}

/** The key came with another request. */
export function keyReused(): Problem {
  return refusal(422, 'IDEMPOTENCY_KEY_REUSED', 'The Idempotency-Key was used with another request');
}

/** A crash cut the first call off, and nobody can tell whether its work was done. */
export function outcomeUnknown(): Problem {
  const message = 'The first call with this key was cut off: read what it was to make, then use a fresh key';
  return refusal(409, 'IDEMPOTENCY_OUTCOME_UNKNOWN', message);
}

/** The same for requests that mean the same: neither blanks nor the order of members count. */
export function requestHashOf({ method, url, body }: { method: string; url: string; body: unknown }): string {
  return createHash('sha256')
    .update(`${method} ${url} ${JSON.stringify(inOrder(body ?? null))}`)
    .digest('hex');
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return members.map(([name, member]) => [name, inOrder(member)]);
}
