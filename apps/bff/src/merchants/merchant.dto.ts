import { IsIn } from 'class-validator';
import { DateTime, Flag, Nested, ppcUserGroups, Text, Url, Uuid } from '#libs/contract';
import { ListPage } from '../list.dto.js';

export class NewMerchant {
  @Text({ maxLength: 100, pattern: /^[a-zA-Z0-9 \-_[\]()]+$/, example: 'Corner Shop' }) name!: string;
  @Text({ pattern: /^\d{4}$/, description: 'ISO 18245', example: '5411' }) merchantCategoryCode!: string;
  @IsIn(ppcUserGroups)
  @Text({ description: ppcUserGroups.join(', '), example: 'CONSUMER_GOODS_SERVICES' })
  ppcUserGroup!: string;
  @Flag({ optional: true, description: 'Whether there is a contract with the payees.' }) isContractPresent?: boolean;
  @Url({
    optional: true,
    array: { max: 20, unique: true },
    description: 'Where customers may be sent back to after a bank.',
  })
  returnUrls?: string[];
  @Url({
    optional: true,
    array: { max: 20, unique: true },
    description: 'Origins of frontends; any origin when absent, in the sandbox.',
  })
  allowedOrigins?: string[];
}

export class MerchantView {
  @Uuid() id!: string;
  @Text() name!: string;
  @Text() status!: string;
  @Uuid({ optional: true }) subApplicationId?: string;
  @DateTime() createdAt!: string;
}

export class CreatedMerchant extends MerchantView {
  @Text({ description: 'Shown here and never again.' }) apiKey!: string;
}

export class MerchantList extends ListPage {
  @Nested(() => MerchantView, { array: true }) data!: MerchantView[];
}
