import { Choice, DateTime, Nested, Text, Uuid } from '#libs/contract';
import { ListPage, ListQuery } from '../list.dto.js';
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

export class CustomerQuery extends ListQuery {
  @Text({ optional: true, maxLength: 200, description: 'Exactly this reference.', example: 'customer-1042' })
  reference?: string;
}

export class CustomerPage extends ListPage {
  @Nested(() => CustomerView, { array: true }) data!: CustomerView[];
}
