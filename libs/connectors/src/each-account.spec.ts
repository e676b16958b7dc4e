import { eachAccount } from './each-account.js';
import { InstitutionError, type InstitutionErrorKind } from './institution-error.js';

describe('a read of each account', () => {
  const read = (failing: Record<string, Error>, mayBeDead = false) =>
    eachAccount(['a', 'b', 'c'], {
      whole: async (id) => {
        const fault = failing[id];
        if (fault) throw fault;
        return `${id} with balance`;
      },
      without: (id) => id,
      mayBeDead,
    });
  const fault = (kind: InstitutionErrorKind, httpStatus?: number) => new InstitutionError(kind, kind, { httpStatus });

  it.each<InstitutionErrorKind>(['rejected', 'unauthorised', 'not-found', 'unavailable', 'timeout', 'malformed'])(
    'leaves one that fails (%s) without, and gives the others whole',
    async (kind) => {
      expect(await read({ b: fault(kind) })).toEqual(['a with balance', 'b', 'c with balance']);
    },
  );

  it('fails when it fails for all, when there can be no more, and when the fault is ours', async () => {
    const down = fault('unavailable');
    await expect(read({ a: down, b: fault('timeout'), c: fault('timeout') })).rejects.toBe(down);
    for (const each of [fault('rate-limited'), fault('consent-gone'), new TypeError('ours')])
      await expect(read({ c: each })).rejects.toBe(each);
    expect(await eachAccount([], { whole: async () => 1, without: () => 0, mayBeDead: false })).toEqual([]);
  });

  it('passes on a refused token that has not been renewed yet', async () => {
    const refused = fault('unauthorised', 401);
    await expect(read({ b: refused }, true)).rejects.toBe(refused);
    expect(await read({ b: fault('unauthorised', 403) }, true)).toContain('b');
  });
});
