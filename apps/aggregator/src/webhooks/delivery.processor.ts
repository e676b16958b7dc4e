import { Job, Processor, WorkerHost } from '#libs/database';
import { newTracingId, runWithTracing } from '#libs/server';
import { DeliveriesService } from './deliveries.service.js';
import { deliveriesQueue, type DeliveryJob } from './events.service.js';

/** Runs one round of a delivery, or the sweep that finds due ones, or forgets what is past its retention. */
@Processor(deliveriesQueue, { concurrency: 20 })
export class DeliveryProcessor extends WorkerHost {
  constructor(private readonly deliveries: DeliveriesService) {
    super();
  }

  override async process(job: Job<DeliveryJob>, _token?: string, signal?: AbortSignal): Promise<void> {
    await runWithTracing(newTracingId(), async () => {
      if (job.name === 'deliver') await this.deliveries.deliver(job.data.deliveryId, signal);
      else await (job.name === 'forget' ? this.deliveries.forget() : this.deliveries.sweep());
    });
  }
}
