import type { AccountIdentification, Amount } from '#libs/contract';
import { toUnsigned, unreadable } from '../wire.js';
import type {
  OBAmount,
  OBBranchAndFinancialInstitutionIdentification,
  OBCashAccount,
} from './uk-open-banking.types.js';

/** What accounts, transactions and payments of the standard are made of. */

const SCHEME_PREFIX = /^UK\.OBIE\./;
const signs: Readonly<Record<string, 1 | -1 | undefined>> = { Credit: 1, CRDT: 1, Debit: -1, DBIT: -1 };

/** Amounts are unsigned in the standard; the indicator alone says which way the money went. */
export function toSigned(amount: OBAmount | undefined, indicator: unknown, member: string): Amount {
  const sign = typeof indicator === 'string' ? signs[indicator] : undefined;
  if (sign === undefined) throw unreadable(`${member}.CreditDebitIndicator`);
  const value = toAmount(amount, member);
  if (sign === -1 && value.amount !== 0) value.amount = -value.amount;
  return value;
}

export function toAmount(amount: OBAmount | undefined, member: string): Amount {
  if (!amount) throw unreadable(`${member}.Amount`);
  const { Amount: text, Currency: currency } = amount;
  if (typeof currency !== 'string' || currency.length !== 3) throw unreadable(`${member}.Currency`);
  return { amount: toUnsigned(text, `${member}.Amount`), currency };
}

/** One `OBCashAccount` as the contract's identifications: a sort code and account number come as one value of 14 digits. */
export function toIdentifications(account: OBCashAccount | undefined): AccountIdentification[] {
  const identification = account?.Identification?.trim();
  if (!account || !identification) return [];
  const secondary = account.SecondaryIdentification?.trim();
  const found = bySchemeName((account.SchemeName ?? '').replace(SCHEME_PREFIX, ''), identification);
  return secondary ? [...found, { type: 'ROLL_NUMBER', identification: secondary }] : found;
}

function bySchemeName(scheme: string, identification: string): AccountIdentification[] {
  switch (scheme) {
    case 'SortCodeAccountNumber': {
      const digits = identification.replace(/[ -]/g, '');
      if (!/^\d{14}$/.test(digits)) return [{ type: 'ACCOUNT_NUMBER', identification }];
      return [
        { type: 'SORT_CODE', identification: digits.slice(0, 6) },
        { type: 'ACCOUNT_NUMBER', identification: digits.slice(6) },
      ];
    }
    case 'IBAN':
      return [{ type: 'IBAN', identification: identification.replace(/ /g, '') }];
    case 'PAN':
      return [{ type: /^\d+$/.test(identification) ? 'PAN' : 'MASKED_PAN', identification }];
    case 'BBAN':
      return [{ type: 'BBAN', identification }];
    case 'Paym':
      return [{ type: 'MSISDN', identification }];
    default:
      return [];
  }
}

/** Who is on the other side, by account and bank; nothing where neither is named. */
export function toParty(
  account: OBCashAccount | undefined,
  agent: OBBranchAndFinancialInstitutionIdentification | undefined,
): { name?: string; accountIdentifications?: AccountIdentification[] } | undefined {
  if (!account && !agent) return undefined;
  const identifications = toIdentifications(account);
  const bic = agent?.SchemeName?.endsWith('BICFI') ? agent.Identification?.trim() : undefined;
  if (bic) identifications.push({ type: 'BIC', identification: bic });
  const name = account?.Name?.trim();
  if (!name && identifications.length === 0) return undefined;
  return {
    ...(name ? { name } : {}),
    ...(identifications.length ? { accountIdentifications: identifications } : {}),
  };
}
