import type { Comparable } from './transaction-row.js';

/** How a row of the answer was recognised as a transaction that is already known. */
export type MatchRule =
  /** Same content under another bank id: ids are blank, positional or reissued. */
  | 'same-content'
  /** Same bank id, and enough of amount, date and text agree. */
  | 'bank-id'
  /** Same reference of the payment, under another bank id. */
  | 'reference'
  /** A pending row vanished; one booked row has its amount, fits its time and reads like it. */
  | 'amount-and-text'
  /** As before, at an institution that shows pending amounts with the opposite sign. */
  | 'sign-flipped'
  /** The bank showed a pending row and its booking side by side. */
  | 'shown-together'
  /** A booked row vanished; one row of the same day and amount took its place. */
  | 'reissued'
  /** A person said so. */
  | 'person';

/** What is not sure about a transaction, with the ids of those it may be. Flags wait for a person; nothing is guessed. */
export interface Flag {
  reason:
    /** A complete answer of its time no longer shows this booked row. It is kept. */
    | 'booked-vanished'
    /** This new row may be what became of one of the candidates; or this pending row may be the same as a booking beside it. */
    | 'uncertain-link';
  candidates: string[];
}

export interface Added<R> {
  kind: 'added';
  id: string;
  row: R;
  flag?: Flag;
}

/**
 * The same transaction says something else now, which also answers any flag it carried; `rule` and `confidence` (0 to 1) tell
 * why it is thought the same. `linked`: a pending transaction was booked and keeps its id.
 */
export interface Modified<R> {
  kind: 'modified' | 'linked';
  id: string;
  row: R;
  rule: MatchRule;
  confidence: number;
}

/**
 * This row is not a transaction of its own but another face of `into`, which the bank goes on showing: the pending side of a
 * booking, or what a person has joined. Its transaction is removed, was removed before, or never was one.
 */
export interface Joined<R> {
  kind: 'joined';
  id: string;
  into: string;
  row: R;
  rule: MatchRule;
}

/** A person told this transaction apart from another; it is one of its own from now on. */
export interface Split<R> {
  kind: 'split';
  id: string;
  from: string;
  row: R;
}

export interface Removed {
  kind: 'removed';
  id: string;
  reason: 'pending-vanished' | 'joined';
  /** Where it went, when it was joined. */
  into?: string;
}

export interface Flagged {
  kind: 'flagged';
  id: string;
  flag: Flag;
}

/** A flag is answered: the bank shows a row again that had vanished, or a person has dismissed it. */
export interface Cleared {
  kind: 'cleared';
  id: string;
  /** The reason of the flag that a person does not want to see again. */
  dismissed?: Flag['reason'];
}

/** The account that it was recorded under has turned out to be another. It says what it said. */
export interface Moved {
  kind: 'moved';
  id: string;
  /** The account that it was recorded under before. */
  from: string;
}

/** A change that says what a transaction is, by a row of the bank. */
export type WithRow<R> = Added<R> | Modified<R> | Joined<R> | Split<R>;

export type Change<R extends Comparable> = WithRow<R> | Removed | Flagged | Cleared | Moved;

export type ChangeKind = Change<Comparable>['kind'];

export function hasRow<R extends Comparable>(change: Change<R>): change is WithRow<R> {
  return 'row' in change;
}
