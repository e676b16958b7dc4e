import { Schema } from './schema.dto.js';
import { enumeration } from '../enumeration.js';
import { ResponseListMeta, ResponseMeta } from '../envelope.js';
import { Choice, Nested, Text } from '../field.js';

/** The types of single payments: bulk payments have no constraints of their own. */
export const PaymentTypeOfConstraints = enumeration(
  'DOMESTIC_PAYMENT',
  'DOMESTIC_INSTANT_PAYMENT',
  'DOMESTIC_VARIABLE_RECURRING_PAYMENT',
  'DOMESTIC_SCHEDULED_PAYMENT',
  'DOMESTIC_PERIODIC_PAYMENT',
  'INTERNATIONAL_PAYMENT',
  'INTERNATIONAL_SCHEDULED_PAYMENT',
  'INTERNATIONAL_PERIODIC_PAYMENT',
);
export type PaymentTypeOfConstraints = keyof typeof PaymentTypeOfConstraints;

export const EndpointMethod = enumeration('POST', 'PATCH', 'PUT', 'GET', 'DELETE');
export type EndpointMethod = keyof typeof EndpointMethod;

const countryCode = /^[A-Za-z]{2}$/;

export class DataConstraintsQuery {
  @Text({ query: true, array: { min: 1 }, description: 'Comma separated.' }) institutionIds!: string[];
  @Text({ query: true, pattern: countryCode, description: 'Two letters.' }) institutionCountryCode!: string;
  @Text({ query: true, optional: true }) endpointPath?: string;
  @Choice(EndpointMethod, 'EndpointMethod', { query: true, optional: true }) endpointMethod?: EndpointMethod;
}

export class PaymentConstraintsQuery extends DataConstraintsQuery {
  @Choice(PaymentTypeOfConstraints, 'PaymentTypeOfConstraints', { query: true }) paymentType!: PaymentTypeOfConstraints;
}

/** What a request to an operation must look like for an institution. */
export class RequestConstraints {
  @Nested(() => Schema, { optional: true }) headers?: Schema;
  @Nested(() => Schema) body!: Schema;
}

/** The contract declares `institutionCountryCode` and requires `institutionCountry`: the country is said under both names. */
export class DataConstraintsResponse {
  @Text() institutionId!: string;
  @Text() institutionCountry!: string;
  @Text({ always: true }) institutionCountryCode!: string;
  @Text({ always: true }) endpointPath!: string;
  @Text({ always: true }) endpointMethod!: string;
  @Nested(() => RequestConstraints) request!: RequestConstraints;
}

export class PaymentConstraintsResponse extends DataConstraintsResponse {
  @Choice(PaymentTypeOfConstraints, 'PaymentTypeOfConstraints') paymentType!: PaymentTypeOfConstraints;
}

export class ApiListResponseOfDataConstraints {
  @Nested(() => ResponseMeta, { always: true }) meta!: ResponseMeta;
  @Nested(() => DataConstraintsResponse, { always: true, array: true }) data!: DataConstraintsResponse[];
}

export class ApiListResponseOfPaymentConstraints {
  @Nested(() => ResponseListMeta, { always: true }) meta!: ResponseListMeta;
  @Nested(() => PaymentConstraintsResponse, { always: true, array: true }) data!: PaymentConstraintsResponse[];
}
