import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { problems } from '#libs/contract';
import { POOL } from '#libs/database';
import { Env } from '../config.js';
import { cutPage, readListCursor } from '../cursor.js';
import type { ListQuery } from '../list.dto.js';
import type { DeletionPage, DeletionView } from './deletion.dto.js';
import { selectDeletions, toDeletionView } from './deletions.queries.js';

const list = ['deletions'];

/** What became of the customers that a merchant has deleted. */
@Injectable()
export class DeletionsService {
  private readonly patienceMs: number;

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    @Inject(Env) env: Env,
  ) {
    this.patienceMs = env.DELETION_PATIENCE_HOURS * 3_600_000;
  }

  async get(merchantId: string, id: string): Promise<DeletionView> {
    const [row] = await selectDeletions(this.pool, { merchantId, id }, 1);
    if (!row) throw problems.notFound({ message: 'The deletion is not known' });
    return toDeletionView(row, this.patienceMs);
  }

  /** A page, the newest first. */
  async list(merchantId: string, { limit = 100, cursor }: ListQuery): Promise<DeletionPage> {
    const after = cursor === undefined ? undefined : readListCursor(cursor, list);
    const rows = await selectDeletions(this.pool, { merchantId, after }, limit + 1);
    const { page, more } = cutPage(rows, limit, { list, placeOf: ({ requested_at: date, id }) => ({ date, id }) });
    return { data: page.map((row) => toDeletionView(row, this.patienceMs)), ...more };
  }
}
