import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { POOL } from '#libs/database';
import { selectDeliveries } from './deliveries.queries.js';
import type { DeliveryPage, DeliveryQuery } from './endpoint.dto.js';
import { EndpointsService } from './endpoints.service.js';

/** What was sent to an endpoint, and how that went. */
@Injectable()
export class DeliveryLists {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly endpoints: EndpointsService,
  ) {}

  async list(merchantId: string, endpointId: string, query: DeliveryQuery): Promise<DeliveryPage> {
    await this.endpoints.get(merchantId, endpointId);
    return selectDeliveries(this.pool, endpointId, query);
  }
}
