import type { Account } from '../account.js';
import type { BerlinGroupBank } from '../banks.js';
import { toIban } from '../identifiers.js';
import { Random } from '../random.js';
import type { FaultName } from '../scenarios.js';

const namings = ['new-account-ids', 'more-account-numbers', 'new-account-numbers'] as const;

/** How a consent calls accounts, where that is not as the bank always does. */
export type Naming = (typeof namings)[number];

/** What a fault makes of the consent that is being made. */
export function namingOf(fault: FaultName | undefined): { naming?: Naming } {
  const naming = namings.find((each) => each === fault);
  return naming === undefined ? {} : { naming };
}

/** An account's numbers as a consent shows them. The ledger's own stay as they are. */
export function numbersIn(
  bank: BerlinGroupBank,
  naming: Naming | undefined,
  account: Account,
): { iban: string; maskedPan?: string } {
  const dice = new Random(`numbers|${naming}|${account.id}`);
  if (naming === 'new-account-numbers')
    return { iban: toIban(bank.country, `${bank.iban.bankPart}${dice.digits(bank.iban.digits)}`) };
  const card = naming === 'more-account-numbers' && { maskedPan: `5555********${dice.digits(4)}` };
  return { iban: account.iban ?? '', ...card };
}
