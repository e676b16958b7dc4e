import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { createLogger, now } from '#libs/server';
import { InjectQueue, Queue, SecretBox } from '#libs/database';
import { eventPayloadContext } from './delivery-body.js';
import { insertDeliveries, insertEvent, type DueDelivery, type Queryable } from './delivery.queries.js';
import type { EventCategory } from './event-category.js';

/** The queue that carries deliveries, and the names of its jobs. */
export const deliveriesQueue = 'webhook-deliveries';
export interface DeliveryJob {
  deliveryId: string;
}

export interface NewOccurrence {
  /** The application it happened in; its own webhooks hear of it, not its root's. */
  applicationId: string;
  category: EventCategory;
  /** The `event` member of the delivered body; JSON. */
  event: object;
}

const log = createLogger('webhooks');

/** Writes events to the outbox, and gets their deliveries going. */
@Injectable()
export class EventsService {
  constructor(
    @InjectQueue(deliveriesQueue) private readonly queue: Queue<DeliveryJob>,
    private readonly box: SecretBox,
  ) {}

  /**
   * Writes an event and its deliveries inside the caller's transaction. Call it late: the application's row stays
   * locked until the commit. Hand the answer to `dispatch` after the commit.
   */
  async publish(tx: Queryable, { applicationId, category, event }: NewOccurrence): Promise<DueDelivery[]> {
    const id = randomUUID();
    const payload = this.box.seal(JSON.stringify(event), eventPayloadContext(id));
    const occurrence = { id, applicationId, category, payload, at: now() };
    // A payment may outlive its application; its change must still be recorded, and there is nobody left to tell.
    if (!(await insertEvent(tx, occurrence))) return [];
    const ids = await insertDeliveries(tx, occurrence);
    return ids.map((delivery) => ({ id: delivery, rounds: 0 }));
  }

  /** Queues committed deliveries. It never fails its caller: what the queue does not take, the sweep finds. */
  async dispatch(deliveries: readonly DueDelivery[]): Promise<void> {
    try {
      await this.enqueue(deliveries);
    } catch (error) {
      log.warn({ err: error, deliveries: deliveries.length }, 'deliveries could not be queued and wait for the sweep');
    }
  }

  /** Queues deliveries; a round that is queued already is not queued twice. */
  async enqueue(deliveries: readonly DueDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    await this.queue.addBulk(
      deliveries.map(({ id, rounds }) => ({
        name: 'deliver',
        data: { deliveryId: id },
        // A finished job must not stay, or its id would keep the same round from being queued again after a crash.
        opts: { jobId: `${id}-${rounds}`, attempts: 1, removeOnComplete: true, removeOnFail: true },
      })),
    );
  }
}
