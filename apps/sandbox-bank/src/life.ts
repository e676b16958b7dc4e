import { quarterlyBill } from './arrangements.js';
import { at, fallsOn, isLastWorkday, quarterlyDay } from './calendar.js';
import { dayMs } from './clock.js';
import { diceOf, type Happening, type Life } from './happening.js';
import type { Merchant } from './merchants.js';
import type { Regular } from './personas.js';
import { purchasesOn, shopping, toCardRow } from './shopping.js';

interface Transfer {
  id: string;
  minute: number;
  amountMinor: number;
  code: string;
  iso: [string, string];
  info: string;
  reference?: string;
  party: string;
}

/** A row that is booked the moment it is made: transfers, salaries, debits taken in the night. */
function booked(day: number, transfer: Transfer): Happening {
  const { id, amountMinor, code, iso, info, reference, party } = transfer;
  const madeAt = at(day, transfer.minute);
  return {
    id,
    madeAt,
    bookedAt: madeAt,
    amountMinor,
    detail: { code, iso, info, ...(reference && { reference }), party: { name: party } },
  };
}

function regular(life: Life, day: number, item: Regular): Happening {
  const dice = diceOf(life, day, item.payee);
  const years = Math.floor((day - 19_000) / 365);
  const amountMinor = Math.round(item.amountMinor * (1 + ((item.drift ?? 0) * years) / 1000));
  const id = dice.hex(20);
  if (item.by === 'card') {
    const merchant: Merchant = { name: item.payee, mcc: item.mcc ?? '5968', from: 0, to: 0, weight: 0 };
    const row = toCardRow(life, day, {
      id,
      minute: 245,
      merchant,
      amountMinor: -amountMinor,
      isForeign: false,
      isRefunded: false,
    });
    return { ...row, detail: { ...row.detail, card: 'None' } };
  }
  const isOrder = item.by === 'standing-order';
  return booked(day, {
    id,
    minute: isOrder ? 70 : 95,
    amountMinor,
    code: isOrder ? 'SO' : 'DD',
    iso: isOrder ? ['ICDT', 'STDO'] : ['RDDT', 'PMDD'],
    info: `${isOrder ? 'STANDING ORDER' : 'DIRECT DEBIT'} ${item.payee}`,
    reference: `${item.payee.slice(0, 3)}${diceOf(life, 0, item.payee).digits(8)}`,
    party: item.payee,
  });
}

function salary(life: Life, day: number): Happening[] {
  const { employer, amountMinor, spreadMinor, perMonth } = life.persona.salary;
  if (!isLastWorkday(day) && !(perMonth === 2 && fallsOn(day, 15))) return [];
  const dice = diceOf(life, day, 'salary');
  const paid = amountMinor + dice.between(-spreadMinor, spreadMinor);
  return [
    booked(day, {
      id: dice.hex(20),
      minute: 62,
      amountMinor: paid,
      code: 'BGC',
      iso: ['RCDT', 'SALA'],
      info: `${employer} SALARY`,
      reference: `PAY ${new Date(day * dayMs).toISOString().slice(0, 7)}`,
      party: employer,
    }),
  ];
}

function cash(life: Life, day: number): Happening[] {
  const dice = diceOf(life, day, 'cash');
  if (!dice.chance(1, 13)) return [];
  const minute = dice.between(9 * 60, 20 * 60);
  const row = booked(day, {
    id: dice.hex(20),
    minute,
    amountMinor: -dice.pick([1000, 2000, 2000, 3000, 4000, 5000]),
    code: 'ATM',
    iso: ['CCRD', 'CWDL'],
    info: `CASH WITHDRAWAL ${dice.pick(['MARKET SQUARE', 'TIDEWAY STATION', 'HARROW LANE'])}`,
    party: 'CASH MACHINE',
  });
  return [{ ...row, detail: { ...row.detail, card: 'PIN' } }];
}

/** What the card bill of this day comes to: every purchase of the thirty days before the last five, paid in full. */
function cardBill(life: Life, day: number): number {
  const plan = life.persona.accounts.find((account) => account.kind === 'card');
  if (!plan) return 0;
  let total = 0;
  const monthBefore = Array.from({ length: 30 }, (_, index) => day - 35 + index);
  for (const each of monthBefore) {
    for (const purchase of purchasesOn({ ...life, scale: 1 }, each, plan.purchasesPerMonth / 30, 'card'))
      total += purchase.amountMinor;
  }
  return total;
}

/** Transfers between somebody's own accounts: both sides come from the same dice, so what leaves one arrives in the other. */
function ownTransfers(life: Life, day: number): Happening[] {
  const { plan, persona } = life;
  const holds = (kind: string): boolean => persona.accounts.some((account) => account.kind === kind);
  const rows: Happening[] = [];
  const side = (matter: string): string => diceOf(life, day, `${matter}-${plan.kind}`).hex(20);
  if (fallsOn(day, 2) && holds('savings') && (plan.kind === 'current' || plan.kind === 'savings')) {
    const leaves = plan.kind === 'current';
    rows.push(
      booked(day, {
        id: side('saving'),
        minute: 75,
        amountMinor: leaves ? -persona.savesMinor : persona.savesMinor,
        code: leaves ? 'TFR' : 'FPI',
        iso: leaves ? ['ICDT', 'BOOK'] : ['RCDT', 'BOOK'],
        info: leaves ? 'TRANSFER TO RAINY DAY' : 'TRANSFER FROM CURRENT ACCOUNT',
        reference: 'SAVING',
        party: persona.name.toUpperCase(),
      }),
    );
  }
  if (fallsOn(day, 20) && holds('card') && (plan.kind === 'current' || plan.kind === 'card')) {
    const bill = cardBill(life, day);
    const leaves = plan.kind === 'current';
    if (bill > 0) {
      rows.push(
        booked(day, {
          id: side('bill'),
          minute: 80,
          amountMinor: leaves ? -bill : bill,
          code: leaves ? 'DD' : 'PYT',
          iso: leaves ? ['RDDT', 'PMDD'] : ['RCDT', 'BOOK'],
          info: leaves ? 'DIRECT DEBIT CREDIT CARD' : 'PAYMENT RECEIVED THANK YOU',
          reference: 'CARD BILL',
          party: persona.name.toUpperCase(),
        }),
      );
    }
  }
  return rows;
}

function euroIncome(life: Life, day: number): Happening[] {
  if (!fallsOn(day, 10)) return [];
  const dice = diceOf(life, day, 'invoice');
  return [
    booked(day, {
      id: dice.hex(20),
      minute: 600,
      amountMinor: dice.between(9_000, 19_500),
      code: 'FPI',
      iso: ['RCDT', 'ESCT'],
      info: 'SEPA CREDIT STUDIO LUMIERE',
      reference: `INV-${dice.digits(5)}`,
      party: 'STUDIO LUMIERE SARL',
    }),
  ];
}

function interest(life: Life, day: number): Happening[] {
  if (!fallsOn(day, 1)) return [];
  const dice = diceOf(life, day, 'interest');
  const amountMinor = dice.between(900, 1400);
  return [
    booked(day, {
      id: dice.hex(20),
      minute: 30,
      amountMinor,
      code: 'INT',
      iso: ['MCRD', 'INTR'],
      info: 'INTEREST PAID',
      party: 'INTEREST',
    }),
  ];
}

function quarterlyPayment(life: Life, day: number): Happening[] {
  if (!quarterlyDay(day)) return [];
  const { payee, reference, amountMinor } = quarterlyBill;
  const id = diceOf(life, day, 'quarterly').hex(20);
  const info = `BILL PAYMENT ${payee}`;
  return [
    booked(day, {
      id,
      minute: 90,
      amountMinor: -amountMinor,
      code: 'FPO',
      iso: ['ICDT', 'DMCT'],
      info,
      reference,
      party: payee,
    }),
  ];
}

/** Everything that happens on one account on one day (days since 1970, UTC), in the order it is made. */
export function dayOf(life: Life, day: number): Happening[] {
  const rows: Happening[] = [...ownTransfers(life, day)];
  if (life.plan.kind === 'current') {
    rows.push(...salary(life, day), ...cash(life, day), ...quarterlyPayment(life, day));
    for (const item of life.persona.regulars) if (fallsOn(day, item.day)) rows.push(regular(life, day, item));
  }
  if (life.plan.kind === 'savings') rows.push(...interest(life, day));
  if (life.plan.kind === 'euro') rows.push(...euroIncome(life, day));
  if (life.rate > 0) rows.push(...shopping(life, day));
  return rows.toSorted((one, other) => one.madeAt - other.madeAt);
}
