import { AccountIdentification } from '../account-identification.dto.js';
import { Address } from '../address.dto.js';
import { Flag, Nested, Text } from '../field.js';

export class BeneficiaryPayee {
  @Text({ optional: true }) name?: string;
  @Nested(() => AccountIdentification, { array: { unique: true } }) accountIdentifications!: AccountIdentification[];
  @Nested(() => Address, { optional: true }) address?: Address;
}

export class Beneficiary {
  @Text({ optional: true }) id?: string;
  @Text({ optional: true }) reference?: string;
  @Nested(() => BeneficiaryPayee, { optional: true }) payee?: BeneficiaryPayee;
  @Flag({ optional: true }) trusted?: boolean;
}
