import { Injectable } from '@nestjs/common';
import { isSubmittable } from '../payments/payment-status.js';
import { PaymentSubmissionService } from '../payments/payment-submission.service.js';

/** A verified event of the aggregator. Its content is a hint: handlers read the resource again. */
export interface InboundNotice {
  merchantId: string;
  type: string;
  event: unknown;
}

/** Thrown when an event speaks of something we do not know, or do not know yet. */
export class UnknownObject extends Error {
  override readonly name = 'UnknownObject';
}

/** The ids of what the event turned out to be about. */
export type About = Readonly<Record<string, string>>;

type Handler = (notice: InboundNotice) => Promise<About>;

/** What is done with an event, by its type. Handlers are idempotent and take events in any order. */
@Injectable()
export class EventHandlers {
  private readonly byType: ReadonlyMap<string, Handler>;

  constructor(payments: PaymentSubmissionService) {
    const followPayment: Handler = async ({ merchantId, event }) => {
      const payment = await payments.find(merchantId, namesOf(event));
      // It may come before the answer to the submission that it speaks of.
      if (!payment || isSubmittable(payment.status)) throw new UnknownObject('The event names no submitted payment');
      await payments.follow(payment, { hinted: true });
      return { paymentId: payment.id };
    };
    this.byType = new Map([
      ['single_payment.status.updated', followPayment],
      ['single_payment.status.completed', followPayment],
      ['payment.state.success', followPayment],
      ['payment.state.failed', followPayment],
    ]);
  }

  /** Types nobody handles are kept and done: the sender may know more types than we do. */
  async handle(notice: InboundNotice): Promise<About> {
    return (await this.byType.get(notice.type)?.(notice)) ?? {};
  }
}

function namesOf(event: unknown): { paymentId?: string; idempotencyId?: string; consentId?: string } {
  if (typeof event !== 'object' || event === null) return {};
  const text = (name: string): string | undefined => {
    const value: unknown = Reflect.get(event, name);
    return typeof value === 'string' ? value : undefined;
  };
  const [paymentId, idempotencyId, consentId] = [text('id'), text('paymentIdempotencyId'), text('consentId')];
  return {
    ...(paymentId === undefined ? {} : { paymentId }),
    ...(idempotencyId === undefined ? {} : { idempotencyId }),
    ...(consentId === undefined ? {} : { consentId }),
  };
}
