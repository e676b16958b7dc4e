import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { POOL } from '#libs/database';
import { now } from '#libs/server';

const keptMs = 60_000;

/** From which origins merchants' frontends may call. A preflight names no merchant, so any merchant's origin passes it. */
@Injectable()
export class OriginsService {
  private kept: { until: number; origins: ReadonlySet<string> } | undefined;

  constructor(@Inject(POOL) private readonly pool: Pool) {}

  async allows(origin: string | undefined): Promise<boolean> {
    if (origin === undefined) return false;
    const at = now().getTime();
    if (!this.kept || this.kept.until <= at) {
      const { rows } = await this.pool.query<{ origin: string }>(
        'select distinct unnest(allowed_origins) as origin from merchants',
      );
      this.kept = { until: at + keptMs, origins: new Set(rows.map((row) => row.origin)) };
    }
    return this.kept.origins.has(origin);
  }
}
