import { compare, median } from './harness.js';

describe('the bench', () => {
  it('takes the middle', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(() => median([])).toThrow('nothing');
  });

  it('pairs the rounds, and leaves the first out', async () => {
    const order: string[] = [];
    let round = 0;
    const figure = await compare({
      name: 'n',
      unit: 'rows',
      baseline: 'b',
      rounds: 2,
      runBaseline: () => Promise.resolve(void order.push('b')).then(() => ({ ms: 10, units: 10 })),
      runOurs: () => {
        order.push('o');
        round += 1;
        return Promise.resolve({ ms: round === 1 ? 1_000_000 : 20, units: 10 });
      },
    });
    expect(order).toEqual(['b', 'o', 'o', 'b', 'b', 'o']);
    expect(figure).toMatchObject({ baselinePerSecond: 1_000, oursPerSecond: 500, ratio: 0.5 });
  });
});
