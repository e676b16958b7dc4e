import type { Pool } from 'pg';
import { type Due, type Job, type Queue, takeDue } from '#libs/database';
import { type Logger, newTracingId, runWithTracing } from '#libs/server';

/** Rows that one tick hands to the queue at most; what is left is due at the next tick. */
const tickSizeMax = 200;

/** A job done leaves no trace in the queue, so that its id may be used again: the row remembers what happened. */
export const jobOptions = { removeOnComplete: true, removeOnFail: true } as const;

/** Leases the rows that are due and puts one job for each into the queue, under the row's own id: never two for one row. */
export async function enqueueDue(pool: Pool, queue: Queue, due: Omit<Due, 'limit'>): Promise<void> {
  const rows = await takeDue<{ id: string }>(pool, { ...due, limit: tickSizeMax });
  if (rows.length === 0) return;
  await queue.addBulk(rows.map(({ id }) => ({ name: 'due', data: { id }, opts: { ...jobOptions, jobId: id } })));
}

/**
 * Runs a job's work under a tracing id of its own, which the aggregator gets too. What it throws is logged here, once; the
 * row stays due, so the next tick after its lease tries again.
 */
export function runJob(log: Logger, job: Job<{ id: string }>, work: () => Promise<void>): Promise<void> {
  return runWithTracing(newTracingId(), async () => {
    try {
      await work();
    } catch (error) {
      log.error({ err: error, queue: job.queueName, job: job.name, rowId: job.data.id }, 'a job failed');
      throw error;
    }
  });
}
