import { type Alias, type AliasKind, aliasKinds, isProof } from './account-aliases.js';

/** An account that has been seen before. */
export interface KnownIdentity {
  id: string;
  currency: string | null;
  type: string | null;
  /** The connection that reads it, and whether it can. */
  connectionId: string;
  isRead: boolean;
  aliases: readonly Alias[];
}

/** An account of a fresh list. */
export interface ShownIdentity {
  currency: string | null;
  type: string | null;
  aliases: readonly Alias[];
}

/** What an account of a list is. */
export interface Resolution {
  /** Undefined for one that is new. */
  known: KnownIdentity | undefined;
  /** What it was not called before. */
  gained: Alias[];
  /** The institution calls it by another number of a kind that it had before. */
  isRenumbered: boolean;
  /** Accounts that it may be, of which nothing proves it. */
  candidates: string[];
}

interface Pairing {
  shown: ShownIdentity[];
  known: KnownIdentity[];
  found: Map<ShownIdentity, KnownIdentity>;
}

/**
 * Says which accounts of a list are which that are known, from certain to likely; whatever has found its counterpart is out of
 * the game. Two that claim one are never merged, and what nothing proves is a new account with candidates. Pure.
 */
export function resolveAccounts(
  known: readonly KnownIdentity[],
  shown: readonly ShownIdentity[],
  { connectionId }: { connectionId: string },
): Resolution[] {
  const pairing: Pairing = { shown: [...shown], known: [...known], found: new Map() };
  pair(pairing, (one, other) => shares(one, other, 'ID') && sharesProof(one, other));
  for (const kind of aliasKinds.filter(isProof)) pair(pairing, (one, other) => shares(one, other, kind));
  // Within one consent an institution's own id outlives a number; across consents it must not contradict one.
  pair(
    pairing,
    (one, other) => shares(one, other, 'ID') && (one.connectionId === connectionId || !contradicts(one, other)),
  );
  pair(pairing, (one, other) => shares(one, other, 'MASKED_PAN') && !contradicts(one, other));
  const gone = pairing.known.filter((each) => each.connectionId === connectionId || !each.isRead);
  return shown.map((each) => {
    const match = pairing.found.get(each);
    const hashes = new Set(match?.aliases.map(({ hash }) => hash));
    return {
      known: match,
      gained: each.aliases.filter(({ hash }) => !hashes.has(hash)),
      isRenumbered: match !== undefined && contradicts(match, each),
      candidates: match ? [] : gone.filter((other) => mayBe(other, each)).map(({ id }) => id),
    };
  });
}

/** Pairs what belongs together and has no other choice on either side. */
function pair(pairing: Pairing, belongs: (known: KnownIdentity, shown: ShownIdentity) => boolean): void {
  const { found } = pairing;
  const isOne = (known: KnownIdentity, shown: ShownIdentity) => isCurrency(known, shown) && belongs(known, shown);
  const pairs = pairing.shown.flatMap((shown): [ShownIdentity, KnownIdentity][] => {
    const [one, ...more] = pairing.known.filter((known) => isOne(known, shown));
    if (!one || more.length > 0) return [];
    return pairing.shown.some((rival) => rival !== shown && isOne(one, rival)) ? [] : [[shown, one]];
  });
  for (const [shown, known] of pairs) found.set(shown, known);
  const taken = new Set(pairs.map(([, known]) => known));
  pairing.shown = pairing.shown.filter((each) => !found.has(each));
  pairing.known = pairing.known.filter((each) => !taken.has(each));
}

/** Accounts in several currencies may share every number; a currency that is not told says nothing. */
function isCurrency(known: KnownIdentity, shown: ShownIdentity): boolean {
  return known.currency === null || shown.currency === null || known.currency === shown.currency;
}

function shares(known: KnownIdentity, shown: ShownIdentity, kind: AliasKind): boolean {
  return shown.aliases.some((each) => each.kind === kind && known.aliases.some(({ hash }) => hash === each.hash));
}

function sharesProof(known: KnownIdentity, shown: ShownIdentity): boolean {
  return shown.aliases.some(({ kind }) => isProof(kind) && shares(known, shown, kind));
}

/** Whether both have numbers of one kind and none of them is the same. */
function contradicts(known: KnownIdentity, shown: ShownIdentity): boolean {
  const isOther = ({ kind }: Alias) =>
    isProof(kind) && known.aliases.some((each) => each.kind === kind) && !shares(known, shown, kind);
  return shown.aliases.some(isOther);
}

/** Nothing speaks against it: the institution shows one and not the other. */
function mayBe(known: KnownIdentity, shown: ShownIdentity): boolean {
  return isCurrency(known, shown) && (known.type === null || shown.type === null || known.type === shown.type);
}
