import { policyOf, noEvidence } from './identity-policy.js';
import { kinds, Ledger, row, type Said } from './ledger.fixture.js';

/** A receipt of the one price that everything has. */
const receipt = (said: Said) => row({ amount: 19.99, ...said });
const invoice = (number: number, said: Said = {}) => receipt({ text: `INVOICE ${number}`, ...said });

/** Which of our ids became which text, for all that is live. */
const textsById = (ledger: Ledger) => new Map(ledger.live.map(({ id, row: { description } }) => [id, description]));

describe('receipts of one price', () => {
  it('are booked each under its own id, whatever their order', () => {
    const ledger = new Ledger();
    ledger.see([1001, 1002, 1003].map((number) => invoice(number, { pending: true })));
    const before = textsById(ledger);
    const changes = ledger.see([1003, 1001, 1002].map((number) => invoice(number, { day: 2 })));
    expect(kinds(changes)).toEqual(['linked', 'linked', 'linked']);
    expect(textsById(ledger)).toEqual(before);
  });

  it('are not taken for one another by a number that is nearly the same', () => {
    const ledger = new Ledger();
    ledger.see([invoice(1001, { pending: true })]);
    const changes = ledger.see([invoice(1002)]);
    expect(kinds(changes).toSorted()).toEqual(['added', 'removed']);
  });

  it('are found again by their number in a text that the bank has extended', () => {
    const ledger = new Ledger();
    ledger.see([1001, 1002].map((number) => invoice(number, { pending: true })));
    const before = [...textsById(ledger)].map(([id, text]) => [id, `FROM CUSTOMER ${text} LONDON`]);
    ledger.see([1002, 1001].map((number) => receipt({ text: `FROM CUSTOMER INVOICE ${number} LONDON` })));
    expect([...textsById(ledger)]).toEqual(before);
  });

  it('are told apart by names, however alike', () => {
    const names = ['ANNA SCHMIDT', 'ANNE SCHMIDT', 'HANNA SCHMIDT'];
    const ledger = new Ledger();
    ledger.see(names.map((text) => receipt({ text, pending: true })));
    const before = textsById(ledger);
    expect(kinds(ledger.see(names.toReversed().map((text) => receipt({ text, day: 2 }))))).toEqual(
      names.map(() => 'linked'),
    );
    expect(textsById(ledger)).toEqual(before);
  });

  it('stay in doubt where a text may have become another one that was pending, too', () => {
    const ledger = new Ledger();
    ledger.see(['AMAZON', 'AMAZON MKTPLACE'].map((text) => receipt({ text, pending: true })));
    const changes = ledger.see(['AMAZON MKTPLACE', 'AMAZON MKTPLACE UK'].map((text) => receipt({ text })));
    expect(kinds(changes)).not.toContain('linked');
    expect(ledger.live.map(({ flag }) => flag?.reason)).toEqual(['uncertain-link', 'uncertain-link']);
  });

  it('are compared where hundreds of them are booked at once', () => {
    const numbers = Array.from({ length: 300 }, (_, index) => 10_000 + index);
    const ledger = new Ledger();
    ledger.see(numbers.map((number) => invoice(number, { pending: true })));
    const before = textsById(ledger);
    const changes = ledger.see(numbers.map((number) => invoice(number, { day: 2 })));
    expect(new Set(kinds(changes))).toEqual(new Set(['linked']));
    expect(textsById(ledger)).toEqual(before);
  });

  it('are no booking of a pending row of one price that is shown beside them, once its own has come', () => {
    const ledger = new Ledger();
    const pending = receipt({ text: 'PETER SMITH', day: 10, pending: true });
    const other = receipt({ text: 'MARIO SMITH', day: 10 });
    ledger.see([pending]);
    ledger.see([pending, other]);
    const changes = ledger.see([other, receipt({ text: 'PETER SMITH', day: 11 })]);
    expect(kinds(changes)).toContain('added');
    expect(changes.filter((each) => each.kind === 'removed' && each.reason === 'joined')).toEqual([]);
  });
});

describe('an institution that leaves texts as they are when it books', () => {
  const kept = policyOf({ ...noEvidence, textsKept: 40 });

  it('is known after some dozen bookings, and a few exceptions change nothing', () => {
    expect(kept.texts).toBe('kept');
    expect(policyOf({ ...noEvidence, textsKept: 19 }).texts).toBe('unknown');
    expect(policyOf({ ...noEvidence, textsKept: 400, textsChanged: 8 }).texts).toBe('kept');
    expect(policyOf({ ...noEvidence, textsKept: 40, textsChanged: 8 }).texts).toBe('changed');
  });

  it('has booked nothing else than what it says', () => {
    const ledger = new Ledger();
    ledger.see([receipt({ text: 'SARAH JONES', pending: true })]);
    const before = ledger.known();
    ledger.policy = kept;
    const changes = ledger.see([receipt({ text: 'PETER JONES', day: 2 })]);
    expect(kinds(changes).toSorted()).toEqual(['added', 'removed']);
    expect(ledger.live).toMatchObject([{ flag: { reason: 'uncertain-link', candidates: [before[0]?.id] } }]);
  });

  it('teaches so by what it books', () => {
    const ledger = new Ledger();
    const shops = ['BAKERY', 'GARAGE', 'ZOO'];
    ledger.see(shops.map((text, index) => row({ text, amount: -index - 1, pending: true })));
    ledger.see(shops.map((text, index) => row({ text: index === 2 ? 'ZOO LTD' : text, amount: -index - 1 })));
    expect(ledger.evidence).toMatchObject({ textsKept: 2, textsChanged: 1 });
  });
});

describe('an institution that changes the numbers in its texts when it books', () => {
  const said = (at: number, pending: boolean) =>
    row({ text: `BAKERY AUTH ${pending ? 1_000 + at : 9_000 - at}`, amount: -1 - at, day: 1 + at, pending });

  it('is found out by bookings that leave no other choice, and followed from then on', () => {
    const ledger = new Ledger();
    const booked: ReturnType<typeof row>[] = [];
    for (let at = 0; at < 10; at += 1) {
      ledger.see([...booked, said(at, true)]);
      booked.push(said(at, false));
      expect(kinds(ledger.see(booked)).toSorted()).toEqual(['added', 'removed']);
      expect(ledger.live.at(-1)).toMatchObject({ flag: { reason: 'uncertain-link' } });
    }
    expect(ledger.evidence).toMatchObject({ numbersChanged: 10, numbersKept: 0 });
    ledger.policy = policyOf(ledger.evidence);
    ledger.see([...booked, said(10, true)]);
    expect(kinds(ledger.see([...booked, said(10, false)]))).toEqual(['linked']);
  });

  it('is no shop that had some payments cancelled', () => {
    expect(policyOf({ ...noEvidence, numbersKept: 40, numbersChanged: 12 }).numbers).toBe('telling');
  });
});
