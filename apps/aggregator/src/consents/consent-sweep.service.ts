import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { asSystem, inScope, POOL, transaction } from '#libs/database';
import { now } from '#libs/server';
import { ConsentSteps } from './consent-steps.service.js';
import { dueChecks, expireConsents, restoreRenewals } from './consent-sweep.queries.js';
import { findConsent } from './consent.queries.js';
import { deleteStaleOneTimeTokens } from './one-time-token.queries.js';
import { deleteStaleSnapshots } from './snapshot-sweep.queries.js';

/** The queue whose only job is the tick that ends overdue consents. */
export const consentsQueue = 'consent-sweep';

/** A request that its user has not answered within a day is over. */
const UNFINISHED_MS = 86_400_000;
const AT_ONCE = 500;
/** Banks asked at the same time, and in one run. */
const CHECKS_AT_ONCE = 20;

/** Ends consents whose time is over, asks after those that only the bank can finish, and removes what nobody can use. */
@Injectable()
export class ConsentSweep {
  constructor(
    @Inject(POOL) private readonly pool: Pool,
    private readonly steps: ConsentSteps,
  ) {}

  /**
   * One batch of each kind; what is left, or was given up by `signal`, is taken by the next tick. Answers how many consents
   * were ended.
   */
  async run(signal?: AbortSignal): Promise<number> {
    const at = now();
    const due = { at, unfinishedSince: new Date(at.getTime() - UNFINISHED_MS), limit: AT_ONCE };
    return asSystem(async () => {
      const ended = await transaction(this.pool, (tx) => expireConsents(tx, due));
      await transaction(this.pool, (tx) => restoreRenewals(tx, due));
      await deleteStaleOneTimeTokens(this.pool, at, AT_ONCE);
      await deleteStaleSnapshots(this.pool, at, AT_ONCE);
      signal?.throwIfAborted();
      const unanswered = await dueChecks(this.pool, at, CHECKS_AT_ONCE);
      await Promise.all(unanswered.map(({ id, applicationId }) => this.check(id, applicationId, signal)));
      return ended;
    });
  }

  private check(id: string, applicationId: string, signal?: AbortSignal): Promise<void> {
    return inScope([applicationId], async () => {
      const consent = await findConsent(this.pool, id, [applicationId]);
      if (consent !== undefined) await this.steps.check(consent, signal);
    });
  }
}
