import { enumeration } from './enumeration.js';
import { Choice, Text } from './field.js';

export const AddressTypeEnum = enumeration(
  'BUSINESS',
  'CORRESPONDENCE',
  'DELIVERY_TO',
  'MAIL_TO',
  'PO_BOX',
  'POSTAL',
  'RESIDENTIAL',
  'STATEMENT',
  'UNKNOWN',
);
export type AddressTypeEnum = keyof typeof AddressTypeEnum;

export class Address {
  @Text({ optional: true, array: true }) addressLines?: string[];
  @Text({ optional: true }) streetName?: string;
  @Text({ optional: true }) buildingNumber?: string;
  @Text({ optional: true }) postCode?: string;
  @Text({ optional: true }) townName?: string;
  @Text({ optional: true, array: true }) county?: string[];
  @Text({ optional: true }) country?: string;
  @Text({ optional: true }) department?: string;
  @Text({ optional: true }) subDepartment?: string;
  @Choice(AddressTypeEnum, 'AddressTypeEnum', { optional: true }) addressType?: AddressTypeEnum;
}
