import passport from 'passport';
import type { Caller } from './caller.js';

interface BearerRequest {
  headers: { authorization?: string };
}

/** Answers who the token belongs to; false where it is not good. */
export type Verify = (token: string, done: (error: Error | null, caller?: Caller | false) => void) => void;

/** The token of an `Authorization: Bearer` header (RFC 6750, section 2.1). */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer ([A-Za-z0-9\-._~+/]+=*)$/i.exec(authorization ?? '')?.[1];
}

/** Passport's side of a bearer token: takes it out of the header and asks `verify`. */
export class BearerStrategy extends passport.Strategy {
  constructor(private readonly verify: Verify) {
    super();
  }

  override authenticate(request: BearerRequest): void {
    const token = bearerToken(request.headers.authorization);
    if (token === undefined) {
      this.fail(401);
      return;
    }
    this.verify(token, (error, caller) => {
      if (error) this.error(error);
      else if (caller) this.success(caller);
      else this.fail(401);
    });
  }
}
