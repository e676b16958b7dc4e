import { randomBytes, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { parseDateTime, problems } from '#libs/contract';
import { hashToken, POOL, type Queryable, transaction } from '#libs/database';
import { now } from '#libs/server';
import { ApiKeyStrategy, apiKeyPrefix } from '../auth/api-key.strategy.js';
import { cutPage, readListCursor } from '../cursor.js';
import type { ListQuery } from '../list.dto.js';
import type { ApiKeyList, ApiKeyView, CreatedApiKey } from './api-key.dto.js';

/** Keys of one merchant that work at the same time, at most. */
const usableMax = 10;

interface KeyRow {
  id: string;
  prefix: string;
  created_at: Date;
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
}

/** Who makes or ends a key: the merchant with one of its keys, or the operator with none. */
export interface KeyHolder {
  merchantId: string;
  keyId?: string | undefined;
}

const columns = 'id, prefix, created_at, last_used_at, expires_at, revoked_at';
const usable = 'revoked_at is null and (expires_at is null or expires_at > $2)';

/** A merchant's API keys: several may work at once, so that one can be replaced while it is in use. Only hashes are kept. */
@Injectable()
export class ApiKeysService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly strategy: ApiKeyStrategy,
  ) {}

  /** A page, the newest first. */
  async list(holder: KeyHolder, { limit = 100, cursor }: ListQuery): Promise<ApiKeyList> {
    const list = ['api-keys', holder.merchantId];
    const after = cursor === undefined ? undefined : readListCursor(cursor, list);
    const { rows } = await this.pool.query<KeyRow>(
      `select ${columns} from api_keys where merchant_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2, $3::uuid))
       order by created_at desc, id desc limit $4`,
      [holder.merchantId, after?.date ?? null, after?.id ?? null, limit + 1],
    );
    const { page, more } = cutPage(rows, limit, { list, placeOf: ({ created_at: date, id }) => ({ date, id }) });
    return { data: page.map((row) => toView(row, holder)), ...more };
  }

  /**
   * Makes a key; with `expiresAt` the key that asked ends then. `workId` is the same when a call is taken up after a crash: nobody
   * has seen that key, so it is made anew in its place.
   */
  async create(
    holder: KeyHolder,
    { workId = randomUUID(), expiresAt }: { workId?: string | undefined; expiresAt?: string | undefined },
  ): Promise<CreatedApiKey> {
    const end = expiresAt === undefined ? undefined : later(expiresAt);
    const apiKey = newApiKey();
    const row = await transaction(this.pool, async (tx) => {
      await this.makeRoom(tx, holder.merchantId, workId);
      const { rows } = await tx.query<KeyRow>(
        `insert into api_keys (id, merchant_id, hash, prefix, created_at) values ($1, $2, $3, $4, $5)
         on conflict (id) do update set hash = excluded.hash, prefix = excluded.prefix where api_keys.merchant_id = excluded.merchant_id
         returning ${columns}`,
        [workId, holder.merchantId, hashToken(apiKey), apiKey.slice(0, 8), now()],
      );
      if (end && holder.keyId !== undefined) {
        await tx.query('update api_keys set expires_at = $2 where id = $1', [holder.keyId, end]);
      }
      return rows[0];
    });
    if (!row) throw new Error('The key of another merchant has this id');
    this.strategy.forget();
    return { ...toView(row, holder), apiKey };
  }

  /** Ends a key at once. The last one that works stays: a merchant must not lock itself out. */
  async revoke(holder: KeyHolder, id: string): Promise<ApiKeyView> {
    const row = await transaction(this.pool, async (tx) => {
      const { rows: working } = await tx.query<{ id: string }>(
        `select id from api_keys where merchant_id = $1 and ${usable} for update`,
        [holder.merchantId, now()],
      );
      if (working.length === 1 && working[0]?.id === id) {
        throw problems.conflict({ message: 'The last API key that works cannot be revoked: create another one first' });
      }
      const { rows } = await tx.query<KeyRow>(
        `update api_keys set revoked_at = coalesce(revoked_at, $3) where merchant_id = $1 and id = $2 returning ${columns}`,
        [holder.merchantId, id, now()],
      );
      return rows[0];
    });
    if (!row) throw problems.notFound({ message: 'The API key is not known' });
    this.strategy.forget();
    return toView(row, holder);
  }

  private async makeRoom(tx: Queryable, merchantId: string, workId: string): Promise<void> {
    await tx.query('select 1 from merchants where id = $1 for no key update', [merchantId]);
    const { rows } = await tx.query<{ count: number }>(
      `select count(*)::int as count from api_keys where merchant_id = $1 and ${usable} and id <> $3`,
      [merchantId, now(), workId],
    );
    if ((rows[0]?.count ?? 0) >= usableMax) {
      throw problems.conflict({ message: `${usableMax} API keys work already: revoke one first` });
    }
  }
}

/** 256 random bits behind the prefix by which keys are known. */
export function newApiKey(): string {
  return `${apiKeyPrefix}${randomBytes(32).toString('base64url')}`;
}

function later(text: string): Date {
  const at = parseDateTime(text);
  if (at && at > now()) return at;
  throw problems.unexpectedValue({ parameter: '$.expiresAt', message: 'expiresAt must be in the future' });
}

function toView(row: KeyRow, { keyId }: KeyHolder): ApiKeyView {
  return {
    id: row.id,
    prefix: row.prefix,
    createdAt: row.created_at.toISOString(),
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at.toISOString() }),
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at.toISOString() }),
    ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at.toISOString() }),
    current: row.id === keyId,
  };
}
