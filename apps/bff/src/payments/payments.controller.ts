import { Body, Controller, Get, Headers, Param, Post, Query, Res } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiExcludeEndpoint,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { PsuHeaders } from '#libs/contract';
import { CurrentScope, type Scope } from '../auth/caller.js';
import { ForCustomer } from '../auth/access.js';
import { ApiPresence, PresentCustomer, ReturningCustomer } from '../auth/presence.js';
import { UuidParam } from '../auth/uuid-param.js';
import type { CallbackQuery } from '../callbacks/callback-state.js';
import { sendBack } from '../callbacks/return-address.js';
import { OwnIdempotency, readIdempotencyKey } from '../idempotency/idempotency.js';
import { ListQuery } from '../list.dto.js';
import { NewPayment, PaymentList, PaymentView } from './payment.dto.js';
import { PaymentAuthorisationService } from './payment-authorisation.service.js';
import { paymentSentenceOf } from './payment-status.js';
import { PaymentsService } from './payments.service.js';

@ApiTags('Payments')
@Controller('v1/payments')
export class PaymentsController {
  constructor(
    private readonly payments: PaymentsService,
    private readonly authorisation: PaymentAuthorisationService,
  ) {}

  @Post()
  @ApiOperation({
    summary: 'Make a payment',
    description:
      'Asks for the customer’s authorisation of one payment. Send the customer to the `authorisationUrl`. The same key with the same request is the same payment for ever, answered as it stands.',
  })
  @OwnIdempotency()
  @ApiCreatedResponse({ type: PaymentView })
  @ForCustomer()
  @ApiPresence()
  @ApiHeader({ name: 'idempotency-key', required: true, description: 'Chosen by the merchant; one payment for ever.' })
  async pay(
    @CurrentScope() scope: Scope,
    @Headers('idempotency-key') key: string | undefined,
    @PresentCustomer() psu: PsuHeaders | undefined,
    @Body() body: NewPayment,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PaymentView> {
    const { payment, replayed } = await this.payments.pay(scope, { key: readIdempotencyKey(key), psu }, body);
    if (replayed) reply.header('idempotency-replayed', 'true');
    return payment;
  }

  @Get()
  @ApiOperation({
    summary: 'List the payments',
    description: 'Of the customer, the newest first, in pages.',
  })
  @ForCustomer()
  @ApiOkResponse({ type: PaymentList })
  listPayments(@CurrentScope() scope: Scope, @Query() query: ListQuery): Promise<PaymentList> {
    return this.payments.list(scope, query);
  }

  /** Where the aggregator sends the customer's browser. */
  @Get('callback')
  @ApiExcludeEndpoint()
  async paymentCallback(
    @Query() query: CallbackQuery,
    @ReturningCustomer() psu: PsuHeaders | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { id, status, returnUrl } = await this.authorisation.comeBack(query, psu);
    sendBack(reply, { returnUrl, told: { payment: id, status }, sentence: paymentSentenceOf(status) });
  }

  @Get(':paymentId')
  @ApiOperation({
    summary: 'Read a payment',
    description: 'Its state up to the bank’s last word.',
  })
  @ForCustomer()
  @ApiOkResponse({ type: PaymentView })
  getPayment(@CurrentScope() scope: Scope, @Param('paymentId', UuidParam) id: string): Promise<PaymentView> {
    return this.payments.get(scope, id);
  }
}
