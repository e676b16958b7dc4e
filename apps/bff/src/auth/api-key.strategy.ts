import { Inject, Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Pool } from 'pg';
import { hashToken, POOL } from '#libs/database';
import { now } from '#libs/server';
import { MerchantStatus } from '../merchants/merchant-state.js';
import { BearerStrategy } from './bearer.strategy.js';
import type { Caller } from './caller.js';
import { ShortMemory } from './short-memory.js';

/** Every API key starts so; it tells keys from session tokens and lets scanners find leaked ones. */
export const apiKeyPrefix = 'trb_';

/** How long a key that another process has revoked may still be taken here. */
const keptMs = 5_000;
const lastUseStepMs = 60_000;

interface KeyRow {
  id: string;
  merchant_id: string;
  expires_at: Date | null;
  last_used_at: Date | null;
}

/** Signs a merchant's backend in by the hash of its API key. Keys are 256 random bits, so a plain keyed hash is enough. */
@Injectable()
export class ApiKeyStrategy extends PassportStrategy(BearerStrategy, 'api-key') {
  private readonly known = new ShortMemory<KeyRow>(keptMs);

  constructor(@Inject(POOL) private readonly pool: Pool) {
    super();
  }

  async validate(token: string): Promise<Caller | false> {
    if (!token.startsWith(apiKeyPrefix)) return false;
    const hash = hashToken(token);
    const key = this.known.get(hash) ?? (await this.find(hash));
    if (!key || (key.expires_at !== null && key.expires_at <= now())) return false;
    return { kind: 'merchant', merchantId: key.merchant_id, keyId: key.id };
  }

  /** A key was revoked, or its end was set. */
  forget(): void {
    this.known.clear();
  }

  private async find(hash: string): Promise<KeyRow | undefined> {
    const { rows } = await this.pool.query<KeyRow>({
      name: 'api-key-merchant',
      text: `select k.id, k.merchant_id, k.expires_at, k.last_used_at from api_keys k join merchants m on m.id = k.merchant_id
             where k.hash = $1 and k.revoked_at is null and m.status = $2`,
      values: [hash, MerchantStatus.active],
    });
    const [key] = rows;
    if (!key) return undefined;
    this.known.set(hash, key);
    const at = now();
    if (key.last_used_at === null || key.last_used_at.getTime() + lastUseStepMs <= at.getTime()) {
      await this.pool.query('update api_keys set last_used_at = $2 where id = $1', [key.id, at]);
    }
    return key;
  }
}
