import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import {
  type ApiVersion,
  ApiVersionHeader,
  Consent,
  ConsentAuthCodeRequest,
  ConsentDeleteResponse,
  consentIn,
  envelope,
  EnvelopeOf,
  ExtendConsentRequest,
  linksOf,
  ListOf,
  OneTimeTokenRequest,
  paginationOf,
  type Envelope,
} from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { CurrentVersion } from '../auth/api-version.guard.js';
import { readUuid } from '../auth/read-uuid.js';
import { CurrentTenant, Tenant } from '../auth/tenant.js';
import { ConsentCodes } from './consent-codes.service.js';
import { ConsentDeletion, ConsentsFilter } from './consents.filter.js';
import { ConsentsService } from './consents.service.js';

@ApiTags('Consents')
@ErrorShape('minimal')
@Controller()
export class ConsentsController {
  constructor(
    private readonly consents: ConsentsService,
    private readonly codes: ConsentCodes,
  ) {}

  @ApiOperation({ operationId: 'getConsents' })
  @ApiVersionHeader()
  @ApiOkResponse({ type: ListOf(Consent) })
  @Get('consents')
  async list(
    @CurrentTenant() tenant: Tenant,
    @Query() filter: ConsentsFilter,
    @CurrentVersion() version: ApiVersion,
    @Req() request: FastifyRequest,
  ): Promise<Envelope<Consent[]>> {
    const { consents, total, page } = await this.consents.list(tenant, filter);
    const url = `${request.protocol}://${request.host}/consents`;
    return envelope(
      consents.map((consent) => consentIn(version, consent)),
      { tracingId: tracingId(), pagination: paginationOf(page, total) },
      linksOf(url, page, ['from', 'before', 'limit', 'sort', 'offset']),
    );
  }

  @ApiOperation({ operationId: 'getConsentById' })
  @ApiVersionHeader()
  @ApiOkResponse({ type: EnvelopeOf(Consent) })
  @Get('consents/:consentId')
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param('consentId') consentId: string,
    @CurrentVersion() version: ApiVersion,
  ): Promise<Envelope<Consent>> {
    const consent = await this.consents.get(tenant, readUuid('consentId', consentId));
    return envelope(consentIn(version, consent), { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'delete' })
  @ApiOkResponse({ type: EnvelopeOf(ConsentDeleteResponse) })
  @Delete('consents/:consentId')
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param('consentId') consentId: string,
    @Query() { forceDelete = true }: ConsentDeletion,
  ): Promise<Envelope<ConsentDeleteResponse>> {
    const id = readUuid('consentId', consentId);
    return envelope(await this.consents.remove(tenant, id, forceDelete), { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'extendConsent' })
  @ApiOkResponse({ type: EnvelopeOf(Consent) })
  @HttpCode(200)
  @Post('consents/:consentId/extend')
  async extend(
    @CurrentTenant() tenant: Tenant,
    @Param('consentId') consentId: string,
    @Body() body: ExtendConsentRequest,
  ): Promise<Envelope<Consent>> {
    const extended = await this.consents.extend(tenant, readUuid('consentId', consentId), body);
    return envelope(extended, { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'createConsentWithCode' })
  @ApiOkResponse({ type: Consent })
  @HttpCode(200)
  @Post('consent-auth-code')
  exchangeCode(@CurrentTenant() tenant: Tenant, @Body() body: ConsentAuthCodeRequest): Promise<Consent> {
    return this.codes.exchange(tenant, body);
  }

  @ApiOperation({ operationId: 'getConsentBySingleAccessConsent' })
  @ApiCreatedResponse({ type: Consent })
  @Post('consent-one-time-token')
  exchange(@CurrentTenant() tenant: Tenant, @Body() { oneTimeToken }: OneTimeTokenRequest): Promise<Consent> {
    return this.consents.exchange(tenant, oneTimeToken);
  }
}
