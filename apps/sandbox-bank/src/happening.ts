import type { AccountPlan, Persona } from './personas.js';
import { Random } from './random.js';

/** What a row of an account says besides its amount and dates. Stored as JSON, so members that are unset are left out. */
export interface EntryDetail {
  /** The bank's own code. */
  code: string;
  /** ISO 20022 bank transaction family and sub-family. */
  iso: [family: string, subFamily: string];
  info: string;
  reference?: string;
  merchant?: { name: string; mcc: string };
  /** Who stands on the other side, when it is not a shop. */
  party?: { name: string; scheme?: string; identification?: string };
  card?: 'Contactless' | 'ConsumerDevice' | 'PIN' | 'None';
  exchange?: { currency: string; amountMinor: number; rate: number };
}

export interface Happening {
  id: string;
  madeAt: number;
  bookedAt: number;
  amountMinor: number;
  detail: EntryDetail;
}

/** One account's life: every day is a pure function of these, so the same seed gives the same day whenever it is asked. */
export interface Life {
  seed: string;
  bank: string;
  persona: Persona;
  plan: AccountPlan;
  /** Card purchases on an average day. */
  rate: number;
  /** Scales purchases, so that an account seeded with very many rows does not go broke. */
  scale: number;
}

/** The dice of one matter on one day: nothing that is thrown elsewhere changes them. */
export function diceOf(life: Life, day: number, matter: string, kind: string = life.plan.kind): Random {
  return new Random(`${life.seed}|${life.bank}|${life.persona.id}|${kind}|${day}|${matter}`);
}
