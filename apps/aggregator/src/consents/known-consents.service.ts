import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { inScope, POOL, type RowCache, RowChanges } from '#libs/database';
import { consentTokenHash } from './consent-secrets.js';
import { findConsent, findConsentByToken, type ConsentRow } from './consent.queries.js';

/**
 * Looks consents up for reading: kept in memory until they, or their user's references, change. What moves a consent reads
 * its row from the database. Every look-up is within a tenant: its own rows were read in its scope, and a row that another
 * tenant's look-up has kept does not exist for it.
 */
@Injectable()
export class KnownConsents {
  private readonly rows: RowCache<ConsentRow>;

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    changes: RowChanges,
  ) {
    this.rows = changes.cache(({ id, userId }) => [`consents:${id}`, `users:${userId}`]);
  }

  /** The consent with this token; undefined when it is unknown, foreign or deleted. */
  byToken(token: string, scopeIds: string[]): Promise<Readonly<ConsentRow> | undefined> {
    const hash = consentTokenHash(token);
    return this.within(scopeIds, hash, () => findConsentByToken(this.pool, hash, scopeIds));
  }

  /** The consent with this id; undefined when it is unknown, foreign or deleted. */
  byId(id: string, scopeIds: string[]): Promise<Readonly<ConsentRow> | undefined> {
    return this.within(scopeIds, id, () => findConsent(this.pool, id, scopeIds));
  }

  private async within(
    scopeIds: string[],
    key: string,
    load: () => Promise<ConsentRow | undefined>,
  ): Promise<Readonly<ConsentRow> | undefined> {
    const row = await this.rows.get(key, () => inScope(scopeIds, load));
    return row && scopeIds.includes(row.applicationId) ? row : undefined;
  }
}
