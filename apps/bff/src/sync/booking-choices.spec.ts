import { bookedBefore } from './booked-before.js';
import { besideDays, noEvidence, policyOf } from './identity-policy.js';
import { kinds, Ledger, row } from './ledger.fixture.js';

const rent = row({ text: 'RENT', amount: -800 });
const idOf = (ledger: Ledger, day: number) =>
  ledger.live.find(({ row: known }) => known.bookedAt?.getUTCDate() === day && known.description !== 'RENT')?.id;
const besides = { ...policyOf(noEvidence), sideBySide: 'habit' as const, daysBefore: 0, daysAfter: 6 };

describe('a line number for an id', () => {
  it('is no clue on another day', () => {
    const ledger = new Ledger();
    ledger.see([rent, row({ id: '2', day: 5, pending: true })]);
    const pending = idOf(ledger, 5);
    const changes = ledger.see([rent, row({ id: '2', day: 4 }), row({ id: '3', day: 5 })]);
    expect(changes).toMatchObject([
      { kind: 'removed', id: pending },
      { flag: {} },
      { flag: { candidates: [pending] } },
    ]);
  });

  it('raises no doubt about a purchase of another price', () => {
    const ledger = new Ledger();
    const bakery = { day: 5, text: 'BAKERY', amount: -7 };
    ledger.see([rent, row({ ...bakery, id: '2', pending: true })]);
    const changes = ledger.see([rent, row({ id: '2', day: 4 }), row({ ...bakery, id: '3' })]);
    expect(kinds(changes)).toEqual(['linked', 'added']);
    expect(changes[1]).not.toHaveProperty('flag');
  });
});

describe('a pending row that is gone', () => {
  it('is sooner booked than put on another day', () => {
    const ledger = new Ledger();
    ledger.policy = { ...besides, sideBySide: 'never' };
    ledger.see([rent, row({ day: 2, pending: true })]);
    const pending = idOf(ledger, 2);
    const changes = ledger.see([rent, row({ day: 5, pending: true }), row({ day: 6 })]);
    expect(changes).toMatchObject([{ kind: 'linked', id: pending, row: { status: 'BOOKED' } }, { kind: 'added' }]);
  });

  it('keeps its id when it reads otherwise on its day', () => {
    const ledger = new Ledger();
    ledger.see([rent, row({ day: 2, pending: true, text: 'VISA COFFEE BAR' })]);
    expect(ledger.see([rent, row({ day: 2, pending: true })])).toMatchObject([{ kind: 'modified', rule: 'reissued' }]);
  });

  it('is not linked while one like it is still shown beside the booking, perhaps', () => {
    const ledger = new Ledger();
    ledger.policy = besides;
    const [one, other] = [row({ day: 2, pending: true }), row({ day: 3, pending: true })];
    ledger.see([rent, one, other]);
    const ids = [idOf(ledger, 2), idOf(ledger, 3)];
    const changes = ledger.see([rent, other, row({ day: 5 })]);
    expect(changes).toMatchObject([
      { kind: 'removed', id: ids[0] },
      { kind: 'added', flag: { reason: 'uncertain-link', candidates: ids } },
    ]);
  });

  it('is asked about, not linked, where a booking is dated farther from it than bookings are', () => {
    const ledger = new Ledger();
    ledger.policy = { ...besides, sideBySide: 'rare' };
    const hotel = row({ day: 3, amount: -99, text: 'HOTEL', pending: true });
    ledger.see([rent, hotel, row({ day: 2, pending: true })]);
    const pending = idOf(ledger, 2);
    expect(ledger.see([rent, hotel, row({ day: 12 })])).toMatchObject([
      { kind: 'removed', id: pending },
      { kind: 'added', flag: { candidates: [pending] } },
    ]);
  });
});

describe('bookings that were shown beside pending rows', () => {
  it('are not told apart by the order they came in', () => {
    const ledger = new Ledger();
    const pending = [row({ day: 2, pending: true }), row({ day: 3, pending: true })];
    const booked = [row({ day: 4 }), row({ day: 5 })];
    ledger.see([rent, ...pending]);
    ledger.see([rent, ...pending, ...booked]);
    ledger.policy = besides;
    expect(kinds(ledger.see([rent, ...booked]))).toEqual(['removed', 'removed']);
    expect(ledger.live.filter(({ flag }) => flag?.reason === 'uncertain-link')).toHaveLength(2);
  });

  it('are not taken for those from which they are dated farther than bookings are', () => {
    const rest = { flag: null, into: null, apartFrom: [], dismissed: null };
    const gone = [{ ...row({ day: 9, pending: true }), ...rest, id: 'gone' }];
    const booked = row({ day: 5 });
    const flag = { reason: 'uncertain-link' as const, candidates: ['gone'] };
    const same = [{ known: { ...booked, ...rest, flag, id: 'booked' }, row: booked }];
    expect(bookedBefore(gone, same, { within: { daysBefore: 4, daysAfter: 0 } })).toHaveLength(1);
    expect(bookedBefore(gone, same, { within: { daysBefore: 3, daysAfter: 6 } })).toEqual([]);
  });

  it('are not taken for what goes later where another that they could be had gone before', () => {
    const ledger = new Ledger();
    const [one, other, booked] = [row({ day: 2, pending: true }), row({ day: 3, pending: true }), row({ day: 5 })];
    ledger.see([rent, one, other]);
    ledger.see([rent, other, booked]);
    ledger.policy = besides;
    expect(kinds(ledger.see([rent, booked]))).toEqual(['removed']);
    expect(ledger.live.filter(({ flag }) => flag?.reason === 'uncertain-link')).toHaveLength(1);
  });

  it('leave those in doubt that are still shown when another has gone', () => {
    const ledger = new Ledger();
    const [one, other] = [row({ day: 2, pending: true }), row({ day: 3, pending: true })];
    ledger.see([rent, one, other]);
    const ids = [idOf(ledger, 2), idOf(ledger, 3)];
    ledger.see([rent, one, other, row({ day: 5 })]);
    ledger.policy = besides;
    const changes = ledger.see([rent, other, row({ day: 5 })]);
    expect(changes).toMatchObject([
      { kind: 'linked', id: ids[0] },
      { kind: 'removed', reason: 'joined' },
      { kind: 'flagged', id: ids[1], flag: { reason: 'uncertain-link', candidates: [ids[0]] } },
    ]);
    expect(ledger.see([rent, other, row({ day: 5 })])).toEqual([]);
  });

  it('leave the equal pending row in doubt of which nobody knows whose it is', () => {
    const ledger = new Ledger();
    ledger.policy = besides;
    const pending = (id: string) => row({ id, day: 2, pending: true });
    const booked = row({ id: 'b', day: 2 });
    ledger.see([rent, pending('p'), pending('q')]);
    ledger.see([rent, pending('p'), pending('q'), booked]);
    const face = [...ledger.table.values()].find(({ joinedInto }) => joinedInto !== null);
    const left = ledger.live.find(({ row: { status } }) => status === 'PENDING');
    expect(ledger.see([rent, pending(left?.row.bankId ?? ''), booked])).toMatchObject([
      { kind: 'flagged', id: left?.id, flag: { reason: 'uncertain-link', candidates: [face?.joinedInto] } },
      { kind: 'removed', id: face?.id },
    ]);
  });
});

describe('an equal pending row that is still shown', () => {
  it.each([
    ['habit' as const, ['flagged', 'linked']],
    ['never' as const, ['linked']],
  ])('is in doubt where bookings are shown beside pending rows: %s', (sideBySide, expected) => {
    const ledger = new Ledger();
    ledger.policy = { ...besides, sideBySide };
    const pending = (id: string) => row({ id, day: 2, pending: true });
    ledger.see([rent, pending('p'), pending('q')]);
    // The one that is first in every order goes.
    const [, last] = ledger.live
      .filter(({ row: { status } }) => status === 'PENDING')
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const changes = ledger.see([rent, pending(last?.row.bankId ?? ''), row({ id: 'b', day: 4 })]);
    expect(kinds(changes).toSorted((a, b) => a.localeCompare(b))).toEqual(expected);
  });
});

describe('the booking under another id, where ids usually outlive it', () => {
  const booked = (from: string, to: string): string[] => {
    const ledger = new Ledger();
    ledger.policy = { ...policyOf(noEvidence), bookingIds: 'kept' };
    ledger.see([rent, row({ id: from, day: 2, pending: true })]);
    return kinds(ledger.see([rent, row({ id: to, day: 2 })])).toSorted();
  };

  it('is that of the pending row if the ids are numbers of lines', () => {
    expect(booked('20240302.1', '20240302.2')).toEqual(['linked']);
  });

  it('is another transaction if they are not', () => {
    expect(booked('TX-9A1-x', 'TX-9A2-x')).toEqual(['added', 'removed']);
  });
});

describe('by how many days bookings move', () => {
  it('is learnt from what is only flagged, so that the window can widen again', () => {
    const ledger = new Ledger();
    ledger.evidence = { ...noEvidence, moved2: 40, moved3: 40 };
    const learn = () => (ledger.policy = policyOf(ledger.evidence));
    for (let week = 0; week < 4; week += 1) {
      learn();
      const [day, amount] = [week * 7 + 1, -10 - week];
      ledger.see([rent, row({ day, amount, pending: true })]);
      ledger.see([rent, row({ day: day + 1, amount })]);
    }
    learn();
    expect(ledger.policy).toMatchObject({ daysBefore: -1, daysAfter: 3 });
    ledger.see([rent, row({ day: 29, amount: -99, pending: true })]);
    expect(kinds(ledger.see([rent, row({ day: 30, amount: -99 })]))).toContain('linked');
  });

  it('is learnt where pending rows have the opposite sign, too', () => {
    const ledger = new Ledger();
    ledger.policy = { ...policyOf(noEvidence), signs: 'flipped' };
    ledger.see([rent, row({ day: 2, amount: 9, pending: true })]);
    expect(kinds(ledger.see([rent, row({ day: 4, amount: -9 })]))).toEqual(['linked']);
    expect(ledger.evidence).toMatchObject({ moved2: 1, replaced: 1, signsFlipped: 1, signsKept: 0 });
  });

  it('says little of how far before its pending row a booking may lie that is shown beside it', () => {
    expect(besideDays(policyOf(noEvidence))).toEqual({ daysBefore: 3, daysAfter: 21 });
    expect(besideDays({ ...policyOf(noEvidence), daysBefore: -1, daysAfter: 6 })).toEqual({
      daysBefore: -1,
      daysAfter: 6,
    });
  });

  it('is not learnt where there is a choice', () => {
    const ledger = new Ledger();
    ledger.policy = { ...besides, sideBySide: 'never', daysBefore: -2, daysAfter: 3 };
    ledger.see([rent, row({ day: 2, pending: true })]);
    const before = ledger.evidence;
    ledger.see([rent, row({ day: 3 }), row({ day: 9 })]);
    expect(policyOf({ ...ledger.evidence, moved2: 30 })).toEqual(policyOf({ ...before, moved2: 30 }));
  });
});
