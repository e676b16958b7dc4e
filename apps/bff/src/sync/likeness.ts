/** Texts repeat within one account, so what was cut up once is kept for the duration of one comparison. */
export type Trigrams = Map<string, ReadonlySet<string>>;

/** Shared trigrams of a very short text are chance. */
const overlapSizeMin = 6;

/** The most that texts are alike whose numbers contradict each other: too little to link, or to ask a person. */
const apartMax = 0.2;

/** The numbers of a text that are long enough to be of an invoice, an order, a shop; days, months and times are not. */
export function numbersOf(text: string): readonly string[] {
  return text.match(/\d{3,}/g) ?? [];
}

/**
 * Whether the numbers of two texts contradict each other: invoice 20260017 is not invoice 20260018, however alike they read. Texts
 * of which one has no number, or all numbers of the other, may be of one thing.
 */
export function areApart(a: string | null, b: string | null): boolean {
  if (a === null || b === null || a === b) return false;
  const [one, other] = [numbersOf(a), numbersOf(b)];
  return !isWithin(one, other) && !isWithin(other, one);
}

/** Whether both texts have such numbers. */
export function areNumbered(a: string | null, b: string | null): boolean {
  return [a, b].every((text) => text !== null && numbersOf(text).length > 0);
}

function isWithin(part: readonly string[], whole: readonly string[]): boolean {
  return part.every((each) => whole.includes(each));
}

/**
 * How alike two texts of a bank are, 0 to 1; undefined when one is missing, which is no evidence either way.
 * Trigrams of letters and digits: the Dice coefficient, or the share of the shorter text found in the longer one, because
 * a booked text often extends a pending one and banks cut texts off in the middle of a word.
 */
export function likeness(a: string | null, b: string | null, known: Trigrams): number | undefined {
  if (a === null || b === null) return undefined;
  if (a === b) return 1;
  const one = trigrams(a, known);
  const other = trigrams(b, known);
  if (one.size === 0 || other.size === 0) return undefined;
  const [smaller, larger] = one.size <= other.size ? [one, other] : [other, one];
  let shared = 0;
  for (const gram of smaller) if (larger.has(gram)) shared += 1;
  const dice = (2 * shared) / (one.size + other.size);
  return smaller.size < overlapSizeMin ? dice : Math.max(dice, (0.9 * shared) / smaller.size);
}

/** The same where numbers tell one thing from another: if they contradict each other, that outweighs what is alike. */
export function numberedLikeness(a: string | null, b: string | null, known: Trigrams): number | undefined {
  const alike = likeness(a, b, known);
  return alike !== undefined && alike > apartMax && areApart(a, b) ? apartMax : alike;
}

function trigrams(text: string, known: Trigrams): ReadonlySet<string> {
  const kept = known.get(text);
  if (kept) return kept;
  const plain = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  const padded = ` ${plain} `;
  const grams = new Set<string>();
  if (plain) for (let at = 0; at + 3 <= padded.length; at += 1) grams.add(padded.slice(at, at + 3));
  known.set(text, grams);
  return grams;
}
