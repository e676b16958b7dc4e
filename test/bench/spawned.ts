import { type ChildProcess, spawn } from 'node:child_process';
import type { Held } from './holding.js';

/** A program that a benchmark runs beside itself, as ours run: a process of its own. */
export interface Spawned extends Held {
  pid: number;
  /** What it said when it was ready. */
  said: string;
  /** The end of everything it printed so far. */
  output(): string;
}

const endsWithinMs = 12_000;

/** Starts node with `args` and waits until its output matches `ready`, if that is given; its first group is `said`. */
export async function spawned(
  args: string[],
  { ready, env = {} }: { ready?: RegExp | undefined; env?: Record<string, string | undefined> },
): Promise<Spawned> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const stop = async (): Promise<void> => {
    const late = setTimeout(() => child.kill('SIGKILL'), endsWithinMs);
    child.kill('SIGTERM');
    await ended;
    clearTimeout(late);
  };
  const output = outputOf(child);
  try {
    return { pid: child.pid ?? 0, said: ready ? await saying(child, { ready, output }) : '', output, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function outputOf(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(-8_000);
    });
  }
  return () => text;
}

function saying(child: ChildProcess, { ready, output }: { ready: RegExp; output: () => string }): Promise<string> {
  return new Promise((done, fail) => {
    const look = (): void => {
      const match = ready.exec(output());
      if (match) done(match[1] ?? '');
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('error', fail);
    child.once('close', (code) => fail(new Error(`A program of the benchmark ended with code ${code}: ${output()}`)));
  });
}
