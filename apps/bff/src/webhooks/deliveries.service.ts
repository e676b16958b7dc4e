import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import type { Agent } from 'undici';
import { POOL, SecretBox, transaction } from '#libs/database';
import { createOutboundAgent, now, type Outcome, postOutbound } from '#libs/server';
import { Env, isProduction } from '../config.js';
import { toView } from '../events/events.queries.js';
import { finishAttempt, insertAttempt, type Outgoing, selectOutgoing } from './deliveries.queries.js';
import { judge, type Verdict } from './delivery-state.js';
import { DisabledReason, isGivenUp } from './endpoint-state.js';
import { disableEndpoint } from './endpoints.queries.js';
import { endpointSecretContext, signedHeaders } from './signature.js';

/** Sends merchants' events to their endpoints. */
@Injectable()
export class DeliveriesService implements OnApplicationShutdown {
  private readonly allowPrivate: boolean;
  private readonly agent: Agent;

  constructor(
    @Inject(Env) private readonly env: Env,
    @Inject(POOL) private readonly pool: Pool,
    private readonly box: SecretBox,
  ) {
    this.allowPrivate = !isProduction(env);
    this.agent = createOutboundAgent({ allowPrivate: this.allowPrivate });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.close();
  }

  /** Makes one attempt at a delivery, unless it is finished, and records how it ended and what follows from it. */
  async deliver(id: string): Promise<void> {
    const startedAt = now();
    const outgoing = await selectOutgoing(this.pool, id, startedAt);
    if (!outgoing) return;
    const started = performance.now();
    const outcome = await this.send(outgoing, startedAt);
    const durationMs = Math.round(performance.now() - started);
    const verdict = judge(outcome, outgoing.attempts + 1, Math.random());
    await transaction(this.pool, async (tx) => {
      const isOurs = await finishAttempt(tx, outgoing, resultOf(verdict, now()));
      // Another worker took over after our lease: its attempt is the record, and ours would contradict it.
      if (!isOurs) return;
      await insertAttempt(tx, id, { startedAt, durationMs, outcome });
      await judgeEndpoint(tx, outgoing, verdict, now());
    });
  }

  /** The body is the same on every attempt, because everything in it is stored; the time and so the signature is not. */
  private send(outgoing: Outgoing, at: Date): Promise<Outcome> {
    const { createdAt: timestamp, ...event } = toView(outgoing);
    const body = Buffer.from(JSON.stringify({ ...event, timestamp }));
    const secrets = outgoing.secrets.map(({ id, sealed }) => this.box.open(sealed, endpointSecretContext(id)));
    const headers = signedHeaders(body, { id: outgoing.id, at, secrets });
    const { agent, allowPrivate } = this;
    const limits = { agent, allowPrivate, timeoutMs: this.env.WEBHOOK_TIMEOUT_MS };
    return postOutbound({ url: outgoing.url, body, headers }, limits);
  }
}

function resultOf({ status, waitMs }: Verdict, at: Date) {
  const nextAttemptAt = waitMs === undefined ? null : new Date(at.getTime() + waitMs);
  return { status, nextAttemptAt, finishedAt: nextAttemptAt === null ? at : null };
}

/** What one attempt says about its endpoint: it works, it fails, or it is to be disabled. */
async function judgeEndpoint(tx: PoolClient, outgoing: Outgoing, verdict: Verdict, at: Date): Promise<void> {
  const { merchant_id: merchantId, endpoint_id: endpointId, failing_since: failingSince } = outgoing;
  if (verdict.status === 'delivered') {
    if (failingSince !== null)
      await tx.query('update webhook_endpoints set failing_since = null where id = $1', [endpointId]);
    return;
  }
  const isLost = isGivenUp(failingSince, at);
  if (verdict.isGone || isLost) {
    const reason = verdict.isGone ? DisabledReason.gone : DisabledReason.failing;
    await disableEndpoint(tx, { merchantId, endpointId, reason, at });
  } else if (failingSince === null) {
    await tx.query('update webhook_endpoints set failing_since = $2 where id = $1 and failing_since is null', [
      endpointId,
      at,
    ]);
  }
}
