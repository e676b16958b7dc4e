import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StackFile } from '../../apps/stack/src/stack.js';
import { residentMemory } from '../../apps/stack/src/resident-memory.js';
import { benchFolder } from './aggregator-world.js';
import { compare, type Figure, type Sample } from './harness.js';
import { holding } from './holding.js';
import { spawned } from './spawned.js';

const bare = `
  import fastify from 'fastify';
  const app = fastify();
  app.get('/health', () => ({ status: 'ok' }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  console.log('ready');
`;

/** Starts a program, waits until it prints a line that begins with `ready`, and lets it end. */
function start(
  args: string[],
  env: Record<string, string>,
  whileReady?: (pid: number) => Promise<void>,
): Promise<Sample> {
  return holding(async (hold) => {
    const started = performance.now();
    const { pid } = await hold(spawned(args, { ready: /^ready/m, env }));
    const ms = performance.now() - started;
    await whileReady?.(pid);
    return { ms, units: 1 };
  });
}

/** The whole stack from nothing and on existing data, against one bare Fastify program; starts a second times a thousand. */
export function startUp(): Promise<Figure[]> {
  return holding(async (hold) => compareStarts((await hold(benchFolder())).dataDir));
}

async function compareStarts(folder: string): Promise<Figure[]> {
  const anyPort = { AGGREGATOR_PORT: '0', BFF_PORT: '0', SANDBOX_PORT: '0' };
  const kept = join(folder, 'kept');
  const scaled = (sample: Sample): Sample => ({ ...sample, units: 1_000 });
  const runBaseline = async (): Promise<Sample> => scaled(await start(['--input-type=module', '-e', bare], {}));
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
}

/** Says once a start what the stack's processes hold while idle. */
function showMemory(dataDir: string): () => Promise<void> {
  return async () => {
    const { pid } = JSON.parse(await readFile(join(dataDir, 'stack.json'), 'utf8')) as StackFile;
    const memory = await residentMemory([pid]);
    if (memory) process.stderr.write(`idle: ${memory.pssMb} MB in ${memory.processes} processes\n`);
  };
}
