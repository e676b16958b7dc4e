import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { from } from 'pg-copy-streams';

/** What a column takes; null is SQL's NULL. */
export type Value = string | number | bigint | Date | null;

const chunkSizeMin = 64 * 1024;
const special = /[\\\t\n\r]/;
const everySpecial = new RegExp(special, 'g');
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/**
 * Appends rows to a table by COPY, the fastest way in: about half the time of one INSERT from arrays. Table and columns are
 * names of ours; the values may be anything. The rows are taken one by one, so only a part of them is in memory as text.
 */
export async function copyRows(
  client: PoolClient,
  target: { table: string; columns: readonly string[] },
  rows: Iterable<readonly Value[]>,
): Promise<void> {
  const copy = client.query(from(`copy ${target.table} (${target.columns.join(', ')}) from stdin`));
  await pipeline(Readable.from(chunks(rows)), copy);
}

/** Lines of the text format (Postgres manual, COPY, "Text Format"), gathered so that not every row is a write of its own. */
function* chunks(rows: Iterable<readonly Value[]>): Generator<Buffer> {
  let text = '';
  for (const row of rows) {
    text += `${row.map(field).join('\t')}\n`;
    if (text.length < chunkSizeMin) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

function field(value: Value): string {
  if (value === null) return '\\N';
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'string' || !special.test(value)) return String(value);
  return value.replace(everySpecial, (character) => escapes[character] ?? character);
}
