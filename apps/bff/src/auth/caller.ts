import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Problem } from '#libs/contract';

/** Who calls: a merchant's backend with its API key, or a frontend with the token of one customer's session. */
export type Caller =
  | { kind: 'merchant'; merchantId: string; keyId: string }
  | { kind: 'session'; merchantId: string; customerId: string };

/** Whoever may be let in: on some routes that is the operator. */
export type Admitted = Caller | { kind: 'operator' };

/** The one customer whose data a call may touch. */
export interface Scope {
  merchantId: string;
  customerId: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What admission has found out; only on routes that say for whom they are. */
    caller?: Admitted;
    scope?: Scope;
  }
}

/** A 401 in the words of RFC 6750, section 3. */
export function notAuthenticated(message: string): Problem {
  const issues = [{ type: 'CREDENTIALS', code: 'CREDENTIALS_INVALID', parameter: 'authorization', message }];
  return new Problem({ status: 401, issues, headers: { 'www-authenticate': 'Bearer' } });
}

function admitted(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}

/** Who calls, merchant or customer; only on routes for them. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = admitted(context);
  if (!caller || caller.kind === 'operator') throw notAuthenticated('A session token or a merchant API key is needed');
  return caller;
});

/** The merchant behind the call; only on routes for merchants and customers. */
export const CurrentMerchant = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const { caller } = admitted(context);
  if (!caller || caller.kind === 'operator') throw notAuthenticated('A merchant API key is needed');
  return caller.merchantId;
});

/** The customer the call is limited to; only on routes of one customer. */
export const CurrentScope = createParamDecorator((_: unknown, context: ExecutionContext): Scope => {
  const { scope } = admitted(context);
  if (!scope) throw notAuthenticated('A session token or a merchant API key is needed');
  return scope;
});

/** The merchant behind the call, and the key that signs it. */
export const CurrentKey = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { caller } = admitted(context);
  if (caller?.kind !== 'merchant') throw notAuthenticated('A merchant API key is needed');
  return { merchantId: caller.merchantId, keyId: caller.keyId };
});
