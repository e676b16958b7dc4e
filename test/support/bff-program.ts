import { type ChildProcess, spawn } from 'node:child_process';
import type { Role } from '../../apps/bff/src/config.js';
import { inheritedEnvironment } from '../../apps/stack/src/config.js';
import type { TestBff } from './bff.js';

/** The bundle as it runs in production, on the database and the aggregator of a test. */
export function startBffProgram({ env }: TestBff, role: Role, port: number): ChildProcess {
  const told = Object.entries(env).filter(([, value]) => value !== undefined);
  const settings = Object.fromEntries(told.map(([name, value]) => [name, String(value)]));
  const own = {
    ...settings,
    ROLE: role,
    BFF_PORT: String(port),
    BFF_URL: `http://127.0.0.1:${port}`,
    LOG_LEVEL: 'fatal',
  };
  return spawn(process.execPath, ['dist/bff/main.mjs'], {
    env: { ...inheritedEnvironment(), ...own },
    stdio: 'ignore',
  });
}

/** Whether the program at this port answers, and reaches its database. */
export async function isReady(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Ends a program as a power cut does. */
export async function killed(program: ChildProcess): Promise<void> {
  const gone = new Promise((done) => program.once('exit', done));
  program.kill('SIGKILL');
  await gone;
}
