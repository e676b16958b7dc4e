import type { Change, Flag, MatchRule } from './change.js';
import type { Comparison, Found } from './comparison.js';
import { doubtWhatIsLeft } from './left-over.js';
import { pendingInDoubt } from './pending-in-doubt.js';
import type { Pair } from './pairing.js';
import type { KnownTransaction, Terms } from './reconcile.js';
import type { Beside } from './side-by-side.js';
import type { Comparable } from './transaction-row.js';

/** Turns what a comparison has found, and what it has not, into changes. */
export function settle<R extends Comparable>(
  comparison: Comparison<R>,
  besides: readonly Beside<R>[],
  terms: Terms<R>,
): Change<R>[] {
  const { newId } = terms;
  // What no row has taken may still be the pending side of a booking that is known.
  comparison.takeBookedBefore();
  doubtWhatIsLeft(comparison, besides, terms);
  const { same, found, open, covers, uncertain, late } = comparison;
  const gone = open.known.filter(covers);
  const back = backToFace(gone, [...same, ...found]);
  const shownBeside = new Set(besides.flatMap(({ known }) => known?.id ?? []));
  const settled = new Set([...late.flatMap(({ known, twin }) => [known.id, twin.known.id]), ...back.keys()]);
  const faces = new Set([...back.values()].map(({ known }) => known.id));
  return [
    ...cleared<R>(same.filter(({ known }) => !settled.has(known.id))),
    ...found.filter(({ known }) => !shownBeside.has(known.id) && !faces.has(known.id)).map((each) => modified(each)),
    ...besides.flatMap((each) => together(each, uncertain, newId)),
    ...late.flatMap(({ known, twin }): Change<R>[] => [
      modified({ known, row: twin.row, rule: 'shown-together', confidence: 0.9 }),
      { kind: 'removed', id: twin.known.id, reason: 'joined', into: known.id },
    ]),
    ...gone.flatMap((known): Change<R>[] => {
      const face = back.get(known.id);
      if (!face) return [];
      return [
        modified({ known, row: face.row, rule: 'shown-together', confidence: 1 }),
        { kind: 'removed', id: face.known.id, reason: 'joined', into: known.id },
      ];
    }),
    ...pendingInDoubt(gone, comparison, terms.policy).filter(({ id }) => !shownBeside.has(id) && !faces.has(id)),
    ...vanished<R>(gone.filter(({ id }) => !settled.has(id))),
    ...open.rows.map((row) => asAdded(row, uncertain, newId)),
  ];
}

function modified<R extends Comparable>({ known, row, rule, confidence }: Found<R>): Change<R> {
  if (known.into !== null) return { kind: 'joined', id: known.id, into: known.into, row, rule };
  const kind = known.status === 'PENDING' && row.status === 'BOOKED' ? 'linked' : 'modified';
  return { kind, id: known.id, row, rule, confidence };
}

/** The booking takes the transaction over; the pending row becomes its other face. */
function together<R extends Comparable>(
  { pending, booked, known, confidence }: Beside<R>,
  uncertain: ReadonlyMap<R, string[]>,
  newId: (row: R) => string,
): Change<R>[] {
  const rule: MatchRule = 'shown-together';
  const id = known?.id ?? newId(booked);
  const first: Change<R> = known
    ? { kind: 'linked', id, row: booked, rule, confidence }
    : asAdded(booked, uncertain, newId);
  return [first, { kind: 'joined', id: newId(pending), into: id, row: pending, rule }];
}

/** Transactions whose row is gone while another face of them is still shown: they are what that face says. */
function backToFace<R extends Comparable>(
  gone: readonly KnownTransaction[],
  shown: readonly Pair<R>[],
): Map<string, Pair<R>> {
  const faces = new Map<string, Pair<R>>();
  for (const pair of shown) if (pair.known.into !== null) faces.set(pair.known.into, pair);
  const back = new Map<string, Pair<R>>();
  for (const { id, into } of gone) {
    const face = into === null ? faces.get(id) : undefined;
    if (face) back.set(id, face);
  }
  return back;
}

/** An unchanged booked row that is shown again answers the flag that it had vanished. */
function cleared<R extends Comparable>(pairs: readonly Pair<R>[]): Change<R>[] {
  return pairs
    .filter(({ known }) => known.flag?.reason === 'booked-vanished')
    .map(({ known }): Change<R> => ({ kind: 'cleared', id: known.id }));
}

function vanished<R extends Comparable>(gone: readonly KnownTransaction[]): Change<R>[] {
  return gone.flatMap(({ id, status, flag, into, dismissed }): Change<R>[] => {
    if (status === 'PENDING') return [{ kind: 'removed', id, reason: 'pending-vanished' }];
    if (into !== null || flag?.reason === 'booked-vanished' || dismissed === 'booked-vanished') return [];
    return [{ kind: 'flagged', id, flag: { reason: 'booked-vanished', candidates: [] } }];
  });
}

function asAdded<R extends Comparable>(
  row: R,
  uncertain: ReadonlyMap<R, string[]>,
  newId: (row: R) => string,
): Change<R> {
  const candidates = (uncertain.get(row) ?? []).slice(0, candidatesMax);
  const flag: Flag | undefined = candidates.length > 0 ? { reason: 'uncertain-link', candidates } : undefined;
  return { kind: 'added', id: newId(row), row, ...(flag ? { flag } : {}) };
}

const candidatesMax = 5;
