import { Inject, Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { Env } from '../config.js';
import type { Caller } from './caller.js';

/** Who signs and who reads session tokens; both are this program. */
export const sessionIssuer = 'tributary-bff';

/** The claims of a session's token: `sub` is the customer, `mid` the merchant. */
export interface SessionClaims {
  sub: string;
  mid: string;
}

/** Reads the short-lived token that a merchant's backend obtained for one customer's frontend. */
@Injectable()
export class SessionStrategy extends PassportStrategy(Strategy, 'session') {
  constructor(@Inject(Env) env: Env) {
    super({
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKey: env.SESSION_KEY,
      algorithms: ['HS256'],
      issuer: sessionIssuer,
      audience: sessionIssuer,
    });
  }

  validate(claims: Partial<SessionClaims>): Caller | false {
    if (typeof claims.sub !== 'string' || typeof claims.mid !== 'string') return false;
    return { kind: 'session', merchantId: claims.mid, customerId: claims.sub };
  }
}
