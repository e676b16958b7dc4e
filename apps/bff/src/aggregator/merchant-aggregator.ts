import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { AggregatorClient } from '#libs/client';
import { problems } from '#libs/contract';
import { POOL } from '#libs/database';

/** The aggregator as one merchant's sub-application. */
@Injectable()
export class MerchantAggregator {
  /** A mapping never changes once it is made, so it is kept for the life of the process; at most one entry a merchant. */
  private readonly known = new Map<string, AggregatorClient>();

  constructor(
    private readonly root: AggregatorClient,
    @Inject(POOL) private readonly pool: Pool,
  ) {}

  /** The client that acts for the merchant. */
  async of(merchantId: string): Promise<AggregatorClient> {
    const known = this.known.get(merchantId);
    if (known) return known;
    const { rows } = await this.pool.query<{ sub_application_id: string | null }>(
      'select sub_application_id from merchants where id = $1',
      [merchantId],
    );
    const id = rows[0]?.sub_application_id;
    if (id === undefined || id === null) throw problems.notFound({ message: 'The merchant is not known' });
    const client = this.root.forSubApplication(id);
    this.known.set(merchantId, client);
    return client;
  }

  /** The client of the whole installation. */
  installation(): AggregatorClient {
    return this.root;
  }
}
