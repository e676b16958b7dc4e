import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  ApiBadRequestResponse,
  ApiUnauthorizedResponse,
  ApiInternalServerErrorResponse,
  ApiForbiddenResponse,
  ApiNotFoundResponse,
} from '@nestjs/swagger';
import {
  ApiErrorResponse,
  ApiListOfApplicationResponse,
  ApplicationRequest,
  ApplicationResponse,
  type Envelope,
  envelope,
  EnvelopeOf,
  ValidationErrorResponse,
} from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { readUuid } from '../auth/read-uuid.js';
import { CurrentTenant, Tenant } from '../auth/tenant.js';
import { ApplicationSearch } from './application.dto.js';
import { ApplicationsService } from './applications.service.js';

@ApiTags('Application Management')
@ApiBadRequestResponse({ type: ValidationErrorResponse })
@ApiUnauthorizedResponse({ type: ApiErrorResponse })
@ApiForbiddenResponse({ type: ApiErrorResponse })
@ApiInternalServerErrorResponse({ type: ApiErrorResponse })
@ErrorShape('field-list')
@Controller('applications')
export class ApplicationsController {
  constructor(private readonly applications: ApplicationsService) {}

  @ApiOperation({ operationId: 'createSubApplication' })
  @ApiCreatedResponse({ type: EnvelopeOf(ApplicationResponse) })
  @Post()
  async create(
    @CurrentTenant() tenant: Tenant,
    @Body() body: ApplicationRequest,
  ): Promise<Envelope<ApplicationResponse>> {
    return envelope(await this.applications.create(tenant, body), { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'searchApplications' })
  @ApiOkResponse({ type: ApiListOfApplicationResponse })
  @Get()
  async search(
    @CurrentTenant() tenant: Tenant,
    @Query() search: ApplicationSearch,
  ): Promise<ApiListOfApplicationResponse> {
    const { items, pagination } = await this.applications.search(tenant, search);
    return { meta: { tracingId: tracingId(), count: items.length, pagination }, data: items };
  }

  @ApiOperation({ operationId: 'getApplicationById' })
  @ApiNotFoundResponse({ type: ApiErrorResponse })
  @ApiOkResponse({ type: EnvelopeOf(ApplicationResponse) })
  @Get(':applicationId')
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param('applicationId') applicationId: string,
  ): Promise<Envelope<ApplicationResponse>> {
    const id = readUuid('applicationId', applicationId);
    return envelope(await this.applications.get(tenant, id), { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'updateApplication' })
  @ApiNotFoundResponse({ type: ApiErrorResponse })
  @ApiOkResponse({ type: EnvelopeOf(ApplicationResponse) })
  @Put(':applicationId')
  async update(
    @CurrentTenant() tenant: Tenant,
    @Param('applicationId') applicationId: string,
    @Body() body: ApplicationRequest,
  ): Promise<Envelope<ApplicationResponse>> {
    const id = readUuid('applicationId', applicationId);
    return envelope(await this.applications.update(tenant, id, body), { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'deleteApplication' })
  @ApiNotFoundResponse({ type: ApiErrorResponse })
  @ApiNoContentResponse()
  @HttpCode(204)
  @Delete(':applicationId')
  delete(@CurrentTenant() tenant: Tenant, @Param('applicationId') applicationId: string): Promise<void> {
    return this.applications.delete(tenant, readUuid('applicationId', applicationId));
  }
}
