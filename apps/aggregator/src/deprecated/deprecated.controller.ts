import { Controller, Get, Header } from '@nestjs/common';
import { ApiDefaultResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiResponseError, Application, envelope, type Envelope, FeatureDetails, ListOf } from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { ApplicationsService } from '../applications/applications.service.js';
import { CurrentTenant, Tenant } from '../auth/tenant.js';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { featureEndpoints } from './feature-endpoints.js';

/** Operations that clients should leave (interface, part 9): they say so in the description and in the `Deprecation` header. */
@ApiDefaultResponse({ type: ApiResponseError })
@ErrorShape('minimal')
@Controller()
export class DeprecatedController {
  constructor(
    private readonly applications: ApplicationsService,
    private readonly institutions: InstitutionsService,
  ) {}

  /** The caller's own application. GET /applications/{applicationId} and GET /institutions stand in its place. */
  @ApiTags('Application')
  @ApiOperation({ operationId: 'getApplicationMe', deprecated: true })
  @ApiOkResponse({ type: Application })
  @Header('Deprecation', 'true')
  @Get('me')
  async me(@CurrentTenant() tenant: Tenant): Promise<Application> {
    const { name, callbackUrls, createdAt, updatedAt } = await this.applications.own(tenant);
    return {
      uuid: tenant.application.id,
      name,
      active: true,
      authCallbacks: callbackUrls,
      institutions: this.institutions.list(),
      media: [],
      created: createdAt.toISOString(),
      updated: updatedAt.toISOString(),
    };
  }

  /** Every feature and its operation. GET /institutions stands in its place. */
  @ApiTags('Institutions')
  @ApiOperation({ operationId: 'getFeatureDetails', deprecated: true })
  @ApiOkResponse({ type: ListOf(FeatureDetails) })
  @Header('Deprecation', 'true')
  @Get('features')
  features(): Envelope<FeatureDetails[]> {
    return envelope([...featureEndpoints], { tracingId: tracingId() });
  }
}
