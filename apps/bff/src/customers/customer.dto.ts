import { Choice, DateTime, Flag, Integer, Nested, Text, Uuid } from '#libs/contract';
import { CustomerStatus } from './customer-state.js';

export class NewCustomer {
  @Text({ maxLength: 200, description: "The merchant's own id of the customer.", example: 'customer-1042' })
  reference!: string;
}

export class CustomerView {
  @Uuid() id!: string;
  @Text({ description: "The merchant's own id of the customer.", example: 'customer-1042' }) reference!: string;
  @Choice(CustomerStatus, 'CustomerStatus') status!: CustomerStatus;
  @DateTime() createdAt!: string;
  @Uuid({ optional: true, description: 'While they are being deleted: where to read how far that is.' })
  deletionId?: string;
}

export class CustomerQuery {
  @Integer({ query: true, optional: true, min: 1, max: 500, default: 100 }) limit?: number;
  @Text({ optional: true, maxLength: 200, description: '`nextCursor` of the page before.' }) cursor?: string;
  @Text({ optional: true, maxLength: 200, description: 'Exactly this reference.', example: 'customer-1042' })
  reference?: string;
}

export class CustomerPage {
  @Nested(() => CustomerView, { array: true }) data!: CustomerView[];
  @Flag() hasMore!: boolean;
  @Text({ optional: true, description: 'Present when there is more.' }) nextCursor?: string;
}
