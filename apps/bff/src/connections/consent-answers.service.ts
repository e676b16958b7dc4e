import { Injectable } from '@nestjs/common';
import { ClientError } from '#libs/client';
import type { Consent } from '#libs/contract';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import type { CallbackOutcome } from '../callbacks/callback-state.js';

/** Reads from the aggregator how an authorisation went. */
@Injectable()
export class ConsentAnswers {
  constructor(private readonly aggregator: MerchantAggregator) {}

  /** The consent as the aggregator knows it. */
  async read(merchantId: string, consentId: string): Promise<Consent> {
    const application = await this.aggregator.of(merchantId);
    return (await application.getConsentById(consentId)).data;
  }

  /** The same for a worker, which asks again later: undefined when the aggregator does not answer, `gone` when it has no such consent. */
  async find(merchantId: string, consentId: string): Promise<Consent | 'gone' | undefined> {
    try {
      return await this.read(merchantId, consentId);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      return error.status === 404 ? 'gone' : undefined;
    }
  }

  /**
   * The consent a callback speaks of, which is another than ours if its token was not made for ours: by its one-time token,
   * or read, when the token is spent or too old or there is none.
   */
  async after(merchantId: string, consentId: string, outcome: CallbackOutcome): Promise<Consent> {
    const exchanged = outcome.kind === 'token' ? await this.exchange(merchantId, outcome.oneTimeToken) : undefined;
    return exchanged ?? this.read(merchantId, consentId);
  }

  private async exchange(merchantId: string, oneTimeToken: string): Promise<Consent | undefined> {
    const application = await this.aggregator.of(merchantId);
    try {
      return await application.getConsentBySingleAccessConsent({ oneTimeToken });
    } catch (error) {
      if (error instanceof ClientError && error.status !== undefined && !error.retryable) return undefined;
      throw error;
    }
  }
}
