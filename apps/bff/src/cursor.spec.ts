import { randomUUID } from 'node:crypto';
import { assert, base64String, bigInt, constant, date as dates, oneof, pre, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '#libs/contract';
import { readFeedCursor, readListCursor, writeFeedCursor, writeListCursor } from './cursor.js';

describe('cursors', () => {
  it('say the same when they come back', () => {
    assert(
      property(dates({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }), (date) => {
        const id = randomUUID();
        expect(readListCursor(writeListCursor({ date, id }))).toEqual({ date, id });
      }),
    );
    assert(property(bigInt(0n, 10n ** 17n), (sequence) => readFeedCursor(writeFeedCursor(sequence)) === sequence));
  });

  it('are refused when we have not written them, also those of the other kind', () => {
    const list = writeListCursor({ date: new Date(0), id: randomUUID() });
    const feed = writeFeedCursor(3n);
    assert(
      property(oneof(string(), base64String(), constant(feed)), (text) => {
        expect(() => readListCursor(text)).toThrow(Problem);
      }),
    );
    assert(
      property(oneof(string(), constant(list)), (text) => {
        pre(!/^c\d+$/.test(Buffer.from(text, 'base64url').toString()));
        expect(() => readFeedCursor(text)).toThrow(Problem);
      }),
    );
  });
});
