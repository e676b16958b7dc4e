import { describe, expect, it } from 'vitest';
import { Ledger, row, type Said } from './ledger.fixture.js';

/** A pending row was linked to a booking, and a person has said that it was another purchase. */
function split(pending: Said, booked: Said): { ledger: Ledger; first: string; other: string } {
  const ledger = new Ledger();
  const [hold, shop] = [row({ ...pending, pending: true }), row(booked)];
  ledger.see([rent, hold]);
  ledger.see([rent, shop]);
  const first = ledger.live.find(({ row: { description } }) => description === shop.description)?.id ?? '';
  ledger.tell({ kind: 'modified', id: first, row: hold, rule: 'person', confidence: 1 });
  ledger.tell({ kind: 'split', id: 'other', from: first, row: shop });
  return { ledger, first, other: 'other' };
}

const rent = row({ text: 'RENT', amount: -800, day: 1 });
const flagOf = (ledger: Ledger, { fingerprint }: { fingerprint: string }) =>
  ledger.live.find(({ row: known }) => known.fingerprint === fingerprint)?.flag;
const says = (ledger: Ledger, id: string) => ledger.live.find((each) => each.id === id)?.row;

describe('what a person has told apart', () => {
  it.each([
    ['text', { text: 'Coffee Bar (London)' }],
    ['day and id', { id: 'y', day: 4 }],
    ['text and id, as at a re-consent', { id: 'y', text: 'coffee bar, London GB' }],
  ])('stays apart when the bank shows the booking with another %s', (_what, change) => {
    const { ledger, first, other } = split({ id: 'x', day: 2 }, { id: 'x', day: 3 });
    ledger.see([rent, row({ id: 'x', day: 3, ...change })]);
    expect(says(ledger, other)).toMatchObject({
      status: 'BOOKED',
      fingerprint: row({ id: 'x', day: 3, ...change }).fingerprint,
    });
    expect(says(ledger, first)).toBeUndefined();
  });

  it('stays apart when the pending row comes again beside the changed booking', () => {
    const { ledger, first, other } = split({ day: 2 }, { day: 3 });
    ledger.policy = { ...ledger.policy, sideBySide: 'habit' };
    ledger.see([rent, row({ day: 2, pending: true }), row({ day: 3, text: 'COFFEE BAR LONDON GB' })]);
    expect(says(ledger, first)).toMatchObject({ status: 'PENDING' });
    expect(says(ledger, other)).toMatchObject({ status: 'BOOKED', description: 'COFFEE BAR LONDON GB' });
  });

  it('lets the pending row be booked as another purchase', () => {
    const { ledger, first, other } = split({ day: 2 }, { day: 3 });
    ledger.see([rent, row({ day: 3 }), row({ day: 2 })]);
    expect(says(ledger, first)).toMatchObject({ status: 'BOOKED', bookedAt: row({ day: 2 }).bookedAt });
    expect(says(ledger, other)).toMatchObject({ status: 'BOOKED', bookedAt: row({ day: 3 }).bookedAt });
  });
});

describe('a doubt about a new booking', () => {
  const other = row({ day: 3, text: 'ZZ 4711' });

  it('names no pending row, gone before, that was told apart from the booking it may be', () => {
    const { ledger, first } = split({ day: 2 }, { day: 3 });
    ledger.see([rent, row({ day: 3 })]);
    expect(ledger.table.get(first)?.removedAt).not.toBeNull();
    ledger.see([rent, other]);
    expect(flagOf(ledger, other)?.candidates ?? []).not.toContain(first);
  });

  it('names it where that booking is shown, too', () => {
    const { ledger, first } = split({ day: 2 }, { day: 3 });
    ledger.see([rent, row({ day: 3 })]);
    ledger.see([rent, row({ day: 3 }), other]);
    expect(flagOf(ledger, other)?.candidates).toEqual([first]);
  });

  it('names no face that was told apart from the booking it may be', () => {
    const ledger = new Ledger();
    const hold = () => row({ day: 2, pending: true });
    ledger.see([rent, hold(), row({ day: 3 })]);
    const [pending, booked] = ledger.live.filter(({ row: known }) => known.description !== 'RENT');
    if (!pending || !booked) throw new Error('rows are missing');
    ledger.tell({ kind: 'joined', id: pending.id, into: booked.id, row: pending.row, rule: 'person' });
    ledger.tell({ kind: 'split', id: pending.id, from: booked.id, row: pending.row });
    ledger.tell({ kind: 'added', id: 'another', row: row({ day: 4 }) });
    ledger.tell({ kind: 'joined', id: pending.id, into: 'another', row: pending.row, rule: 'person' });
    ledger.see([rent, hold(), row({ day: 4 }), other]);
    expect(flagOf(ledger, other)?.candidates ?? []).not.toContain(pending.id);
  });
});

describe('what a person has joined', () => {
  it('stays one when the bank writes both rows otherwise', () => {
    const ledger = new Ledger();
    ledger.see([rent, row({ id: 'x' }), row({ id: 'y' })]);
    const [kept, joined] = ledger.live.filter(({ row: { description } }) => description !== 'RENT');
    if (!kept || !joined) throw new Error('rows are missing');
    ledger.tell({ kind: 'joined', id: joined.id, into: kept.id, row: joined.row, rule: 'person' });
    ledger.see([rent, row({ id: 'p', text: 'Coffee Bar (London)' }), row({ id: 'q', text: 'Coffee Bar (London)' })]);
    expect(ledger.live).toHaveLength(2);
    expect(says(ledger, kept.id)).toMatchObject({ description: 'Coffee Bar (London)' });
  });
});
