import type { Transaction } from '#libs/contract';

/** `count` booked transactions as the interface serves them: different days, amounts and texts, some 700 bytes each. */
export function syncedRows(count: number, first = 0): Transaction[] {
  return Array.from({ length: count }, (_, index) => {
    const n = first + index;
    const at = new Date(Date.UTC(2024, 10, 21) + n * 6_000_000).toISOString();
    const amount = -((n % 9_973) + 1) / 100;
    return {
      id: `bank-${n}`,
      date: at,
      bookingDateTime: at,
      valueDateTime: at,
      status: 'BOOKED',
      amount,
      currency: 'GBP',
      transactionAmount: { amount, currency: 'GBP' },
      reference: `CARD ${n % 211}`,
      description: `Purchase ${n} at the corner shop on the high street`,
      transactionInformation: [`Purchase ${n} at the corner shop on the high street`],
      isoBankTransactionCode: {
        domainCode: { code: 'PMNT', name: 'Payments' },
        familyCode: { code: 'CCRD', name: 'Customer Card Transactions' },
        subFamilyCode: { code: 'POSD', name: 'Point-of-Sale Payment - Debit Card' },
      },
      balance: { type: 'INTERIM_BOOKED', balanceAmount: { amount: 1_000 + (n % 500), currency: 'GBP' } },
      merchant: { merchantName: 'Corner Shop', merchantCategoryCode: '5411' },
      enrichment: { transactionHash: { hash: `${n.toString(16).padStart(32, '0')}.1` } },
    };
  });
}
