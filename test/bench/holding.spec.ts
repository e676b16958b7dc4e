import { endHeld, holding, type Held } from './holding.js';

function thing(name: string, ended: string[]): Held {
  return {
    stop: () => {
      ended.push(name);
      return Promise.resolve();
    },
  };
}

describe('what a benchmark holds', () => {
  it('ends in reverse when the work is done, and when it fails', async () => {
    const ended: string[] = [];
    const work = holding(async (hold) => {
      await hold(Promise.resolve(thing('database', ended)));
      await hold(Promise.resolve(thing('program', ended)));
      throw new Error('broken');
    });
    await expect(work).rejects.toThrow('broken');
    expect(ended).toEqual(['program', 'database']);
  });

  it('ends on a signal, a start that was under way included, and starts nothing more', async () => {
    const ended: string[] = [];
    const starting = Promise.withResolvers<Held>();
    const work = holding(async (hold) => {
      await hold(Promise.resolve(thing('database', ended)));
      await hold(starting.promise);
      await hold(Promise.resolve(thing('late', ended)));
    });
    const refused = work.catch((error: Error) => error.message);
    await Promise.resolve();
    const signalled = endHeld();
    starting.resolve(thing('program', ended));
    await signalled;
    expect(await refused).toContain('interrupted');
    expect(ended).toEqual(['program', 'late', 'database']);
  });
});
