import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inheritedEnvironment } from './config.js';

/** One program of the stack as a child process; its log goes to `<dataDir>/logs/<name>.log`. */
export interface Program {
  name: string;
  url: string;
  pid: number;
  /** Resolves when the process ends, however it ends. */
  ended: Promise<{ code: number | null; lastLines: string }>;
  stop(): Promise<void>;
}

export interface ProgramOptions {
  name: string;
  bundle: string;
  url: string;
  dataDir: string;
  env: Record<string, string | undefined>;
  /** Megabytes of V8's young generation's halves; 2 unless a program's answers are large. */
  semiSpaceMb?: number;
  /** Node's own bounds instead, as in production. */
  ordinaryHeap?: boolean | undefined;
}

const stopTimeoutMs = 12_000;
const keptLines = 20;
/**
 * On a machine with much memory V8 lets garbage pile up. These bounds keep the whole stack in a newcomer's few hundred
 * megabytes at nearly the same speed; a program in production gets its own.
 */
const heapFlags = (semiSpaceMb: number) => [`--max-semi-space-size=${semiSpaceMb}`, '--max-old-space-size=256'];
/** glibc gives threads arenas of their own and keeps what they free: some 20 MB a program, for nothing in ours. */
const mallocSettings = { MALLOC_ARENA_MAX: '1' };

function keepLog(child: ChildProcess, log: WriteStream): () => string {
  let lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log.write(text);
      lines = [...lines, ...text.split('\n').filter(Boolean)].slice(-keptLines);
    });
  }
  return () => lines.join('\n');
}

/** Starts a bundle. It is not awaited here: `waitUntilHealthy` does that, so that programs start side by side. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const { name, bundle, url, dataDir, env, semiSpaceMb = 2, ordinaryHeap = false } = options;
  const logs = join(dataDir, 'logs');
  await mkdir(logs, { recursive: true });
  const log = createWriteStream(join(logs, `${name}.log`), { flags: 'a' });
  const child = spawn(process.execPath, [...(ordinaryHeap ? [] : heapFlags(semiSpaceMb)), bundle], {
    // The channel is never written to: a program ends when it breaks, so none outlives a launcher that was killed.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...mallocSettings, ...inheritedEnvironment(), NODE_COMPILE_CACHE: join(dataDir, 'compile-cache'), ...env },
    // Ctrl-C reaches the launcher alone, which then stops the programs in order.
    detached: true,
  });
  const lastLines = keepLog(child, log);
  const ended = new Promise<{ code: number | null; lastLines: string }>((done) => {
    child.once('error', (error) => done({ code: 1, lastLines: error.message }));
    child.once('close', (code) => log.end(() => done({ code, lastLines: lastLines() })));
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const late = pause(stopTimeoutMs, 'late' as const, { ref: false });
    if ((await Promise.race([ended, late])) === 'late') child.kill('SIGKILL');
    await ended;
  };
  return { name, url, pid: child.pid ?? 0, ended, stop };
}

/** Waits until the program answers `GET /health`; fails with its last log lines when it ends or the time is up. */
export async function waitUntilHealthy(program: Program, timeoutMs = 30_000): Promise<void> {
  let over: { code: number | null; lastLines: string } | undefined;
  void program.ended.then((end) => (over = end));
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    if (over) throw new Error(`${program.name} ended with code ${over.code}\n${over.lastLines}`);
    if (await isHealthy(program.url)) return;
    await pause(25);
  }
  throw new Error(`${program.name} did not answer ${program.url}/health within ${timeoutMs} ms`);
}

/** Whether something healthy answers at `url`. */
export async function isHealthy(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
