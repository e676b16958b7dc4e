import { createHash, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { verifyWebhook } from '#libs/client';
import { problems } from '#libs/contract';
import { SecretBox } from '#libs/database';
import { now } from '#libs/server';
import { notAuthenticated } from '../auth/caller.js';
import { Env } from '../config.js';
import { InboundStore } from './inbound-store.js';
import { readNotice } from './notice.js';
import { type ApplicationSecrets, WebhookSecrets } from './webhook-secrets.js';

/** A delivery as it came in. */
export interface Delivery {
  rawBody: Buffer;
  signature: string | undefined;
  deliveryId: string | undefined;
}

const namedApplication = /"applicationId"\s*:\s*"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"/gi;
const applicationsMax = 4;

/** Takes in the aggregator's webhooks: verify, store once, acknowledge; what they mean is worked out later. */
@Injectable()
export class IngestionService {
  private readonly keptMs: number;

  constructor(
    private readonly webhookSecrets: WebhookSecrets,
    private readonly box: SecretBox,
    private readonly store: InboundStore,
    @Inject(Env) env: Env,
  ) {
    this.keptMs = env.EVENT_RETENTION_DAYS * 86_400_000;
  }

  /**
   * The signature is checked over the bytes as they came, before anything is parsed. Which secrets to try is looked up
   * by the application ids that occur in the text; that proves nothing, so the parsed body must name the same one.
   * A delivery that was stored before is acknowledged again and nothing else. What tells a time before everything we
   * still remember is refused, because it could not be told from a repeat.
   */
  async take({ rawBody, signature, deliveryId }: Delivery): Promise<void> {
    const text = rawBody.toString('utf8');
    const { applicationId, merchantId } = await this.verified(rawBody, text, signature);
    const notice = readNotice(text);
    if (notice?.applicationId !== applicationId)
      throw notAuthenticated('The signature does not belong to the application');
    const receivedAt = now();
    if (notice.occurredAt !== undefined && receivedAt.getTime() - notice.occurredAt > this.keptMs)
      throw problems.badRequest({ parameter: '$.event', message: 'The event is too old to be believed' });
    const id = randomUUID();
    const bodyDigest = createHash('sha256').update(rawBody).digest();
    await this.store.keep({
      id,
      merchantId,
      deliveryId: (deliveryId ?? bodyDigest.toString('hex')).slice(0, 200),
      bodyDigest,
      type: notice.type,
      sealedBody: this.box.sealBuffer(rawBody, `inbound-event:${id}`),
      receivedAt,
    });
  }

  private async verified(rawBody: Buffer, text: string, signature: string | undefined): Promise<Named> {
    if (signature === undefined) throw notAuthenticated('The header webhook-signature is mandatory');
    const named = new Set(Array.from(text.matchAll(namedApplication), ([, id = '']) => id.toLowerCase()));
    const isSignedBy = ({ secrets }: ApplicationSecrets) => verifyWebhook({ rawBody, signature, secrets }).valid;
    for (const applicationId of [...named].slice(0, applicationsMax)) {
      const known = this.webhookSecrets.kept(applicationId) ?? (await this.webhookSecrets.read(applicationId));
      if (known === undefined) continue;
      if (isSignedBy(known)) return { applicationId, merchantId: known.merchantId };
      // A secret that has just been replaced is not among those that were kept.
      const fresh = await this.webhookSecrets.readAgain(applicationId);
      if (fresh && isSignedBy(fresh)) return { applicationId, merchantId: fresh.merchantId };
    }
    throw notAuthenticated('The signature is not valid');
  }
}

interface Named {
  applicationId: string;
  merchantId: string;
}
