import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Application, envelope, type Envelope, type FeatureDetails } from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { ApplicationsService } from '../applications/applications.service.js';
import { CurrentTenant, Tenant } from '../auth/tenant.js';
import { InstitutionsService } from '../institutions/institutions.service.js';
import { featureEndpoints } from './feature-endpoints.js';

/**
 * Operations that clients should leave (interface, part 9): they are answered, say so in the `Deprecation` header, and are no
 * longer part of the description.
 */
@ApiExcludeController()
@ErrorShape('minimal')
@Controller()
export class DeprecatedController {
  constructor(
    private readonly applications: ApplicationsService,
    private readonly institutions: InstitutionsService,
  ) {}

  /** The caller's own application. GET /applications/{applicationId} and GET /institutions stand in its place. */
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
      created: written(createdAt),
      updated: written(updatedAt),
    };
  }

  /** Every feature and its operation. GET /institutions stands in its place. */
  @Header('Deprecation', 'true')
  @Get('features')
  features(): Envelope<FeatureDetails[]> {
    return envelope([...featureEndpoints], { tracingId: tracingId() });
  }
}

/** The date-times of this operation have an offset in digits: `2020-11-09T10:05:29.897+0000`. */
function written(at: Date): string {
  return at.toISOString().replace('Z', '+0000');
}
