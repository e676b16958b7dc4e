import type { Account } from '../account.js';
import type { Consent } from './consents.js';

interface CashAccount {
  SchemeName: string;
  Identification: string;
  Name?: string;
}

/** The part of `Data.Initiation` that the bank acts on; the rest is kept and repeated, not read. */
export interface Initiation {
  InstructionIdentification: string;
  EndToEndIdentification: string;
  InstructedAmount: { Amount: string; Currency: string };
  DebtorAccount?: CashAccount;
  CreditorAccount: CashAccount & { Name: string };
  /** v3.1 has one text and a reference, v4.0 lists. */
  RemittanceInformation?: {
    Unstructured?: string | string[];
    Reference?: string;
    Structured?: { CreditorReferenceInformation?: { Reference?: string } }[];
  };
}

export function initiationOf(consent: Consent): Initiation {
  return consent.request.data['Initiation'] as Initiation;
}

/** Scheme names come with and without their prefix. */
export const schemeOf = (name: string): string => name.replace(/^UK\.OBIE\./, '');

/** The account's identification under a scheme, as the standard writes it: sort code and number are one value. */
export function identificationOf(account: Account, scheme: string): string | undefined {
  if (scheme === 'IBAN') return account.iban ?? undefined;
  if (scheme !== 'SortCodeAccountNumber' || account.sortCode === null || account.accountNumber === null)
    return undefined;
  return `${account.sortCode}${account.accountNumber}`;
}

/** Accounts that can pay: in the payment's currency, not a card, and the named one only when the TPP names one. */
export function debtorAccounts(accounts: Account[], consent: Consent): Account[] {
  const { DebtorAccount, InstructedAmount } = initiationOf(consent);
  return accounts.filter((account) => {
    if (account.kind === 'card' || account.currency !== InstructedAmount.Currency) return false;
    return (
      !DebtorAccount || identificationOf(account, schemeOf(DebtorAccount.SchemeName)) === DebtorAccount.Identification
    );
  });
}

export function referenceOf(initiation: Initiation): string | undefined {
  const { Structured, Unstructured, Reference } = initiation.RemittanceInformation ?? {};
  return Reference ?? Structured?.[0]?.CreditorReferenceInformation?.Reference ?? [Unstructured].flat()[0];
}

export function paymentFacts(consent: Consent): {
  amount: string;
  currency: string;
  payee: { name: string; account: string; reference: string | undefined };
} {
  const initiation = initiationOf(consent);
  const { CreditorAccount, InstructedAmount } = initiation;
  const written = CreditorAccount.Identification.replace(/^(\d\d)(\d\d)(\d\d)(\d{8})$/, '$1-$2-$3 $4');
  return {
    amount: InstructedAmount.Amount,
    currency: InstructedAmount.Currency,
    payee: { name: CreditorAccount.Name, account: written, reference: referenceOf(initiation) },
  };
}
