import { Turns } from './turns.js';

describe('turns', () => {
  it('let one after another go on, in order, each in a turn of the event loop of its own', async () => {
    const turns = new Turns();
    const story: string[] = [];
    const waits = ['a', 'b', 'c'].map(async (name) => {
      await turns.next();
      story.push(name);
    });
    const loops = (async () => {
      for (let loop = 1; loop <= 3; loop += 1) {
        await new Promise((done) => setImmediate(done));
        story.push(`${loop}`);
      }
    })();
    await Promise.all([...waits, loops]);
    expect(story).toEqual(['a', '1', 'b', '2', 'c', '3']);
  });
});
