import { Choice, DateTime, Decimal, Nested, Text } from '../field.js';
import { ChargeBearerType, PriorityCodeEnum, RateTypeEnum } from './payment-type.dto.js';

export class ExchangeRateInformation {
  @Text() unitCurrency!: string;
  @Decimal({ optional: true }) rate?: number;
  @Choice(RateTypeEnum, 'RateTypeEnum') rateType!: RateTypeEnum;
  @Text({ optional: true }) foreignExchangeContractReference?: string;
}

export class ExchangeRateInformationResponse extends ExchangeRateInformation {
  @DateTime({ optional: true }) exchangeRateExpiryDate?: string;
}

export class InternationalPaymentRequest {
  @Text() currencyOfTransfer!: string;
  @Nested(() => ExchangeRateInformation, { optional: true }) exchangeRateInformation?: ExchangeRateInformation;
  @Text({ optional: true }) purpose?: string;
  @Choice(PriorityCodeEnum, 'PriorityCodeEnum', { optional: true }) priority?: PriorityCodeEnum;
  @Choice(ChargeBearerType, 'ChargeBearerType', { optional: true }) chargeBearer?: ChargeBearerType;
}
