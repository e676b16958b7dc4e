import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import type { PsuHeaders } from '#libs/contract';
import { POOL } from '#libs/database';
import { now } from '#libs/server';
import type { Scope } from '../auth/caller.js';
import { hashOfState, newCallbackState } from '../callbacks/callback-state.js';
import { Env, isProduction } from '../config.js';
import { CustomerStatus } from '../customers/customer-state.js';
import { allowedReturnUrl } from './connections.queries.js';
import type { NewRenewalLink, RenewalLinkView } from './renewal-link.dto.js';
import type { RenewalView } from './renewal.dto.js';
import { RenewalsService } from './renewals.service.js';

const lifetimeHoursUsual = 168;

/** A link that may still be used, and what its reader is told. */
export interface OpenLink {
  id: string;
  connection_id: string;
  customer_id: string;
  merchant_id: string;
  institution_id: string;
  return_url: string | null;
  merchant: string;
}

/** Addresses for e-mails: whoever opens one is led to the bank, and needs no session. */
@Injectable()
export class RenewalLinks {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly renewals: RenewalsService,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** What the address carries is chance alone; only its hash is kept. Taken up after a crash, the same link gets another address. */
  async create(
    scope: Scope,
    connectionId: string,
    { returnUrl: wanted, lifetimeHours = lifetimeHoursUsual, workId }: NewRenewalLink & { workId: string | undefined },
  ): Promise<RenewalLinkView> {
    await this.renewals.renewable(scope, connectionId);
    const returnUrl = await allowedReturnUrl(this.pool, scope.merchantId, {
      wanted,
      production: isProduction(this.env),
    });
    const { state: token, hash } = newCallbackState();
    const id = workId ?? randomUUID();
    const createdAt = now();
    const expiresAt = new Date(createdAt.getTime() + lifetimeHours * 3_600_000);
    await this.pool.query(
      `insert into renewal_links (id, connection_id, token_hash, return_url, created_at, expires_at) values ($1, $2, $3, $4, $5, $6)
       on conflict (id) do update set token_hash = $3, created_at = $5, expires_at = $6`,
      [id, connectionId, hash, returnUrl ?? null, createdAt, expiresAt],
    );
    const url = `${this.env.BFF_URL}/renew/${token}`;
    return { id, connectionId, url, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
  }

  /** Undefined for one that is used, over, somebody's who is being deleted, or none. */
  async find(token: string): Promise<OpenLink | undefined> {
    const { rows } = await this.pool.query<OpenLink>(
      `select l.id, l.connection_id, c.customer_id, c.merchant_id, c.institution_id, l.return_url, m.name as merchant
       from renewal_links l join connections c on c.id = l.connection_id join merchants m on m.id = c.merchant_id
       join customers u on u.id = c.customer_id and u.status = $3
       where l.token_hash = $1 and l.used_at is null and l.expires_at > $2`,
      [hashOfState(token) ?? null, now(), CustomerStatus.active],
    );
    return rows[0];
  }

  /** Begins the renewal and uses the link up, which stays good where the renewal cannot begin. Undefined when another was first. */
  async follow(link: OpenLink, psu: PsuHeaders | undefined): Promise<RenewalView | undefined> {
    const { id, connection_id: connectionId, customer_id: customerId, merchant_id: merchantId, return_url: to } = link;
    const claim = 'update renewal_links set used_at = $2 where id = $1 and used_at is null';
    const { rowCount } = await this.pool.query(claim, [id, now()]);
    if (rowCount !== 1) return undefined;
    const wanted = { psu, workId: undefined, ...(to === null ? {} : { returnUrl: to }) };
    try {
      return await this.renewals.begin({ merchantId, customerId }, connectionId, wanted);
    } catch (error) {
      await this.pool.query('update renewal_links set used_at = null where id = $1', [id]);
      throw error;
    }
  }
}
