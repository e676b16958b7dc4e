import { enumeration } from '../enumeration.js';
import { Choice, Text } from '../field.js';

export const ScaMethodType = enumeration('SMS_OTP', 'CHIP_OTP', 'PHOTO_OTP', 'PUSH_OTP');
export type ScaMethodType = keyof typeof ScaMethodType;

export class ScaMethod {
  @Text() id!: string;
  @Choice(ScaMethodType, 'Type', { optional: true }) type?: ScaMethodType;
  @Text({ optional: true }) description?: string;
  @Text({ optional: true }) information?: string;
  @Text({ optional: true, array: true }) data?: string[];
}

export class UserCredentials {
  @Text() id!: string;
  @Text({ optional: true }) corporateId?: string;
  @Text() password!: string;
}
