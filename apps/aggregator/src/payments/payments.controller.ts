import { Body, Controller, Get, Param, Post, Req } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import {
  ApiPsuHeaders,
  ApiSubApplicationHeader,
  envelope,
  EnvelopeOf,
  PaymentRequest,
  PaymentResponse,
  PaymentResponses,
  readPsuHeaders,
  type Envelope,
} from '#libs/contract';
import { ErrorShape, tracingId } from '#libs/server';
import { CurrentConsent, NeedsConsent } from '../auth/consent.guard.js';
import type { ConsentRow } from '../consents/consent.queries.js';
import { PaymentsService } from './payments.service.js';

@ApiTags('Payments')
@ApiPsuHeaders()
@ApiSubApplicationHeader()
@ErrorShape('minimal')
@Controller('payments')
export class PaymentsController {
  constructor(private readonly payments: PaymentsService) {}

  @ApiOperation({ operationId: 'createPayment' })
  @ApiCreatedResponse({ type: EnvelopeOf(PaymentResponse) })
  @NeedsConsent('pay')
  @Post()
  async create(
    @CurrentConsent() consent: ConsentRow,
    @Body() body: PaymentRequest,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<PaymentResponse>> {
    return envelope(await this.payments.pay(consent, body, readPsuHeaders(headers)), { tracingId: tracingId() });
  }

  @ApiOperation({ operationId: 'getPayments' })
  @ApiOkResponse({ type: EnvelopeOf(PaymentResponses) })
  @NeedsConsent('follow')
  @Get(':paymentId/details')
  async details(
    @CurrentConsent() consent: ConsentRow,
    @Param('paymentId') paymentId: string,
    @Req() { headers }: FastifyRequest,
  ): Promise<Envelope<PaymentResponses>> {
    const payment = await this.payments.details(consent, paymentId, readPsuHeaders(headers));
    return envelope({ payments: [payment] }, { tracingId: tracingId() });
  }
}
