import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that systems hand out to outgoing connections (32768 and up on Linux, 49152 and up elsewhere). */
const range = { from: 10_000, to: 32_000 };
const attemptsMax = 50;

/**
 * A port of the loopback interface that is free right now: the preferred one if it is. One that the system picked would soon be picked again, for a
 * connection of any program, before ours has opened it.
 */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const port = randomInt(range.from, range.to);
    if (await isFree(port)) return port;
  }
  throw new Error(`Found no free port in ${attemptsMax} attempts`);
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  const opened = await new Promise<boolean>((done) => {
    probe.once('error', () => done(false)).listen(port, '127.0.0.1', () => done(true));
  });
  if (opened) await new Promise((closed) => probe.close(closed));
  return opened;
}
