import type { TransactionRow } from './transaction-row.js';

/** How a row of the answer was recognised as a transaction that is already known. */
export type MatchRule =
  /** Same content under another bank id: ids are blank, positional or reissued. */
  | 'same-content'
  /** Same bank id, and enough of amount, date and text agree. */
  | 'bank-id'
  /** A pending row vanished; one booked row has its amount, fits its time and reads like it. */
  | 'amount-and-text'
  /** A booked row vanished; one row of the same day and amount took its place. */
  | 'reissued';

/** What is not sure about a transaction, with the ids of those it may be. Flags wait for a person; nothing is guessed. */
export interface Flag {
  reason:
    /** A complete answer of its time no longer shows this booked row. It is kept. */
    | 'booked-vanished'
    /** This new row may be what became of one of the candidates. */
    | 'uncertain-link';
  candidates: string[];
}

export interface Added {
  kind: 'added';
  id: string;
  row: TransactionRow;
  flag?: Flag;
}

/**
 * The same transaction says something else now, which also answers any flag it carried; `rule` and `confidence` (0 to 1) tell
 * why it is thought the same.
 */
export interface Modified {
  kind: 'modified';
  id: string;
  row: TransactionRow;
  rule: MatchRule;
  confidence: number;
}

/** A pending transaction was booked and keeps its id. */
export interface Linked {
  kind: 'linked';
  id: string;
  row: TransactionRow;
  rule: MatchRule;
  confidence: number;
}

export interface Removed {
  kind: 'removed';
  id: string;
  reason: 'pending-vanished';
}

export interface Flagged {
  kind: 'flagged';
  id: string;
  flag: Flag;
}

/** The bank shows a row again that had vanished: its flag is answered. */
export interface Cleared {
  kind: 'cleared';
  id: string;
}

export type Change = Added | Modified | Linked | Removed | Flagged | Cleared;
