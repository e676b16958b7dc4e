import { Body, Controller, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import {
  ApiBadRequestResponse,
  ApiBody,
  ApiCreatedResponse,
  ApiForbiddenResponse,
  ApiInternalServerErrorResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import { ApiErrorResponse, ValidationErrorResponse, VrpConfiguration } from '#libs/contract';
import { ErrorShape } from '#libs/server';
import { readUuid } from '../auth/read-uuid.js';
import { CurrentTenant, Tenant } from '../auth/tenant.js';
import { VrpConfigurationService } from './vrp-configuration.service.js';

/** Both writing operations are answered 201 without a body. */
@ApiTags('Application Management')
@ApiBadRequestResponse({ type: ValidationErrorResponse })
@ApiUnauthorizedResponse({ type: ApiErrorResponse })
@ApiForbiddenResponse({ type: ApiErrorResponse })
@ApiNotFoundResponse({ type: ApiErrorResponse })
@ApiInternalServerErrorResponse({ type: ApiErrorResponse })
@ErrorShape('field-list')
@Controller('applications/:applicationId/vrp')
export class VrpConfigurationController {
  constructor(private readonly configurations: VrpConfigurationService) {}

  @ApiOperation({ operationId: 'createApplicationVRPConfigurationByApplicationId' })
  @ApiBody({ type: VrpConfiguration })
  @ApiCreatedResponse()
  @Post()
  create(
    @CurrentTenant() tenant: Tenant,
    @Param('applicationId') applicationId: string,
    @Body() body: VrpConfiguration,
  ): Promise<void> {
    return this.configurations.set(tenant, readUuid('applicationId', applicationId), body);
  }

  @ApiOperation({ operationId: 'updateApplicationVRPConfigurationByApplicationId' })
  @ApiBody({ type: VrpConfiguration })
  @ApiCreatedResponse()
  @HttpCode(201)
  @Put()
  update(
    @CurrentTenant() tenant: Tenant,
    @Param('applicationId') applicationId: string,
    @Body() body: VrpConfiguration,
  ): Promise<void> {
    return this.configurations.replace(tenant, readUuid('applicationId', applicationId), body);
  }

  @ApiOperation({ operationId: 'getApplicationVRPConfigurationByApplicationId' })
  @ApiOkResponse({ type: VrpConfiguration })
  @Get()
  get(@CurrentTenant() tenant: Tenant, @Param('applicationId') applicationId: string): Promise<VrpConfiguration> {
    return this.configurations.get(tenant, readUuid('applicationId', applicationId));
  }
}
