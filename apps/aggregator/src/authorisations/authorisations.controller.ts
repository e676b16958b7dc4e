import { Body, Controller, HttpCode, Patch, Post, Put, Req } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
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
  PaymentPreAuthorisationRequest,
  PreAuthorisationRequest,
  PreAuthorisationResponse,
  readPsuHeaders,
  type Envelope,
} from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { CurrentConsent, NeedsConsent } from '../auth/consent.guard.js';
import { CurrentTenant, Tenant } from '../auth/tenant.js';
import type { ConsentRow } from '../consents/consent.queries.js';
import { AuthorisationsService } from './authorisations.service.js';
import { PreAuthorisation } from './pre-authorisation.service.js';
import { ReAuthorisation } from './re-authorisation.service.js';

@ApiTags('Authorisations')
@ApiPsuHeaders()
@ApiSubApplicationHeader()
@ErrorShape('minimal')
@Controller()
export class AuthorisationsController {
  constructor(
    private readonly authorisations: AuthorisationsService,
    private readonly preAuthorisation: PreAuthorisation,
    private readonly reAuthorisation: ReAuthorisation,
  ) {}

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

  @ApiOperation({ operationId: 'reAuthoriseAccount' })
  @ApiCreatedResponse({ type: EnvelopeOf(AccountAuthorisationResponse) })
  @NeedsConsent('authorise')
  @HttpCode(201)
  @Patch('account-auth-requests')
  async renewAccount(
    @CurrentConsent() consent: ConsentRow,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<AccountAuthorisationResponse>> {
    const begun = await this.reAuthorisation.begin(consent, readPsuHeaders(headers));
    return envelope(begun, { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'updatePreAuthoriseAccountConsent' })
  @ApiOkResponse({ type: EnvelopeOf(AccountAuthorisationResponse) })
  @NeedsConsent('authorise')
  @Put('account-auth-requests')
  async continueAccount(
    @CurrentTenant() tenant: Tenant,
    @CurrentConsent() consent: ConsentRow,
    @Body() request: AccountAuthorisationRequest,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<AccountAuthorisationResponse>> {
    const psu = readPsuHeaders(headers);
    const begun = await this.preAuthorisation.continueAccount(tenant, consent, { request, psu });
    return envelope(begun, { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'createPreAuthorisationRequest' })
  @ApiCreatedResponse({ type: EnvelopeOf(PreAuthorisationResponse) })
  @Post('pre-auth-requests')
  async beginPreAuthorisation(
    @CurrentTenant() tenant: Tenant,
    @Body() body: PreAuthorisationRequest,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<PreAuthorisationResponse>> {
    const begun = await this.preAuthorisation.begin(tenant, body, readPsuHeaders(headers));
    return envelope(begun, { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'createPaymentPreAuthorisationRequest' })
  @ApiCreatedResponse({ type: EnvelopeOf(PreAuthorisationResponse) })
  @Post('payment-pre-auth-requests')
  async beginPaymentPreAuthorisation(
    @CurrentTenant() tenant: Tenant,
    @Body() body: PaymentPreAuthorisationRequest,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<PreAuthorisationResponse>> {
    const begun = await this.preAuthorisation.beginPayment(tenant, body, readPsuHeaders(headers));
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
