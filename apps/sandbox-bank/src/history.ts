import type { Account, Entry } from './account.js';
import { lifeOf, monthsBefore, rateOf } from './account-opening.js';
import type { Place } from './chart.js';
import { dayMs } from './clock.js';
import { dayOf } from './life.js';
import type { Happening } from './happening.js';

export interface SeedOptions {
  seed: string;
  /** Rows wanted on the main persona's current account; about 2,600 when left out. */
  transactions?: number | undefined;
  /** The one bank that gets so many; every bank when left out. */
  bank?: string | undefined;
  /** How far back histories reach; 24 when left out. */
  months?: number | undefined;
}

/** A seed and the moment it was sown, in epoch milliseconds: histories reach up to there. */
export type Seeding = SeedOptions & { at: number };

/** An account with every row of its history, as of the moment of seeding. */
export function livedAccount(place: Place, seeding: Seeding): { account: Account; entries: Entry[] } {
  const { id, bank, persona, plan, position, numbers } = place;
  const { seed, at, months = 24 } = seeding;
  const wanted = (seeding.bank ?? bank.id) === bank.id ? seeding.transactions : undefined;
  const today = Math.floor(at / dayMs);
  const firstDay = monthsBefore(today, months);
  const rate = rateOf({ bank, persona, plan, seed, firstDay, today, wanted });
  const life = lifeOf(seed, bank.id, persona, plan, rate);
  const rows: Happening[] = [];
  for (let day = firstDay; day <= today; day += 1) rows.push(...dayOf(life, day));
  // Rows keep the order in which they are booked, as on a statement.
  rows.sort((one, other) => one.bookedAt - other.bookedAt || one.madeAt - other.madeAt);
  let balance = plan.openingMinor;
  let lastBookedAt = firstDay * dayMs;
  const entries = rows.map((row, seq): Entry => {
    const isBooked = row.bookedAt <= at;
    if (isBooked) {
      balance += row.amountMinor;
      lastBookedAt = row.bookedAt;
    }
    const balanceMinor = isBooked ? balance : null;
    return { accountId: id, seq, ...row, balanceMinor, detail: JSON.stringify(row.detail) };
  });
  const account: Account = {
    id,
    bank: bank.id,
    persona: persona.id,
    kind: plan.kind,
    position,
    holder: persona.name,
    nickname: plan.nickname,
    description: plan.description,
    currency: plan.currency,
    ...numbers,
    openedAt: (firstDay - 400) * dayMs,
    firstDay,
    generatedTo: today,
    rate,
    openingMinor: plan.openingMinor,
    balanceMinor: balance,
    creditLimitMinor: plan.creditLimitMinor,
    lastBookedAt,
    nextSeq: rows.length,
  };
  return { account, entries };
}
