import { applyDecorators } from '@nestjs/common';
import { ApiBearerAuth, ApiDefaultResponse, ApiExtraModels, ApiHeader, getSchemaPath } from '@nestjs/swagger';
import { RouteSetting } from '#libs/server';
import { KnownQuery } from '../known-query.js';
import { ProblemDetails } from './problem-details.dto.js';

/** For whom a route is. */
export type Access = 'operator' | 'merchant' | 'caller' | 'customer';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Admission asks for it before Nest is reached: a guard of Nest's costs more than the page that it guards. */
    access?: Access;
  }
}

type Decorator = ClassDecorator & MethodDecorator;

function guarded(access: Access): Decorator {
  return applyDecorators(
    RouteSetting({ access }),
    KnownQuery(),
    ApiBearerAuth(),
    ApiExtraModels(ProblemDetails),
    ApiDefaultResponse({
      description: 'Refused or failed',
      content: { 'application/problem+json': { schema: { $ref: getSchemaPath(ProblemDetails) } } },
    }),
  );
}

/** Routes of the operator. */
export const ForOperator = (): Decorator => guarded('operator');

/** Routes of a merchant's backend. */
export const ForMerchant = (): Decorator => guarded('merchant');

/** Routes that any merchant or customer may read. */
export const ForCaller = (): Decorator => guarded('caller');

/** Routes of one customer: by the token of a session, or by an API key together with the customer's id. */
export const ForCustomer = (): Decorator =>
  applyDecorators(
    guarded('customer'),
    ApiHeader({
      name: 'customer-id',
      required: false,
      description: 'Needed with an API key: which of the merchant’s customers.',
      schema: { type: 'string', format: 'uuid' },
    }),
  );
