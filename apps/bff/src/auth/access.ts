import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiDefaultResponse, ApiExtraModels, ApiHeader, getSchemaPath } from '@nestjs/swagger';
import { CallerGuard, CustomerGuard, MerchantGuard, OperatorGuard } from './guards.js';
import { ProblemDetails } from './problem-details.dto.js';

type Access = ClassDecorator & MethodDecorator;

function guarded(guard: Parameters<typeof UseGuards>[0]): Access {
  return applyDecorators(
    UseGuards(guard),
    ApiBearerAuth(),
    ApiExtraModels(ProblemDetails),
    ApiDefaultResponse({
      description: 'Refused or failed',
      content: { 'application/problem+json': { schema: { $ref: getSchemaPath(ProblemDetails) } } },
    }),
  );
}

/** Routes of the operator. */
export const ForOperator = (): Access => guarded(OperatorGuard);

/** Routes of a merchant's backend. */
export const ForMerchant = (): Access => guarded(MerchantGuard);

/** Routes that any merchant or customer may read. */
export const ForCaller = (): Access => guarded(CallerGuard);

/** Routes of one customer: by the token of a session, or by an API key together with the customer's id. */
export const ForCustomer = (): Access =>
  applyDecorators(
    guarded(CustomerGuard),
    ApiHeader({
      name: 'customer-id',
      required: false,
      description: 'Needed with an API key: which of the merchant’s customers.',
    }),
  );
