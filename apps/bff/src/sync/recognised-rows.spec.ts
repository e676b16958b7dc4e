import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Transaction } from '#libs/contract';
import type { BffPrisma } from '#libs/database';
import { type FreshDatabase, freshDatabase } from '../../../../test/support/postgres.js';
import { TransactionCorrections } from '../transactions/transaction-corrections.service.js';
import { noCounts } from './record-changes.js';
import { newAccount, record as recordAside, type RecordedAccount, take } from './recorded-account.fixture.js';
import { logOf, projected, tableOf } from './replayed-log.fixture.js';
import { StagedAnswer, StageLost } from './staged-answer.js';

let db: FreshDatabase<BffPrisma>;
let corrections: TransactionCorrections;
let account: RecordedAccount;

beforeAll(async () => {
  db = await freshDatabase('bff');
  corrections = new TransactionCorrections(db.pool);
});
beforeEach(async () => {
  account = await newAccount(db.pool);
});
afterAll(() => db.close());

function row(day: number, amount: number, more: Partial<Transaction> = {}): Transaction {
  const date = new Date(Date.UTC(2026, 0, day)).toISOString();
  return { date, bookingDateTime: date, status: 'BOOKED', amount, currency: 'GBP', description: 'Coffee', ...more };
}

async function staged(...pages: Transaction[][]): Promise<StagedAnswer> {
  const answer = await StagedAnswer.open(db.pool, account);
  for (const page of pages) await answer.add(page);
  return answer;
}

/** Records an answer; the log says the same as the table afterwards. */
async function record(answer: StagedAnswer): Promise<unknown> {
  const { proof: _proof, lateness: _lateness, ...counts } = await recordAside(db.pool, account, answer);
  expect(await tableOf(db.pool, account)).toEqual(projected(await logOf(db.pool, account)));
  return counts;
}

interface Known {
  id: string;
  flag: string | null;
}

/** What is live, in the order of days. */
async function live(): Promise<Known[]> {
  const { rows } = await db.pool.query<Known>(
    'select id, flag from transactions where account_id = $1 and removed_at is null order by date, id',
    [account.accountId],
  );
  return rows;
}

const rent = row(1, -800, { description: 'Rent' });
const coffee = row(2, -3.5);
const cinema = row(3, -12, { description: 'Cinema' });

describe('an answer', () => {
  it('has only those rows put aside that say something new', async () => {
    await record(await staged([rent, coffee]));
    const answer = await staged([rent, coffee, cinema]);
    expect(answer).toMatchObject({ size: 1, given: { rows: 3, ids: 0, earliest: new Date(rent.date ?? '') } });
    expect(await record(answer)).toEqual({ ...noCounts(), added: 1 });
  });

  it('that shows nothing new, writes nothing at all', async () => {
    await record(await staged([rent, coffee]));
    const versions = async () =>
      (
        await db.pool.query('select id, xmin, ctid from transactions where account_id = $1 order by id', [
          account.accountId,
        ])
      ).rows;
    const before = await versions();
    const answer = await staged([coffee], [rent]);
    expect(answer.size).toBe(0);
    expect(await record(answer)).toEqual(noCounts());
    expect(await versions()).toEqual(before);
  });

  it('shows as many true twins as there are, whatever the pages they come on', async () => {
    await record(await staged([coffee], [coffee, rent]));
    const same = await staged([rent, coffee], [coffee]);
    expect(same.size).toBe(0);
    expect(await record(same)).toEqual(noCounts());
    const another = await staged([coffee, rent], [coffee], [coffee]);
    expect(another.size).toBe(1);
    expect(await record(another)).toEqual({ ...noCounts(), added: 1 });
    expect(await live()).toHaveLength(4);
  });

  it('shows the twin without a flag first, and answers the flag of the other when that is shown too', async () => {
    await record(await staged([coffee, coffee, rent]));
    expect(await record(await staged([coffee, rent]))).toEqual({ ...noCounts(), flagged: 1 });
    const one = await staged([coffee], [rent]);
    expect(one.size).toBe(0);
    expect(await record(one)).toEqual(noCounts());
    const both = await staged([coffee], [coffee, rent]);
    expect(both.size).toBe(1);
    expect(await record(both)).toEqual({ ...noCounts(), cleared: 1 });
  });

  it('proves that what it does not show has vanished, although all that it shows is recognised', async () => {
    await record(await staged([rent, coffee, row(4, -7, { status: 'PENDING' })]));
    const answer = await staged([rent]);
    expect(answer.size).toBe(0);
    expect(await record(answer)).toEqual({ ...noCounts(), flagged: 1, removed: 1 });
  });

  it('makes no id an identity that one of its recognised rows has too', async () => {
    await record(
      await staged([
        { ...rent, id: 'A-1' },
        { ...coffee, id: 'B-1' },
      ]),
    );
    expect(
      await record(
        await staged([
          { ...rent, id: 'A-1' },
          { ...cinema, id: 'A-1' },
        ]),
      ),
    ).toMatchObject({ added: 1 });
  });
});

describe('a reading that begins again', () => {
  it('forgets what it has recognised and put aside', async () => {
    await record(await staged([rent, coffee]));
    const answer = await staged([rent, coffee], [cinema]);
    await answer.discard();
    expect(answer).toMatchObject({ size: 0, given: { rows: 0, ids: 0, earliest: null } });
    await answer.add([coffee, cinema]);
    expect(await record(answer)).toEqual({ ...noCounts(), added: 1 });
    // The answer begins with the coffee now, so the rent has not vanished.
    expect((await live()).map(({ flag }) => flag)).toEqual([null, null, null]);
  });

  it('takes a page again that could not be put aside', async () => {
    await record(await staged([rent, coffee]));
    const answer = await StagedAnswer.open(db.pool, account);
    const place = [account.accountId, answer.id];
    await db.pool.query(
      `insert into staged_rows (account_id, answer_id, ordinal, status, fingerprint, served) values ($1, $2, 0, 'BOOKED', '', '')`,
      place,
    );
    await expect(answer.add([rent, coffee, cinema])).rejects.toThrow('staged_rows_pkey');
    await db.pool.query('delete from staged_rows where account_id = $1 and answer_id = $2', place);
    expect(answer).toMatchObject({ size: 0, given: { rows: 0 } });
    await answer.add([rent, coffee, cinema]);
    expect(await record(answer)).toEqual({ ...noCounts(), added: 1 });
  });

  it('that never ends leaves nothing behind that the next one would see', async () => {
    await record(await staged([rent, coffee]));
    await staged([rent, cinema]);
    expect(await record(await staged([rent, coffee, cinema]))).toEqual({ ...noCounts(), added: 1 });
    expect((await db.pool.query('select 1 from staged_rows where account_id = $1', [account.accountId])).rows).toEqual(
      [],
    );
  });
});

describe('what changes while the pages are read', () => {
  it('a join: the joined row stays known as another face', async () => {
    await record(await staged([rent, coffee, cinema]));
    const answer = await staged([rent, coffee, cinema]);
    const [, kept, other] = await live();
    await corrections.join(account, kept?.id ?? '', other?.id ?? '');
    expect(await record(answer)).toEqual(noCounts());
    expect(await record(await staged([rent, coffee, cinema]))).toEqual(noCounts());
    expect(await live()).toHaveLength(2);
  });

  it('a split: what the bank goes on showing finds the part that says it', async () => {
    await record(await staged([rent, { ...coffee, status: 'PENDING' }]));
    expect(await record(await staged([rent, { ...coffee, id: 'B-2' }]))).toEqual({ ...noCounts(), linked: 1 });
    const answer = await staged([rent, { ...coffee, id: 'B-2' }]);
    const [, booked] = await live();
    await corrections.split(account, booked?.id ?? '');
    expect(await record(answer)).toEqual({ ...noCounts(), removed: 1 });
    expect(await record(await staged([rent, { ...coffee, id: 'B-2' }]))).toEqual(noCounts());
    expect(await live()).toHaveLength(2);
  });

  it('a dismissed flag: it is not raised again', async () => {
    await record(await staged([rent, coffee, cinema]));
    await record(await staged([rent, cinema]));
    const answer = await staged([rent, cinema]);
    const flagged = (await live()).find(({ flag }) => flag !== null);
    await corrections.dismiss(account, flagged?.id ?? '');
    expect(await record(answer)).toEqual(noCounts());
  });

  it('another reading: what it has recorded is not recorded twice', async () => {
    await record(await staged([rent, coffee]));
    const answer = await staged([rent, coffee], [cinema]);
    const other = await StagedAnswer.open(db.pool, account);
    await other.add([rent, { ...coffee, description: 'Coffee bar' }, cinema]);
    await record(other);
    await expect(record(answer)).rejects.toBeInstanceOf(StageLost);
    const recognised = await staged([rent, { ...coffee, description: 'Coffee bar' }]);
    await take(db.pool, account, [rent, { ...coffee, description: 'Coffee house' }, cinema]);
    expect(await record(recognised)).toMatchObject({ added: 0, modified: 1 });
    expect(await live()).toHaveLength(3);
  });

  it('a whole history: that is another reading, and this one is lost', async () => {
    const history = (text: string) =>
      Array.from({ length: 1_001 }, (_, index) =>
        row(1 + (index % 28), -index, { id: `B-${index}`, description: text }),
      );
    await record(await staged(history('one')));
    const answer = await staged(history('one'));
    await take(db.pool, account, history('two'));
    await expect(record(answer)).rejects.toBeInstanceOf(StageLost);
  });
});
