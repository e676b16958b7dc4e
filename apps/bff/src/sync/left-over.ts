import { differencesOf } from './booking-evidence.js';
import type { MatchRule } from './change.js';
import { type Comparison, toBooked } from './comparison.js';
import { farCandidates, type Within } from './far-candidates.js';
import { areApart, likeness, type Trigrams } from './likeness.js';
import type { KnownTransaction, Terms } from './reconcile.js';
import type { Beside } from './side-by-side.js';
import { amountOf, type Comparable, isPending } from './transaction-row.js';

/** Rules by which a pending transaction may have been taken for another. */
const likelyRules: ReadonlySet<MatchRule> = new Set(['amount-and-text', 'sign-flipped']);

/**
 * Bookings that stay new while pending transactions of their amount are gone, or went lately: a person is asked, whatever
 * else differs. The same where another row was taken, by likeness alone, for what the pending transaction became. What may
 * yet be another that a person has told apart from it is no candidate.
 */
export function doubtWhatIsLeft<R extends Comparable>(
  comparison: Comparison<R>,
  besides: readonly Beside<R>[],
  { policy, dropped = [] }: Pick<Terms<R>, 'policy' | 'dropped'>,
): void {
  const { open, same, found, late, uncertain } = comparison;
  const fresh = besides.flatMap(({ known, booked }) => (known ? [] : [booked]));
  const booked = [...open.rows, ...fresh].filter((row) => !isPending(row));
  const ask = (candidates: readonly KnownTransaction[], within: Within): void => {
    const known = candidates.filter((each) => isPending(each) && !comparison.awaits(each));
    comparison.doubt(farCandidates({ known, rows: booked.filter((row) => !uncertain.has(row)) }, within));
  };
  const anySign = policy.signs !== 'kept';
  const gone = open.known.filter((each) => isPending(each) && comparison.covers(each));
  const faces = same.flatMap(({ known }) => (known.into === null ? [] : [known]));
  ask([...gone, ...faces], { anySign });
  const joined = besides.flatMap(({ known }) => known ?? []);
  const likely = found.filter(({ rule }) => likelyRules.has(rule));
  ask([...joined, ...[...late, ...likely].map(({ known }) => known)], { ...policy, anySign });
  ask(dropped, { ...policy, anySign: false });
  const { apart = [], alike = [] } = Object.groupBy(oneOnOne(gone, comparison), ([one, other]) =>
    areApart(one.description, other.description) ? 'apart' : 'alike',
  );
  // What contradicts in its numbers may well be two: that it is not says the institution's habit alone.
  comparison.learn({ ...differencesOf(alike), numbersChanged: apart.length });
}

/**
 * New bookings that could be of one pending transaction which is gone, and it of no other: too little to link, enough to
 * teach by how many days bookings move, or what was concluded from the first of them would never be corrected.
 */
function oneOnOne<R extends Comparable>(
  gone: readonly KnownTransaction[],
  { open, uncertain }: Comparison<R>,
): [pending: KnownTransaction, booked: R][] {
  const byId = new Map(gone.map((each) => [each.id, each]));
  const claims = Map.groupBy([...uncertain.values()].flat(), (id) => id);
  const texts: Trigrams = new Map();
  return open.rows.flatMap((row): [KnownTransaction, R][] => {
    const [id = '', ...others] = uncertain.get(row) ?? [];
    const known = byId.get(id);
    if (!known || isPending(row) || others.length > 0 || claims.get(id)?.length !== 1) return [];
    const isLike = (likeness(known.description, row.description, texts) ?? 0) >= toBooked.soleMin;
    return isLike && amountOf(known) === amountOf(row) ? [[known, row]] : [];
  });
}
