import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../apps/stack/src/free-port.js';
import { type Program, startProgram, waitUntilHealthy } from '../../apps/stack/src/programs.js';
import { BankFlows, tokenOf } from '../support/bank-flows.js';

/** Two programs that share a consent whose refresh token works once: it is renewed once, whoever comes first. */

let flows: BankFlows;
let folder: string;
let programs: Program[];

beforeAll(async () => {
  [flows, folder] = await Promise.all([BankFlows.start(), mkdtemp(join(tmpdir(), 'tributary-two-'))]);
  programs = await Promise.all(['one', 'other'].map(start));
});
afterAll(async () => {
  await Promise.all((programs ?? []).map((program) => program.stop()));
  await flows.close();
  await rm(folder, { recursive: true });
});

/** The bundle as it runs in production, on the suite's database and before its banks. */
async function start(name: string): Promise<Program> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const told = Object.entries(flows.aggregator.env).filter(([, value]) => value !== undefined);
  const settings = Object.fromEntries(told.map(([key, value]) => [key, String(value)]));
  const own = { ROLE: 'api', AGGREGATOR_PORT: String(port), AGGREGATOR_URL: url, LOG_LEVEL: 'fatal' };
  const bundle = 'dist/aggregator/main.mjs';
  const program = await startProgram({ name, bundle, url, dataDir: folder, env: { ...settings, ...own } });
  await waitUntilHealthy(program);
  return program;
}

async function statusOf({ url }: Program, consent: string): Promise<number> {
  const { id, secret } = flows.shop;
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const answer = await fetch(`${url}/accounts`, { headers: { authorization, consent, 'psu-ip-address': '192.0.2.7' } });
  await answer.arrayBuffer();
  return answer.status;
}

async function renewalsAt(bank: string): Promise<number> {
  const answer = await fetch(`${flows.sandbox.url}/control/calls`);
  const { calls } = (await answer.json()) as { calls: { bank: string; route: string }[] };
  return calls.filter((call) => call.bank === bank && call.route === 'POST /token').length;
}

describe.each(['meridian', 'thistle', 'marais'])('a consent at %s', (bank) => {
  it('whose token has died is renewed once by two programs at a time, and again and again', async () => {
    const token = tokenOf(await flows.visitTwice(await flows.begin(bank)));
    for (let round = 0; round < 3; round += 1) {
      await flows.sandbox.control('clock', { advance: 'PT2H' });
      // Whoever comes first waits three seconds for its tokens: time enough for the other to use the same refresh token.
      if (round === 0) await flows.sandbox.fault({ bank, route: 'POST /token', fault: 'slow', times: 1 });
      const before = await renewalsAt(bank);
      const statuses = await Promise.all([...programs, ...programs].map((program) => statusOf(program, token)));
      expect(statuses).toEqual([200, 200, 200, 200]);
      expect((await renewalsAt(bank)) - before).toBe(1);
    }
  });
});
