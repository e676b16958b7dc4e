import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApplicationResponse, Envelope } from '#libs/contract';
import {
  ApplicationKeysService,
  type IssuedKey,
} from '../../apps/aggregator/src/applications/application-keys.service.js';
import { freePort } from '../../apps/stack/src/free-port.js';
import { type Program, startProgram, waitUntilHealthy } from '../../apps/stack/src/programs.js';
import { asOwner } from '../support/authorise.js';
import { BankFlows, tokenOf } from '../support/bank-flows.js';
import { until } from '../support/receiver.js';

/** Two programs on one database: a refresh token that works once is used once, and what one changes the other knows at once. */

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

/** One request to one of the programs. */
interface Asked {
  route: `${string} /${string}`;
  headers?: Record<string, string>;
  as?: IssuedKey;
}

async function statusOf(
  program: Program | undefined,
  { route, headers = {}, as = flows.shop }: Asked,
): Promise<number> {
  const [method = '', path] = route.split(' ');
  const authorization = `Basic ${Buffer.from(`${as.id}:${as.secret}`).toString('base64')}`;
  const signal = AbortSignal.timeout(20_000);
  const answer = await fetch(`${program?.url}${path}`, { method, headers: { authorization, ...headers }, signal });
  await answer.arrayBuffer();
  return answer.status;
}

const accounts = (consent: string): Asked => ({
  route: 'GET /accounts',
  headers: { consent, 'psu-ip-address': '192.0.2.7' },
});

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
      const statuses = await Promise.all(
        [...programs, ...programs].map((program) => statusOf(program, accounts(token))),
      );
      expect(statuses).toEqual([200, 200, 200, 200]);
      expect((await renewalsAt(bank)) - before).toBe(1);
    }
  });
});

describe('what both keep in memory', () => {
  /** Far less than the ten seconds for which a row is kept where nobody tells of a change. */
  const atOnceMs = 6_000;
  let id: string;
  let consent: string;
  const show = (as?: IssuedKey): Asked => ({ route: `GET /consents/${id}`, ...(as ? { as } : {}) });
  const turns = (program: Program | undefined, expected: number, asked: Asked) =>
    until(async () => (await statusOf(program, asked)) === expected, atOnceMs);
  /** Asked twice, both answer, from then on out of their memory. */
  const expectToBeKept = async () => {
    for (const program of [...programs, ...programs]) {
      expect([await statusOf(program, show()), await statusOf(program, accounts(consent))]).toEqual([200, 200]);
    }
  };

  beforeEach(async () => {
    const begun = await flows.begin('lindenhof');
    id = begun.id;
    consent = tokenOf(await flows.visit(begun));
    await expectToBeKept();
  });

  it('is what they answer from: a change that nobody tells of is not seen', async () => {
    const quietly = 'SET session_replication_role = replica; UPDATE aggregator.consents SET status =';
    await asOwner(flows.aggregator, `${quietly} 'REVOKED' WHERE id = '${id}'`);
    const seen = await Promise.all(programs.map((program) => statusOf(program, accounts(consent))));
    await asOwner(flows.aggregator, `${quietly} 'AUTHORIZED' WHERE id = '${id}'`);
    expect(seen).toEqual([200, 200]);
  });

  it('is forgotten with a consent that one of them deletes', async () => {
    const [one, other] = programs;
    expect(await statusOf(one, { route: `DELETE /consents/${id}` })).toBe(200);
    await turns(other, 404, show());
    await turns(other, 403, accounts(consent));
  });

  it('is forgotten with an application that one of them deletes, and with a secret that is rotated', async () => {
    const [one, other] = programs;
    const { body } = await flows.aggregator.ask<Envelope<ApplicationResponse>>('POST /applications', {
      as: flows.shop,
      body: { name: 'Branch', merchantCategoryCode: '5411', ppcUserGroup: 'TAX', isContractPresent: true },
    });
    const users: Asked = { route: 'GET /users', headers: { 'sub-application': body.data.id ?? '' } };
    for (const program of programs) await turns(program, 200, users);
    expect(await statusOf(one, { route: `DELETE /applications/${body.data.id}` })).toBe(204);
    await turns(other, 403, users);

    const rotated = await flows.aggregator.get(ApplicationKeysService).rotate(flows.shop.id, 0);
    for (const program of programs) {
      await turns(program, 401, show());
      await turns(program, 200, show(rotated));
    }
  });
});
