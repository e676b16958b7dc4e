import { createHash, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { verifyWebhook } from '#libs/client';
import { problems } from '#libs/contract';
import { InjectQueue, POOL, type Queue, SecretBox } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { notAuthenticated } from '../auth/caller.js';
import { jobOptions } from '../due-jobs.js';
import { InboundStatus } from './inbound-state.js';
import { WebhookSecrets } from './webhook-secrets.js';

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
  private readonly log = createLogger('ingestion');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly webhookSecrets: WebhookSecrets,
    private readonly box: SecretBox,
    @InjectQueue('ingestion') private readonly queue: Queue,
  ) {}

  /**
   * The signature is checked over the bytes as they came, before anything is parsed. Which secrets to try is looked up
   * by the application ids that occur in the text; that proves nothing, so the parsed body must name the same one.
   * A delivery that was stored before is acknowledged again and nothing else.
   */
  async take(delivery: Delivery): Promise<void> {
    const { applicationId, merchantId } = await this.verified(delivery);
    const body = parse(delivery.rawBody);
    if (body?.applicationId.toLowerCase() !== applicationId)
      throw notAuthenticated('The signature does not belong to the application');
    const id = randomUUID();
    const receivedAt = now();
    const deliveryId = delivery.deliveryId ?? createHash('sha256').update(delivery.rawBody).digest('hex');
    const { rowCount } = await this.pool.query({
      name: 'store-inbound-event',
      text: `insert into inbound_events (id, merchant_id, delivery_id, type, sealed_body, status, attempts, received_at, next_attempt_at)
             values ($1, $2, $3, $4, $5, $6, 0, $7, $7) on conflict (merchant_id, delivery_id) do nothing`,
      values: [
        id,
        merchantId,
        deliveryId.slice(0, 200),
        body.type.slice(0, 200),
        this.box.seal(delivery.rawBody.toString('utf8'), `inbound-event:${id}`),
        InboundStatus.received,
        receivedAt,
      ],
    });
    if (rowCount === 1) this.wake(id);
  }

  /** The row is what counts: if the queue takes no job now, the next tick finds the row due. */
  private wake(id: string): void {
    this.queue.add('event', { id }, { ...jobOptions, jobId: id }).catch((error: unknown) => {
      this.log.warn({ err: error, inboundEventId: id }, 'an event waits for the next tick');
    });
  }

  private async verified({ rawBody, signature }: Delivery): Promise<{ applicationId: string; merchantId: string }> {
    if (signature === undefined) throw notAuthenticated('The header webhook-signature is mandatory');
    const text = rawBody.toString('latin1');
    const named = new Set([...text.matchAll(namedApplication)].map(([, id = '']) => id.toLowerCase()));
    for (const applicationId of [...named].slice(0, applicationsMax)) {
      const found = await this.webhookSecrets.of(applicationId);
      if (found && verifyWebhook({ rawBody, signature, secrets: found.secrets }).valid) {
        return { applicationId, merchantId: found.merchantId };
      }
    }
    throw notAuthenticated('The signature is not valid');
  }
}

function parse(rawBody: Buffer): { applicationId: string; type: string } | undefined {
  let body: unknown;
  try {
    body = JSON.parse(rawBody.toString('utf8'));
  } catch {
    throw problems.badRequest({ parameter: '$', message: 'The body is not JSON' });
  }
  if (typeof body !== 'object' || body === null) return undefined;
  const applicationId: unknown = Reflect.get(body, 'applicationId');
  const type: unknown = Reflect.get(body, 'type');
  return typeof applicationId === 'string' && typeof type === 'string' ? { applicationId, type } : undefined;
}
