import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { hashToken, POOL, SecretBox } from '#libs/database';
import { now } from '#libs/server';
import { type Claim, keyReused, outcomeUnknown, underWay } from './idempotency.js';

/** How long a key is kept. */
const keptMs = 30 * 24 * 3_600_000;
/** Longer than any write takes: whoever claimed it before is dead. */
const claimMs = 120_000;
const sweepSizeMax = 1_000;

/** A write that has come with a key. */
export interface KeyedWrite {
  scope: string;
  merchantId: string | null;
  customerId: string | null;
  key: string;
  requestHash: string;
  repeatable: boolean;
}

/** The answer that a repetition gets. */
export interface KeptAnswer {
  status: number;
  type: string;
  body: string;
}

interface KeyRow {
  work_id: string;
  request_hash: string;
  claimed_at: Date;
  created_at: Date;
  answer_status: number | null;
  sealed_answer: string | null;
}

/** Makes a write that carries an `Idempotency-Key` happen once (draft-ietf-httpapi-idempotency-key-header). */
@Injectable()
export class IdempotencyService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: SecretBox,
  ) {}

  /** The intent, stored before the work; or the answer of the first time; or a refusal. */
  async begin(write: KeyedWrite): Promise<{ claim: Claim } | { answer: KeptAnswer }> {
    const claim = { scope: write.scope, keyHash: hashToken(write.key), workId: randomUUID() };
    const at = now();
    const { rowCount } = await this.pool.query({
      name: 'idempotency-claim',
      text: `insert into idempotency_keys (scope, key_hash, work_id, merchant_id, customer_id, request_hash, claimed_at, created_at)
             values ($1, $2, $3, $4, $5, $6, $7, $7) on conflict (scope, key_hash) do nothing`,
      values: [claim.scope, claim.keyHash, claim.workId, write.merchantId, write.customerId, write.requestHash, at],
    });
    if (rowCount === 1) return { claim };
    const { rows } = await this.pool.query<KeyRow>(
      `select work_id, request_hash, claimed_at, created_at, answer_status, sealed_answer from idempotency_keys
       where scope = $1 and key_hash = $2`,
      [claim.scope, claim.keyHash],
    );
    const [row] = rows;
    // Released or swept between the two statements.
    if (!row) return this.begin(write);
    if (row.created_at.getTime() + keptMs <= at.getTime()) {
      await this.release(claim);
      return this.begin(write);
    }
    return this.again(write, claim, row);
  }

  private async again(
    write: KeyedWrite,
    { scope, keyHash }: Claim,
    row: KeyRow,
  ): Promise<{ claim: Claim } | { answer: KeptAnswer }> {
    const claim = { scope, keyHash, workId: row.work_id };
    if (row.request_hash !== write.requestHash) throw keyReused();
    if (row.answer_status !== null && row.sealed_answer !== null) {
      const kept = JSON.parse(this.secrets.open(row.sealed_answer, contextOf(claim))) as Omit<KeptAnswer, 'status'>;
      return { answer: { status: row.answer_status, ...kept } };
    }
    if (row.claimed_at.getTime() + claimMs > now().getTime()) throw underWay(row.claimed_at);
    if (!write.repeatable) throw outcomeUnknown();
    const { rowCount } = await this.pool.query(
      `update idempotency_keys set claimed_at = $3 where scope = $1 and key_hash = $2 and claimed_at = $4 and answer_status is null`,
      [scope, keyHash, now(), row.claimed_at],
    );
    if (rowCount === 1) return { claim };
    throw underWay(now());
  }

  /** Keeps the answer; `concerns` is the customer with whom it goes. */
  async keep(claim: Claim, { status, type, body }: KeptAnswer, concerns: string | undefined): Promise<void> {
    const sealed = this.secrets.seal(JSON.stringify({ type, body }), contextOf(claim));
    await this.pool.query({
      name: 'idempotency-keep',
      text: `update idempotency_keys set answer_status = $4, sealed_answer = $5,
               customer_id = coalesce(customer_id, (select id from customers where id = $6))
             where scope = $1 and key_hash = $2 and work_id = $3`,
      values: [claim.scope, claim.keyHash, claim.workId, status, sealed, concerns ?? null],
    });
  }

  /** Nothing was done: the key is free again. */
  async release({ scope, keyHash }: Pick<Claim, 'scope' | 'keyHash'>): Promise<void> {
    await this.pool.query('delete from idempotency_keys where scope = $1 and key_hash = $2', [scope, keyHash]);
  }

  /** Removes what has been kept long enough. */
  async sweep(): Promise<void> {
    const text = `delete from idempotency_keys where (scope, key_hash) in
                    (select scope, key_hash from idempotency_keys where created_at < $1 limit $2)`;
    const before = new Date(now().getTime() - keptMs);
    for (;;) {
      const { rowCount } = await this.pool.query(text, [before, sweepSizeMax]);
      if ((rowCount ?? 0) < sweepSizeMax) return;
    }
  }
}

function contextOf({ workId }: Claim): string {
  return `idempotency:${workId}`;
}
