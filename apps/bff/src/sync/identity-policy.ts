/** What was seen of how an institution identifies transactions; counts that only grow. */
export interface Evidence {
  /** Rows that came again with the id they had. */
  idsKept: number;
  /** Rows that came again, all the same, under another id. */
  idsChanged: number;
  /** Ids that now stand for another transaction. */
  idsReused: number;
  /** Pending rows that went away when they were booked. */
  replaced: number;
  /** Pending rows that were shown beside their booking. */
  sideBySide: number;
  /** Bookings with the sign that they had while pending, and with the opposite one. */
  signsKept: number;
  signsFlipped: number;
  /** Bookings by how many whole days after their pending row they are dated; the ends count what lies beyond, too. */
  [moved: `moved${number}`]: number | undefined;
  /** Bookings with the text that they had while pending, and with another one. */
  textsKept: number;
  textsChanged: number;
  /** Bookings whose numbers in the text agree with those that they had while pending, and contradict them. */
  numbersKept: number;
  numbersChanged: number;
  /** Bookings under the id that they had while pending, and under another one. */
  bookedSameId: number;
  bookedOtherId: number;
}

/** The habits of an institution, as far as the evidence tells. Data, never code: the reconciler takes it as an argument. */
export interface IdentityPolicy {
  /** `stable`: an id alone identifies a transaction. `unstable`: it says nothing. `unknown`: enough else has to agree. */
  ids: 'stable' | 'unstable' | 'unknown';
  /** Whether a pending row is shown beside its booking. `rare`: it happens, and another explanation is better. */
  sideBySide: 'habit' | 'rare' | 'never' | 'unknown';
  signs: 'flipped' | 'kept' | 'unknown';
  /** Whether a booking reads as its pending row did. */
  texts: 'kept' | 'changed' | 'unknown';
  /** Whether long numbers in texts tell one transaction from another, or change when it is booked. */
  numbers: 'telling' | 'changing';
  /** By how many days a booking may lie before and after its pending row; negative where it always lies on the other side. */
  daysBefore: number;
  daysAfter: number;
  /** By how many days after its pending row nearly every booking is dated; null where that varies or is not known. */
  usualDays: number | null;
  /** Its id, if it has one. */
  bookingIds: 'kept' | 'changed' | 'unknown';
}

/** Days of which bookings are counted each by themselves. */
const movedMin = -8;
const movedMax = 15;
const movedDays = Array.from({ length: movedMax - movedMin + 1 }, (_, index) => movedMin + index);

/** The name under which a booking dated so many days after its pending row is counted. */
export function movedBy(days: number): `moved${number}` {
  return `moved${Math.max(movedMin, Math.min(movedMax, days))}`;
}

export const noEvidence: Readonly<Evidence> = {
  idsKept: 0,
  idsChanged: 0,
  idsReused: 0,
  replaced: 0,
  sideBySide: 0,
  signsKept: 0,
  signsFlipped: 0,
  textsKept: 0,
  textsChanged: 0,
  numbersKept: 0,
  numbersChanged: 0,
  bookedSameId: 0,
  bookedOtherId: 0,
  ...Object.fromEntries(movedDays.map((days) => [movedBy(days), 0])),
};

/** What is concluded from the evidence. Nothing is concluded from a handful of rows, nor from a few exceptions among many. */
export function policyOf(evidence: Evidence): IdentityPolicy {
  const { idsKept, idsChanged, idsReused, replaced, sideBySide, signsKept, signsFlipped } = evidence;
  const { textsKept, textsChanged, numbersKept, numbersChanged, bookedSameId, bookedOtherId } = evidence;
  const broken = idsChanged + idsReused;
  return {
    ids:
      broken >= 5 && broken > idsKept / 20
        ? 'unstable'
        : idsKept >= 50 && broken <= idsKept / 200
          ? 'stable'
          : 'unknown',
    sideBySide:
      sideBySide >= 3 && sideBySide > replaced / 4
        ? 'habit'
        : replaced < 20 || sideBySide > replaced / 10
          ? 'unknown'
          : sideBySide <= replaced / 100
            ? 'never'
            : 'rare',
    signs:
      signsFlipped >= 3 && signsFlipped > signsKept / 5
        ? 'flipped'
        : signsKept >= 20 && signsFlipped <= signsKept / 50
          ? 'kept'
          : 'unknown',
    texts: habit({ kept: textsKept, changed: textsChanged }),
    numbers: numbersChanged >= 10 && numbersChanged > numbersKept ? 'changing' : 'telling',
    ...bookingDays(evidence),
    bookingIds: habit({ kept: bookedSameId, changed: bookedOtherId }),
  };
}

/** `kept` if there are hardly any exceptions, else the other word; nothing before twenty cases. */
function habit<Other extends string>({
  kept,
  ...rest
}: { kept: number } & Record<Other, number>): 'kept' | Other | 'unknown' {
  const [[other, count] = ['', 0]] = Object.entries(rest) as [Other, number][];
  if (kept + count < 20) return 'unknown';
  return count <= kept / 50 ? 'kept' : (other as Other);
}

/** Wide until thirty bookings have told; then as wide as all but a few of them at either end. */
function bookingDays(evidence: Evidence): Pick<IdentityPolicy, 'daysBefore' | 'daysAfter' | 'usualDays'> {
  const counts = movedDays.map((days) => evidence[movedBy(days)] ?? 0);
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all < 30) return { daysBefore: 14, daysAfter: 21, usualDays: null };
  const isUsual = (index: number, from: 'start' | 'end') => {
    const tail = from === 'start' ? counts.slice(0, index + 1) : counts.slice(index);
    return tail.reduce((sum, count) => sum + count, 0) > all / 50;
  };
  const first = movedDays.find((_, index) => isUsual(index, 'start')) ?? movedMin;
  const last = movedDays.findLast((_, index) => isUsual(index, 'end')) ?? movedMax;
  const most = counts.reduce((best, count, index) => (count > (counts[best] ?? 0) ? index : best), 0);
  return {
    daysBefore: first === movedMin ? 14 : -first,
    daysAfter: last === movedMax ? 21 : last,
    usualDays: (counts[most] ?? 0) > all * 0.8 ? (movedDays[most] ?? null) : null,
  };
}

/** Whether a pending row may well still be shown when its booking is. */
export function isShownBeside({ sideBySide }: IdentityPolicy): boolean {
  return sideBySide === 'habit' || sideBySide === 'unknown';
}

/** By how many days a booking may lie before and after a pending row that is shown beside it: it has been booked already. */
export function besideDays({
  daysBefore,
  daysAfter,
}: IdentityPolicy): Pick<IdentityPolicy, 'daysBefore' | 'daysAfter'> {
  return { daysBefore: Math.min(3, daysBefore), daysAfter };
}

export function addEvidence(one: Evidence, other: Evidence): Evidence {
  const names = Object.keys(noEvidence) as (keyof Evidence)[];
  return Object.fromEntries(names.map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)])) as Record<
    keyof Evidence,
    number
  >;
}

/** From here on a further row that keeps its id teaches nothing. */
const keptEnough = 2_000;

/** Whether the evidence is worth a write: what only confirms a habit that has been confirmed often is not. */
export function teaches(before: Evidence, more: Evidence): boolean {
  const { idsKept, ...rest } = more;
  return Object.values(rest).some((count) => (count ?? 0) > 0) || (idsKept > 0 && before.idsKept < keptEnough);
}
