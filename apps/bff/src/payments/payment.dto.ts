import { AccountIdentification, Choice, DateTime, Decimal, Nested, Text, Url, Uuid } from '#libs/contract';
import { ListPage } from '../list.dto.js';
import { MerchantPaymentStatus } from './payment-status.js';

export class NewPayee {
  @Text({ maxLength: 140 }) name!: string;
  @Nested(() => AccountIdentification, { array: { min: 1, max: 4, unique: true } })
  accountIdentifications!: AccountIdentification[];
}

export class NewPayment {
  @Text({ optional: true, maxLength: 100, description: 'Where the customer pays from; or `connectionId`.' })
  institutionId?: string;
  @Uuid({ optional: true, description: 'A connection of the customer: its institution is paid from.' })
  connectionId?: string;
  @Decimal({
    min: 0,
    max: 1e12,
    description: 'In major units, no finer than the minor unit of the currency.',
    example: 12.5,
  })
  amount!: number;
  @Text({ pattern: /^[A-Z]{3}$/, example: 'GBP' }) currency!: string;
  @Nested(() => NewPayee) payee!: NewPayee;
  @Text({ optional: true, maxLength: 18, description: 'What both sides see.' }) reference?: string;
  @Url({
    optional: true,
    description: 'Where the customer’s browser goes after the bank, with `payment` and `status` in the query.',
  })
  returnUrl?: string;
}

export class PaymentView {
  @Uuid() id!: string;
  @Text() institutionId!: string;
  @Uuid({ optional: true }) connectionId?: string;
  @Choice(MerchantPaymentStatus, 'MerchantPaymentStatus') status!: MerchantPaymentStatus;
  @Text({ optional: true, description: 'Why it is so, as a name.' }) reason?: string;
  @Text({ optional: true, description: 'ISO 20022, where the institution tells it.' }) isoStatus?: string;
  @Decimal() amount!: number;
  @Text() currency!: string;
  @Text({ optional: true }) reference?: string;
  @Text({ optional: true, description: 'Where to send the customer; only while awaiting authorisation.' })
  authorisationUrl?: string;
  @DateTime() createdAt!: string;
  @DateTime({ optional: true }) submittedAt?: string;
  @DateTime({ optional: true }) completedAt?: string;
}

export class PaymentList extends ListPage {
  @Nested(() => PaymentView, { array: true }) data!: PaymentView[];
}
