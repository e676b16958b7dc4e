import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { transaction } from '#libs/database';
import { resetClock, setClock } from '#libs/server';
import type { Consent } from '#libs/contract';
import { TestBff, type TestMerchant } from '../../../../test/support/bff.js';
import { ConsentAdoption } from '../connections/consent-adoption.service.js';
import { ConnectionStatus } from '../connections/connection-state.js';
import { moveConnection, setColumns } from '../connections/connections.queries.js';
import { dayMs } from './consent-clocks.js';
import { ConsentProbe } from './consent-probe.service.js';
import { Notices } from './notices.service.js';

const size = 500;
const seed = 20_260_101;
const start = Date.parse('2026-01-01T00:00:00Z');
const days = 240;
const stepMs = 12 * 3_600_000;
const toleranceMs = 3_600_000;

/** What is true of one consent at its bank, whatever the program thinks. */
interface World {
  id: string;
  institutionId: string;
  consent: Consent;
  /** When it was given a consent. */
  givenAt: number[];
  /** The instant at which the bank really ends it. */
  endsAt: number;
  /** The bank has let it live longer than it said. */
  isProlonged?: boolean;
  /** When its customer will act, and how. */
  actsAt?: number;
  /** When the bank changes its mind, and whether it ends the consent or lets it live longer. */
  turn?: { at: number; isEnd: boolean };
}

interface Told {
  connectionId: string;
  at: string;
  notice: number;
  toldAt: number;
}

let bff: TestBff;
let merchant: TestMerchant;
let state = seed;

/** Mulberry32: the same numbers in every run. */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
}

beforeAll(async () => {
  bff = await TestBff.start();
  merchant = await bff.merchant();
  bff.aggregator.institutions.push({ id: 'banque', name: 'Banque', countries: [{ countryCode2: 'FR' }] });
});
afterAll(async () => {
  resetClock();
  await bff.close();
});

/** A consent given at `at`: of ninety days, of half a year, without an end but for a confirmation, rarely of ten days. */
function consentFrom(at: number, institutionId: string): Consent {
  const dice = random();
  const life = dice < 0.005 ? 10 : dice < 0.5 ? 90 : 179;
  const ends = new Date(at + life * dayMs).toISOString();
  return {
    id: randomUUID(),
    userUuid: randomUUID(),
    institutionId,
    status: 'AUTHORIZED',
    createdAt: new Date(at).toISOString(),
    authorizedAt: new Date(at).toISOString(),
    consentToken: randomUUID(),
    ...(institutionId === 'bank' ? { reconfirmBy: ends } : { expiresAt: ends }),
  };
}

function endOf({ expiresAt, reconfirmBy }: Consent): number {
  return Date.parse(expiresAt ?? reconfirmBy ?? '');
}

/** Gives the connection a consent, as an authorisation or a renewal does. */
async function give(world: World, at: number): Promise<void> {
  world.consent = consentFrom(at, world.institutionId);
  world.givenAt.push(at);
  world.endsAt = endOf(world.consent);
  const columns = await bff.get(ConsentAdoption).columnsOf(world, world.consent);
  await transaction(bff.db.pool, async (tx) => {
    const move = { id: world.id, to: ConnectionStatus.active, columns };
    if (!(await moveConnection(tx, move))) await setColumns(tx, world.id, columns);
  });
}

async function populate(): Promise<World[]> {
  const { customerId } = await bff.session(merchant, 'everybody');
  const worlds: World[] = [];
  for (let index = 0; index < size; index += 1) {
    const institutionId = random() < 0.5 ? 'bank' : 'banque';
    const consent = consentFrom(start, institutionId);
    const dice = random();
    const at = start + random() * days * dayMs;
    const change = dice < 0.03 ? { turn: { at, isEnd: dice < 0.003 } } : {};
    const early = random() < 0.2 ? { actsAt: start + random() * 60 * dayMs } : {};
    worlds.push({ id: randomUUID(), institutionId, consent, givenAt: [], endsAt: endOf(consent), ...change, ...early });
  }
  await bff.db.pool.query(
    `insert into connections (id, customer_id, merchant_id, institution_id, status, created_at)
     select u.id, $1, $2, u.institution, 'awaiting-authorisation', $3 from unnest($4::uuid[], $5::text[]) as u(id, institution)`,
    [customerId, merchant.id, new Date(start), worlds.map(({ id }) => id), worlds.map((world) => world.institutionId)],
  );
  for (const world of worlds) await give(world, start);
  return worlds;
}

/** The bank ends a consent or lets it live longer, and the daily probe finds out some hours later. */
async function turn(world: World, at: number): Promise<void> {
  const isEnd = world.turn?.isEnd === true;
  delete world.turn;
  if (world.endsAt <= at) return;
  const scaEnd = world.institutionId === 'bank' ? Infinity : Date.parse(world.consent.createdAt) + 180 * dayMs;
  world.endsAt = isEnd ? at : Math.min(world.endsAt + 60 * dayMs, scaEnd);
  world.isProlonged = !isEnd;
  const ends = new Date(world.endsAt).toISOString();
  const terms = world.institutionId === 'bank' ? { reconfirmBy: ends } : { expiresAt: ends };
  const { id, institutionId, consentToken = '', authorizedAt = '' } = world.consent;
  bff.aggregator.consents.set(id, {
    id,
    institutionId,
    applicationUserId: '',
    status: isEnd ? 'REVOKED' : 'AUTHORIZED',
    consentToken,
    callback: '',
    deleted: false,
    terms: { authorizedAt, ...terms },
  });
  setTimeoutInWorld(at + random() * dayMs, async () => {
    if (world.consent.id === id) await bff.get(ConsentProbe).run(world.id);
  });
}

const later: { at: number; work: () => Promise<void> }[] = [];
function setTimeoutInWorld(at: number, work: () => Promise<void>): void {
  later.push({ at, work });
}

/** Three standstills of the worker, of a day to three. */
function standstills(): { from: number; until: number }[] {
  return [40, 100, 160].map((day) => {
    const from = start + (day + random() * 20) * dayMs;
    return { from, until: from + (1 + random() * 2) * dayMs };
  });
}

interface Outcome {
  told: Told[];
  /** Notices whose end was not what the bank would have done. */
  falseAlarms: number;
  lapses: { id: string; endsAt: number; isForeseeable: boolean }[];
}

async function live(worlds: World[]): Promise<Outcome> {
  const byId = new Map(worlds.map((world) => [world.id, world]));
  const down = standstills();
  const outcome: Outcome = { told: [], falseAlarms: 0, lapses: [] };
  const hasLapsed = new Set<string>();
  let sequence = await lastSequence();
  for (let at = start; at <= start + days * dayMs; at += stepMs) {
    setClock(() => new Date(at));
    for (const world of worlds) {
      if (world.turn && world.turn.at <= at) await turn(world, at);
      if (world.endsAt <= at && !hasLapsed.has(world.consent.id)) {
        hasLapsed.add(world.consent.id);
        const isForeseeable = world.endsAt === endOf(world.consent) || world.isProlonged === true;
        outcome.lapses.push({ id: world.id, endsAt: world.endsAt, isForeseeable });
      }
      if (world.actsAt !== undefined && world.actsAt <= at) {
        delete world.actsAt;
        await give(world, at);
      }
    }
    for (const due of later.splice(0)) {
      if (due.at <= at) await due.work();
      else later.push(due);
    }
    if (down.some(({ from, until }) => at >= from && at < until)) continue;
    await bff.get(Notices).run();
    const news = await toldAfter(sequence, at);
    sequence = news.at(-1)?.sequence ?? sequence;
    // In the order of the connections, so that every run draws the same numbers for the same ones.
    const order = (told: Told): number => worlds.findIndex(({ id }) => id === told.connectionId);
    for (const { sequence: _, ...told } of news.toSorted((one, other) => order(one) - order(other))) {
      outcome.told.push(told);
      const world = byId.get(told.connectionId);
      if (!world) throw new Error('A notice names no connection');
      if (Math.abs(Date.parse(told.at) - world.endsAt) > toleranceMs) outcome.falseAlarms += 1;
      // Half of the customers act on a notice, within days; some only when it is too late.
      else if (world.actsAt === undefined && random() < 0.2) world.actsAt = at + random() * 12 * dayMs;
    }
  }
  return outcome;
}

async function lastSequence(): Promise<number> {
  const { rows } = await bff.db.pool.query<{ last: string | null }>('select max(sequence) as last from events');
  return Number(rows[0]?.last ?? 0);
}

async function toldAfter(sequence: number, toldAt: number): Promise<(Told & { sequence: number })[]> {
  const { rows } = await bff.db.pool.query<{ sequence: string; data: string }>(
    `select sequence, data from events where merchant_id = $1 and sequence > $2 and type = 'connection.expiring' order by sequence`,
    [merchant.id, sequence],
  );
  return rows.map((row) => {
    const { connectionId, at, notice } = JSON.parse(row.data) as Omit<Told, 'toldAt'>;
    return { connectionId, at, notice, toldAt, sequence: Number(row.sequence) };
  });
}

it(`announces lapses a week ahead, raises no false alarms, and leaves none without an event (seed ${seed})`, async () => {
  setClock(() => new Date(start));
  const worlds = await populate();
  const { told, falseAlarms, lapses } = await live(worlds);
  // No clock tells that a customer goes to the bank and revokes: the probe finds it, and there is an event at once.
  const foreseeable = lapses.filter(({ isForeseeable }) => isForeseeable);
  const announced = foreseeable.filter(({ id, endsAt }) =>
    told.some(
      (each) =>
        each.connectionId === id &&
        Math.abs(Date.parse(each.at) - endsAt) <= toleranceMs &&
        each.toldAt <= endsAt - 7 * dayMs + stepMs,
    ),
  );
  const { rows } = await bff.db.pool.query<{ id: string; at: Date }>(
    `select data::json->>'connectionId' as id, created_at as at from events
     where merchant_id = $1 and type = 'connection.updated' and data::json->>'status' = 'needs-user'`,
    [merchant.id],
  );
  const ended = (id: string, endsAt: number): boolean =>
    rows.some((row) => row.id === id && Math.abs(row.at.getTime() - endsAt) <= 4 * dayMs) ||
    // The customer renewed in the moment between the end and the worker’s look at it.
    worlds.some((world) => world.id === id && world.givenAt.some((at) => Math.abs(at - endsAt) <= 4 * dayMs));
  const keys = told.map(({ connectionId, at, notice }) => `${connectionId} ${at} ${notice}`);
  expect(lapses.length).toBeGreaterThan(250);
  expect(told.length).toBeGreaterThan(1_500);
  expect(announced.length / foreseeable.length).toBeGreaterThanOrEqual(0.99);
  expect(falseAlarms / told.length).toBeLessThanOrEqual(0.02);
  expect(lapses.filter(({ id, endsAt }) => !ended(id, endsAt))).toEqual([]);
  expect(new Set(keys).size).toBe(keys.length);
}, 240_000);
