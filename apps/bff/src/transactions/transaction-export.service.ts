import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { problems } from '#libs/contract';
import { POOL } from '#libs/database';
import type { Scope } from '../auth/caller.js';
import { csvHeader, csvLine, type ExportRow } from './csv.js';
import { ExportFormat, type ExportQuery } from './transaction.dto.js';
import { conditionsOf } from './transaction-filter.js';

const rowsAtOnce = 500;
/** Each holds a connection and a snapshot while it runs, so a process runs few of them, and none for a reader that sleeps. */
const exportsMax = 3;
const stallMs = 60_000;

const columns: Readonly<Record<ExportFormat, string>> = {
  csv: 'id, account_id, date, booked_at, value_at, status, trim_scale(amount)::text as amount, currency, description, bank_id',
  ndjson: 'wire',
};

/** Whole lists as a stream: read through a cursor of one snapshot, a few hundred rows at a time and only as fast as they are taken. */
@Injectable()
export class TransactionExportService {
  private running = 0;

  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /** Text in chunks. Refuses at once when too many exports run; a fault later ends the stream short of its end. */
  start(scope: Scope, query: ExportQuery, accountId?: string): Readable {
    const { where, values } = conditionsOf(scope.customerId, query, accountId);
    if (this.running >= exportsMax) throw problems.tooManyRequests({ retryAfter: 10 });
    const format = query.format ?? ExportFormat.csv;
    const select = `select ${columns[format]} from transactions where customer_id = $1 and ${where} order by date desc, id desc`;
    const chunks = this.chunks({ select, values, format });
    const stream = Readable.from(chunks, { objectMode: false, highWaterMark: 64 * 1024 });
    this.running += 1;
    stream.once('close', () => (this.running -= 1));
    endWhenStalled(stream);
    return stream;
  }

  private async *chunks({ select, values, format }: Reading): AsyncGenerator<string> {
    const client = await this.pool.connect();
    let broken = true;
    try {
      await client.query('begin isolation level repeatable read read only');
      await client.query(`declare exported no scroll cursor for ${select}`, values);
      if (format === ExportFormat.csv) yield csvHeader;
      for (;;) {
        const text = await nextRows(client, format);
        if (text === '') break;
        yield text;
      }
      await client.query('commit');
      broken = false;
    } finally {
      // Whoever leaves in the middle leaves a transaction open: that connection goes with it.
      client.release(broken);
    }
  }
}

interface Reading {
  select: string;
  values: unknown[];
  format: ExportFormat;
}

async function nextRows(client: PoolClient, format: ExportFormat): Promise<string> {
  const fetch = `fetch ${rowsAtOnce} from exported`;
  if (format === ExportFormat.csv) return (await client.query<ExportRow>(fetch)).rows.map(csvLine).join('');
  return (await client.query<{ wire: string }>(fetch)).rows.map(({ wire }) => `${wire}\n`).join('');
}

function endWhenStalled(stream: Readable): void {
  const timer = setTimeout(() => stream.destroy(new Error('Nobody reads the export')), stallMs).unref();
  stream.on('data', () => timer.refresh());
  stream.pause();
  stream.once('close', () => clearTimeout(timer));
}
