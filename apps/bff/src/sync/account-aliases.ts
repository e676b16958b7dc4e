import type { Account } from '#libs/contract';
import { hashToken } from '#libs/database';
import type { AccountsOf } from './account-identity.js';

/** An identifier of an account, hashed; accounts in several currencies may share it. */
export interface Alias {
  kind: AliasKind;
  hash: string;
}

/** Best first. A masked card number may belong to several accounts, and the aggregator's id lasts as long as a consent. */
export const aliasKinds = ['IBAN', 'BBAN', 'DOMESTIC', 'PAN', 'OTHER', 'MASKED_PAN', 'ID'] as const;
export type AliasKind = (typeof aliasKinds)[number];

/** Whether two accounts of one institution and currency with this alias are one. */
export function isProof(kind: AliasKind): boolean {
  return kind !== 'MASKED_PAN' && kind !== 'ID';
}

const codes = ['SORT_CODE', 'BSB', 'NCC', 'ABA', 'ABA_WIRE', 'ABA_ACH', 'BLZ', 'IFS', 'BRANCH_CODE'];
const others = ['CLABE', 'CTN', 'VIRTUAL_ACCOUNT_ID', 'MSISDN', 'EMAIL'];

/** Everything that an account may be known again by. */
export function aliasesOf({ customerId, institutionId }: AccountsOf, account: Account): Alias[] {
  const given = new Map<string, string>(
    (account.accountIdentifications ?? []).map(({ type, identification }) => [
      type,
      (identification ?? '').replaceAll(/[\s-]/g, '').toUpperCase(),
    ]),
  );
  const get = (type: string): string => given.get(type) ?? '';
  const iban = get('IBAN');
  const code = codes.map(get).find((each) => each !== '');
  const number = get('ACCOUNT_NUMBER');
  const identifiers: [AliasKind, string][] = [
    ['IBAN', iban],
    // An IBAN is a country, two check digits and the national number (ISO 13616).
    ['BBAN', iban.slice(4) || get('BBAN')],
    // A building society's accounts share code and number and differ by roll number.
    ['DOMESTIC', number && JSON.stringify([code ?? '', number, get('ROLL_NUMBER')])],
    [
      'DOMESTIC',
      iban.startsWith('GB') && !get('ROLL_NUMBER') ? JSON.stringify([iban.slice(8, 14), iban.slice(14), '']) : '',
    ],
    ['PAN', get('PAN')],
    ...others.map((type): [AliasKind, string] => ['OTHER', get(type) && JSON.stringify([type, get(type)])]),
    ['MASKED_PAN', get('MASKED_PAN')],
    ['ID', account.id ?? ''],
  ];
  const aliases = new Map<string, Alias>();
  for (const [kind, identifier] of identifiers) {
    if (identifier === '') continue;
    const hash = hashToken(JSON.stringify([institutionId, kind, identifier]), customerId);
    aliases.set(hash, { kind, hash });
  }
  return [...aliases.values()];
}
