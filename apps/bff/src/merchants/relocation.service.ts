import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { Pool } from 'pg';
import { POOL } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { Env } from '../config.js';
import { RegistrationService } from './registration.service.js';

/**
 * Notices when the program starts that our address is another one than the aggregator has, and brings what is registered there
 * after it: customers and webhooks would go to the old one for ever.
 */
@Injectable()
export class RelocationService implements OnApplicationBootstrap {
  private readonly log = createLogger('merchants');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly registration: RegistrationService,
    @Inject(Env) private readonly env: Env,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { rowCount: merchants } = await this.pool.query(
      `update merchants set next_registration_at = $2
       where sub_application_id is not null and registered_url is distinct from $1 and next_registration_at is null`,
      [this.env.BFF_URL, now()],
    );
    if (merchants !== null && merchants > 0) this.log.info({ merchants }, 'registered under another address');
  }

  /** Moves one merchant that is due. What fails is due again when its lease is over. */
  async run(merchantId: string): Promise<void> {
    await this.registration.relocate(merchantId);
    this.log.info({ merchantId }, 'registered under the new address');
  }
}
