import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { POOL, SecretBox } from '#libs/database';
import { now } from '#libs/server';

/** The live secrets of one sub-application; more than one while the sender rotates. */
export interface ApplicationSecrets {
  merchantId: string;
  secrets: string[];
}

interface Kept {
  readAt: number;
  found: ApplicationSecrets;
}

const keptMs = 10_000;
const keptMax = 1_000;
/** So often a wrong signature may make us ask the database again. */
const againMs = 1_000;

/** Looks up webhook secrets. Kept open for a few seconds, because every delivery needs them; an unknown application is not kept. */
@Injectable()
export class WebhookSecrets {
  private readonly known = new Map<string, Kept>();

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly box: SecretBox,
  ) {}

  /** What a recent reading found. */
  kept(subApplicationId: string): ApplicationSecrets | undefined {
    const kept = this.known.get(subApplicationId);
    return kept && now().getTime() - kept.readAt < keptMs ? kept.found : undefined;
  }

  /** What is true now, unless that was read a moment ago. */
  async readAgain(subApplicationId: string): Promise<ApplicationSecrets | undefined> {
    const kept = this.known.get(subApplicationId);
    const isFresh = kept !== undefined && now().getTime() - kept.readAt < againMs;
    return isFresh ? undefined : this.read(subApplicationId);
  }

  async read(subApplicationId: string): Promise<ApplicationSecrets | undefined> {
    const at = now();
    const { rows } = await this.pool.query<{ id: string; merchant_id: string; sealed_secret: string }>(
      `select id, merchant_id, sealed_secret from webhook_secrets
       where sub_application_id = $1 and (retired_at is null or retired_at > $2)`,
      [subApplicationId, at],
    );
    const merchantId = rows[0]?.merchant_id;
    if (merchantId === undefined) return undefined;
    const secrets = rows.map(({ id, sealed_secret: sealed }) => this.box.open(sealed, `webhook-secret:${id}`));
    if (this.known.size >= keptMax) this.known.clear();
    this.known.set(subApplicationId, { readAt: at.getTime(), found: { merchantId, secrets } });
    return { merchantId, secrets };
  }
}
