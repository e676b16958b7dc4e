import { escapeIdentifier, type QueryResultRow } from 'pg';
import { now } from '#libs/server';
import { asSystem } from './scope.js';
import type { Queryable } from './transaction.js';

export interface Due {
  table: string;
  /** The instant from which a row is due; null means never. */
  dueColumn: string;
  /** The instant until which one worker has the row in hand. */
  leaseColumn: string;
  /** How long this worker may keep it before another takes over. */
  leaseMs: number;
  /** Most rows at once. */
  limit: number;
  /** The primary key; `id` unless told. */
  idColumn?: string;
}

/**
 * Takes the rows that are due and that nobody has in hand, the longest overdue first, and leases them to the caller.
 * Several workers at once take different rows (FOR UPDATE SKIP LOCKED). A worker that dies loses its lease, not its rows.
 * Needs an index on the due column. Sees the rows of all applications.
 */
export async function takeDue<Row extends QueryResultRow>(client: Queryable, due: Due): Promise<Row[]> {
  const [table, dueColumn, lease] = [due.table, due.dueColumn, due.leaseColumn].map(escapeIdentifier);
  const id = escapeIdentifier(due.idColumn ?? 'id');
  const at = now();
  const { rows } = await asSystem(() =>
    client.query<Row>(
      `WITH due AS (
         SELECT ${id} AS key FROM ${table}
          WHERE ${dueColumn} <= $1 AND (${lease} IS NULL OR ${lease} <= $1)
          ORDER BY ${dueColumn} LIMIT $2 FOR UPDATE SKIP LOCKED
       )
       UPDATE ${table} SET ${lease} = $3 FROM due WHERE ${table}.${id} = due.key RETURNING ${table}.*`,
      [at, due.limit, new Date(at.getTime() + due.leaseMs)],
    ),
  );
  return rows.toSorted((left, right) => Number(left[due.dueColumn]) - Number(right[due.dueColumn]));
}
