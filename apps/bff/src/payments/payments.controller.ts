import { Body, Controller, Get, Headers, Param, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiExcludeEndpoint, ApiHeader, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { problems } from '#libs/contract';
import { CurrentScope, type Scope } from '../auth/caller.js';
import { ForCustomer } from '../auth/access.js';
import { UuidParam } from '../auth/uuid-param.js';
import type { CallbackQuery } from '../callbacks/callback-state.js';
import { sendBack } from '../callbacks/return-address.js';
import { NewPayment, PaymentList, PaymentView } from './payment.dto.js';
import { PaymentAuthorisationService } from './payment-authorisation.service.js';
import { paymentSentenceOf } from './payment-status.js';
import { PaymentsService } from './payments.service.js';

/** 1 to 200 visible characters. */
const keyForm = /^[\x21-\x7e]{1,200}$/;

@ApiTags('Payments')
@Controller('v1/payments')
export class PaymentsController {
  constructor(
    private readonly payments: PaymentsService,
    private readonly authorisation: PaymentAuthorisationService,
  ) {}

  @Post()
  @ApiCreatedResponse({ type: PaymentView })
  @ForCustomer()
  @ApiHeader({ name: 'idempotency-key', required: true, description: 'Chosen by the merchant; one payment for ever.' })
  pay(
    @CurrentScope() scope: Scope,
    @Headers('idempotency-key') key: string | undefined,
    @Body() body: NewPayment,
  ): Promise<PaymentView> {
    if (key === undefined || !keyForm.test(key)) {
      const message = 'The header Idempotency-Key is mandatory: 1 to 200 visible characters';
      throw problems.unexpectedValue({ parameter: 'idempotency-key', message });
    }
    return this.payments.pay(scope, key, body);
  }

  @Get()
  @ForCustomer()
  @ApiOkResponse({ type: PaymentList })
  async listPayments(@CurrentScope() scope: Scope): Promise<PaymentList> {
    return { data: await this.payments.list(scope) };
  }

  /** Where the aggregator sends the customer's browser. */
  @Get('callback')
  @ApiExcludeEndpoint()
  async paymentCallback(@Query() query: CallbackQuery, @Res() reply: FastifyReply): Promise<void> {
    const { id, status, returnUrl } = await this.authorisation.comeBack(query);
    sendBack(reply, { returnUrl, told: { payment: id, status }, sentence: paymentSentenceOf(status) });
  }

  @Get(':paymentId')
  @ForCustomer()
  @ApiOkResponse({ type: PaymentView })
  getPayment(@CurrentScope() scope: Scope, @Param('paymentId', UuidParam) id: string): Promise<PaymentView> {
    return this.payments.get(scope, id);
  }
}
