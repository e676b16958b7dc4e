import type { Account } from './account.js';
import { accountIdOf, numbersOf } from './account-opening.js';
import { banks, type Bank } from './banks.js';
import { customerOf, personas, type AccountPlan, type Persona } from './personas.js';

/** Who holds what where. It follows from data alone, so an account is known before its history is lived. */
export interface Place {
  id: string;
  bank: Bank;
  persona: Persona;
  plan: AccountPlan;
  position: number;
  numbers: Pick<Account, 'sortCode' | 'accountNumber' | 'iban' | 'maskedPan'>;
}

const places: readonly Place[] = banks.flatMap((bank) =>
  personas
    .map((persona) => customerOf(bank, persona))
    .flatMap((persona) =>
      persona.accounts.map((plan, position) => ({
        id: accountIdOf(bank.id, persona.id, plan.kind),
        bank,
        persona,
        plan,
        position,
        numbers: numbersOf(bank, persona, plan),
      })),
    ),
);
const byId = new Map(places.map((place) => [place.id, place]));
const byNumber = new Map<string, Place>(
  places.flatMap((place) => {
    const { sortCode, accountNumber, iban } = place.numbers;
    const short = sortCode === null ? [] : [[`SortCodeAccountNumber ${sortCode}${accountNumber}`, place] as const];
    return iban === null ? short : [...short, [`IBAN ${iban}`, place] as const];
  }),
);

export function placeOf(accountId: string): Place | undefined {
  return byId.get(accountId);
}

export function placesOf(bank: string, persona: string): Place[] {
  return places.filter((place) => place.bank.id === bank && place.persona.id === persona);
}

/** The account that an identification names, at whichever bank. */
export function placeByNumber(scheme: string, identification: string): Place | undefined {
  return byNumber.get(`${scheme} ${identification}`);
}
