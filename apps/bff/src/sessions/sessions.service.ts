import { Inject, Injectable } from '@nestjs/common';
import { SignJWT } from 'jose';
import { now } from '#libs/server';
import { type SessionClaims, sessionIssuer } from '../auth/session.strategy.js';
import { Env } from '../config.js';
import { CustomersService } from '../customers/customers.service.js';
import type { Session } from './session.dto.js';

const lifetimeMs = 30 * 60_000;

/** Short-lived tokens, each for one customer's frontend. */
@Injectable()
export class SessionsService {
  private readonly key: Uint8Array;

  constructor(
    private readonly customers: CustomersService,
    @Inject(Env) env: Env,
  ) {
    this.key = new TextEncoder().encode(env.SESSION_KEY);
  }

  /** Opens a session for the merchant's customer of that reference, who becomes known by it. */
  async open(merchantId: string, reference: string): Promise<Session> {
    const { id: customerId } = await this.customers.create(merchantId, reference);
    const issuedAt = now();
    const expiresAt = new Date(issuedAt.getTime() + lifetimeMs);
    const claims: Pick<SessionClaims, 'mid'> = { mid: merchantId };
    const token = await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setSubject(customerId)
      .setIssuer(sessionIssuer)
      .setAudience(sessionIssuer)
      .setIssuedAt(Math.floor(issuedAt.getTime() / 1000))
      .setExpirationTime(Math.floor(expiresAt.getTime() / 1000))
      .sign(this.key);
    return { token, expiresAt: expiresAt.toISOString(), customerId };
  }
}
