import type { Change } from '../../../apps/bff/src/sync/change.js';
import { apply, type LoggedTransaction } from '../../../apps/bff/src/sync/change-log.js';
import { addEvidence, type Evidence, policyOf } from '../../../apps/bff/src/sync/identity-policy.js';
import { type KnownTransaction, reconcile } from '../../../apps/bff/src/sync/reconcile.js';
import { type BankAnswer, dateOfDay, type Labelled, LabelledBank } from './bank.js';
import type { Habits } from './pathologies.js';
import { Random } from './random.js';
import { asReceipts, historyDays, makeTruths, type Truth } from './truth.js';

/** What is counted of one or many accounts. */
export interface Figures {
  /** True transactions that the bank has shown. */
  rows: number;
  answers: number;
  /** Shown as booked in an answer and not in the table after it; and the same of pending ones, which a booking like them hides. */
  lost: number;
  hidden: number;
  /** More in the table, unflagged, than ever were. */
  duplicated: number;
  /** Pending rows that were booked later with a clue left: all, those that kept their id, those that were flagged instead. */
  booked: number;
  linked: number;
  flagged: number;
  /** Links to a transaction that is another in truth. */
  wrong: number;
  /** Bookings of a pending row that was seen before which are neither linked nor flagged. */
  silent: number;
  /** The same where no one could know: the bank leaves no clue, or a row had been taken for it that is its equal. */
  clueless: number;
  /** Rows that took the place of another like them without being booked. */
  swapped: number;
}

export const noFigures: Readonly<Figures> = {
  rows: 0,
  answers: 0,
  lost: 0,
  hidden: 0,
  duplicated: 0,
  booked: 0,
  linked: 0,
  flagged: 0,
  wrong: 0,
  silent: 0,
  clueless: 0,
  swapped: 0,
};

export function addFigures(one: Figures, other: Figures): Figures {
  const names = Object.keys(noFigures) as (keyof Figures)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as Record<keyof Figures, number>;
}

/** What a bank with these habits answers about one account, from the first synchronisation to the last. */
export function* answersOf(seed: number, habits: Habits, count: number): Generator<BankAnswer> {
  const random = new Random(seed);
  const truths = makeTruths(random, count, habits.twins ?? 0.02);
  const bank = new LabelledBank(habits.receipts ? asReceipts(truths, habits.receipts) : truths, habits, random);
  for (let day = random.between(5, 15); day <= historyDays + 12; day += random.pick([1, 2, 3, 5, 8])) {
    yield bank.answer(day);
  }
}

/** Nobody can tell two pending purchases of one price in one shop apart while they have no date. */
function isSame(before: Labelled, after: Labelled): boolean {
  const [one, other] = [before.truth, after.truth];
  return (
    one.label === other.label || (!before.bookedAt && one.merchant === other.merchant && one.minor === other.minor)
  );
}

/** The truths whose pending rows are shown, together with those that nobody could tell from them. */
function pendingByLabel(rows: readonly Labelled[]): Map<string, ReadonlySet<number>> {
  const groups = Map.groupBy(
    rows.filter(({ status }) => status === 'PENDING'),
    ({ truth }) => truth.label,
  );
  return new Map([...groups].map(([label, equal]) => [label, new Set(equal.map(({ truth }) => truth.serial))]));
}

/** One account of one bank through all its answers, and what came of each row. */
export class Judge {
  readonly figures: Figures = { ...noFigures };
  private readonly table = new Map<string, LoggedTransaction>();
  private readonly ids = new Map<Labelled, string>();
  private readonly truthOf = new Map<string, Labelled>();
  /** New booked rows that nothing was said of, by the serial of their truth. */
  private readonly unmarked = new Set<number>();
  /** Truths whose row was rightly taken for that of another, since nobody could tell the two apart. */
  private readonly taken = new Set<number>();
  private equal = new Map<string, Labelled[]>();
  private sequence = 0n;

  /** `tell` is given what was shown, what the comparison made of it and what is wrong, line by line. */
  constructor(
    private evidence: Evidence,
    private readonly tell?: (line: string) => void,
  ) {}

  /** What the institution's habits look like after this account. */
  run(seed: number, habits: Habits, count: number): Evidence {
    const answers = answersOf(seed, habits, count);
    const pending = new Set<number>();
    const shown = new Set<number>();
    const booked = new Set<number>();
    const late = new Set<number>();
    let before = new Map<string, ReadonlySet<number>>();
    for (const answer of answers) {
      const now = pendingByLabel(answer.rows);
      this.unmarked.clear();
      this.see(answer);
      for (const { truth, status } of answer.rows) {
        if (status === 'BOOKED' && pending.has(truth.serial) && !booked.has(truth.serial)) {
          if (!habits.noClue) late.add(truth.serial);
          // Its pending row is gone, and one that nobody could tell from it has come: it looks as if it were still shown.
          const [was, is] = [before.get(truth.label), now.get(truth.label)];
          const others = (is?.size ?? 0) - (is?.has(truth.serial) ? 1 : 0);
          const isReplaced = was !== undefined && others >= was.size;
          if (this.unmarked.has(truth.serial)) this.passOver(truth, habits.noClue || isReplaced);
        }
        shown.add(truth.serial);
      }
      for (const { truth, status } of answer.rows) (status === 'PENDING' ? pending : booked).add(truth.serial);
      before = now;
    }
    this.figures.rows += shown.size;
    this.figures.booked += late.size;
    return this.evidence;
  }

  /** A booking of which nothing is said although its pending row was known. */
  private passOver({ serial }: Truth, noClue: boolean): void {
    const isClueless = noClue || this.taken.has(serial);
    this.figures[isClueless ? 'clueless' : 'silent'] += 1;
    if (!isClueless) this.tell?.(`  SILENT: ${serial} was pending, and nothing is said of its booking`);
  }

  private see({ rows, from }: { rows: Labelled[]; from: Date | null }): void {
    const known = [...this.table.values()]
      .filter(({ removedAt, joinedInto }) => removedAt === null || joinedInto !== null)
      .map(({ row, joinedInto, ...rest }): KnownTransaction => ({ ...row, ...rest, into: joinedInto }));
    const dropped = [...this.table.values()]
      .filter(({ row, removedAt, joinedInto }) => removedAt !== null && joinedInto === null && row.status === 'PENDING')
      .map(({ row, joinedInto, ...rest }): KnownTransaction => ({ ...row, ...rest, into: joinedInto }));
    const terms = { newId: (row: Labelled) => this.idOf(row), policy: policyOf(this.evidence), dropped };
    this.ids.clear();
    this.equal = Map.groupBy(rows, ({ fingerprint }) => fingerprint);
    const { changes, evidence } = reconcile<Labelled>(known, { rows, from, before: null }, terms);
    this.evidence = addEvidence(this.evidence, evidence);
    this.tell?.(`answer ${this.figures.answers + 1}: ${rows.length} rows since ${from?.toISOString() ?? 'ever'}`);
    for (const change of changes) this.follow(change);
    this.figures.answers += 1;
    this.relabel(rows);
    this.check(rows);
  }

  /** The rows of this answer that nobody could tell from this one: any of them may stand for its truth. */
  private equalTo(row: Labelled): readonly Labelled[] {
    return this.equal.get(row.fingerprint) ?? [row];
  }

  private idOf(row: Labelled): string {
    const id = this.ids.get(row) ?? `t${(this.sequence += 1n)}`;
    this.ids.set(row, id);
    return id;
  }

  private follow(change: Change<Labelled>): void {
    const before = this.truthOf.get(change.id);
    this.tell?.(told(change, before));
    if ('row' in change) {
      if (before && (change.kind === 'modified' || change.kind === 'linked')) {
        const isWrong = !this.equalTo(change.row).some((row) => isSame(before, row));
        if (change.kind === 'linked') {
          this.figures.linked += 1;
          if (isWrong) this.figures.wrong += 1;
        } else if (isWrong) this.figures.swapped += 1;
        if (!isWrong && before.truth.serial !== change.row.truth.serial) this.taken.add(before.truth.serial);
      }
      this.truthOf.set(change.id, change.row);
      if (change.kind === 'added' && change.flag) this.figures.flagged += 1;
      else if (change.kind === 'added') this.unmarked.add(change.row.truth.serial);
    }
    apply(this.table, { accountId: 'a', sequence: this.sequence, recordedAt: dateOfDay(0) }, change);
  }

  /** A transaction that was found unchanged stands for the row that it equals; where rows of several truths do, for its own. */
  private relabel(rows: readonly Labelled[]): void {
    const equal = Map.groupBy(rows, ({ fingerprint }) => fingerprint);
    const live = [...this.table.values()].filter(({ removedAt }) => removedAt === null);
    const strays = live.filter(({ id, row }) => {
      const same = equal.get(row.fingerprint) ?? [];
      const own = same.findIndex(({ truth }) => truth.label === this.truthOf.get(id)?.truth.label);
      if (own >= 0) same.splice(own, 1);
      return own < 0;
    });
    for (const { id, row } of strays) {
      const other = equal.get(row.fingerprint)?.pop();
      if (!other) continue;
      this.truthOf.set(id, other);
      this.figures.swapped += 1;
    }
  }

  /** Holds the table against what the answer shows: each true transaction once, as many equal ones as there are. */
  private check(rows: readonly Labelled[]): void {
    const shown = Map.groupBy(rows, ({ truth }) => truth.label);
    const stored = new Map<string, { sure: number; flagged: number }>();
    for (const { id, removedAt, flag } of this.table.values()) {
      const label = this.truthOf.get(id)?.truth.label;
      if (removedAt !== null || label === undefined) continue;
      const each = stored.get(label) ?? { sure: 0, flagged: 0 };
      if (flag === null) each.sure += 1;
      else each.flagged += 1;
      stored.set(label, each);
    }
    for (const [label, equal] of shown) {
      const { sure, flagged } = stored.get(label) ?? { sure: 0, flagged: 0 };
      const all = new Set(equal.map(({ truth }) => truth.serial)).size;
      const booked = new Set(equal.filter(({ status }) => status === 'BOOKED').map(({ truth }) => truth.serial)).size;
      if (sure > all || booked > sure + flagged)
        this.tell?.(`  WRONG: ${label} is ${all} in truth, ${booked} booked; stored ${sure} and ${flagged} flagged`);
      this.figures.lost += Math.max(0, booked - sure - flagged);
      this.figures.hidden += Math.max(0, all - Math.max(booked, sure + flagged));
      this.figures.duplicated += Math.max(0, sure - all);
    }
  }
}

/** One change for a person who looks for a fault. */
function told(change: Change<Labelled>, before: Labelled | undefined): string {
  const { kind, id, ...rest } = change;
  const row = 'row' in change ? `: ${said(change.row)}` : '';
  const was = before && kind !== 'added' ? `, was ${said(before)}` : '';
  const how = JSON.stringify({ ...rest, row: undefined });
  return `  ${kind} ${id} ${how}${row}${was}`;
}

function said({ status, bankId, bookedAt, description, amountMinor, truth }: Labelled): string {
  const day = bookedAt?.toISOString().slice(0, 10) ?? 'undated';
  return `${status} ${bankId ?? 'no id'} ${day} ${amountMinor} ${description} [${truth.serial}]`;
}
