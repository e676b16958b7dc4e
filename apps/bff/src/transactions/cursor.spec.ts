import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '#libs/contract';
import { readFeedCursor, readListCursor, writeFeedCursor, writeListCursor } from './cursor.js';

describe('cursors', () => {
  it('say the same when they come back', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }), (date) => {
        const id = randomUUID();
        expect(readListCursor(writeListCursor({ date, id }))).toEqual({ date, id });
      }),
    );
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 17n), (sequence) => readFeedCursor(writeFeedCursor(sequence)) === sequence),
    );
  });

  it('are refused when we have not written them, also those of the other kind', () => {
    const list = writeListCursor({ date: new Date(0), id: randomUUID() });
    const feed = writeFeedCursor(3n);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.constant(feed)), (text) => {
        expect(() => readListCursor(text)).toThrow(Problem);
      }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constant(list)), (text) => {
        fc.pre(!/^c\d+$/.test(Buffer.from(text, 'base64url').toString()));
        expect(() => readFeedCursor(text)).toThrow(Problem);
      }),
    );
  });
});
