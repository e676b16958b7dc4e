import type { Account, Entry } from './account.js';
import { dayMs } from './clock.js';
import type { EntryDetail } from './happening.js';
import { Random } from './random.js';
import type { FaultName } from './scenarios.js';

const lateMs = 3 * dayMs;
const holdMinor = -9_900;

/** How a row is shown while a fault is on; undefined hides it. The ledger itself stays as it is. */
export function bentRow(fault: FaultName | undefined, entry: Entry, place: number, now: number): Entry | undefined {
  const isPending = entry.balanceMinor === null;
  const today = Math.floor(now / dayMs);
  switch (fault) {
    case 'blank-ids':
      return { ...entry, id: ' ' };
    case 'placeholder-ids':
      return { ...entry, id: 'NOTPROVIDED' };
    case 'swapped-sign':
      return { ...entry, amountMinor: -entry.amountMinor };
    case 'positional-ids':
      return { ...entry, id: String(place + 1) };
    case 'reissued-ids':
      return { ...entry, id: new Random(`${entry.id}|${today}`).hex(20) };
    case 'pending-id':
      return isPending ? { ...entry, id: new Random(`${entry.id}|pending`).hex(20) } : entry;
    case 'pending-amount':
      return isPending ? { ...entry, amountMinor: Math.round(entry.amountMinor * 1.1) } : entry;
    case 'pending-date':
      return isPending ? { ...entry, madeAt: entry.madeAt - dayMs, bookedAt: entry.bookedAt + 2 * dayMs } : entry;
    case 'late-booking':
      return !isPending && isLate(entry) && entry.bookedAt > now - lateMs ? undefined : entry;
    default:
      return entry;
  }
}

/** One row in five, always the same ones. */
const isLate = (entry: Entry): boolean => entry.seq % 5 === 0;

/** A shop's hold on a card, pending on the day it is made and gone the next, never booked. */
export function heldRows(fault: FaultName | undefined, account: Account, now: number): Entry[] {
  if (fault !== 'pending-vanish') return [];
  const today = Math.floor(now / dayMs);
  const detail: EntryDetail = {
    code: 'DPC',
    iso: ['CCRD', 'POSD'],
    info: 'CARD CHECK AT LONGMOOR FUEL',
    merchant: { name: 'LONGMOOR FUEL', mcc: '5542' },
    card: 'PIN',
  };
  return [
    {
      accountId: account.id,
      seq: account.nextSeq + today,
      id: new Random(`hold|${account.id}|${today}`).hex(20),
      madeAt: today * dayMs,
      bookedAt: (today + 2) * dayMs,
      amountMinor: holdMinor,
      balanceMinor: null,
      detail: JSON.stringify(detail),
    },
  ];
}
