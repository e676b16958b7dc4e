import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Problem } from '#libs/contract';

/** Who calls: a merchant's backend with its API key, or a frontend with the token of one customer's session. */
export type Caller =
  | { kind: 'merchant'; merchantId: string }
  | { kind: 'session'; merchantId: string; customerId: string };

/** The one customer whose data a call may touch. */
export interface Scope {
  merchantId: string;
  customerId: string;
}

/** What the guards leave on the request. */
export interface GuardedRequest {
  user?: Caller;
  scope?: Scope;
  headers: Record<string, string | string[] | undefined>;
}

/** A 401 in the words of RFC 6750, section 3. */
export function notAuthenticated(message: string): Problem {
  const issues = [{ type: 'CREDENTIALS', code: 'CREDENTIALS_INVALID', parameter: 'authorization', message }];
  return new Problem({ status: 401, issues, headers: { 'www-authenticate': 'Bearer' } });
}

function guarded(context: ExecutionContext): GuardedRequest {
  return context.switchToHttp().getRequest<GuardedRequest>();
}

/** Who calls; only on routes with a guard. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { user } = guarded(context);
  if (!user) throw notAuthenticated('A session token or a merchant API key is needed');
  return user;
});

/** The merchant behind the call; only on routes with a guard. */
export const CurrentMerchant = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const { user } = guarded(context);
  if (!user) throw notAuthenticated('A merchant API key is needed');
  return user.merchantId;
});

/** The customer the call is limited to; only on routes with the customer guard. */
export const CurrentScope = createParamDecorator((_: unknown, context: ExecutionContext): Scope => {
  const { scope } = guarded(context);
  if (!scope) throw notAuthenticated('A session token or a merchant API key is needed');
  return scope;
});
