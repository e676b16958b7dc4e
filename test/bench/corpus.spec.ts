import { broken, printCorpus, runCorpus, total } from './corpus.js';
import { pathologies } from './corpus/pathologies.js';
import { twinFault } from './corpus/twins.js';

const seed = 7;

describe('the corpus', () => {
  it('keeps its promises on every pathology', () => {
    const results = runCorpus({ seed, rows: 10_000 });
    expect(broken(results)).toEqual([]);
    expect(printCorpus(results)).toContain('true twins without ids');
    expect(total(results).rows).toBeGreaterThanOrEqual(10_000);
    expect(total(results).booked).toBeGreaterThan(3_000);
  }, 60_000);

  it('has more than twenty pathologies, and says the same twice', () => {
    expect(Object.keys(pathologies).length).toBeGreaterThan(20);
    expect(runCorpus({ seed, rows: 1_000 })).toEqual(runCorpus({ seed, rows: 1_000 }));
  }, 60_000);

  it('notices what is lost, doubled or wrongly linked', () => {
    const results = runCorpus({ seed, rows: 1_000 });
    const [first] = [...results];
    if (!first) throw new Error('there is no pathology');
    const [name, figures] = first;
    for (const fault of [{ lost: 1 }, { duplicated: 1 }, { wrong: figures.linked }, { linked: 0, booked: 1e6 }]) {
      expect(broken(new Map([[name, { ...figures, ...fault }]]))).not.toEqual([]);
    }
  }, 60_000);
});

it('stores twins as often as they were shown at one time, whatever is fetched when', () => {
  for (let history = 0; history < 3_000; history += 1) expect(twinFault(seed + history)).toBeUndefined();
}, 60_000);
