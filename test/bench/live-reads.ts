import { aggregatorWorld } from './aggregator-world.js';
import { compare, type Figure } from './harness.js';
import { holding } from './holding.js';
import { answerOf, load } from './load.js';
import { startReadyBank } from './ready-bank.js';
import { spawned } from './spawned.js';

const rounds = 7;
const sizes = [
  { rows: 100, requests: 800 },
  { rows: 1_000, requests: 120 },
];

/** GET /accounts/{id}/transactions read from the bank, against a bare program that does the least for the same rows. */
export function liveRead(): Promise<Figure[]> {
  return holding(async (hold) => {
    const { said: bank } = await hold(startReadyBank());
    const { origin, headers } = await aggregatorWorld(hold, { bank });
    const figures: Figure[] = [];
    for (const { rows, requests } of sizes) {
      const resource = `/banks/meridian/open-banking/v4.0/aisp/accounts/rows-${rows}/transactions`;
      const bare = await hold(spawned(['dist/bench/bare-reader.mjs', bank, resource], { ready: /^ready (\S+)\n/m }));
      const ours = { origin, path: `/accounts/rows-${rows}/transactions`, headers };
      expectSameRows(await answerOf(ours), await answerOf({ origin: bare.said, path: '/' }), rows);
      figures.push(
        await compare({
          name: `live-read: ${rows} rows`,
          unit: 'requests',
          baseline: 'bare Node: fetch the same pages, parse, map, stringify',
          rounds,
          runBaseline: () => load({ origin: bare.said, path: '/' }, requests),
          runOurs: () => load(ours, requests),
        }),
      );
    }
    return figures;
  });
}

/** Both must have done the same work: the same rows, but for the hash that the bare program leaves out. */
function expectSameRows(ours: string, bare: string, rows: number): void {
  const { data } = JSON.parse(ours) as { data: { enrichment?: object }[] };
  for (const row of data) delete row.enrichment;
  const same = JSON.stringify(data) === JSON.stringify((JSON.parse(bare) as { data: object[] }).data);
  if (data.length !== rows || !same) throw new Error('The aggregator and the bare program do not answer the same');
}
