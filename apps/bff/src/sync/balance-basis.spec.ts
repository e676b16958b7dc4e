import * as fc from 'fast-check';
import type { AccountBalance } from '#libs/contract';
import { basisOf, differenceOf } from './balance-basis.js';

const balance = (type: AccountBalance['type'], more: Partial<AccountBalance> = {}): AccountBalance => ({
  ...(type ? { type } : {}),
  balanceAmount: { amount: 10.5, currency: 'GBP' },
  ...more,
});

describe('the balance to be proven', () => {
  it('is the one that is made of booked rows, wherever it stands in the list', () => {
    const balances = [
      balance('INTERIM_AVAILABLE'),
      balance('EXPECTED'),
      balance('CLOSING_BOOKED'),
      balance('INTERIM_BOOKED'),
    ];
    expect(basisOf({ balances })).toMatchObject({ type: 'INTERIM_BOOKED', includes: 'booked', amount: '10.5' });
  });

  it('may hold what is pending, if the type says so', () => {
    expect(basisOf({ balances: [balance('EXPECTED')] })).toMatchObject({ includes: 'booked-and-pending' });
  });

  it.each<[string, AccountBalance[]]>([
    ['only available money is told', [balance('INTERIM_AVAILABLE'), balance('CLOSING_AVAILABLE')]],
    ['a credit line is in it', [balance('INTERIM_BOOKED', { creditLineIncluded: true })]],
    ['nobody knows what it is', [balance('OTHER'), balance('UNKNOWN'), balance(undefined)]],
    [
      'the amount or its currency is missing',
      [balance('INTERIM_BOOKED', { balanceAmount: { amount: 1, currency: '' } }), { type: 'CLOSING_BOOKED' }],
    ],
    ['there is none', []],
  ])('is not there when %s', (_, balances) => {
    expect(basisOf({ balances })).toBeUndefined();
  });
});

describe('opening + rows = closing', () => {
  const minor = fc.bigInt(-1_000_000n, 1_000_000n);

  it('holds for rows that explain the balance, and tells exactly what they do not', () => {
    fc.assert(
      fc.property(minor, minor, minor, minor, (balanceBefore, rowsBefore, moved, missing) => {
        const movement = {
          balanceBefore,
          rowsBefore,
          balance: balanceBefore + moved + missing,
          rows: rowsBefore + moved,
        };
        expect(differenceOf(movement, 1)).toEqual({ difference: missing, sign: 1 });
      }),
    );
  });

  it('finds out which way a card shows its debt, and then holds it to that', () => {
    fc.assert(
      fc.property(
        minor,
        minor.filter((moved) => moved !== 0n),
        minor,
        (before, moved, missing) => {
          const debt = { balanceBefore: before, rowsBefore: 0n, balance: before - moved, rows: moved };
          expect(differenceOf(debt, 0)).toEqual({ difference: 0n, sign: -1 });
          expect(differenceOf({ ...debt, balance: before - moved - missing }, -1).difference).toBe(missing);
          expect(differenceOf({ ...debt, balance: before + moved }, 0)).toEqual({ difference: 0n, sign: 1 });
        },
      ),
    );
  });
});
