import { AddressTypeEnum } from '../address.dto.js';
import { Choice, Nested, Text } from '../field.js';

export class IdentityAddress {
  @Text({ optional: true, array: true }) addressLines?: string[];
  @Text({ optional: true }) city?: string;
  @Text({ optional: true }) postalCode?: string;
  @Text({ optional: true }) country?: string;
  @Text({ optional: true }) streetName?: string;
  @Text({ optional: true }) buildingNumber?: string;
  @Choice(AddressTypeEnum, 'AddressTypeEnum', { optional: true }) type?: AddressTypeEnum;
  @Text({ optional: true }) county?: string;
}

export class Identity {
  @Text({ optional: true }) id?: string;
  @Text({ optional: true }) firstName?: string;
  @Text({ optional: true }) lastName?: string;
  @Text({ optional: true }) fullName?: string;
  @Text({ optional: true }) gender?: string;
  @Text({ optional: true }) birthdate?: string;
  @Text({ optional: true }) email?: string;
  @Text({ optional: true }) phone?: string;
  @Nested(() => IdentityAddress, { optional: true, array: true }) addresses?: IdentityAddress[];
}
