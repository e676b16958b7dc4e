import type { Account } from './account.js';
import { at, fallsOn, quarterlyDay } from './calendar.js';
import { dayMs } from './clock.js';
import { findPersona, type Persona } from './personas.js';
import { Random } from './random.js';

/** A payee as a bank keeps it. */
export interface Payee {
  id: string;
  name: string;
  sortCode: string;
  accountNumber: string;
  /** At most 18 characters, as Faster Payments takes them. */
  reference: string;
}

/** A payment that comes back every month on a day: what the rows of the ledger were made from. Money is minor units. */
export interface Arrangement {
  id: string;
  payee: Payee;
  amountMinor: number;
  /** Day of the month. */
  day: number;
  /** What its rows say, to find the latest one by. */
  info: string;
}

/** Sort code and number of an invented payee; the same wherever its name is met. */
function payeeOf(name: string, reference: string): Payee {
  const dice = new Random(`payee|${name}`);
  return { id: dice.hex(16), name, sortCode: `00${dice.digits(4)}`, accountNumber: dice.digits(8), reference };
}

function regularsOf(account: Account, by: 'standing-order' | 'direct-debit'): Arrangement[] {
  const persona = findPersona(account.persona);
  if (!persona || account.kind !== 'current') return [];
  const word = by === 'standing-order' ? 'STANDING ORDER' : 'DIRECT DEBIT';
  return persona.regulars
    .filter((item) => item.by === by)
    .map((item) => {
      const payee = payeeOf(item.payee, item.payee.slice(0, 18));
      const id = new Random(`${by}|${account.id}|${item.payee}`).hex(20);
      return { id, payee, amountMinor: -item.amountMinor, day: item.day, info: `${word} ${item.payee}` };
    });
}

export const standingOrdersOf = (account: Account): Arrangement[] => regularsOf(account, 'standing-order');
export const directDebitsOf = (account: Account): Arrangement[] => regularsOf(account, 'direct-debit');

/** Who a customer has saved as a payee: those of the standing orders, and friends. */
export function payeesOf(account: Account, persona: Persona | undefined): (Payee & { isTrusted: boolean })[] {
  if (account.kind !== 'current') return [];
  const friends = ['Marigold Finch', 'Tobias Renn'].filter((name) => name !== persona?.name);
  return [
    ...standingOrdersOf(account).map(({ payee }) => ({ ...payee, isTrusted: true })),
    ...friends.map((name) => ({ ...payeeOf(name, 'THANKS'), isTrusted: false })),
  ];
}

/** The quarterly bill that a current account pays on a date set long before. */
export const quarterlyBill = { payee: 'NORTHMERE PARKING PERMITS', reference: 'PERMIT', amountMinor: 4_200 } as const;

/** The next one of it after an instant; undefined where there is none. */
export function scheduledBill(account: Account, after: number): { id: string; at: number; payee: Payee } | undefined {
  if (account.kind !== 'current') return undefined;
  let day = Math.floor(after / dayMs) + 1;
  while (!quarterlyDay(day)) day += 1;
  const id = new Random(`scheduled|${account.id}|${day}`).hex(20);
  return { id, at: at(day, 90), payee: payeeOf(quarterlyBill.payee, quarterlyBill.reference) };
}

/** The next instant at which a monthly arrangement is paid. */
export function nextPayment(arrangement: Arrangement, after: number): number {
  let day = Math.floor(after / dayMs) + 1;
  while (!fallsOn(day, arrangement.day)) day += 1;
  return at(day, 70);
}
