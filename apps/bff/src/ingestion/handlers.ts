import { Injectable } from '@nestjs/common';
import { ConsentHints } from '../connections/consent-hints.service.js';
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

/** The event speaks of a customer who is deleted: it is not to be kept either. */
export const erased = Symbol('erased');

type Handler = (notice: InboundNotice) => Promise<About | typeof erased>;

/** What is done with an event, by its type. Handlers are idempotent and take events in any order. */
@Injectable()
export class EventHandlers {
  private readonly byType: ReadonlyMap<string, Handler>;

  constructor(
    payments: PaymentSubmissionService,
    private readonly consents: ConsentHints,
  ) {
    const followPayment: Handler = async ({ merchantId, event }) => {
      const names = namesOf(event);
      const payment = await payments.find(merchantId, names);
      if (!payment && (await payments.isErased(merchantId, names.idempotencyId))) return erased;
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
  async handle(notice: InboundNotice): Promise<About | typeof erased> {
    const handler = this.byType.get(notice.type) ?? (isOfConsent(notice.type) ? this.followConsent : undefined);
    return (await handler?.(notice)) ?? {};
  }

  private readonly followConsent: Handler = async ({ merchantId, event }) => {
    const { consentId, id } = textsOf(event, ['consentId', 'id']);
    const named = consentId ?? id;
    const connectionId = named && (await this.consents.consentChanged(merchantId, named));
    // It may come before the answer to the authorisation that made the consent.
    if (!connectionId) throw new UnknownObject('The event names no connection’s consent');
    return { connectionId };
  };
}

/** The interface lists no category of account consents yet; services that have one call it after what it is about. */
function isOfConsent(type: string): boolean {
  return /^(account_?)?consents?\./.test(type);
}

function namesOf(event: unknown): { paymentId?: string; idempotencyId?: string; consentId?: string } {
  const { id, paymentIdempotencyId, consentId } = textsOf(event, ['id', 'paymentIdempotencyId', 'consentId']);
  return {
    ...(id === undefined ? {} : { paymentId: id }),
    ...(paymentIdempotencyId === undefined ? {} : { idempotencyId: paymentIdempotencyId }),
    ...(consentId === undefined ? {} : { consentId }),
  };
}

/** The members of these names that are texts. */
function textsOf<Name extends string>(event: unknown, names: readonly Name[]): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  if (typeof event !== 'object' || event === null) return found;
  for (const name of names) {
    const value: unknown = Reflect.get(event, name);
    if (typeof value === 'string') found[name] = value;
  }
  return found;
}
