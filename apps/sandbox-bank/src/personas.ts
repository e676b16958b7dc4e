import type { Bank } from './banks.js';

export type AccountKind = 'current' | 'savings' | 'card' | 'euro';

/** An account somebody holds, as it stands on the first day of its history. Money is minor units. */
export interface AccountPlan {
  kind: AccountKind;
  nickname: string;
  description: string;
  currency: 'GBP' | 'EUR';
  openingMinor: number;
  /** Overdraft or card limit; zero when there is none. */
  creditLimitMinor: number;
  /** Card purchases in an average month. */
  purchasesPerMonth: number;
}

/** A payment that comes back every month on the same day, or on the next working day. Negative leaves the account. */
export interface Regular {
  day: number;
  payee: string;
  amountMinor: number;
  /** A yearly step in per mille, as energy bills have. */
  drift?: number;
  by: 'standing-order' | 'direct-debit' | 'card';
  mcc?: string;
}

/** A customer of every sandbox bank. The code stands in for the one-time password a phone would show. */
export interface Persona {
  id: string;
  name: string;
  password: string;
  code: string;
  about: string;
  salary: { employer: string; amountMinor: number; spreadMinor: number; perMonth: 1 | 2 };
  savesMinor: number;
  regulars: readonly Regular[];
  accounts: readonly AccountPlan[];
}

const card = (limit: number, opening: number, purchases: number): AccountPlan => ({
  kind: 'card',
  nickname: 'Credit card',
  description: 'Everyday Credit Card',
  currency: 'GBP',
  openingMinor: -opening,
  creditLimitMinor: limit,
  purchasesPerMonth: purchases,
});
const savings = (opening: number): AccountPlan => ({
  kind: 'savings',
  nickname: 'Rainy day',
  description: 'Easy Access Saver',
  currency: 'GBP',
  openingMinor: opening,
  creditLimitMinor: 0,
  purchasesPerMonth: 0,
});
const euro = (opening: number, purchases: number): AccountPlan => ({
  kind: 'euro',
  nickname: 'Euro account',
  description: 'Euro Current Account',
  currency: 'EUR',
  openingMinor: opening,
  creditLimitMinor: 0,
  purchasesPerMonth: purchases,
});
const current = (nickname: string, opening: number, overdraft: number, purchases: number): AccountPlan => ({
  kind: 'current',
  nickname,
  description: 'Personal Current Account',
  currency: 'GBP',
  openingMinor: opening,
  creditLimitMinor: overdraft,
  purchasesPerMonth: purchases,
});

/** The first persona is the main one: the one whose current account `POST /control/seed {transactions}` sizes. */
export const personas: readonly Persona[] = [
  {
    id: 'ada',
    name: 'Ada Thornbury',
    password: 'ada-sandbox',
    code: '123456',
    about: 'Salaried, rents, shops daily, saves a little, travels',
    salary: { employer: 'BRACKENFIELD INSTRUMENTS', amountMinor: 356_400, spreadMinor: 0, perMonth: 1 },
    savesMinor: 35_000,
    regulars: [
      { day: 1, payee: 'LARKHILL LETTINGS', amountMinor: -139_500, by: 'standing-order' },
      { day: 3, payee: 'NORTHMERE COUNCIL TAX', amountMinor: -15_840, drift: 45, by: 'direct-debit' },
      { day: 5, payee: 'GREENGALE ENERGY', amountMinor: -11_620, drift: 80, by: 'direct-debit' },
      { day: 8, payee: 'CLEARBECK WATER', amountMinor: -3_475, drift: 60, by: 'direct-debit' },
      { day: 11, payee: 'FIBRELOFT BROADBAND', amountMinor: -3_200, by: 'direct-debit' },
      { day: 12, payee: 'HALLOO MOBILE', amountMinor: -1_450, by: 'direct-debit' },
      { day: 6, payee: 'STREAMHOLLOW', amountMinor: -1_099, by: 'card', mcc: '4899' },
      { day: 14, payee: 'TUNEWREN MUSIC', amountMinor: -1_199, by: 'card', mcc: '5815' },
      { day: 17, payee: 'IRONBARN GYM', amountMinor: -2_799, by: 'direct-debit' },
      { day: 22, payee: 'CLOUDCRATE STORAGE', amountMinor: -249, by: 'card', mcc: '5817' },
      { day: 24, payee: 'OAKSHIELD INSURANCE', amountMinor: -2_384, drift: 70, by: 'direct-debit' },
      { day: 26, payee: 'HAVEN FOR HEDGEHOGS', amountMinor: -1_000, by: 'direct-debit' },
    ],
    accounts: [current('Everyday', 214_300, 50_000, 66), savings(640_000), card(450_000, 38_240, 18), euro(182_000, 5)],
  },
  {
    id: 'ben',
    name: 'Ben Okonjo-Hale',
    password: 'ben-sandbox',
    code: '234567',
    about: 'Student with a part-time job and an overdraft',
    salary: { employer: 'COPPERLIGHT CINEMA', amountMinor: 55_400, spreadMinor: 6_000, perMonth: 2 },
    savesMinor: 2_000,
    regulars: [
      { day: 2, payee: 'QUADRANGLE STUDENT ROOMS', amountMinor: -56_000, by: 'standing-order' },
      { day: 9, payee: 'HALLOO MOBILE', amountMinor: -900, by: 'direct-debit' },
      { day: 14, payee: 'TUNEWREN MUSIC', amountMinor: -599, by: 'card', mcc: '5815' },
    ],
    accounts: [current('Student account', 41_250, 100_000, 30), savings(21_000)],
  },
  {
    id: 'chloe',
    name: 'Chloe Varga',
    password: 'chloe-sandbox',
    code: '345678',
    about: 'Freelancer with irregular income and clients abroad',
    salary: { employer: 'ATELIER CORVANE', amountMinor: 109_000, spreadMinor: 52_000, perMonth: 2 },
    savesMinor: 20_000,
    regulars: [
      { day: 4, payee: 'HOLLINS & DAUGHTER LETTINGS', amountMinor: -98_000, by: 'standing-order' },
      { day: 7, payee: 'GREENGALE ENERGY', amountMinor: -8_240, drift: 80, by: 'direct-debit' },
      { day: 13, payee: 'FIBRELOFT BROADBAND', amountMinor: -3_600, by: 'direct-debit' },
      { day: 19, payee: 'DESKDROP COWORKING', amountMinor: -14_900, by: 'direct-debit' },
      { day: 21, payee: 'VECTORPRESS SOFTWARE', amountMinor: -2_199, by: 'card', mcc: '5734' },
    ],
    accounts: [current('Studio', 186_400, 25_000, 34), card(300_000, 12_480, 10), euro(96_000, 4)],
  },
];

export const mainPersona = 'ada';

export function findPersona(id: string): Persona | undefined {
  return personas.find((persona) => persona.id === id);
}

/** The person as a customer of one bank: abroad, current and savings accounts are kept, in euros. */
export function customerOf(bank: Bank, persona: Persona): Persona {
  if (bank.standard === 'uk-open-banking') return persona;
  const kept = persona.accounts.filter((plan) => plan.kind === 'current' || plan.kind === 'savings');
  return { ...persona, accounts: kept.map((plan) => ({ ...plan, currency: 'EUR' as const })) };
}
