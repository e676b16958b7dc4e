import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { asSystem, POOL, transaction } from '#libs/database';
import { now } from '#libs/server';
import { expireConsents } from './consent.queries.js';
import { deleteStaleOneTimeTokens } from './one-time-token.queries.js';
import { deleteStaleSnapshots } from './snapshot-sweep.queries.js';

/** The queue whose only job is the tick that ends overdue consents. */
export const consentsQueue = 'consent-sweep';

/** A request that its user has not answered within a day is over (service-facts 26). */
const UNFINISHED_MS = 86_400_000;
const AT_ONCE = 500;

/** Ends consents whose time is over and removes what nobody can use any more. */
@Injectable()
export class ConsentSweep {
  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /** One batch of each kind; what is left is taken by the next tick. Answers how many consents were ended. */
  async run(): Promise<number> {
    const at = now();
    const due = { at, unfinishedSince: new Date(at.getTime() - UNFINISHED_MS), limit: AT_ONCE };
    return asSystem(async () => {
      const ended = await transaction(this.pool, (tx) => expireConsents(tx, due));
      await deleteStaleOneTimeTokens(this.pool, at, AT_ONCE);
      await deleteStaleSnapshots(this.pool, at, AT_ONCE);
      return ended;
    });
  }
}
