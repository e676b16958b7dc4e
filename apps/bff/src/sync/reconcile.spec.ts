import { kinds, Ledger, row, type Said } from './ledger.fixture.js';

describe('twins', () => {
  it('stores as many equal rows as the answer shows', () => {
    const ledger = new Ledger();
    ledger.see([row(), row(), row()]);
    expect(ledger.live).toHaveLength(3);
    expect(ledger.see([row(), row(), row()])).toEqual([]);
  });

  it('adds the one twin that is new', () => {
    const ledger = new Ledger();
    ledger.see([row(), row()]);
    expect(kinds(ledger.see([row(), row(), row()]))).toEqual(['added']);
  });

  it('keeps two equal rows with ids of their own apart', () => {
    const ledger = new Ledger();
    ledger.see([row({ id: 'x' }), row({ id: 'y' })]);
    const ids = new Map(ledger.live.map(({ id, row: { bankId } }) => [bankId, id]));
    ledger.see([row({ id: 'y', text: 'COFFEE BAR LONDON GB' }), row({ id: 'x', text: 'COFFEE BAR LONDON GB' })]);
    expect(new Map(ledger.live.map(({ id, row: { bankId } }) => [bankId, id]))).toEqual(ids);
  });
});

describe('bank ids', () => {
  it.each([' ', '', 'NOTPROVIDED', 'notprovided', '0'])('takes %j for no id', (id) => {
    const ledger = new Ledger();
    ledger.see([row({ id, text: 'ONE SHOP' }), row({ id, text: 'OTHER PLACE', amount: -9 })]);
    expect(ledger.live).toHaveLength(2);
    expect(
      kinds(
        ledger.see([
          row({ id, text: 'A THIRD', amount: -1, day: 2 }),
          row({ id, text: 'ONE SHOP' }),
          row({ id, text: 'OTHER PLACE', amount: -9 }),
        ]),
      ),
    ).toEqual(['added']);
  });

  it('follows a row whose id was reissued', () => {
    const ledger = new Ledger();
    ledger.see([row({ id: 'old' })]);
    expect(ledger.see([row({ id: 'new' })])).toMatchObject([{ kind: 'modified', id: 't1', rule: 'same-content' }]);
  });

  it('is not misled by positional ids when a late row shifts them', () => {
    const ledger = new Ledger();
    ledger.see([row({ id: '0301.0', text: 'RENT', amount: -800 }), row({ id: '0301.1' })]);
    const changes = ledger.see([
      row({ id: '0301.0', text: 'BAKERY', amount: -3.5 }),
      row({ id: '0301.1', text: 'RENT', amount: -800 }),
      row({ id: '0301.2' }),
    ]);
    expect(changes.filter(({ kind }) => kind === 'added')).toHaveLength(1);
    expect(
      ledger.live.map(({ id, row: { description } }) => `${id} ${description}`).toSorted((a, b) => a.localeCompare(b)),
    ).toEqual(['t1 RENT', 't2 COFFEE BAR LONDON', 't3 BAKERY']);
  });

  it('does not believe an id that is used again for something else', () => {
    const ledger = new Ledger();
    ledger.see([row({ id: '9998', text: 'BOOKSHOP', amount: -20, day: 2 }), row({ id: 'z', day: 1, amount: -1 })]);
    const changes = ledger.see([
      row({ id: '9998', text: 'GARAGE', amount: -75, day: 20 }),
      row({ id: 'z', day: 1, amount: -1 }),
    ]);
    expect(kinds(changes)).toEqual(['flagged', 'added']);
  });

  it('does not follow a line number to another purchase in the same shop', () => {
    const ledger = new Ledger();
    ledger.see([row({ id: '1', text: 'RENT', amount: -800 }), row({ id: '2', text: 'TESCO STORES', pending: true })]);
    const changes = ledger.see([
      row({ id: '1', text: 'RENT', amount: -800 }),
      row({ id: '2', text: 'TESCO STORES', amount: -60, pending: true, day: 2 }),
    ]);
    expect(kinds(changes)).toEqual(['removed', 'added']);
  });

  it('takes a corrected text under the same id for the same transaction', () => {
    const ledger = new Ledger();
    ledger.see([row({ id: 'x', text: 'CRD 4411' })]);
    expect(ledger.see([row({ id: 'x', text: 'Hotel Adlon Berlin' })])).toMatchObject([
      { kind: 'modified', id: 't1', rule: 'bank-id' },
    ]);
  });
});

describe('pending rows', () => {
  it.each<[string, Said, Said]>([
    [
      'same id, other amount',
      { id: 'p', text: 'FUEL STATION 12', amount: -1 },
      { id: 'p', text: 'FUEL STATION 12 LEEDS', amount: -45.2, day: 3 },
    ],
    [
      'other id, date and longer text',
      { id: 'p', text: 'TESCO STORES 2209' },
      { id: 'q', text: 'CARD PURCHASE TESCO STORES 2209 LONDON', day: 4 },
    ],
    ['no id', { text: 'NETFLIX.COM' }, { text: 'NETFLIX.COM AMSTERDAM', day: 2 }],
    ['booked before its expected day', { text: 'CAR HIRE CO', day: 20 }, { text: 'CAR HIRE CO', day: 9 }],
  ])('keep their id when booked: %s', (_, pending, booked) => {
    const ledger = new Ledger();
    const salary = row({ id: 's', text: 'SALARY', amount: 2000 });
    ledger.see([salary, row({ ...pending, pending: true })]);
    const before = ledger.live.find(({ row: { status } }) => status === 'PENDING')?.id;
    const changes = ledger.see([salary, row(booked)]);
    expect(changes).toMatchObject([{ kind: 'linked', id: before }]);
    expect(Reflect.get(changes[0] ?? {}, 'confidence')).toBeGreaterThan(0.9);
    expect(ledger.live).toHaveLength(2);
  });

  it('are removed when they vanish', () => {
    const ledger = new Ledger();
    ledger.see([row({ text: 'RENT', amount: -800 }), row({ pending: true, day: 2 })]);
    const pending = ledger.live.find((each) => each.row.status === 'PENDING')?.id;
    expect(ledger.see([row({ text: 'RENT', amount: -800 })])).toEqual([
      { kind: 'removed', id: pending, reason: 'pending-vanished' },
    ]);
  });

  it('are linked in any order when nobody could tell them apart', () => {
    const ledger = new Ledger();
    ledger.see([row({ pending: true }), row({ pending: true })]);
    expect(
      kinds(ledger.see([row({ day: 2 }), row({ day: 2 }), row({ day: 2 })])).toSorted((a, b) => a.localeCompare(b)),
    ).toEqual(['added', 'linked', 'linked']);
  });

  it('are flagged, not guessed, when two different rows could be what became of them', () => {
    const ledger = new Ledger();
    ledger.see([row({ pending: true, text: 'SQ *MARKET' }), row({ text: 'RENT', amount: -800 })]);
    const changes = ledger.see([
      row({ text: 'SQ *MARKET HALL', day: 2 }),
      row({ text: 'SQ *MARKET STREET', day: 2 }),
      row({ text: 'RENT', amount: -800 }),
    ]);
    expect(changes).toMatchObject([
      { kind: 'removed', id: 't1' },
      { kind: 'added', flag: { reason: 'uncertain-link', candidates: ['t1'] } },
      { kind: 'added', flag: { reason: 'uncertain-link', candidates: ['t1'] } },
    ]);
  });

  it('are not linked to money that went the other way', () => {
    const ledger = new Ledger();
    ledger.see([row({ pending: true, amount: -3.5 }), row({ text: 'RENT', amount: -800 })]);
    expect(kinds(ledger.see([row({ amount: 3.5 }), row({ text: 'RENT', amount: -800 })]))).toEqual([
      'removed',
      'added',
    ]);
  });
});

describe('booked rows that vanish', () => {
  it('are kept and flagged once, and cleared when they return', () => {
    const ledger = new Ledger();
    const rent = row({ text: 'RENT', amount: -800 });
    ledger.see([rent, row({ day: 2 })]);
    expect(ledger.see([rent])).toMatchObject([{ kind: 'flagged', id: 't2', flag: { reason: 'booked-vanished' } }]);
    expect(ledger.see([rent])).toEqual([]);
    expect(ledger.see([rent, row({ day: 2 })])).toEqual([{ kind: 'cleared', id: 't2' }]);
  });

  it('are followed when they are issued again with a new id and a cleaner text', () => {
    const ledger = new Ledger();
    ledger.see([row({ id: 'a', text: 'VISA 4411 KIWI 505 OSLO NOK' })]);
    expect(ledger.see([row({ id: 'b', text: 'Kiwi 505 Oslo' })])).toMatchObject([
      { kind: 'modified', id: 't1', rule: 'reissued' },
    ]);
  });

  it('are not missed outside what was asked for', () => {
    const ledger = new Ledger();
    ledger.see([row({ day: 1 }), row({ day: 10, text: 'RENT', amount: -800 })]);
    const from = new Date('2024-03-05T00:00:00Z');
    expect(ledger.see([row({ day: 10, text: 'RENT', amount: -800 })], { from, completeFrom: from })).toEqual([]);
  });

  it('are not missed where the bank shortened its history', () => {
    const ledger = new Ledger();
    ledger.see([row({ day: 1 }), row({ day: 10, text: 'RENT', amount: -800 })]);
    expect(ledger.see([row({ day: 10, text: 'RENT', amount: -800 })])).toEqual([]);
  });

  it('are not missed in an answer that shows nothing at all', () => {
    const ledger = new Ledger();
    ledger.see([row(), row({ pending: true, day: 2 })]);
    expect(ledger.see([])).toEqual([]);
  });
});
