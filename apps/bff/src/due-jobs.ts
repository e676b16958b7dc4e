import { escapeIdentifier, type Pool } from 'pg';
import { type Due, type Job, type Queue, takeDue } from '#libs/database';
import { type Logger, newTracingId, now, runWithTracing } from '#libs/server';

/** Rows that one tick hands to the queue at most; what is left is due at the next tick. */
const tickSizeMax = 200;

/** A job done leaves no trace in the queue, so that its id may be used again: the row remembers what happened. */
export const jobOptions = { removeOnComplete: true, removeOnFail: true } as const;

/** A tick that died with its worker stays in the queue for a minute; no longer than this it stands in the way of others. */
const tickSpanMs = 10_000;

/** The job that looks for what is due: one at a time, and before everything that waits. */
export function tickJob() {
  const jobId = `tick-${Math.floor(now().getTime() / tickSpanMs)}`;
  return { name: 'tick', data: {}, opts: { ...jobOptions, jobId, lifo: true } };
}

const markId = 'mark';
const markMs = 10 * 365 * 24 * 3_600_000;

/**
 * Whether the queue still has what was put into it. A job that nobody ever runs lies in it as a mark; where that is gone the
 * queue was wiped, and what the tables say was handed out was not. The mark is put back.
 */
export async function keptItsJobs(queue: Queue): Promise<boolean> {
  if (await queue.getJob(markId)) return true;
  await queue.add(markId, {}, { ...jobOptions, jobId: markId, delay: markMs });
  return false;
}

/**
 * Leases the rows that are due and puts one job for each into the queue, under the row's own id: never two for one row. After
 * the queue was wiped, also what had been handed out before.
 */
export async function enqueueDue(pool: Pool, queue: Queue, due: Omit<Due, 'limit'>): Promise<void> {
  if (!(await keptItsJobs(queue))) await releaseLeases(pool, due);
  await enqueueTaken(pool, queue, due);
}

/** The same for a queue that was found whole. */
export async function enqueueTaken(
  pool: Pool,
  queue: Queue,
  { name, ...due }: Omit<Due, 'limit'> & { name?: string },
): Promise<void> {
  const rows = await takeDue<{ id: string }>(pool, { ...due, limit: tickSizeMax });
  const ids = rows.map(({ id }) => id);
  await addJobs(queue, ids, name);
}

/** One job for each row that was taken, under the row's own id. */
export async function addJobs(queue: Queue, ids: readonly string[], name = 'due'): Promise<void> {
  if (ids.length === 0) return;
  await queue.addBulk(ids.map((id) => ({ name, data: { id }, opts: { ...jobOptions, jobId: id } })));
}

/** Takes back every lease on a row that is due. */
export async function releaseLeases(
  pool: Pool,
  { table, dueColumn, leaseColumn }: Pick<Due, 'table' | 'dueColumn' | 'leaseColumn'>,
): Promise<void> {
  const [name, due, lease] = [table, dueColumn, leaseColumn].map(escapeIdentifier);
  await pool.query(`update ${name} set ${lease} = null where ${due} <= $1 and ${lease} > $1`, [now()]);
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
