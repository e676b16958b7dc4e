import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { asSystem, POOL } from '#libs/database';
import { now } from '#libs/server';
import { hashSecret, matchesSecret, type SecretColumns } from './application-secret.js';
import type { TenantApplication } from './tenant.js';

/** How long a row may be trusted without a look at the database; another process learns of a change this late. */
const trustedMs = 30_000;
const rowsMax = 10_000;

type ApplicationRow = TenantApplication & SecretColumns;
type StoredRow = Omit<ApplicationRow, 'rootApplicationId'> & { rootApplicationId: string | null };

interface Known {
  row: ApplicationRow;
  until: number;
}

const selectRow = `
  SELECT id, root_application_id AS "rootApplicationId", name, callback_urls AS "callbackUrls",
         is_contract_present AS "isContractPresent", secret_hash AS "secretHash",
         previous_secret_hash AS "previousSecretHash", previous_secret_until AS "previousSecretUntil"
    FROM applications WHERE id = $1`;

/** Looks applications up for authentication: by primary key, kept for half a minute, only those that exist. */
@Injectable()
export class CredentialsService {
  private readonly known = new Map<string, Known>();

  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /** The application whose secret this is, if it is. */
  async authenticate(id: string, secret: string): Promise<TenantApplication | undefined> {
    const hash = hashSecret(id, secret);
    const kept = this.kept(id);
    if (kept && matchesSecret(kept, hash, now())) return kept;
    // A kept row may be older than the newest secret, so a refusal is always decided by the database.
    const row = await this.read(id);
    return row && matchesSecret(row, hash, now()) ? row : undefined;
  }

  /** An application by its id, whoever asks. */
  async find(id: string): Promise<TenantApplication | undefined> {
    return this.kept(id) ?? (await this.read(id));
  }

  /** The root application and every sub-application below it. */
  async familyOf(rootId: string): Promise<string[]> {
    const { rows } = await asSystem(() =>
      this.pool.query<{ id: string }>('SELECT id FROM applications WHERE root_application_id = $1', [rootId]),
    );
    return [rootId, ...rows.map(({ id }) => id)];
  }

  /** Must be called after an application was changed or deleted. */
  forget(id: string): void {
    this.known.delete(id);
  }

  private kept(id: string): ApplicationRow | undefined {
    const found = this.known.get(id);
    return found && found.until > now().getTime() ? found.row : undefined;
  }

  private async read(id: string): Promise<ApplicationRow | undefined> {
    const { rows } = await asSystem(() => this.pool.query<StoredRow>(selectRow, [id]));
    this.known.delete(id);
    if (!rows[0]) return undefined;
    const { rootApplicationId, ...rest } = rows[0];
    const row: ApplicationRow = rootApplicationId === null ? rest : { ...rest, rootApplicationId };
    if (this.known.size >= rowsMax) this.known.clear();
    this.known.set(id, { row, until: now().getTime() + trustedMs });
    return row;
  }
}
