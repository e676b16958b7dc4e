import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StackFile } from '../../apps/stack/src/stack.js';
import { until } from '../support/receiver.js';

const anyPort = { AGGREGATOR_PORT: '0', BFF_PORT: '0', SANDBOX_PORT: '0' };

interface Launched {
  child: ChildProcess;
  printed: () => string;
  ended: Promise<number | null>;
}

/** The launcher as `npm start` runs it, with nothing of the test's own database. */
function launch(dataDir: string, env: Record<string, string> = {}): Launched {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...rest } = process.env;
  const child = spawn(process.execPath, ['dist/stack/start.mjs'], {
    env: { ...rest, ...anyPort, DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  }
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  return { child, printed: () => text, ended };
}

const isReady = ({ printed }: Launched): boolean => /^ready aggregator=\S+ bff=\S+ sandbox=\S+$/m.test(printed());
const answers = async (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  );

/** What callbacks, webhooks and consents are registered with. */
const addressesOf = ({ aggregator, bff, sandbox, sandboxTls }: StackFile): Partial<StackFile> => ({
  aggregator,
  bff,
  sandbox,
  sandboxTls,
});

/** Longer than all waits of one test together: a busy machine takes its time to start a stack. */
const patienceMs = 180_000;

describe('npm start', { timeout: patienceMs }, () => {
  let dataDir: string;
  let addresses: Partial<StackFile>;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'tributary-start-'));
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  const readStack = async (): Promise<StackFile> =>
    JSON.parse(await readFile(join(dataDir, 'stack.json'), 'utf8')) as StackFile;
  const allAnswer = async (file: StackFile): Promise<boolean[]> =>
    Promise.all([file.aggregator, file.bff, file.sandbox].map(answers));

  it('starts from nothing, says so, keeps its credentials to its owner, and stops when asked twice', async () => {
    const first = launch(dataDir);
    await until(() => isReady(first), 60_000);
    const file = await readStack();
    addresses = addressesOf(file);
    expect(await allAnswer(file)).toEqual([true, true, true]);
    expect((await stat(join(dataDir, 'stack.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(dataDir, 'credentials.json'))).mode & 0o777).toBe(0o600);
    expect(first.printed()).toContain(file.merchant.apiKey);

    first.child.kill('SIGINT');
    first.child.kill('SIGINT');
    expect(await first.ended).toBe(0);
    expect(await allAnswer(file)).toEqual([false, false, false]);
  });

  it('keeps its data, leaves no program behind when it is killed, and starts again after that', async () => {
    const before = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8')) as StackFile;
    const second = launch(dataDir);
    await until(() => isReady(second), 60_000);
    const file = await readStack();
    expect(file.application).toEqual(before.application);
    expect(file.merchant).toEqual(before.merchant);
    expect(addressesOf(file)).toEqual(addresses);
    const sessions = `${file.bff}/v1/sessions`;
    const headers = { authorization: `Bearer ${file.merchant.apiKey}`, 'content-type': 'application/json' };
    const session = await fetch(sessions, {
      method: 'POST',
      headers,
      body: JSON.stringify({ customer: { reference: 'c' } }),
    });
    expect(session.status).toBe(201);

    second.child.kill('SIGKILL');
    await second.ended;
    await until(async () => (await allAnswer(file)).every((alive) => !alive), 20_000);

    const third = launch(dataDir);
    await until(() => isReady(third), 60_000);
    third.child.kill('SIGTERM');
    expect(await third.ended).toBe(0);
  });

  it('names every faulty variable and exits with 1', async () => {
    const faulty = launch(dataDir, { AGGREGATOR_PORT: 'x', BFF_PORT: '99999', REDIS_URL: 'nowhere' });
    expect(await faulty.ended).toBe(1);
    for (const name of ['AGGREGATOR_PORT', 'BFF_PORT', 'REDIS_URL']) expect(faulty.printed()).toContain(name);
  });
});

describe('a program with faulty variables', () => {
  it.each([
    ['aggregator', ['DATABASE_URL', 'SEALING_KEYS', 'ROLE'], { ROLE: 'nobody', SEALING_KEYS: 'short' }],
    ['bff', ['DATABASE_URL', 'SEALING_KEYS', 'SESSION_KEY', 'OPERATOR_KEY', 'AGGREGATOR_URL'], {}],
    ['sandbox-bank', ['SANDBOX_PORT', 'SANDBOX_URL'], { SANDBOX_PORT: '-1', SANDBOX_URL: 'here' }],
  ])('%s names them all, shows no value, and exits with 1', (program, names, env) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [`dist/${program}/main.mjs`], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      encoding: 'utf8',
      timeout: 30_000,
    });
    expect(status).toBe(1);
    for (const name of names) expect(stdout + stderr).toContain(name);
    for (const value of Object.values(env)) expect(stdout + stderr).not.toMatch(new RegExp(`\\b${value}\\b`));
  });
});
