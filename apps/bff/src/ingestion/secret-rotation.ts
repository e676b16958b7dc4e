import type { Pool } from 'pg';
import { type AggregatorClient, ClientError } from '#libs/client';
import { now } from '#libs/server';
import type { RegistrationService } from '../merchants/registration.service.js';

interface SecretRow {
  id: string;
  webhook_id: string;
  sub_application_id: string;
}

/** The operator's way to a new secret for what the aggregator sends about a merchant. */
export class SecretRotation {
  constructor(
    private readonly pool: Pool,
    private readonly aggregator: AggregatorClient,
    private readonly registration: RegistrationService,
  ) {}

  /**
   * Registers a second webhook, whose secret is a new one. Until the overlap is over both send, and both secrets are
   * believed: a delivery that comes by both has one id, so it is stored once. The next rotation, or a call with the same
   * merchant after the overlap, removes the webhooks that are over.
   */
  async rotate(merchantId: string, overlapHours: number): Promise<{ removed: number }> {
    const removed = await this.removeRetired(merchantId);
    const { rows } = await this.pool.query<{ sub_application_id: string }>(
      'select sub_application_id from merchants where id = $1 and sub_application_id is not null',
      [merchantId],
    );
    const subApplicationId = rows[0]?.sub_application_id;
    if (subApplicationId === undefined) throw new Error(`There is no merchant ${merchantId} with a sub-application`);
    const kept = await this.registration.addWebhook(merchantId, subApplicationId);
    const until = new Date(now().getTime() + overlapHours * 3_600_000);
    await this.pool.query(
      'update webhook_secrets set retired_at = $3 where merchant_id = $1 and id <> $2 and retired_at is null',
      [merchantId, kept, until],
    );
    return { removed };
  }

  private async removeRetired(merchantId: string): Promise<number> {
    const { rows } = await this.pool.query<SecretRow>(
      'select id, webhook_id, sub_application_id from webhook_secrets where merchant_id = $1 and retired_at <= $2',
      [merchantId, now()],
    );
    for (const row of rows) {
      const application = this.aggregator.forSubApplication(row.sub_application_id);
      await application.deleteWebhook(row.webhook_id).catch((error: unknown) => {
        if (!(error instanceof ClientError && error.status === 404)) throw error;
      });
      await this.pool.query('delete from webhook_secrets where id = $1', [row.id]);
    }
    return rows.length;
  }
}
