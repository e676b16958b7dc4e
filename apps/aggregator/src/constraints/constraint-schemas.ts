import {
  AccountAuthorisationRequest,
  EmbeddedAccountAuthorisationRequest,
  header,
  joinSchemas,
  PaymentAuthorisationRequest,
  PaymentRequest,
  schemaOf,
  type EndpointMethod,
  type Feature,
  type PaymentTypeOfConstraints,
  type RequestConstraints,
  type Schema,
} from '#libs/contract';
import type { Institution } from '#libs/connectors';
import { ACCOUNT_FEATURES } from '../authorisations/account-request.rules.js';
import { paymentTypeRule } from '../payments/payment-rules.js';

/** What an institution wants of the requests to one operation. */
export interface EndpointConstraints {
  endpointPath: string;
  endpointMethod: EndpointMethod;
  request: RequestConstraints;
}

/** An institution and what it can do. */
export interface Constrained {
  data: Pick<Institution, 'id' | 'requiredPsuHeaders'>;
  features: readonly Feature[];
}

/** The requests by which access to accounts is asked for, made of the rules that check them. */
export function dataConstraints(institution: Constrained): EndpointConstraints[] {
  const { data, features } = institution;
  const featureScope: Schema = {
    type: 'array',
    minItems: 1,
    items: { type: 'string', enum: features.filter((feature) => ACCOUNT_FEATURES.has(feature)) },
  };
  const properties: Record<string, Schema> = {
    ...ofInstitution(data.id),
    accountRequest: { type: 'object', properties: { featureScope } },
  };
  const narrowed = (type: new () => object) => joinSchemas(schemaOf(type), { type: 'object', properties });
  const account = () => ({ headers: headersOf(data), body: narrowed(AccountAuthorisationRequest) });
  const embedded = () => ({ headers: headersOf(data), body: narrowed(EmbeddedAccountAuthorisationRequest) });
  const path = '/account-auth-requests';
  return [
    ...where(features, ['INITIATE_ACCOUNT_REQUEST'], () => at('POST', path, account())),
    ...where(features, ['INITIATE_ACCOUNT_REQUEST', 'INITIATE_PRE_AUTHORISATION'], () => at('PUT', path, account())),
    ...where(features, ['INITIATE_EMBEDDED_ACCOUNT_REQUEST'], () =>
      at('POST', '/embedded-account-auth-requests', embedded()),
    ),
  ];
}

/** The requests by which a payment of this type is asked for and made; none where the institution lacks the type. */
export function paymentConstraints(institution: Constrained, type: PaymentTypeOfConstraints): EndpointConstraints[] {
  const { data, features } = institution;
  const rule = paymentTypeRule(type);
  if (!rule) return [];
  const required = rule.requires.filter((member) => member !== 'payee.address');
  const payment = joinSchemas(schemaOf(PaymentRequest), {
    type: 'object',
    ...(required.length > 0 ? { required } : {}),
    properties: {
      type: { type: 'string', enum: [type] },
      ...(rule.requires.includes('payee.address') ? { payee: { type: 'object', required: ['address'] } } : {}),
    },
  });
  const authorisation = () =>
    joinSchemas(schemaOf(PaymentAuthorisationRequest), {
      type: 'object',
      properties: { ...ofInstitution(data.id), paymentRequest: payment },
    });
  return [
    ...where(features, [rule.initiate], () =>
      at('POST', '/payment-auth-requests', { headers: headersOf(data), body: authorisation() }),
    ),
    ...where(features, [rule.create], () =>
      at('POST', '/payments', { headers: headersOf({ requiredPsuHeaders: [] }, header.consent), body: payment }),
    ),
  ];
}

function ofInstitution(id: string): Record<string, Schema> {
  return { institutionId: { type: 'string', enum: [id] } };
}

function at(endpointMethod: EndpointMethod, endpointPath: string, request: RequestConstraints): EndpointConstraints {
  return { endpointPath, endpointMethod, request };
}

function where<T>(features: readonly Feature[], all: readonly Feature[], make: () => T): T[] {
  return all.every((feature) => features.includes(feature)) ? [make()] : [];
}

const psuHeaderNames = {
  id: header.psuId,
  corporateId: header.psuCorporateId,
  ipAddress: header.psuIpAddress,
} as const;

function headersOf({ requiredPsuHeaders }: Pick<Institution, 'requiredPsuHeaders'>, ...more: string[]): Schema {
  const demanded = Object.entries(psuHeaderNames).filter(([name]) => requiredPsuHeaders.some((each) => each === name));
  const required = [...more, ...demanded.map(([, name]) => name)];
  const names = [...more, ...Object.values(psuHeaderNames)];
  const properties = Object.fromEntries(names.map((name): [string, Schema] => [name, { type: 'string' }]));
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}
