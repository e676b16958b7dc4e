import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { POOL, SecretBox } from '#libs/database';
import { now } from '#libs/server';

/** The live secrets of one sub-application; more than one while the sender rotates. */
export interface ApplicationSecrets {
  merchantId: string;
  secrets: string[];
}

const keptMs = 10_000;
const keptMax = 1_000;

/** Looks up webhook secrets. Kept open for a few seconds, because every delivery needs them; an unknown application is not kept. */
@Injectable()
export class WebhookSecrets {
  private readonly kept = new Map<string, { until: number; found: ApplicationSecrets }>();

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly box: SecretBox,
  ) {}

  async of(subApplicationId: string): Promise<ApplicationSecrets | undefined> {
    const at = now().getTime();
    const kept = this.kept.get(subApplicationId);
    if (kept && kept.until > at) return kept.found;
    const { rows } = await this.pool.query<{ id: string; merchant_id: string; sealed_secret: string }>(
      `select id, merchant_id, sealed_secret from webhook_secrets
       where sub_application_id = $1 and (retired_at is null or retired_at > $2)`,
      [subApplicationId, new Date(at)],
    );
    const merchantId = rows[0]?.merchant_id;
    if (merchantId === undefined) return undefined;
    const secrets = rows.map(({ id, sealed_secret: sealed }) => this.box.open(sealed, `webhook-secret:${id}`));
    if (this.kept.size >= keptMax) this.kept.clear();
    this.kept.set(subApplicationId, { until: at + keptMs, found: { merchantId, secrets } });
    return { merchantId, secrets };
  }
}
