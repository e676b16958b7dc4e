import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { ClientError } from '#libs/client';
import { POOL } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';

/** Seconds until the next attempt, then a day each. */
const retrySeconds = [30, 120, 600, 3_600, 21_600] as const;
const daySeconds = 86_400;
/** About a month; then the consent ends at the aggregator whatever the institution says. */
const attemptsMax = 35;

interface Row {
  id: string;
  merchant_id: string;
  consent_id: string;
  attempts: number;
}

/** Ends unneeded consents at their institutions, until the institution has accepted it. */
@Injectable()
export class Withdrawals {
  private readonly log = createLogger('consents');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly aggregator: MerchantAggregator,
  ) {}

  /** One attempt for a consent that is due; nothing when it has ended. */
  async run(id: string): Promise<void> {
    const { rows } = await this.pool.query<Row>(
      `select id, merchant_id, consent_id, attempts from withdrawals where id = $1 and withdrawn_at is null
         and next_attempt_at <= $2`,
      [id, now()],
    );
    const row = rows[0];
    if (!row) return;
    const attempts = row.attempts + 1;
    const isLast = attempts >= attemptsMax;
    const problem = await this.withdraw(row, isLast);
    const at = now();
    const seconds = retrySeconds[attempts - 1] ?? daySeconds;
    const next = problem === undefined || isLast ? null : new Date(at.getTime() + seconds * 1000);
    await this.pool.query(
      `update withdrawals set attempts = $2, problem = $3, next_attempt_at = $4, withdrawn_at = $5, lease_until = null where id = $1`,
      [id, attempts, problem ?? null, next, problem === undefined ? at : null],
    );
    if (isLast && problem !== undefined) {
      this.log.error({ withdrawalId: id, consentId: row.consent_id, problem }, 'an institution never ended a consent');
    }
  }

  /** Undefined when the institution has accepted it, or the aggregator has no such consent any more. */
  private async withdraw(row: Row, force: boolean): Promise<string | undefined> {
    const application = await this.aggregator.of(row.merchant_id);
    try {
      const { data } = await application.delete(row.consent_id, { forceDelete: false });
      if (data.deleteStatus !== 'FAILED') return undefined;
      if (force) await application.delete(row.consent_id, { forceDelete: true });
      return 'institution-refused';
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      return error.status === 404 ? undefined : 'aggregator-failed';
    }
  }
}
