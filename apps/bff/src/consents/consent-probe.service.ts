import { Inject, Injectable } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { type AggregatorClient, ClientError } from '#libs/client';
import type { Consent } from '#libs/contract';
import { acquireLease, POOL, releaseLease, SecretBox, transaction } from '#libs/database';
import { createLogger, now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import { lockConnection } from '../connections/connection-lock.js';
import { ConnectionStatus, isRenewable, needsItsUser } from '../connections/connection-state.js';
import { type ConnectionColumns, moveConnection, setColumns } from '../connections/connections.queries.js';
import { isBeingRenewed } from '../connections/renewals.queries.js';
import { SyncScope } from '../sync/call-budget.js';
import { enterCall, NotDueYet, strikeCall } from '../sync/call-ledger.js';
import { institutionAnswered, passCircuit } from '../sync/institution-circuit.js';
import { faultOf, type SyncFault } from '../sync/sync-fault.js';
import { SyncSchedule } from '../sync/sync-schedule.js';
import { dayMs, hasStopped } from './consent-clocks.js';
import { ConsentTerms } from './consent-terms.service.js';
import { isAuthorised, proofIn } from './consent-proof.js';
import { replanNotices } from './notice-schedule.js';
import { nextProbe } from './probe-schedule.js';
import { Supersession } from './supersession.service.js';

/** A call for a list of accounts takes no longer. */
const leaseMs = 60_000;
/** When the aggregator did not answer, or what it says is about to change. */
const againMs = 3_600_000;

interface ProbedConnection {
  id: string;
  merchant_id: string;
  institution_id: string;
  status: string;
  consent_id: string | null;
  sealed_consent_token: string | null;
  last_synced_at: Date | null;
  confirmed_at: Date | null;
}

/** What a probe found: still good, `isProven` if the bank says so; ended for a named reason; or nothing that can be believed. */
type Finding =
  | { kind: 'good'; consent: Consent; isProven: boolean }
  | { kind: 'ended'; reason: string }
  | { kind: 'unknown' };

/** Asks cheaply whether consents still stand, so that an end at the bank is known before data are missed. */
@Injectable()
export class ConsentProbe {
  private readonly log = createLogger('consents');

  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly aggregator: MerchantAggregator,
    private readonly secrets: SecretBox,
    private readonly terms: ConsentTerms,
    private readonly schedule: SyncSchedule,
    private readonly supersession: Supersession,
  ) {}

  /** Probes a connection. `isHinted`: somebody says that something has changed, so the bank is asked whatever we think. */
  async run(id: string, { isHinted = false } = {}): Promise<void> {
    const { rows } = await this.pool.query<ProbedConnection>(
      `select id, merchant_id, institution_id, status, consent_id, sealed_consent_token, last_synced_at, confirmed_at
       from connections where id = $1`,
      [id],
    );
    const connection = rows[0];
    if (!connection) return;
    if (!isRenewable(connection.status) || connection.consent_id === null) {
      await this.pool.query('update connections set next_probe_at = null where id = $1', [id]);
      return;
    }
    const finding = await this.find(connection, connection.consent_id, isHinted);
    // A bank may end a consent the moment its customer gives the next one, and we hear of that one a little later.
    const isReplaced = finding.kind === 'ended' && (await isBeingRenewed(this.pool, id));
    if (finding.kind === 'ended' && !isReplaced) await this.end(connection, finding.reason);
    if (finding.kind === 'good') {
      await this.refresh(connection, finding);
      await this.supersession.run({ id, institutionId: connection.institution_id });
    }
    const interval = finding.kind === 'unknown' || isReplaced ? againMs : undefined;
    await this.pool.query('update connections set next_probe_at = $2, probe_lease_until = null where id = $1', [
      id,
      nextProbe(id, now(), interval),
    ]);
  }

  private async find(connection: ProbedConnection, consentId: string, isHinted: boolean): Promise<Finding> {
    const client = await this.aggregator.of(connection.merchant_id);
    try {
      const read = (await client.getConsentById(consentId)).data;
      const reason = proofIn(read.status);
      if (reason !== undefined) return { kind: 'ended', reason };
      if (!isAuthorised(read.status)) return { kind: 'unknown' };
      const consent = await this.confirmed(client, connection, read);
      const stale = new Date(now().getTime() - dayMs);
      const isFresh = connection.last_synced_at !== null && connection.last_synced_at > stale;
      // A synchronisation that went well is the bank's own word: it is not asked again for nothing.
      if (isFresh && !isHinted && !needsItsUser(connection.status)) return { kind: 'good', consent, isProven: true };
      return await this.askBank(client, connection, consent);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      if (error.operation === 'getConsentById' && error.status === 404)
        return { kind: 'ended', reason: 'consent-gone' };
      this.log.info({ connectionId: connection.id, status: error.status }, 'a probe got no answer');
      return { kind: 'unknown' };
    }
  }

  /** Takes a customer's confirmation to the aggregator that did not get through when it was given. */
  private async confirmed(client: AggregatorClient, connection: ProbedConnection, consent: Consent): Promise<Consent> {
    const { confirmed_at: at } = connection;
    const known = consent.lastConfirmedAt ?? consent.authorizedAt;
    if (at === null || known === undefined || new Date(known) >= at) return consent;
    return (await client.extendConsent(consent.id, { lastConfirmedAt: at.toISOString() })).data;
  }

  /**
   * The list of accounts is the cheapest thing that only a living consent gives. The call counts like any other, so it waits
   * when those of the day are spent or the institution is out, and while a synchronisation is asking anyhow.
   */
  private async askBank(client: AggregatorClient, connection: ProbedConnection, consent: Consent): Promise<Finding> {
    const { id, institution_id: institutionId, sealed_consent_token: sealed } = connection;
    const unasked: Finding = { kind: 'good', consent, isProven: false };
    const lease =
      sealed === null ? undefined : await acquireLease(this.pool, { resource: `connection:${id}`, ttlMs: leaseMs });
    if (!lease || sealed === null) return unasked;
    const subject = { id, connectionId: id, institutionId };
    let entered: Date | undefined;
    try {
      if (!(await passCircuit(this.pool, institutionId)).open) return unasked;
      entered = await enterCall(this.pool, subject, SyncScope.accounts);
      await client.getAccounts(this.secrets.open(sealed, `connection:${id}:consent-token`));
      await institutionAnswered(this.pool, institutionId);
      return { kind: 'good', consent, isProven: true };
    } catch (error) {
      if (error instanceof NotDueYet) return unasked;
      if (!(error instanceof ClientError)) throw error;
      const fault = faultOf(error);
      if (entered && fault.isUncounted) await strikeCall(this.pool, subject, SyncScope.accounts, entered);
      return await this.conclude(client, consent, fault);
    } finally {
      await releaseLease(this.pool, lease);
    }
  }

  /** The bank's refusal is a hint, unless the aggregator has drawn its conclusion by now. */
  private async conclude(client: AggregatorClient, consent: Consent, fault: SyncFault): Promise<Finding> {
    if (fault.verdict === 'retry' || fault.verdict === 'not-due-yet') return { kind: 'unknown' };
    const reason = proofIn((await client.getConsentById(consent.id)).data.status);
    if (reason !== undefined) return { kind: 'ended', reason };
    return fault.verdict === 'needs-user' ? { kind: 'ended', reason: fault.problem } : { kind: 'unknown' };
  }

  private async end({ id, consent_id: consentId }: ProbedConnection, reason: string): Promise<void> {
    const columns = { next_sync_at: null, health: 'degraded' };
    const move = { id, to: ConnectionStatus.needsUser, reason, consentId, columns };
    await transaction(this.pool, (tx) => moveConnection(tx, move));
  }

  /** Takes over what the consent says of its time now; one that was given up and is good after all comes back. */
  private async refresh(
    connection: ProbedConnection,
    { consent, isProven }: { consent: Consent; isProven: boolean },
  ): Promise<void> {
    const terms = await this.terms.of(connection.institution_id, consent);
    const at = now();
    const isBack = await transaction(this.pool, async (tx) => {
      const locked = await lockConnection(tx, connection.id);
      if (!locked || locked.consent_id !== consent.id || !isRenewable(locked.status)) return false;
      const columns: ConnectionColumns = { ...terms, ...(await noticeColumns(tx, connection.id, terms.stops_at)) };
      if (!needsItsUser(locked.status)) {
        await setColumns(tx, connection.id, columns);
        return false;
      }
      if (!isProven || hasStopped(terms.stops_at, at)) return false;
      const back = { ...columns, next_sync_at: at, sync_failures: 0 };
      return moveConnection(tx, { id: connection.id, to: ConnectionStatus.active, columns: back });
    });
    if (isBack) await this.schedule.soon(connection.id);
  }
}

/** The plan of notices for the end as it is read now. */
export async function noticeColumns(
  tx: PoolClient,
  id: string,
  stopsAt: Date | null,
): Promise<Pick<ConnectionColumns, 'next_notice_at' | 'noticed_days'>> {
  const { rows } = await tx.query<{ stops_at: Date | null; next_notice_at: Date | null; noticed_days: number | null }>(
    'select stops_at, next_notice_at, noticed_days from connections where id = $1',
    [id],
  );
  const was = rows[0];
  const plan = replanNotices(
    {
      stopsAt: was?.stops_at ?? null,
      nextNoticeAt: was?.next_notice_at ?? null,
      noticedDays: was?.noticed_days ?? null,
    },
    stopsAt,
    now(),
  );
  return { next_notice_at: plan.nextNoticeAt, noticed_days: plan.noticedDays };
}
