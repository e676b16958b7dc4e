import { Controller, Get, Query } from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiInternalServerErrorResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import {
  ApiListResponseOfDataConstraints,
  ApiListResponseOfPaymentConstraints,
  ApiResponseError,
  DataConstraintsQuery,
  PaymentConstraintsQuery,
} from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { ConstraintsService } from './constraints.service.js';

@ApiTags('Constraints')
@ApiBadRequestResponse({ type: ApiResponseError })
@ApiUnauthorizedResponse({ type: ApiResponseError })
@ApiNotFoundResponse({ type: ApiResponseError })
@ApiInternalServerErrorResponse({ type: ApiResponseError })
@ErrorShape('minimal')
@Controller('institutions/constraints')
export class ConstraintsController {
  constructor(private readonly constraints: ConstraintsService) {}

  @ApiOperation({ operationId: 'getPaymentConstraintsRulesByInstitution' })
  @ApiOkResponse({ type: ApiListResponseOfPaymentConstraints })
  @Get('payments')
  payments(@Query() query: PaymentConstraintsQuery): ApiListResponseOfPaymentConstraints {
    const data = this.constraints.ofPayments(query);
    return { meta: { tracingId: tracingId(), count: data.length }, data };
  }

  @ApiOperation({ operationId: 'getAccountConstraintsRulesByInstitution' })
  @ApiOkResponse({ type: ApiListResponseOfDataConstraints })
  @Get('data')
  accounts(@Query() query: DataConstraintsQuery): ApiListResponseOfDataConstraints {
    return { meta: { tracingId: tracingId() }, data: this.constraints.ofData(query) };
  }
}
