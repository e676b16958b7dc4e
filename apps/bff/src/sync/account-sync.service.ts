import { Inject, Injectable } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import type { AggregatorClient } from '#libs/client';
import {
  acquireLease,
  assertLease,
  type Lease,
  LeaseLostError,
  POOL,
  releaseLease,
  SecretBox,
  transaction,
} from '#libs/database';
import { now } from '#libs/server';
import { MerchantAggregator } from '../aggregator/merchant-aggregator.js';
import { lockConnection } from '../connections/connection-lock.js';
import { isReadable } from '../connections/connection-state.js';
import {
  type AccountReading,
  type AccountWork,
  leaseMs,
  notOffered,
  readAccount,
  type StagedReading,
} from './account-reading.js';
import { joinRunTogether, leaveToOther, letGo, settleSchedule } from './account-schedule.js';
import { openPsu } from './attendance.js';
import { jitterOf, nextPossibleAt, nextReadingAt, nextRetryAt, SyncScope, waitAfterRefusal } from './call-budget.js';
import { blockCalls, NotDueYet, planScopes, readBudget } from './call-ledger.js';
import { type DueAccount, subjectOf } from './due-account.js';
import { institutionAnswered, passCircuit } from './institution-circuit.js';
import { learnOverlap } from './institution-reach.js';
import { accountAfterAnswer, accountOfAnswer } from './known-again.js';
import { overlapFor } from './reading-window.js';
import { recordAnswer, recordBalances } from './record-answer.js';
import type { SyncFault, SyncProblem } from './sync-fault.js';
import { SyncFaults } from './sync-faults.service.js';
import { endRunWhenDone, leaveRun, openRun, type OpenRun, type RunFigures, type Unread } from './sync-run.js';

/** What is left of an aborted reading is taken up after this. */
const takeUpMs = 60_000;
/** However late rows come, more overlap than this is an audit. */
const overlapDaysMax = 90;

/** Reads one account that is due and records what it says. Each account stands alone: its fault is not the others'. */
@Injectable()
export class AccountSync {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly aggregator: MerchantAggregator,
    private readonly secrets: SecretBox,
    private readonly faults: SyncFaults,
  ) {}

  /** Reads an account unless it is not due or another worker is at it. May be called in any state, any number of times. */
  async run(accountId: string, signal?: AbortSignal): Promise<void> {
    const lease = await acquireLease(this.pool, { resource: `account:${accountId}`, ttlMs: leaseMs });
    if (!lease) return;
    try {
      const account = await this.load(accountId);
      if (!account?.due_at || account.due_at > now()) return;
      if (!isReadable(account.status) || account.sealed_consent_token === null) await this.rest(account);
      else await this.read(account, account.sealed_consent_token, { lease, signal });
    } finally {
      await letGo(this.pool, accountId);
      await releaseLease(this.pool, lease);
    }
  }

  private async load(accountId: string): Promise<DueAccount | undefined> {
    const { rows } = await this.pool.query<DueAccount>(
      `select s.account_id, a.aggregator_account_id, s.connection_id, c.customer_id, c.merchant_id, c.institution_id, c.status,
         c.consent_id, c.sealed_consent_token, c.authorised_at, s.due_at, s.run_id, s.failures, s.problem, s.read_at, s.audited_at
       from account_schedules s join accounts a on a.id = s.account_id join connections c on c.id = s.connection_id
       where s.account_id = $1`,
      [accountId],
    );
    return rows[0];
  }

  /** Its connection cannot be read now; when it can again, its list puts the account back on the schedule. */
  private async rest({ account_id: id, connection_id: connectionId, run_id: runId }: DueAccount): Promise<void> {
    await transaction(this.pool, async (tx) => {
      await lockConnection(tx, connectionId);
      await tx.query(
        `update account_schedules set due_at = null, ready_at = null, run_id = null
         where account_id = $1 and connection_id = $2`,
        [id, connectionId],
      );
      if (runId !== null) await endRunWhenDone(tx, runId);
    });
  }

  private async read(
    account: DueAccount,
    sealedToken: string,
    { lease, signal }: { lease: Lease; signal: AbortSignal | undefined },
  ): Promise<void> {
    const passage = await passCircuit(this.pool, account.institution_id);
    if (!passage.open) return this.postpone(account, passage.comeBackAt);
    const run = await transaction(this.pool, (tx) => this.runOf(tx, account));
    if (!run) return this.rest(account);
    const client = await this.aggregator.of(account.merchant_id);
    const work = { ...this.workOf(account, sealedToken, { client, run }), lease, signal };
    try {
      const read = await readAccount(work);
      try {
        await institutionAnswered(this.pool, account.institution_id);
        await this.record(account, work, read);
      } finally {
        if (read.transactions !== notOffered) await read.transactions.staged.discard();
      }
    } catch (error) {
      if (error instanceof LeaseLostError) return;
      if (signal?.aborted) return this.takeUpLater(account);
      await this.fail(account, work, error);
    }
  }

  private async runOf(
    tx: PoolClient,
    { connection_id: connectionId, run_id: runId }: DueAccount,
  ): Promise<OpenRun | undefined> {
    const run = await openRun(tx, connectionId);
    if (run && run.id !== runId) await joinRunTogether(tx, { connectionId, runId: run.id });
    return run;
  }

  private workOf(
    account: DueAccount,
    sealedToken: string,
    { client, run }: { client: AggregatorClient; run: OpenRun },
  ): Omit<AccountWork, 'lease' | 'signal'> {
    return {
      pool: this.pool,
      client,
      token: this.secrets.open(sealedToken, `connection:${account.connection_id}:consent-token`),
      subject: subjectOf(account),
      aggregatorAccountId: account.aggregator_account_id,
      standing: { authorisedAt: account.authorised_at, readAt: account.read_at, auditedAt: account.audited_at },
      run,
      psu: run.sealedPsu === null ? undefined : openPsu(this.secrets, run.id, run.sealedPsu),
    };
  }

  /** Rows, log, balances, cursor, schedule and run in one transaction, under the lease's fence. */
  private async record(account: DueAccount, { lease, run }: AccountWork, read: AccountReading): Promise<void> {
    const started = performance.now();
    await transaction(this.pool, async (tx) => {
      await assertLease(tx, lease);
      const own = await accountOfAnswer(tx, this.pool, account, read);
      if (!own) {
        await leaveToOther(tx, account);
        return leaveRun(tx, { runId: run.id, accountId: account.account_id, figures: {} });
      }
      const counts = await this.recordAll(tx, own, run, read);
      const figures = { accounts_done: 1, ...counts, record_ms: performance.now() - started };
      const { balances } = read;
      const after = await accountAfterAnswer(tx, this.pool, own, read);
      await this.settle(tx, after, run, { figures, ...(balances instanceof NotDueYet ? { balances } : {}) });
    });
  }

  /** What the institution does not offer is noted, and leaves what is known as it is. */
  private async recordAll(
    tx: PoolClient,
    account: DueAccount,
    run: OpenRun,
    read: AccountReading,
  ): Promise<RunFigures> {
    const { account_id: accountId, customer_id: customerId, institution_id: institutionId } = account;
    const { balances, balancesAt, transactions } = read;
    const lacking = [SyncScope.balances, SyncScope.transactions].filter((scope) => read[scope] === notOffered);
    await tx.query('update account_schedules set not_offered = $2 where account_id = $1', [accountId, lacking]);
    const told = balances === notOffered || balances instanceof NotDueYet ? undefined : balances;
    const recorded = { customerId, accountId, syncRunId: run.id, institutionId, merchantId: account.merchant_id };
    if (transactions === notOffered) {
      await recordBalances(tx, recorded, told);
      return {};
    }
    const counts = await recordAnswer(tx, recorded, { ...transactions, balances: told, balancesAt });
    if (account.read_at !== null && counts.lateness.daysMax > 0)
      await learnOverlap(tx, institutionId, Math.min(overlapFor(counts.lateness.daysMax), overlapDaysMax));
    await this.advance(tx, account, transactions);
    return {
      added: counts.added,
      modified: counts.modified + counts.linked + counts.cleared,
      removed: counts.removed,
      linked: counts.linked,
      flagged: counts.flagged,
    };
  }

  /** The account's cursor: until when it has been read, and how far back its history goes. */
  private async advance(tx: PoolClient, account: DueAccount, { staged, reading }: StagedReading): Promise<void> {
    const at = now();
    await tx.query(
      `update account_schedules set read_at = $2, audited_at = case when $3 then $2 else audited_at end,
         history_from = case when $3 then least(history_from, $4::timestamptz) else history_from end
       where account_id = $1`,
      [account.account_id, at, reading.kind === 'whole', staged.given.earliest],
    );
  }

  /** Plans the next reading after a good one, which may have had no call left for the balances. With the connection locked. */
  private async settle(
    tx: PoolClient,
    account: DueAccount,
    run: OpenRun,
    { figures, balances }: { figures: RunFigures; balances?: NotDueYet },
  ): Promise<void> {
    const { account_id: accountId } = account;
    const subject = subjectOf(account);
    const at = now();
    // The accounts of a run stay together.
    const jitter = jitterOf(run.id);
    const scopes = [SyncScope.balances, SyncScope.transactions];
    const plan = [];
    for (const scope of scopes)
      plan.push({ scope, nextAt: nextReadingAt(await readBudget(tx, subject, scope), at, jitter) });
    await planScopes(tx, subject, plan);
    const dueAt = plan[1]?.nextAt ?? at;
    await settleSchedule(tx, { accountId, connectionId: account.connection_id, dueAt, failures: 0, problem: null });
    const missed = { scopes: [SyncScope.balances], problem: 'not-due-yet', dueAt } as const;
    const unread = balances && { ...missed, possibleAt: balances.possibleAt };
    await leaveRun(tx, { runId: run.id, accountId, figures, unread });
  }

  private async fail(account: DueAccount, { subject, client, run }: AccountWork, error: unknown): Promise<void> {
    if (error instanceof NotDueYet) return this.wait(account, run, error.possibleAt);
    const connection = { ...account, id: account.connection_id };
    const fault = await this.faults.classify(error, connection);
    if (await this.faults.needsUser(connection, client, fault)) return;
    if (fault.verdict !== 'not-due-yet') return this.retry(account, run, fault);
    const until = new Date(now().getTime() + waitAfterRefusal(fault.retryAfterSeconds) * 1000);
    await blockCalls(this.pool, subject, SyncScope.transactions, until);
    await this.wait(account, run, until);
  }

  /** Not due yet is no fault: nothing is degraded, and the gap is read when the institution allows it. */
  private async wait(account: DueAccount, run: OpenRun, dueAt: Date): Promise<void> {
    const { failures, problem } = account;
    const unread = { problem: 'not-due-yet', possibleAt: dueAt } as const;
    await this.end(account, run, { dueAt, failures, problem, figures: { accounts_not_due: 1 }, unread });
    await planScopes(this.pool, subjectOf(account), [{ scope: SyncScope.transactions, nextAt: dueAt }]);
  }

  private async retry(account: DueAccount, run: OpenRun, { problem, retryAfterSeconds }: SyncFault): Promise<void> {
    const failures = account.failures + 1;
    const subject = subjectOf(account);
    const budget = await readBudget(this.pool, subject, SyncScope.transactions);
    const dueAt = nextRetryAt(budget, now(), failures, retryAfterSeconds);
    // Whoever asks to be left alone is: the merchant is told the same time.
    if (retryAfterSeconds !== undefined) await blockCalls(this.pool, subject, SyncScope.transactions, dueAt);
    const possibleAt = retryAfterSeconds === undefined ? nextPossibleAt(budget, now()) : dueAt;
    await this.end(account, run, { dueAt, failures, problem, figures: {}, unread: { problem, possibleAt } });
  }

  /** The institution is out. That is told once, by a run that ends with it, and not at every try. */
  private async postpone(account: DueAccount, dueAt: Date): Promise<void> {
    const { account_id: accountId, failures, run_id: runId } = account;
    const problem = 'institution-outage';
    if (runId === null && account.problem === problem)
      return settleSchedule(this.pool, { accountId, connectionId: account.connection_id, dueAt, failures, problem });
    const run = await transaction(this.pool, (tx) => this.runOf(tx, account));
    if (!run) return this.rest(account);
    await this.end(account, run, { dueAt, failures, problem, figures: {}, unread: { problem, possibleAt: dueAt } });
  }

  private async end(
    { account_id: accountId, connection_id: connectionId }: DueAccount,
    run: OpenRun,
    { figures, unread, ...settled }: Ending,
  ): Promise<void> {
    await transaction(this.pool, async (tx) => {
      await lockConnection(tx, connectionId);
      await settleSchedule(tx, { accountId, connectionId, ...settled });
      const scopes = [SyncScope.balances, SyncScope.transactions];
      const missed = { scopes, dueAt: settled.dueAt, ...unread };
      await leaveRun(tx, { runId: run.id, accountId, figures, unread: missed });
    });
  }

  /** The job was given up, not the reading: it goes on in the same run. */
  private async takeUpLater({ account_id: id }: DueAccount): Promise<void> {
    await this.pool.query('update account_schedules set due_at = $2 where account_id = $1', [
      id,
      new Date(now().getTime() + takeUpMs),
    ]);
  }
}

interface Ending {
  dueAt: Date;
  failures: number;
  problem: SyncProblem | null;
  figures: RunFigures;
  unread: Pick<Unread, 'problem' | 'possibleAt'>;
}
