import { describe, expect, it } from 'vitest';
import type { Account } from '#libs/contract';
import { aliasesOf } from './account-aliases.js';
import { type KnownIdentity, type Resolution, resolveAccounts } from './account-resolution.js';

const owner = { customerId: 'a-customer', institutionId: 'bank' };

/** An account as its identifications, each as `TYPE value`. */
function account(id: string, numbers: string[], more: Partial<Account> = {}): Account {
  const accountIdentifications = numbers.map((number) => {
    const [type, identification = ''] = number.split(' ');
    return { type, identification } as NonNullable<Account['accountIdentifications']>[number];
  });
  return { id, type: 'CURRENT', currency: 'GBP', accountIdentifications, ...more };
}

function identity(each: Account): Omit<KnownIdentity, 'id' | 'connectionId' | 'isRead'> {
  const { currency = null, type = null } = each;
  return { currency, type, aliases: aliasesOf(owner, each) };
}

/** What the second list makes of the first; known accounts are called by their place in it. */
function seen(first: Account[], second: Account[], connection = 'new'): Resolution[] {
  const known = first.map((each, index) => ({
    id: `k${index}`,
    connectionId: 'old',
    isRead: false,
    ...identity(each),
  }));
  return resolveAccounts(known, second.map(identity), { connectionId: connection });
}

const ids = (resolutions: Resolution[]) => resolutions.map(({ known }) => known?.id);
const iban = 'IBAN GB33BUKB20201555555555';
const domestic = ['SORT_CODE 202015', 'ACCOUNT_NUMBER 55555555'];

describe('the same account', () => {
  it.each<[string, Account, Account]>([
    ['under a new id', account('a', domestic), account('b', domestic)],
    ['with an IBAN that came later', account('a', domestic), account('b', [...domestic, iban])],
    ['with its IBAN alone', account('a', domestic), account('b', [iban])],
    ['with its national number alone', account('a', [iban]), account('b', ['BBAN BUKB20201555555555'])],
    ['written with spaces', account('a', [iban]), account('b', ['IBAN gb33bukb20201555555555'])],
    ['with its first identification', account('a', []), account('a', [iban])],
    ['with a currency that came later', account('a', [iban], { currency: undefined }), account('a', [iban])],
    ['with a masked card number', account('a', ['MASKED_PAN 4000****1234']), account('b', ['MASKED_PAN 4000****1234'])],
  ])('is known again %s', (_how, before, after) => {
    expect(ids(seen([before], [after]))).toEqual(['k0']);
  });

  it('is renumbered where the old number is given beside the new one', () => {
    const [one] = seen([account('a', domestic)], [account('b', [...domestic, 'IBAN GB82WEST12345698765432'])]);
    expect(one).toMatchObject({ known: { id: 'k0' }, isRenumbered: false });
    const [other] = seen(
      [account('a', [...domestic, iban])],
      [account('b', [...domestic, 'IBAN DE02120300000000202051'])],
    );
    expect(other).toMatchObject({ known: { id: 'k0' }, isRenumbered: true });
  });

  it('is renumbered where one consent shows another number under the same id', () => {
    const after = account('a', ['IBAN DE02120300000000202051']);
    expect(seen([account('a', [iban])], [after], 'old')).toMatchObject([{ known: { id: 'k0' }, isRenumbered: true }]);
  });
});

describe('another account', () => {
  it.each<[string, Account[], Account[]]>([
    ['in another currency under the same IBAN', [account('a', [iban])], [account('b', [iban], { currency: 'EUR' })]],
    [
      'of a building society, by its roll number',
      [account('a', [...domestic, 'ROLL_NUMBER 1'])],
      [account('b', [...domestic, 'ROLL_NUMBER 2'])],
    ],
    [
      'with another number, under an id of another consent',
      [account('a', [iban])],
      [account('a', ['IBAN DE02120300000000202051'])],
    ],
    [
      'that shares a masked card number and not its own',
      [account('a', ['MASKED_PAN 4000****1234', iban])],
      [account('b', ['MASKED_PAN 4000****1234', 'IBAN DE02120300000000202051'])],
    ],
  ])('stays apart: %s', (_which, before, after) => {
    expect(ids(seen(before, after))).toEqual([undefined]);
  });

  it('is not merged with one that shares its masked card number, nor taken for it', () => {
    const card = ['MASKED_PAN 4000****1234'];
    const before = [account('a', card), account('b', card)];
    const after = seen(before, [account('c', card), account('d', card)]);
    expect(after.map(({ known, candidates }) => [known, candidates])).toEqual([
      [undefined, ['k0', 'k1']],
      [undefined, ['k0', 'k1']],
    ]);
    expect(ids(seen(before, before.toReversed()))).toEqual(['k1', 'k0']);
  });

  it('keeps sub-accounts of one IBAN apart, each by its currency', () => {
    const before = ['EUR', 'USD'].map((currency) => account(currency, [iban], { currency }));
    const after = ['USD', 'EUR', 'CHF'].map((currency) => account(`new-${currency}`, [iban], { currency }));
    expect(ids(seen(before, after))).toEqual(['k1', 'k0', undefined]);
  });

  it('is told with what it may be, where nothing proves it', () => {
    const [one] = seen([account('a', [iban])], [account('b', ['IBAN DE02120300000000202051'])]);
    expect(one).toMatchObject({ known: undefined, candidates: ['k0'] });
    const [savings] = seen(
      [account('a', [iban])],
      [account('b', ['IBAN DE02120300000000202051'], { type: 'SAVINGS' })],
    );
    expect(savings?.candidates).toEqual([]);
  });
});
