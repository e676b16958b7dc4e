import type { Open } from './pairing.js';
import type { KnownTransaction } from './reconcile.js';

/** The transactions that a person has told apart from each one, whichever of the two carries the note. */
export function partnersOf(known: readonly KnownTransaction[]): ReadonlyMap<string, ReadonlySet<string>> {
  const partners = new Map<string, Set<string>>();
  const note = (id: string, other: string): void => {
    partners.set(id, (partners.get(id) ?? new Set()).add(other));
  };
  for (const { id, apartFrom } of known) {
    for (const other of apartFrom) {
      note(id, other);
      note(other, id);
    }
  }
  return partners;
}

/**
 * Takes out of what is open the transactions of which a partner is open, too: a row that resembles one of them could be the
 * other, and of these two a person has said that they are not one.
 */
export function holdApart<R>(open: Open<R>, partners: ReadonlyMap<string, ReadonlySet<string>>): KnownTransaction[] {
  if (partners.size === 0) return [];
  const ids = new Set(open.known.map(({ id }) => id));
  const isHeld = ({ id }: KnownTransaction) => [...(partners.get(id) ?? [])].some((other) => ids.has(other));
  const held = open.known.filter(isHeld);
  open.known = open.known.filter((each) => !isHeld(each));
  return held;
}
