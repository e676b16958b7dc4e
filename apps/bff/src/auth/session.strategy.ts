import { Inject, Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { hashToken } from '#libs/database';
import { now } from '#libs/server';
import { Env } from '../config.js';
import { BearerStrategy } from './bearer.strategy.js';
import type { Caller } from './caller.js';
import { ShortMemory } from './short-memory.js';

/** Who signs and who reads session tokens; both are this program. */
export const sessionIssuer = 'tributary-bff';

/** The claims of a session's token: `sub` is the customer, `mid` the merchant. */
export interface SessionClaims {
  sub: string;
  mid: string;
}

/** A frontend calls often with the same token, and checking a signature costs more than finding a row. */
const keptMs = 60_000;

interface Session {
  caller: Caller;
  expiresAt: number;
}

/** Reads the short-lived token (RFC 7519) that a merchant's backend obtained for one customer's frontend. */
@Injectable()
export class SessionStrategy extends PassportStrategy(BearerStrategy, 'session') {
  private readonly known = new ShortMemory<Session>(keptMs);
  private readonly key: Uint8Array;

  constructor(@Inject(Env) env: Env) {
    super();
    this.key = new TextEncoder().encode(env.SESSION_KEY);
  }

  async validate(token: string): Promise<Caller | false> {
    const hash = hashToken(token);
    const session = this.known.get(hash) ?? (await this.read(token, hash));
    return session !== undefined && session.expiresAt > now().getTime() && session.caller;
  }

  private async read(token: string, hash: string): Promise<Session | undefined> {
    const { sub, mid, exp } = (await this.claimsOf(token)) ?? {};
    if (typeof sub !== 'string' || typeof mid !== 'string' || exp === undefined) return undefined;
    const session: Session = { caller: { kind: 'session', merchantId: mid, customerId: sub }, expiresAt: exp * 1000 };
    this.known.set(hash, session);
    return session;
  }

  private async claimsOf(token: string): Promise<(JWTPayload & Partial<SessionClaims>) | undefined> {
    try {
      const asked = { algorithms: ['HS256'], issuer: sessionIssuer, audience: sessionIssuer, currentDate: now() };
      return (await jwtVerify<Partial<SessionClaims>>(token, this.key, asked)).payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }
}
