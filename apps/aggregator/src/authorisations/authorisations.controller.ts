import { Body, Controller, Post, Req } from '@nestjs/common';
import { ApiCreatedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import {
  AccountAuthorisationRequest,
  AccountAuthorisationResponse,
  ApiPsuHeaders,
  ApiSubApplicationHeader,
  envelope,
  EnvelopeOf,
  PaymentAuthorisationRequest,
  PaymentAuthorisationRequestResponse,
  readPsuHeaders,
  type Envelope,
} from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { CurrentTenant, Tenant } from '../auth/tenant.js';
import { AuthorisationsService } from './authorisations.service.js';

@ApiTags('Authorisations')
@ApiPsuHeaders()
@ApiSubApplicationHeader()
@ErrorShape('minimal')
@Controller()
export class AuthorisationsController {
  constructor(private readonly authorisations: AuthorisationsService) {}

  @ApiOperation({ operationId: 'initiateAccountRequest' })
  @ApiCreatedResponse({ type: EnvelopeOf(AccountAuthorisationResponse) })
  @Post('account-auth-requests')
  async beginAccount(
    @CurrentTenant() tenant: Tenant,
    @Body() body: AccountAuthorisationRequest,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<AccountAuthorisationResponse>> {
    const begun = await this.authorisations.beginAccount(tenant, body, readPsuHeaders(headers));
    return envelope(begun, { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'createPaymentAuthorisation' })
  @ApiCreatedResponse({ type: EnvelopeOf(PaymentAuthorisationRequestResponse) })
  @Post('payment-auth-requests')
  async beginPayment(
    @CurrentTenant() tenant: Tenant,
    @Body() body: PaymentAuthorisationRequest,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<PaymentAuthorisationRequestResponse>> {
    const begun = await this.authorisations.beginPayment(tenant, body, readPsuHeaders(headers));
    return envelope(begun, { tracingId: tracingId() });
  }
}
