import { spawn, type ChildProcess } from 'node:child_process';

/** A program of a few lines that does the least for the same answer: Fastify, one pool, one query. */
const program = `
  import fastify from 'fastify';
  import pg from 'pg';
  const { databaseUrl, schema, text, values, splice } = JSON.parse(process.argv[1]);
  const pool = new pg.Pool({ connectionString: databaseUrl, options: '-c search_path=' + schema, max: 10 });
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

export interface BareServer {
  origin: string;
  stop(): Promise<void>;
}

/** Starts it as a process of its own, as ours is one. */
export function startBareServer(query: BareQuery): Promise<BareServer> {
  return startBareProgram(program, query);
}

/** A program that reads its settings as JSON from its first argument and prints where it listens. */
export async function startBareProgram(text: string, settings: object): Promise<BareServer> {
  const args = ['--input-type=module', '-e', text, JSON.stringify(settings)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const origin = await firstLine(child);
  const stop = (): Promise<void> =>
    new Promise((done) => {
      child.once('exit', () => done());
      child.kill('SIGTERM');
    });
  return { origin, stop };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    child.stdout?.setEncoding('utf8').once('data', (text: string) => done(text.trim()));
    child.once('exit', (code) => fail(new Error(`The bare server ended with code ${code}`)));
  });
}
