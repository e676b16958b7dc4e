import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { SignJWT } from 'jose';
import type { Pool } from 'pg';
import { POOL } from '#libs/database';
import { now } from '#libs/server';
import { type SessionClaims, sessionIssuer } from '../auth/session.strategy.js';
import { Env } from '../config.js';
import type { Session } from './session.dto.js';

const lifetimeMs = 30 * 60_000;

/** Short-lived tokens, each for one customer's frontend. */
@Injectable()
export class SessionsService {
  private readonly key: Uint8Array;

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    @Inject(Env) env: Env,
  ) {
    this.key = new TextEncoder().encode(env.SESSION_KEY);
  }

  /** Opens a session for the merchant's customer of that reference, who becomes known by it. */
  async open(merchantId: string, reference: string): Promise<Session> {
    const customerId = await this.customer(merchantId, reference);
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

  private async customer(merchantId: string, reference: string): Promise<string> {
    const find = {
      name: 'customer-by-reference',
      text: 'select id from customers where merchant_id = $1 and reference = $2',
      values: [merchantId, reference],
    };
    const known = await this.pool.query<{ id: string }>(find);
    if (known.rows[0]) return known.rows[0].id;
    // Two first sessions at once are one customer: the second insert does nothing and both read the same row.
    await this.pool.query(
      `insert into customers (id, merchant_id, reference, created_at) values ($1, $2, $3, $4)
       on conflict (merchant_id, reference) do nothing`,
      [randomUUID(), merchantId, reference, now()],
    );
    const made = await this.pool.query<{ id: string }>(find);
    const row = made.rows[0];
    if (!row) throw new Error('A customer vanished while its session was opened');
    return row.id;
  }
}
