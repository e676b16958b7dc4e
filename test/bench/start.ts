import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StackFile } from '../../apps/stack/src/stack.js';
import { residentMemory } from '../../apps/stack/src/resident-memory.js';
import { compare, type Figure, type Sample } from './harness.js';

const bare = `
  import fastify from 'fastify';
  const app = fastify();
  app.get('/health', () => ({ status: 'ok' }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  console.log('ready');
`;

/** Starts a program, waits until it prints a line that begins with `ready`, and lets it end. */
async function start(
  args: string[],
  env: Record<string, string>,
  whileReady?: (pid: number) => Promise<void>,
): Promise<Sample> {
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  await new Promise<void>((ready, fail) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (/^ready/m.test(text)) ready();
    });
    child.once('exit', (code) => fail(new Error(`The program ended with code ${code}: ${text}`)));
  });
  const ms = performance.now() - started;
  await whileReady?.(child.pid ?? 0);
  child.kill('SIGTERM');
  await ended;
  return { ms, units: 1 };
}

/** The whole stack from nothing and on existing data, against one bare Fastify program; starts a second times a thousand. */
export async function startUp(): Promise<Figure[]> {
  const anyPort = { AGGREGATOR_PORT: '0', BFF_PORT: '0', SANDBOX_PORT: '0' };
  const folder = await mkdtemp(join(tmpdir(), 'tributary-bench-'));
  const kept = join(folder, 'kept');
  const scaled = (sample: Sample): Sample => ({ ...sample, units: 1_000 });
  const runBaseline = async (): Promise<Sample> => scaled(await start(['--input-type=module', '-e', bare], {}));
  try {
    const cold = await compare({
      name: 'start: from nothing',
      unit: 'starts, times 1000',
      baseline: 'one bare Fastify program',
      rounds: 3,
      runBaseline,
      runOurs: async () =>
        scaled(await start(['dist/stack/start.mjs'], { ...anyPort, DATA_DIR: await mkdtemp(join(folder, 'new-')) })),
    });
    const warm = await compare({
      name: 'start: on existing data',
      unit: 'starts, times 1000',
      baseline: 'one bare Fastify program',
      rounds: 3,
      runBaseline,
      runOurs: async () =>
        scaled(await start(['dist/stack/start.mjs'], { ...anyPort, DATA_DIR: kept }, showMemory(kept))),
    });
    return [cold, warm];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Says once a start what the stack's processes hold while idle. */
function showMemory(dataDir: string): () => Promise<void> {
  return async () => {
    const { pid } = JSON.parse(await readFile(join(dataDir, 'stack.json'), 'utf8')) as StackFile;
    const memory = await residentMemory([pid]);
    if (memory) process.stderr.write(`idle: ${memory.pssMb} MB in ${memory.processes} processes\n`);
  };
}
