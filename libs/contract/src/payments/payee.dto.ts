import { AccountIdentification } from '../account-identification.dto.js';
import { Address } from '../address.dto.js';
import { Nested, Text } from '../field.js';

export class Payee {
  @Text() name!: string;
  @Nested(() => AccountIdentification, { array: { min: 1, unique: true } })
  accountIdentifications!: AccountIdentification[];
  @Text({ optional: true }) accountType?: string;
  @Nested(() => Address, { optional: true }) address?: Address;
  @Text({ optional: true }) merchantId?: string;
  @Text({ optional: true, pattern: /^\d{4}$/ }) merchantCategoryCode?: string;
}

export class Payer {
  @Text({ optional: true }) name?: string;
  @Nested(() => AccountIdentification, { array: { min: 1, unique: true } })
  accountIdentifications!: AccountIdentification[];
  @Nested(() => Address, { optional: true }) address?: Address;
}

export class RefundAccount {
  @Text({ optional: true }) name?: string;
  @Nested(() => AccountIdentification, { optional: true, array: { min: 1, unique: true } })
  accountIdentifications?: AccountIdentification[];
}
