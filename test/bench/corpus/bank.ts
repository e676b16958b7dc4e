import type { Transaction } from '#libs/contract';
import { rowOf, type TransactionRow } from '../../../apps/bff/src/sync/transaction-row.js';
import type { Habits } from './pathologies.js';
import type { Random } from './random.js';
import { historyDays, type Truth } from './truth.js';

/** A row that knows what it stands for. */
export interface Labelled extends TransactionRow {
  truth: Truth;
}

export interface BankAnswer {
  rows: Labelled[];
  from: Date | null;
}

const dayMs = 86_400_000;
const start = Date.UTC(2026, 0, 1);

export function dateOfDay(day: number): Date {
  return new Date(start + day * dayMs);
}

/** One bank with these habits, showing one account. The same rows are the same objects from answer to answer. */
export class LabelledBank {
  private readonly made = new Map<string, Labelled>();
  private readonly lateBy: readonly number[];
  /** The day on which whatever happens once, happens. */
  private readonly onceOn: number;
  private answers = 0;

  constructor(
    private readonly truths: readonly Truth[],
    private readonly habits: Habits,
    private readonly random: Random,
  ) {
    this.lateBy = truths.map(() => (random.chance(habits.late ?? 0) ? random.between(2, 9) : 0));
    this.onceOn = random.between(20, historyDays - 10);
  }

  answer(today: number): BankAnswer {
    const { habits, random } = this;
    this.answers += 1;
    const asked = habits.asked === undefined || this.answers === 1 ? null : today - habits.asked;
    const since = dateOfDay(Math.max(asked ?? -10, habits.shows === undefined ? -10 : today - habits.shows, -10));
    if (this.answers > 1 && random.chance(habits.empty ?? 0)) return { rows: [], from: null };
    const shown = this.truths.flatMap((truth, index) => this.statesOf(truth, index, today));
    const rows = shown
      .toSorted((a, b) => this.dayShown(a, today) - this.dayShown(b, today) || a.truth.serial - b.truth.serial)
      .map((each, line, all) => this.row(each, { today, line: this.lineOf(each, line, all, today) }))
      .filter(({ bookedAt, status }) => status === 'PENDING' || !bookedAt || bookedAt >= since)
      .filter(({ status }) => status === 'PENDING' || !random.chance(habits.forgotten ?? 0));
    return { rows, from: asked === null ? null : dateOfDay(asked) };
  }

  /** Nothing, a pending row, a booking, or both. */
  private statesOf(truth: Truth, index: number, today: number): Shown[] {
    const { habits } = this;
    if (today < truth.day + (this.lateBy[index] ?? 0)) return [];
    const booking = this.bookedOn(truth);
    const pending = { truth, pending: true };
    if (today < booking) return habits.noPending ? [] : [pending];
    if (truth.cancelled || this.isCancelled(truth)) return [];
    const beside = truth.delay > 0 && today < booking + (habits.besideDays ?? 0);
    return beside && !habits.noPending ? [pending, { truth, pending: false }] : [{ truth, pending: false }];
  }

  private isCancelled({ serial, delay }: Truth): boolean {
    return delay > 0 && ((serial * 7_919) % 1_000) / 1_000 < (this.habits.cancelled ?? 0);
  }

  bookedOn({ day, delay }: Truth): number {
    return this.habits.batch ? Math.ceil((day + delay + 1) / 7) * 7 : day + delay;
  }

  private dayShown({ truth, pending }: Shown, today: number): number {
    const { date } = this.habits;
    if (date === 'moved-to-booking' && !pending) return this.bookedOn(truth);
    if (date === 'future' && !pending) return this.bookedOn(truth) + 2;
    if (date === 'back-dated' && !pending) return truth.day - 2;
    if (date === 'shifted-once' && today >= this.onceOn) return truth.day + 1;
    return truth.day;
  }

  private lineOf(each: Shown, line: number, all: readonly Shown[], today: number): number {
    if (this.habits.ids !== 'of-the-day') return line;
    const day = this.dayShown(each, today);
    return line - all.findIndex((other) => this.dayShown(other, today) === day);
  }

  private row({ truth, pending }: Shown, { today, line }: { today: number; line: number }): Labelled {
    const { habits } = this;
    const at = dateOfDay(this.dayShown({ truth, pending }, today)).toISOString();
    const id = this.idOf(truth, { pending, today, line });
    const transaction: Transaction = {
      ...(id === undefined ? {} : { id }),
      ...this.datesOf(truth, pending, at),
      status: pending ? 'PENDING' : 'BOOKED',
      transactionAmount: { amount: this.amountOf(truth, pending, today) / 100, currency: 'GBP' },
      description: this.textOf(truth, pending, today),
      ...(habits.reference ? { reference: truth.reference } : {}),
      ...(habits.runningBalance && !pending ? this.balance(truth, today) : {}),
    };
    const key = `${truth.serial} ${JSON.stringify(transaction)}`;
    const made = this.made.get(key) ?? { ...rowOf(transaction), truth };
    this.made.set(key, made);
    return made;
  }

  private datesOf(truth: Truth, pending: boolean, at: string): Partial<Transaction> {
    if (this.habits.date === 'appears-later' && pending) return {};
    if (this.habits.date !== 'value-until-booked') return { date: at, bookingDateTime: at };
    if (pending) return { valueDateTime: at };
    const bookedAt = dateOfDay(this.bookedOn(truth)).toISOString();
    return { date: bookedAt, bookingDateTime: bookedAt, valueDateTime: at };
  }

  private idOf(
    truth: Truth,
    { pending, today, line }: { pending: boolean; today: number; line: number },
  ): string | undefined {
    const { serial, day } = truth;
    const own = `TX-${(serial * 2_654_435_761) % 4_294_967_296}-${serial}x`;
    switch (this.habits.ids) {
      case undefined:
        return own;
      case 'missing':
        return undefined;
      case 'blank':
        return ' ';
      case 'placeholder':
        return 'NOTPROVIDED';
      case 'reissued':
        return `${own}${today}y`;
      case 'reissued-once':
        return today < this.onceOn ? own : `NEW-${own}`;
      case 'positional':
        return String(line);
      case 'of-the-day':
        return `${dateOfDay(day).toISOString().slice(0, 10)}.${line}`;
      case 'given-again':
        return `Q${10_000_000 + (serial % 40)}`;
      case 'only-booked':
        return pending ? undefined : own;
      case 'a-day-late':
        return today > this.bookedOn(truth) ? own : undefined;
      default:
        return `${pending ? 'P' : 'B'}${own}`;
    }
  }

  private amountOf({ minor, tip }: Truth, pending: boolean, today: number): number {
    const { amount, sign } = this.habits;
    const booked = amount === 'tipped' && !pending ? minor - tip : minor;
    const isTurned =
      (sign === 'unsigned-while-pending' && pending) || (sign === 'flipped-once' && today >= this.onceOn);
    return isTurned ? -booked : booked;
  }

  private textOf({ merchant, serial }: Truth, pending: boolean, today: number): string {
    switch (this.habits.text) {
      case 'extended':
        return pending ? merchant : `CARD PAYMENT TO ${merchant} LONDON GB`;
      case 'cleaned':
        return pending ? `VISA 4411 ${merchant} GBP` : merchant.toLowerCase();
      case 'replaced':
        return pending ? `AUTH ${serial}` : merchant;
      case 'renumbered':
        return `${merchant} AUTH ${100_000 + ((serial * (pending ? 7_919 : 104_729)) % 900_000)}`;
      case 'case-changed':
        return today < this.onceOn ? merchant : `${merchant.toLowerCase()} (card)`;
      default:
        return merchant;
    }
  }

  /** The balance after a booking, in the order of days, as far as the bank knows today. */
  private balance({ day, serial }: Truth, today: number): Pick<Transaction, 'balance'> {
    const before = this.truths.filter(
      (other, index) =>
        today >= other.day + (this.lateBy[index] ?? 0) &&
        !other.cancelled &&
        this.bookedOn(other) <= today &&
        (other.day < day || (other.day === day && other.serial <= serial)),
    );
    const minor = before.reduce((sum, other) => sum + other.minor, 500_000);
    return { balance: { type: 'INTERIM_BOOKED', balanceAmount: { amount: minor / 100, currency: 'GBP' } } };
  }
}

interface Shown {
  truth: Truth;
  pending: boolean;
}
