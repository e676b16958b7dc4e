import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { asSystem, POOL, type RowCache, RowChanges } from '#libs/database';
import { now } from '#libs/server';
import { hashSecret, matchesSecret, type SecretColumns } from './application-secret.js';
import type { TenantApplication } from './tenant.js';

type ApplicationRow = TenantApplication & SecretColumns;
type StoredRow = Omit<ApplicationRow, 'rootApplicationId'> & { rootApplicationId: string | null };

/** A root application and everything below it. */
interface Family {
  rootId: string;
  ids: string[];
}

const selectRow = `
  SELECT id, root_application_id AS "rootApplicationId", name, callback_urls AS "callbackUrls",
         is_contract_present AS "isContractPresent", secret_hash AS "secretHash",
         previous_secret_hash AS "previousSecretHash", previous_secret_until AS "previousSecretUntil"
    FROM applications WHERE id = $1`;

/** Looks applications up for authentication; those that exist are kept in memory until they change. */
@Injectable()
export class CredentialsService {
  private readonly applications: RowCache<ApplicationRow>;
  private readonly families: RowCache<Family>;

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    changes: RowChanges,
  ) {
    this.applications = changes.cache(({ id }) => [`applications:${id}`]);
    this.families = changes.cache(({ rootId }) => [`applications:${rootId}`]);
  }

  /** The application whose secret this is, if it is. */
  async authenticate(id: string, secret: string): Promise<TenantApplication | undefined> {
    const hash = hashSecret(id, secret);
    const kept = await this.find(id);
    if (kept === undefined || matchesSecret(kept, hash, now())) return kept;
    // A new secret may be used before the news of it is here, so a refusal is always decided by the database.
    const row = await this.applications.read(id, () => this.read(id));
    return row && matchesSecret(row, hash, now()) ? row : undefined;
  }

  /** An application by its id, whoever asks. */
  async find(id: string): Promise<ApplicationRow | undefined> {
    return this.applications.get(id, () => this.read(id));
  }

  /** The root application and every sub-application below it. */
  async familyOf(rootId: string): Promise<string[]> {
    const family = await this.families.get(rootId, async () => {
      const { rows } = await asSystem(() =>
        this.pool.query<{ id: string }>('SELECT id FROM applications WHERE root_application_id = $1', [rootId]),
      );
      return { rootId, ids: [rootId, ...rows.map(({ id }) => id)] };
    });
    return family?.ids ?? [rootId];
  }

  private async read(id: string): Promise<ApplicationRow | undefined> {
    const { rows } = await asSystem(() => this.pool.query<StoredRow>(selectRow, [id]));
    if (!rows[0]) return undefined;
    const { rootApplicationId, ...rest } = rows[0];
    return rootApplicationId === null ? rest : { ...rest, rootApplicationId };
  }
}
