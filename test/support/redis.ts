import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from '../../apps/stack/src/free-port.js';
import { until } from './receiver.js';

export interface RunningRedis {
  url: string;
  stop(): Promise<void>;
}

/** Whether this machine has a Redis to test on. Where CI is set a missing one is a failure, not a reason to skip. */
export function hasRedis(): boolean {
  const isThere = (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => existsSync(join(folder, 'redis-server')));
  if (!isThere && process.env['CI']) throw new Error('CI must have redis-server on its path');
  return isThere;
}

/** A Redis of the suite's own on a free port, without persistence. */
export async function startRedis(): Promise<RunningRedis> {
  const [port, folder] = await Promise.all([freePort(), mkdtemp(join(tmpdir(), 'tributary-redis-'))]);
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const child = spawn('redis-server', [...settings, '--maxmemory-policy', 'noeviction'], { stdio: 'ignore' });
  const ended = new Promise((done) => child.once('exit', done).once('error', done));
  await until(() => accepts(port));
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(port, '127.0.0.1', () => answer(true));
    socket.once('error', () => answer(false)).once('connect', () => socket.end());
  });
}
