import type { Transaction } from '#libs/contract';
import { signed } from './amount-signs.js';

describe('the signs of a bank’s amounts', () => {
  const row = (amount: number, more: Partial<Transaction> = {}): Transaction => {
    return { amount, transactionAmount: { amount, currency: 'EUR' }, ...more };
  };
  const payeeDetails = { name: 'A shop' };
  const payerDetails = { name: 'An employer' };
  const amounts = (rows: Transaction[], rule: Parameters<typeof signed>[1]) =>
    signed({ items: rows, next: 'more' }, rule).items.map((each) => [each.amount, each.transactionAmount?.amount]);

  it('are the bank’s own unless its data say otherwise', () => {
    const page = { items: [row(5), row(-5)] };
    expect(signed(page, undefined)).toBe(page);
  });

  it('are turned where they are swapped', () => {
    expect(amounts([row(5), row(-5), row(0), {}], 'swapped')).toEqual([
      [-5, -5],
      [5, 5],
      [0, 0],
      [undefined, undefined],
    ]);
  });

  it('are told by who stands on the other side where a minus is missing, and by nobody where that is not clear', () => {
    const rows = [
      row(5, { payeeDetails }),
      row(5, { payerDetails }),
      row(5, { payeeDetails, payerDetails }),
      row(5),
      row(-5, { payeeDetails }),
      row(-5, { payerDetails }),
    ];
    expect(amounts(rows, 'missing').map(([amount]) => amount)).toEqual([-5, 5, 5, 5, -5, -5]);
    expect(signed({ items: rows, next: 'more' }, 'missing').next).toBe('more');
  });
});
