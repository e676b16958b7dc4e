import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { POOL, SecretBox } from '#libs/database';

const batchSize = 500;
const firstId = '00000000-0000-0000-0000-000000000000';

/** Finds the stored webhooks that name somebody: their bodies are sealed, so they have to be opened one by one. */
@Injectable()
export class InboundTraces {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly secrets: SecretBox,
  ) {}

  /** The ids of the merchant's webhooks in which one of the marks occurs. */
  async about(merchantId: string, marks: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    let after = firstId;
    for (;;) {
      const { rows } = await this.pool.query<{ id: string; sealed_body: string }>(
        'select id, sealed_body from inbound_events where merchant_id = $1 and id > $2 order by id limit $3',
        [merchantId, after, batchSize],
      );
      for (const { id, sealed_body: sealed } of rows) {
        const body = this.secrets.open(sealed, `inbound-event:${id}`);
        if (marks.some((mark) => body.includes(mark))) found.push(id);
      }
      const last = rows.at(-1);
      if (rows.length < batchSize || !last) return found;
      after = last.id;
    }
  }
}
