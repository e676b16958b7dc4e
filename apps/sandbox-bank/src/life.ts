import { dayMs } from './clock.js';
import { foreignMerchants, merchants, totalWeight, type Merchant } from './merchants.js';
import type { AccountPlan, Persona, Regular } from './personas.js';
import { Random } from './random.js';

/** What a row of an account says besides its amount and dates. Stored as JSON, so members that are unset are left out. */
export interface EntryDetail {
  /** The bank's own code. */
  code: string;
  /** ISO 20022 bank transaction family and sub-family. */
  iso: [family: string, subFamily: string];
  info: string;
  reference?: string;
  merchant?: { name: string; mcc: string };
  /** Who stands on the other side, when it is not a shop. */
  party?: { name: string; scheme?: string; identification?: string };
  card?: 'Contactless' | 'ConsumerDevice' | 'PIN' | 'None';
  exchange?: { currency: string; amountMinor: number; rate: number };
}

export interface Happening {
  id: string;
  madeAt: number;
  bookedAt: number;
  amountMinor: number;
  detail: EntryDetail;
}

/** One account's life: every day is a pure function of these, so the same seed gives the same day whenever it is asked. */
export interface Life {
  seed: string;
  bank: string;
  persona: Persona;
  plan: AccountPlan;
  /** Card purchases on an average day. */
  rate: number;
  /** Scales purchases, so that an account seeded with very many rows does not go broke. */
  scale: number;
}

interface Purchase {
  minute: number;
  merchant: Merchant;
  amountMinor: number;
  isRefunded: boolean;
  isForeign: boolean;
  id: string;
}

const weekdayShift = [0, -1, -1, 0, 0, 1, 1];
const refundAfterDays = 5;

export const weekday = (day: number): number => (day + 4) % 7;
const isWeekend = (day: number): boolean => weekday(day) === 0 || weekday(day) === 6;
const dayOfMonth = (day: number): number => new Date(day * dayMs).getUTCDate();
const at = (day: number, minute: number): number => day * dayMs + minute * 60_000;

function workdayFrom(day: number): number {
  let candidate = day;
  while (isWeekend(candidate)) candidate += 1;
  return candidate;
}

/** True on the day of the month asked for, or on the working day after it when that is a weekend. */
function fallsOn(day: number, wanted: number): boolean {
  if (isWeekend(day)) return false;
  for (let back = 0; back <= 2; back += 1) {
    if (back > 0 && !isWeekend(day - back)) return false;
    if (dayOfMonth(day - back) === wanted) return true;
  }
  return false;
}

function isLastWorkday(day: number): boolean {
  const next = workdayFrom(day + 1);
  return !isWeekend(day) && dayOfMonth(next) <= dayOfMonth(day);
}

function random(life: Life, day: number, matter: string, kind: string = life.plan.kind): Random {
  return new Random(`${life.seed}|${life.bank}|${life.persona.id}|${kind}|${day}|${matter}`);
}

/** The purchases of one day. Their number follows the rate exactly over weeks, with quiet Mondays and busy Saturdays. */
function purchasesOn(life: Life, day: number, rate = life.rate, kind: string = life.plan.kind): Purchase[] {
  const even = Math.floor((day + 1) * rate) - Math.floor(day * rate);
  const count = rate >= 1.5 ? Math.max(0, even + (weekdayShift[weekday(day)] ?? 0)) : even;
  const dice = random(life, day, 'shop', kind);
  return Array.from({ length: count }, () => {
    const isForeign = kind !== 'euro' && dice.chance(1, 90);
    const merchant = isForeign ? dice.pick(foreignMerchants) : pickMerchant(dice);
    const spread = dice.between(0, 1000);
    const amount =
      merchant.from + Math.floor(((merchant.to - merchant.from) * spread * spread * spread) / 1_000_000_000);
    return {
      minute: dice.between(7 * 60, 21 * 60),
      merchant,
      amountMinor: Math.max(55, Math.round(amount * life.scale)),
      isRefunded: dice.chance(1, 60),
      isForeign,
      id: dice.hex(20),
    };
  }).toSorted((one, other) => one.minute - other.minute);
}

function pickMerchant(dice: Random): Merchant {
  let left = dice.between(1, totalWeight);
  const found = merchants.find((merchant) => (left -= merchant.weight) <= 0);
  return found ?? dice.pick(merchants);
}

/** A card payment is pending for one to three days: it is booked early on the second working morning. */
function toCardRow(life: Life, day: number, purchase: Purchase): Happening {
  const { merchant, amountMinor, isForeign } = purchase;
  const rate = (1100 + (purchase.minute % 90)) / 1000;
  return {
    id: purchase.id,
    madeAt: at(day, purchase.minute),
    bookedAt: at(workdayFrom(day + 2), 135 + (purchase.minute % 40)),
    amountMinor: -amountMinor,
    detail: {
      code: life.plan.kind === 'card' ? 'CCP' : 'DPC',
      iso: ['CCRD', 'POSD'],
      info: `CARD PAYMENT TO ${merchant.name}`,
      merchant: { name: merchant.name, mcc: merchant.mcc },
      card: purchase.minute % 3 === 0 ? 'ConsumerDevice' : purchase.minute % 7 === 0 ? 'PIN' : 'Contactless',
      ...(isForeign && { exchange: { currency: 'EUR', amountMinor: Math.round(amountMinor * rate), rate } }),
    },
  };
}

function toRefund(day: number, purchase: Purchase, dice: Random): Happening {
  const { merchant } = purchase;
  return {
    id: dice.hex(20),
    madeAt: at(day, purchase.minute),
    bookedAt: at(workdayFrom(day + 1), 150),
    amountMinor: purchase.amountMinor,
    detail: {
      code: 'RFD',
      iso: ['CCRD', 'RIMB'],
      info: `REFUND FROM ${merchant.name}`,
      merchant: { name: merchant.name, mcc: merchant.mcc },
      card: 'None',
    },
  };
}

function shopping(life: Life, day: number): Happening[] {
  const dice = random(life, day, 'refund');
  return [
    ...purchasesOn(life, day).map((purchase) => toCardRow(life, day, purchase)),
    ...purchasesOn(life, day - refundAfterDays)
      .filter((each) => each.isRefunded)
      .map((each) => toRefund(day, each, dice)),
  ];
}

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
  const dice = random(life, day, item.payee);
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
    reference: `${item.payee.slice(0, 3)}${random(life, 0, item.payee).digits(8)}`,
    party: item.payee,
  });
}

function salary(life: Life, day: number): Happening[] {
  const { employer, amountMinor, spreadMinor, perMonth } = life.persona.salary;
  if (!isLastWorkday(day) && !(perMonth === 2 && fallsOn(day, 15))) return [];
  const dice = random(life, day, 'salary');
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
  const dice = random(life, day, 'cash');
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
  const side = (matter: string): string => random(life, day, `${matter}-${plan.kind}`).hex(20);
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
  const dice = random(life, day, 'invoice');
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
  const dice = random(life, day, 'interest');
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

/** Everything that happens on one account on one day (days since 1970, UTC), in the order it is made. */
export function dayOf(life: Life, day: number): Happening[] {
  const rows: Happening[] = [...ownTransfers(life, day)];
  if (life.plan.kind === 'current') {
    rows.push(...salary(life, day), ...cash(life, day));
    for (const item of life.persona.regulars) if (fallsOn(day, item.day)) rows.push(regular(life, day, item));
  }
  if (life.plan.kind === 'savings') rows.push(...interest(life, day));
  if (life.plan.kind === 'euro') rows.push(...euroIncome(life, day));
  if (life.rate > 0) rows.push(...shopping(life, day));
  return rows.toSorted((one, other) => one.madeAt - other.madeAt);
}
