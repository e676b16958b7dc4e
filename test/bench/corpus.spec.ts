import type { BffPrisma } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../support/postgres.js';
import { broken, printCorpus, replayHistory, runCorpus, total } from './corpus.js';
import { pathologiesByKind } from './corpus/pathologies.js';
import { recordedFaults } from './corpus/recorded.js';
import { twinFault } from './corpus/twins.js';

const seed = 7;

describe('the corpus', () => {
  it('keeps its promises on every pathology', () => {
    const results = runCorpus({ seed, rows: 20_000 });
    expect(broken(results)).toEqual([]);
    expect(printCorpus(results)).toContain('true twins without ids');
    expect(total(results).rows).toBeGreaterThanOrEqual(20_000);
    expect(total(results).booked).toBeGreaterThan(6_000);
    expect(results.get('amount and id change on booking')?.clueless).toBeGreaterThan(50);
  }, 60_000);

  it('has more than twenty pathologies, and says the same twice', () => {
    const counts = Object.values(pathologiesByKind).map((kind) => Object.keys(kind).length);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(20);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(4);
    expect(runCorpus({ seed, rows: 1_000 })).toEqual(runCorpus({ seed, rows: 1_000 }));
  }, 60_000);

  it('notices what is lost, doubled, wrongly linked or passed over in silence', () => {
    const results = runCorpus({ seed, rows: 1_000 });
    const [first] = [...results];
    if (!first) throw new Error('there is no pathology');
    const [name, figures] = first;
    for (const fault of [
      { lost: 1 },
      { duplicated: 1 },
      { silent: 1 },
      { wrong: figures.linked },
      { linked: 0, booked: 1e6 },
    ]) {
      expect(broken(new Map([[name, { ...figures, ...fault }]]))).not.toEqual([]);
    }
  }, 60_000);
});

it('tells a history again, change by change', () => {
  const lines = replayHistory({ seed, rows: 10_000 }, 'ids missing/2');
  expect(lines[0]).toMatch(/^answer 1: /);
  expect(lines.some((line) => line.startsWith('  linked '))).toBe(true);
  expect(() => replayHistory({ seed, rows: 10_000 }, 'nothing/2')).toThrow('There is no pathology nothing');
});

describe('the corpus in the database', () => {
  let db: FreshDatabase<BffPrisma>;
  beforeAll(async () => {
    db = await freshDatabase('bff');
  });
  afterAll(() => db.close());

  it('is rebuilt from its log, and has lost nothing', async () => {
    const names = Object.values(pathologiesByKind).flatMap((kind) => Object.keys(kind).slice(-1));
    expect(await recordedFaults(db.pool, { seed, count: 30, names })).toEqual([]);
  }, 60_000);
});

it('stores twins as often as they were shown at one time, whatever is fetched when', () => {
  for (let history = 0; history < 3_000; history += 1) expect(twinFault(seed + history)).toBeUndefined();
}, 60_000);
