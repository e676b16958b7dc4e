import { ValidateBy } from 'class-validator';
import { Decimal, Text, type RuleContext } from './field.js';

export class Amount {
  @Decimal() amount!: number;
  @Text({ pattern: /^[A-Z]{3}$/ }) currency!: string;
}

/** Money that is to be moved is more than nothing. The fault is placed on the number inside the amount. */
export function PositiveAmount(): PropertyDecorator {
  const context: RuleContext = {
    member: 'amount',
    schema: { properties: { amount: { type: 'number', exclusiveMinimum: 0 } } },
  };
  return ValidateBy(
    {
      name: 'positiveAmount',
      validator: {
        validate: (value: unknown) =>
          !(value instanceof Amount) || typeof value.amount !== 'number' || value.amount > 0,
        defaultMessage: () => 'amount must be more than 0',
      },
    },
    { context },
  );
}
