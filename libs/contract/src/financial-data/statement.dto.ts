import { DateTime, Text } from '../field.js';

export class AccountStatement {
  @Text({ always: true }) id!: string;
  @DateTime({ optional: true }) startDateTime?: string;
  @DateTime({ optional: true }) endDateTime?: string;
  @DateTime({ optional: true }) creationDateTime?: string;
}
