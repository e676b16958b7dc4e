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
  /** Bookings by their date as against that of their pending row: four or more days before, up to three, the same, … */
  datesEarly: number;
  datesSooner: number;
  datesKept: number;
  datesLater: number;
  /** … four to seven days after, more. */
  datesLate: number;
  datesVeryLate: number;
  /** Bookings under the id that they had while pending, and under another one. */
  bookedSameId: number;
  bookedOtherId: number;
}

/** The habits of an institution, as far as the evidence tells. Data, never code: the reconciler takes it as an argument. */
export interface IdentityPolicy {
  /** `stable`: an id alone identifies a transaction. `unstable`: it says nothing. `unknown`: enough else has to agree. */
  ids: 'stable' | 'unstable' | 'unknown';
  sideBySide: 'habit' | 'never' | 'unknown';
  signs: 'flipped' | 'kept' | 'unknown';
  /** By how many days a booking may lie before and after its pending row. */
  daysBefore: number;
  daysAfter: number;
  /** Its id, if it has one. */
  bookingIds: 'kept' | 'changed' | 'unknown';
}

export const noEvidence: Readonly<Evidence> = {
  idsKept: 0,
  idsChanged: 0,
  idsReused: 0,
  replaced: 0,
  sideBySide: 0,
  signsKept: 0,
  signsFlipped: 0,
  datesEarly: 0,
  datesSooner: 0,
  datesKept: 0,
  datesLater: 0,
  datesLate: 0,
  datesVeryLate: 0,
  bookedSameId: 0,
  bookedOtherId: 0,
};

/** What is concluded from the evidence. Nothing is concluded from a handful of rows, nor from a few exceptions among many. */
export function policyOf(evidence: Evidence): IdentityPolicy {
  const { idsKept, idsChanged, idsReused, replaced, sideBySide, signsKept, signsFlipped } = evidence;
  const { bookedSameId, bookedOtherId } = evidence;
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
        : replaced >= 20 && sideBySide <= replaced / 100
          ? 'never'
          : 'unknown',
    signs:
      signsFlipped >= 3 && signsFlipped > signsKept / 5
        ? 'flipped'
        : signsKept >= 20 && signsFlipped <= signsKept / 50
          ? 'kept'
          : 'unknown',
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

/** Wide until thirty bookings have told; then as wide as all but a few of them. */
function bookingDays(evidence: Evidence): { daysBefore: number; daysAfter: number } {
  const { datesEarly, datesSooner, datesKept, datesLater, datesLate, datesVeryLate } = evidence;
  const all = datesEarly + datesSooner + datesKept + datesLater + datesLate + datesVeryLate;
  const isUsual = (count: number) => all < 30 || count > all / 33;
  return {
    daysBefore: isUsual(datesEarly) ? 14 : isUsual(datesSooner) ? 3 : 1,
    daysAfter: isUsual(datesVeryLate) ? 21 : isUsual(datesLate) ? 7 : isUsual(datesLater) ? 3 : 1,
  };
}

export function addEvidence(one: Evidence, other: Evidence): Evidence {
  const names = Object.keys(noEvidence) as (keyof Evidence)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as Record<keyof Evidence, number>;
}

/** From here on a further row that keeps its id teaches nothing. */
const keptEnough = 2_000;

/** Whether the evidence is worth a write: what only confirms a habit that has been confirmed often is not. */
export function teaches(before: Evidence, more: Evidence): boolean {
  const { idsKept, ...rest } = more;
  return Object.values(rest).some((count) => count > 0) || (idsKept > 0 && before.idsKept < keptEnough);
}
