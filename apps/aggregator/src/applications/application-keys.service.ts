import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool, QueryResult, QueryResultRow } from 'pg';
import { asSystem, POOL } from '#libs/database';
import { now } from '#libs/server';
import { hashSecret, newSecret } from '../auth/application-secret.js';

/** An application as the operator sees it. */
export interface ListedApplication {
  id: string;
  rootApplicationId: string | null;
  name: string;
  hasSecret: boolean;
  createdAt: Date;
}

/** An id with the secret that is shown this once. */
export interface IssuedKey {
  id: string;
  secret: string;
}

/** What only the operator may do with applications: make roots, issue and rotate secrets. The interface offers none of it. */
@Injectable()
export class ApplicationKeysService {
  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /** Makes a root application, or a sub-application when `rootApplicationId` is given. */
  async create(application: { name: string; rootApplicationId?: string; callbackUrls?: string[] }): Promise<IssuedKey> {
    const { name, rootApplicationId = null, callbackUrls = [] } = application;
    const key = { id: randomUUID(), secret: newSecret() };
    const { rowCount } = await this.query(
      `INSERT INTO applications (id, root_application_id, name, callback_urls, is_contract_present, secret_hash,
                                 event_sequence, created_at, updated_at)
       SELECT $1, $2::uuid, $3, $4, false, $5, 0, $6, $6
        WHERE $2::uuid IS NULL OR EXISTS (SELECT 1 FROM applications WHERE id = $2::uuid AND root_application_id IS NULL)`,
      [key.id, rootApplicationId, name, callbackUrls, hashSecret(key.id, key.secret), now()],
    );
    if (rowCount !== 1) throw new Error(`${rootApplicationId} is not a root application`);
    return key;
  }

  /** Makes this very root application unless it exists; its secret is set to the one given. For the sandbox. */
  async ensure({ id, secret, name }: IssuedKey & { name: string }): Promise<void> {
    await this.query(
      `INSERT INTO applications (id, name, callback_urls, is_contract_present, secret_hash, event_sequence, created_at, updated_at)
       VALUES ($1, $2, '{}', false, $3, 0, $4, $4)
       ON CONFLICT (id) DO UPDATE SET secret_hash = excluded.secret_hash`,
      [id.toLowerCase(), name, hashSecret(id.toLowerCase(), secret), now()],
    );
  }

  /** Roots first, each followed by its sub-applications. */
  async list(): Promise<ListedApplication[]> {
    const { rows } = await this.query<ListedApplication>(
      `SELECT id, root_application_id AS "rootApplicationId", name, secret_hash IS NOT NULL AS "hasSecret",
              created_at AS "createdAt"
         FROM applications
        ORDER BY coalesce(root_application_id, id), root_application_id NULLS FIRST, name, id LIMIT 10000`,
    );
    return rows;
  }

  /**
   * Issues a new secret, the first one or a replacement. The old secret stays valid for `overlapSeconds`, so that it can
   * be exchanged without an interruption.
   */
  async rotate(id: string, overlapSeconds: number): Promise<IssuedKey> {
    const key = { id, secret: newSecret() };
    const at = now();
    const { rowCount } = await this.query(
      `UPDATE applications
          SET previous_secret_hash = secret_hash, previous_secret_until = $3, secret_hash = $2, updated_at = $4
        WHERE id = $1`,
      [id, hashSecret(id, key.secret), new Date(at.getTime() + overlapSeconds * 1_000), at],
    );
    if (rowCount !== 1) throw new Error(`There is no application ${id}`);
    return key;
  }

  /** The operator stands above the tenants. */
  private query<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<QueryResult<Row>> {
    return asSystem(() => this.pool.query<Row>(text, values));
  }
}
