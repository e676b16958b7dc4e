import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Agent } from 'undici';
import { asSystem, POOL, SecretBox, transaction } from '#libs/database';
import { createOutboundAgent, isAccepted, now, type OutboundRequest, postOutbound } from '#libs/server';
import { Env } from '../config.js';
import {
  claimDelivery,
  type AttemptRow,
  type ClaimedDelivery,
  deleteOldEvents,
  dueDeliveries,
  finishRound,
  insertAttempt,
  type RoundResult,
} from './delivery.queries.js';
import { deliveryBody, eventPayloadContext, signBody, signingSecretOf, webhookSecretContext } from './delivery-body.js';
import { EventsService } from './events.service.js';

/** Main and backup address may each take the whole timeout; the rest is for the database. */
const leaseSlackMs = 10_000;
const sweepMax = 1_000;
const forgetMax = 10_000;
/** What one run leaves, the next one takes. */
const forgetBatchesMax = 100;
const dayMs = 86_400_000;

/** Sends what the outbox holds, one round at a time, and decides what follows a round. */
@Injectable()
export class DeliveriesService implements OnApplicationShutdown {
  private readonly allowPrivate: boolean;
  private readonly agent: Agent;

  constructor(
    private readonly env: Env,
    @Inject(POOL) private readonly pool: Pool,
    private readonly box: SecretBox,
    private readonly events: EventsService,
  ) {
    this.allowPrivate = env.allowsPrivateCallbacks;
    this.agent = createOutboundAgent({ allowPrivate: this.allowPrivate });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.close();
  }

  /**
   * Runs one round of a delivery; does nothing when it is finished, not due or in another worker's hands. A round that `signal`
   * gives up has not been: the next one has the same id and bytes.
   */
  async deliver(id: string, signal?: AbortSignal): Promise<void> {
    await asSystem(() => this.runRound(id, signal));
  }

  private async runRound(id: string, signal?: AbortSignal): Promise<void> {
    const at = now();
    const leasedUntil = new Date(at.getTime() + 2 * this.env.WEBHOOK_TIMEOUT_MS + leaseSlackMs);
    const claimed = await claimDelivery(this.pool, id, { at, leasedUntil });
    if (!claimed) return;
    const attempts = await this.tryAddresses(claimed, signal);
    const isDelivered = attempts.some(({ accepted }) => accepted);
    await transaction(this.pool, async (tx) => {
      const isOurs = await finishRound(tx, claimed, this.resultOf(claimed, isDelivered));
      // Another worker took over after our lease: its attempts are the record, and ours would contradict it.
      if (isOurs) for (const { row } of attempts) await insertAttempt(tx, claimed, row);
    });
  }

  /** Queues what is due: retries, and whatever a crash left between a commit and its job. */
  async sweep(): Promise<number> {
    const due = await asSystem(() => transaction(this.pool, (tx) => dueDeliveries(tx, now(), sweepMax)));
    await this.events.enqueue(due);
    return due.length;
  }

  /** Forgets events that are past their retention, in batches; answers how many. */
  async forget(): Promise<number> {
    const before = new Date(now().getTime() - this.env.EVENT_RETENTION_DAYS * dayMs);
    let total = 0;
    for (let batch = 0; batch < forgetBatchesMax; batch += 1) {
      const forgotten = await asSystem(() => deleteOldEvents(this.pool, before, forgetMax));
      total += forgotten;
      if (forgotten < forgetMax) break;
    }
    return total;
  }

  private async tryAddresses(
    claimed: ClaimedDelivery,
    signal: AbortSignal | undefined,
  ): Promise<{ accepted: boolean; row: AttemptRow }[]> {
    const payload = this.box.open(claimed.payload, eventPayloadContext(claimed.eventId));
    const body = deliveryBody({ ...claimed, payload });
    // The event's id is the same on every attempt, so that a receiver can tell a repeat.
    const headers = {
      'webhook-id': claimed.eventId,
      'webhook-signature': signBody(body, this.secretOf(claimed)),
    };
    const first = await this.attempt('main', { url: claimed.mainUrl, body, headers }, signal);
    if (first.accepted || claimed.backupUrl === null) return [first];
    return [first, await this.attempt('backup', { url: claimed.backupUrl, body, headers }, signal)];
  }

  private async attempt(target: 'main' | 'backup', request: OutboundRequest, signal: AbortSignal | undefined) {
    const startedAt = now();
    const started = performance.now();
    const { agent, allowPrivate } = this;
    const outcome = await postOutbound(request, {
      agent,
      allowPrivate,
      timeoutMs: this.env.WEBHOOK_TIMEOUT_MS,
      signal,
    });
    const row: AttemptRow = {
      target,
      startedAt,
      durationMs: Math.round(performance.now() - started),
      httpStatus: 'httpStatus' in outcome ? outcome.httpStatus : null,
      failure: 'failure' in outcome ? outcome.failure : null,
    };
    return { accepted: isAccepted(outcome), row };
  }

  private secretOf(claimed: ClaimedDelivery): string {
    return this.box.open(signingSecretOf(claimed, now()), webhookSecretContext(claimed.webhookId));
  }

  private resultOf({ rounds }: ClaimedDelivery, isDelivered: boolean): RoundResult {
    const at = now();
    if (isDelivered) return { status: 'DELIVERED', nextAttemptAt: null, finishedAt: at };
    const waitSeconds = this.env.webhookRetrySeconds[rounds];
    if (waitSeconds === undefined) return { status: 'DEAD', nextAttemptAt: null, finishedAt: at };
    return { status: 'PENDING', nextAttemptAt: new Date(at.getTime() + waitSeconds * 1_000), finishedAt: null };
  }
}
