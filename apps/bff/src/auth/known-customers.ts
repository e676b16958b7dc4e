import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { POOL } from '#libs/database';
import { CustomerStatus } from '../customers/customer-state.js';
import type { Scope } from './caller.js';
import { ShortMemory } from './short-memory.js';

/** How long the token of a customer whose deletion another process has begun may still be taken here. */
const keptMs = 5_000;

/** Which customers there are: those that are being deleted are not among them. */
@Injectable()
export class KnownCustomers {
  private readonly known = new ShortMemory<string>(keptMs);

  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /** Whether the customer is there, and the merchant's. */
  async has({ merchantId, customerId }: Scope): Promise<boolean> {
    return (this.known.get(customerId) ?? (await this.find(customerId))) === merchantId;
  }

  /** One of them is not there any more. */
  forget(): void {
    this.known.clear();
  }

  private async find(customerId: string): Promise<string | undefined> {
    const { rows } = await this.pool.query<{ merchant_id: string }>({
      name: 'known-customer',
      text: 'select merchant_id from customers where id = $1 and status = $2',
      values: [customerId, CustomerStatus.active],
    });
    const merchantId = rows[0]?.merchant_id;
    if (merchantId !== undefined) this.known.set(customerId, merchantId);
    return merchantId;
  }
}
