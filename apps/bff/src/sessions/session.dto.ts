import { DateTime, Nested, Text, Uuid } from '#libs/contract';

export class CustomerReference {
  @Text({ maxLength: 200, description: "The merchant's own id of the customer.", example: 'customer-1042' })
  reference!: string;
}

export class NewSession {
  @Nested(() => CustomerReference) customer!: CustomerReference;
}

export class Session {
  @Text({ description: "Bearer token for the customer's frontend." }) token!: string;
  @DateTime() expiresAt!: string;
  @Uuid() customerId!: string;
}
