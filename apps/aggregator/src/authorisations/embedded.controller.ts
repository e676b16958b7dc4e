import { Body, Controller, Param, Post, Put, HttpCode, Req } from '@nestjs/common';
import { ApiCreatedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import {
  ApiPsuHeaders,
  ApiSubApplicationHeader,
  EmbeddedAccountAuthorisationRequest,
  EmbeddedAccountAuthorisationResponse,
  envelope,
  EnvelopeOf,
  readPsuHeaders,
  type Envelope,
} from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { readUuid } from '../auth/read-uuid.js';
import { CurrentTenant, Tenant } from '../auth/tenant.js';
import { EmbeddedAuthorisations } from './embedded.service.js';

@ApiTags('Authorisations')
@ApiPsuHeaders()
@ApiSubApplicationHeader()
@ErrorShape('minimal')
@Controller('embedded-account-auth-requests')
export class EmbeddedController {
  constructor(private readonly embedded: EmbeddedAuthorisations) {}

  @ApiOperation({ operationId: 'initiateEmbeddedAccountRequest' })
  @ApiCreatedResponse({ type: EnvelopeOf(EmbeddedAccountAuthorisationResponse) })
  @Post()
  async begin(
    @CurrentTenant() tenant: Tenant,
    @Body() body: EmbeddedAccountAuthorisationRequest,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<EmbeddedAccountAuthorisationResponse>> {
    const begun = await this.embedded.begin(tenant, body, readPsuHeaders(headers));
    return envelope(begun, { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'updateEmbeddedAccountRequest' })
  @ApiCreatedResponse({ type: EnvelopeOf(EmbeddedAccountAuthorisationResponse) })
  @HttpCode(201)
  @Put(':consentId')
  async answer(
    @CurrentTenant() tenant: Tenant,
    @Param('consentId') consentId: string,
    @Body() request: EmbeddedAccountAuthorisationRequest,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<EmbeddedAccountAuthorisationResponse>> {
    const id = readUuid('consentId', consentId);
    const answered = await this.embedded.answer(tenant, id, { request, psu: readPsuHeaders(headers) });
    return envelope(answered, { tracingId: tracingId() });
  }
}
