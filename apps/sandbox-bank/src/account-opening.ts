import type { Bank } from './banks.js';
import { dayMs } from './clock.js';
import { toIban } from './identifiers.js';
import type { Account } from './account.js';
import type { Life } from './happening.js';
import { dayOf } from './life.js';
import { mainPersona, type AccountPlan, type Persona } from './personas.js';
import { Random } from './random.js';

const usualRows = 2600;
const daysPerMonth = 365.25 / 12;

/** What is settled when an account is opened in the ledger. Days are counted since 1970. */
export interface Opening {
  bank: Bank;
  persona: Persona;
  plan: AccountPlan;
  seed: string;
  firstDay: number;
  today: number;
  wanted: number | undefined;
}

export function monthsBefore(day: number, months: number): number {
  const date = new Date(day * dayMs);
  return Math.floor(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, date.getUTCDate()) / dayMs);
}

export function lifeOf(seed: string, bank: string, persona: Persona, plan: AccountPlan, rate: number): Life {
  const usual = plan.purchasesPerMonth / daysPerMonth;
  return { seed, bank, persona, plan, rate, scale: rate > usual ? usual / rate : 1 };
}

/** Purchases a day: the plan's own, but for the main current account as many as the wanted number of rows needs. */
export function rateOf({ bank, persona, plan, seed, firstDay, today, wanted }: Opening): number {
  const usual = plan.purchasesPerMonth / daysPerMonth;
  if (persona.id !== mainPersona || plan.kind !== 'current') return usual;
  const days = today - firstDay + 1;
  const target = wanted ?? Math.round((usualRows / (24 * daysPerMonth)) * days);
  const quiet = lifeOf(seed, bank.id, persona, plan, 0);
  let others = 0;
  for (let day = firstDay; day <= today; day += 1) others += dayOf(quiet, day).length;
  // Purchases of the last day may lie in the future still, hence one day less and a little more.
  return Math.max(1.5, (target - others + 20) / (days - 1));
}

export function accountIdOf(bank: string, persona: string, kind: string): string {
  return new Random(`account|${bank}|${persona}|${kind}`).hex(24);
}

/** Only what a scheme needs: sort code and number for sterling, an IBAN for current accounts, a masked number for cards. */
export function numbersOf(
  bank: Bank,
  persona: Persona,
  plan: AccountPlan,
): Pick<Account, 'sortCode' | 'accountNumber' | 'iban' | 'maskedPan'> {
  const dice = new Random(`numbers|${bank.id}|${persona.id}|${plan.kind}`);
  if (plan.kind === 'card')
    return { sortCode: null, accountNumber: null, iban: null, maskedPan: `5555********${dice.digits(4)}` };
  if (bank.standard === 'berlin-group') {
    const { bankPart, digits } = bank.iban;
    const iban = toIban(bank.country, `${bankPart}${dice.digits(digits)}`);
    return { sortCode: null, accountNumber: null, iban, maskedPan: null };
  }
  const accountNumber = dice.digits(8);
  const rest = `${bank.bankCode}${bank.sortCode}${accountNumber}`;
  if (plan.kind === 'euro') return { sortCode: null, accountNumber: null, iban: toIban('IE', rest), maskedPan: null };
  return {
    sortCode: bank.sortCode,
    accountNumber,
    iban: plan.kind === 'current' ? toIban('GB', rest) : null,
    maskedPan: null,
  };
}
