import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { problems } from '#libs/contract';
import { POOL, SecretBox, transaction } from '#libs/database';
import { callbackUrlFault, now } from '#libs/server';
import { Env, isProduction } from '../config.js';
import { appendEvent } from '../events/event-log.js';
import type { EndpointChange, EndpointView, EndpointWithSecret, NewEndpoint } from './endpoint.dto.js';
import { DisabledReason, EndpointStatus } from './endpoint-state.js';
import { disableEndpoint, selectEndpoints } from './endpoints.queries.js';
import { endpointSecretContext, newEndpointSecret } from './signature.js';

const endpointsMax = 10;
const liveSecretsMax = 3;
const overlapSecondsUsual = 86_400;

/** Where a merchant wants to be told of its events, and the secrets that sign what it is told. */
@Injectable()
export class EndpointsService {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly box: SecretBox,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** The secret is answered here and never again; what is kept can only sign. */
  async create(
    merchantId: string,
    { url, types = [], description }: NewEndpoint,
    workId: string = randomUUID(),
  ): Promise<EndpointWithSecret> {
    this.refuseFaultOf(url);
    const id = workId;
    const secret = await transaction(this.pool, async (tx) => {
      // The merchant's row is locked, so that two calls cannot both make the tenth.
      await tx.query('select 1 from merchants where id = $1 for no key update', [merchantId]);
      const known = await selectEndpoints(tx, merchantId);
      const isMade = known.some((each) => each.id === id);
      if (!isMade && known.length >= endpointsMax)
        throw problems.conflict({ message: `A merchant has at most ${endpointsMax} endpoints` });
      await tx.query(
        `insert into webhook_endpoints (id, merchant_id, url, types, description, status, created_at)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do nothing`,
        [id, merchantId, url, types, description ?? null, EndpointStatus.enabled, now()],
      );
      return (await this.secretOf(tx, id, workId)) ?? this.addSecret(tx, id, workId);
    });
    return { ...(await this.get(merchantId, id)), secret };
  }

  list(merchantId: string): Promise<EndpointView[]> {
    return selectEndpoints(this.pool, merchantId);
  }

  async get(merchantId: string, id: string): Promise<EndpointView> {
    const [found] = await selectEndpoints(this.pool, merchantId, id);
    if (!found) throw unknownEndpoint();
    return found;
  }

  async update(merchantId: string, id: string, change: EndpointChange): Promise<EndpointView> {
    if (change.url !== undefined) this.refuseFaultOf(change.url);
    await this.get(merchantId, id);
    await transaction(this.pool, async (tx) => {
      await tx.query(
        `update webhook_endpoints set url = coalesce($3, url), types = coalesce($4, types),
           description = coalesce($5, description) where id = $1 and merchant_id = $2`,
        [id, merchantId, change.url ?? null, change.types ?? null, change.description ?? null],
      );
      if (change.status === EndpointStatus.disabled)
        await disableEndpoint(tx, { merchantId, endpointId: id, reason: DisabledReason.merchant, at: now() });
      if (change.status === EndpointStatus.enabled) await enable(tx, merchantId, id);
    });
    return this.get(merchantId, id);
  }

  /** With everything still on its way there. */
  async delete(merchantId: string, id: string): Promise<EndpointView> {
    const found = await this.get(merchantId, id);
    await this.pool.query('delete from webhook_endpoints where id = $1 and merchant_id = $2', [id, merchantId]);
    return found;
  }

  /** A new secret; the ones before it sign, too, until the overlap is over. */
  async rotate(
    merchantId: string,
    id: string,
    {
      overlapSeconds = overlapSecondsUsual,
      workId = randomUUID(),
    }: { overlapSeconds?: number | undefined; workId?: string | undefined } = {},
  ): Promise<EndpointWithSecret> {
    const found = await this.get(merchantId, id);
    const secret = await transaction(this.pool, async (tx) => {
      const until = new Date(now().getTime() + overlapSeconds * 1_000);
      await tx.query('select 1 from webhook_endpoints where id = $1 and merchant_id = $2 for update', [id, merchantId]);
      const made = await this.secretOf(tx, id, workId);
      if (made !== undefined) return made;
      await tx.query(
        `update endpoint_secrets set expires_at = $2 where endpoint_id = $1 and (expires_at is null or expires_at > $2)`,
        [id, until],
      );
      return this.addSecret(tx, id, workId);
    });
    return { ...found, secret };
  }

  /** An event for this endpoint alone, sent as any other. */
  async ping(merchantId: string, id: string): Promise<string> {
    await this.enabled(merchantId, id);
    const event = await transaction(this.pool, (tx) =>
      appendEvent(tx, { merchantId, type: 'webhook_endpoint.ping', endpointId: id, data: { endpointId: id } }),
    );
    return event?.id ?? '';
  }

  /** Refuses to send where nothing would be sent. */
  async enabled(merchantId: string, id: string): Promise<void> {
    const { status } = await this.get(merchantId, id);
    if (status !== EndpointStatus.enabled) throw problems.conflict({ message: 'The endpoint is disabled' });
  }

  /** The secret that this work made before it was cut off. */
  private async secretOf(tx: PoolClient, endpointId: string, workId: string): Promise<string | undefined> {
    const { rows } = await tx.query<{ sealed_secret: string }>(
      'select sealed_secret from endpoint_secrets where id = $1 and endpoint_id = $2',
      [workId, endpointId],
    );
    return rows[0] && this.box.open(rows[0].sealed_secret, endpointSecretContext(workId));
  }

  private async addSecret(tx: PoolClient, endpointId: string, id: string): Promise<string> {
    const secret = newEndpointSecret();
    await tx.query(
      'insert into endpoint_secrets (id, endpoint_id, sealed_secret, created_at) values ($1, $2, $3, $4)',
      [id, endpointId, this.box.seal(secret, endpointSecretContext(id)), now()],
    );
    await tx.query(
      `delete from endpoint_secrets where endpoint_id = $1 and id not in (
         select id from endpoint_secrets where endpoint_id = $1 order by expires_at desc nulls first, created_at desc limit $2)`,
      [endpointId, liveSecretsMax],
    );
    return secret;
  }

  private refuseFaultOf(url: string): void {
    const fault = callbackUrlFault(url, { allowPrivate: !isProduction(this.env) });
    if (fault) throw problems.unexpectedValue({ parameter: '$.url', message: `url ${fault}` });
  }
}

async function enable(tx: PoolClient, merchantId: string, id: string): Promise<void> {
  await tx.query(
    `update webhook_endpoints set status = $3, disabled_reason = null, disabled_at = null, failing_since = null
     where id = $1 and merchant_id = $2 and status <> $3`,
    [id, merchantId, EndpointStatus.enabled],
  );
}

/** A foreign endpoint is as unknown as one that does not exist. */
export function unknownEndpoint(): Error {
  return problems.notFound({ message: 'The endpoint is not known' });
}
