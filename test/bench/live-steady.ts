import { type AggregatorWorld, aggregatorWorld } from './aggregator-world.js';
import type { Bound } from './harness.js';
import { type Hold, holding } from './holding.js';
import { Inspected, type LoopDelay } from './inspected.js';
import { load } from './load.js';
import { bankReads, startReadyBank } from './ready-bank.js';
import { spawned } from './spawned.js';

const readers = 50;
const warmRequests = 2_000;
const allRequests = 20_000;
const path = '/accounts/rows-100/transactions';
const resource = `/banks/meridian/open-banking/v4.0/aisp${path}`;

/** What must hold however many read: the event loop stays quick, memory stays flat, later offsets leave the bank alone. */
export function liveReadSteady(): Promise<Bound[]> {
  return holding(async (hold) => {
    const { said: bank } = await hold(startReadyBank());
    const world = await aggregatorWorld(hold, { bank, nodeFlags: ['--inspect=127.0.0.1:0'] });
    const inspected = await hold(Inspected.at(world.program.said));
    const target = { origin: world.origin, path, headers: world.headers };
    await load(target, warmRequests, readers);
    const early = await inspected.memory();
    await inspected.watchLoop();
    await load(target, warmRequests, readers);
    const delays = await inspected.loopDelayP99();
    await load(target, allRequests - 2 * warmRequests, readers);
    const late = await inspected.memory();
    const bare = await bareDelay(hold, bank);
    const loop = `live-read-steady: event-loop delay p99, ${readers} readers of 100 rows`;
    const name = `live-read-steady: after ${allRequests} requests, of after ${warmRequests}`;
    return [
      { name: `${loop}, by the clock`, unit: 'ms', value: delays.delay, bound: 30, baseline: bare.delay },
      { name: `${loop}, own CPU time`, unit: 'ms', value: delays.own, bound: 30, baseline: bare.own },
      { name: `${name}, heap ${early.heapMb}`, unit: 'MB', value: late.heapMb, bound: early.heapMb + 5 },
      { name: `${name}, RSS ${early.rssMb}`, unit: 'MB', value: late.rssMb, bound: Math.round(early.rssMb * 1.2) },
      await laterOffsets(world, bank),
    ];
  });
}

/** The same delay of the bare program under the same load, on the same machine. */
async function bareDelay(hold: Hold, bank: string): Promise<LoopDelay> {
  const args = ['--inspect=127.0.0.1:0', 'dist/bench/bare-reader.mjs', bank, resource];
  const bare = await hold(spawned(args, { ready: /(?=[^]*^ready \S+\n)[^]*listening on (ws:\S+)\n/m }));
  const inspected = await hold(Inspected.at(bare.said));
  const origin = /^ready (\S+)\n/m.exec(bare.output())?.[1] ?? '';
  await load({ origin, path: '/' }, warmRequests, readers);
  await inspected.watchLoop();
  await load({ origin, path: '/' }, warmRequests, readers);
  return inspected.loopDelayP99();
}

/** How often the bank is asked while all pages after the first are read. */
async function laterOffsets({ origin, headers }: AggregatorWorld, bank: string): Promise<Bound> {
  const page = (offset: number): string => `/accounts/rows-1000/transactions?limit=100&offset=${offset}`;
  await load({ origin, path: page(0), headers }, 1, 1);
  const before = await bankReads(bank);
  for (let offset = 100; offset < 1_000; offset += 100) await load({ origin, path: page(offset), headers }, 10);
  const value = (await bankReads(bank)) - before;
  return { name: 'live-read-steady: bank reads for 90 reads of later offsets', unit: 'reads', value, bound: 0 };
}
