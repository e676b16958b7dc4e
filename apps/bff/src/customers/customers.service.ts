import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { problems } from '#libs/contract';
import { POOL, transaction } from '#libs/database';
import { now } from '#libs/server';
import { KnownCustomers } from '../auth/known-customers.js';
import { lockConnectionsOf } from '../connections/connection-lock.js';
import { readListCursor, cutPage } from '../cursor.js';
import { lockAccounts } from '../sync/account-join.js';
import { CustomerStatus } from './customer-state.js';
import type { CustomerPage, CustomerQuery, CustomerView } from './customer.dto.js';

interface CustomerRow {
  id: string;
  reference: string;
  status: CustomerStatus;
  created_at: Date;
  deletion_id: string | null;
}

const columns =
  'id, reference, status, created_at, (select id from deletions where customer_id = customers.id) as deletion_id';

/** A merchant's customers. */
@Injectable()
export class CustomersService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly known: KnownCustomers,
  ) {}

  /** Makes the customer of this reference known; one that is known already is answered as it is. */
  async create(merchantId: string, reference: string): Promise<CustomerView> {
    // Two calls at once make one customer: the second insert does nothing and both read the same row.
    await this.pool.query({
      name: 'customer-insert',
      text: `insert into customers (id, merchant_id, reference, created_at) select $1, $2, $3, $4
             where not exists (select 1 from customers where merchant_id = $2 and reference = $3)
             on conflict (merchant_id, reference) do nothing`,
      values: [randomUUID(), merchantId, reference, now()],
    });
    const { rows } = await this.pool.query<CustomerRow>({
      name: 'customer-by-reference',
      text: `select ${columns} from customers where merchant_id = $1 and reference = $2`,
      values: [merchantId, reference],
    });
    const [row] = rows;
    if (!row || row.status === CustomerStatus.deleting) {
      throw problems.conflict({ message: 'The customer of this reference is being deleted' });
    }
    return toView(row);
  }

  async get(merchantId: string, id: string): Promise<CustomerView> {
    const text = `select ${columns} from customers where merchant_id = $1 and id = $2`;
    const { rows } = await this.pool.query<CustomerRow>(text, [merchantId, id]);
    const [row] = rows;
    if (!row) throw problems.notFound({ message: 'The customer is not known' });
    return toView(row);
  }

  /** A page, the newest first. */
  async list(merchantId: string, { limit = 100, cursor, reference }: CustomerQuery): Promise<CustomerPage> {
    const list = ['customers', reference];
    const after = cursor === undefined ? undefined : readListCursor(cursor, list);
    const { rows } = await this.pool.query<CustomerRow>(
      `select ${columns} from customers where merchant_id = $1 and ($2::text is null or reference = $2)
         and ($3::timestamptz is null or (created_at, id) < ($3, $4::uuid))
       order by created_at desc, id desc limit $5`,
      [merchantId, reference ?? null, after?.date ?? null, after?.id ?? null, limit + 1],
    );
    const { page, more } = cutPage(rows, limit, { list, placeOf: ({ created_at: date, id }) => ({ date, id }) });
    return { data: page.map(toView), ...more };
  }

  /**
   * Begins the deletion, which a worker carries out however often it is interrupted. From now on the customer's tokens are worth
   * nothing and nothing is fetched for them any more.
   */
  async delete(merchantId: string, id: string): Promise<CustomerView> {
    await transaction(this.pool, async (tx) => {
      // A reading has its connection before it counts its changes at the customer's row.
      await lockAccounts(tx, id);
      await lockConnectionsOf(tx, { merchantId, customerId: id });
      const { rowCount } = await tx.query(
        'update customers set status = $3, next_erasure_at = $4 where merchant_id = $1 and id = $2 and status <> $3',
        [merchantId, id, CustomerStatus.deleting, now()],
      );
      if (rowCount === 1) {
        const deletion = 'insert into deletions (id, merchant_id, customer_id, requested_at) values ($1, $2, $3, $4)';
        await tx.query(deletion, [randomUUID(), merchantId, id, now()]);
        const text =
          'update connections set next_sync_at = null, next_notice_at = null, next_probe_at = null where customer_id = $1';
        await tx.query(text, [id]);
        const accounts = 'select id from accounts where customer_id = $1';
        await tx.query(`update account_schedules set due_at = null where account_id in (${accounts})`, [id]);
      }
    });
    this.known.forget();
    return this.get(merchantId, id);
  }
}

function toView(row: CustomerRow): CustomerView {
  const { id, reference, status, created_at: createdAt, deletion_id: deletionId } = row;
  const view = { id, reference, status, createdAt: createdAt.toISOString() };
  return deletionId === null ? view : { ...view, deletionId };
}
