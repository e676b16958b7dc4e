import type { Held } from './holding.js';
import { spawned } from './spawned.js';

/** A program of a few lines that does the least for the same answer: Fastify, one pool, one query. */
const program = `
  import fastify from 'fastify';
  import pg from 'pg';
  const { databaseUrl, schema, text, values, splice } = JSON.parse(process.argv[1]);
  const pool = new pg.Pool({ connectionString: databaseUrl, options: '-c search_path=' + schema, max: 10 });
  pool.on('error', () => {});
  const app = fastify();
  app.get('/', async (_request, reply) => {
    const { rows } = await pool.query({ name: 'bare', text, values });
    if (!splice) return { data: rows[0] };
    return reply.type('application/json').send('{"data":[' + rows.map(({ wire }) => wire).join(',') + ']}');
  });
  console.log(await app.listen({ port: 0, host: '127.0.0.1' }));
`;

export interface BareQuery {
  databaseUrl: string;
  schema: string;
  text: string;
  values: unknown[];
  /** The rows hold ready JSON in `wire`, which is put together as it is. */
  splice: boolean;
}

export interface BareServer extends Held {
  origin: string;
}

/** Starts it as a process of its own, as ours is one. */
export function startBareServer(query: BareQuery): Promise<BareServer> {
  return startBareProgram(program, query);
}

/** A program that reads its settings as JSON from its first argument and prints where it listens. */
export async function startBareProgram(text: string, settings: object): Promise<BareServer> {
  const args = ['--input-type=module', '-e', text, JSON.stringify(settings)];
  const child = await spawned(args, { ready: /^(http\S+)\n/m });
  return { origin: child.said, stop: () => child.stop() };
}
