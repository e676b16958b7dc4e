import { banks, ukBanks } from './banks.js';
import { BankClock } from './clock.js';
import { isIban } from './identifiers.js';
import { Ledger } from './ledger.js';
import { personas } from './personas.js';
import { Store } from './store.js';

const everyRow = 1_000_000;

function seeded(
  options: { seed: string; transactions?: number; months?: number },
  at = '2026-11-21T11:00:00Z',
): { ledger: Ledger; clock: BankClock; store: Store } {
  const store = new Store(':memory:');
  const clock = new BankClock(store);
  clock.set(at);
  const ledger = new Ledger(store, clock);
  ledger.seedWith(options);
  return { ledger, clock, store };
}

function everything(ledger: Ledger): unknown {
  return ukBanks.flatMap((bank) =>
    personas.flatMap((persona) =>
      ledger
        .accountsOf(bank.id, persona.id)
        .map((account) => [account.id, account.balanceMinor, ledger.page(account, { limit: everyRow })]),
    ),
  );
}

describe('the ledger', () => {
  it('is the same for the same seed, and another for another', () => {
    const one = everything(seeded({ seed: 'one' }).ledger);
    expect(everything(seeded({ seed: 'one' }).ledger)).toEqual(one);
    expect(everything(seeded({ seed: 'two' }).ledger)).not.toEqual(one);
  });

  it('lives each day alike, however long the history is', () => {
    const long = seeded({ seed: 'one', months: 24 }).ledger;
    const short = seeded({ seed: 'one', months: 3 }).ledger;
    const [ofLong, ofShort] = [long, short].map((ledger) =>
      ledger.page(ledger.accountsOf('tamar', 'ben')[0]!, { limit: 50 }).map((row) => row.id),
    );
    expect(ofShort).toEqual(ofLong);
  });

  it('adds up: opening and rows make each running balance and the closing one', () => {
    const { ledger } = seeded({ seed: 'one' });
    for (const bank of banks) {
      for (const persona of personas) {
        for (const account of ledger.accountsOf(bank.id, persona.id)) {
          const booked = ledger
            .page(account, { limit: everyRow })
            .filter((row) => row.balanceMinor !== null)
            .toReversed();
          let balance = account.openingMinor;
          for (const row of booked) {
            balance += row.amountMinor;
            expect(row.balanceMinor).toBe(balance);
          }
          expect(account.balanceMinor).toBe(balance);
          expect(balance).toBeGreaterThan(-account.creditLimitMinor);
        }
      }
    }
  });

  it('gives the main persona two years of more than 2,000 rows, some of them pending', () => {
    const { ledger } = seeded({ seed: 'one' });
    const account = ledger.accountsOf('meridian', 'ada')[0]!;
    const rows = ledger.page(account, { limit: everyRow });
    expect(rows.length).toBeGreaterThan(2500);
    expect(rows.filter((row) => row.balanceMinor === null).length).toBeGreaterThan(0);
    const details = rows.map((row) => row.detail).join('\n');
    for (const word of ['SALARY', 'LETTINGS', 'REFUND', 'STREAMHOLLOW', 'TRANSFER TO', 'CASH', '"exchange"'])
      expect(details).toContain(word);
    expect(rows.at(-1)!.madeAt).toBeLessThan(Date.parse('2024-12-10'));
  });

  it('makes at least as many rows as asked for', () => {
    const { ledger } = seeded({ seed: 'many', transactions: 10_000 });
    const count = ledger.page(ledger.accountsOf('tamar', 'ada')[0]!, { limit: everyRow }).length;
    expect(count).toBeGreaterThanOrEqual(10_000);
    expect(count).toBeLessThan(10_500);
  });

  it('books pending rows and lives new days when the clock reaches them', () => {
    const { ledger, clock } = seeded({ seed: 'one' });
    const id = ledger.accountsOf('meridian', 'ada')[0]!.id;
    const before = ledger.page(ledger.account(id)!, { limit: everyRow });
    const pending = before.filter((row) => row.balanceMinor === null);
    clock.advance('P7D');
    const account = ledger.account(id)!;
    const after = new Map(ledger.page(account, { limit: everyRow }).map((row) => [row.id, row]));
    expect(after.size).toBeGreaterThan(before.length + 5);
    for (const row of pending)
      expect(after.get(row.id)).toMatchObject({
        amountMinor: row.amountMinor,
        balanceMinor: expect.any(Number) as number,
      });
    const sum = [...after.values()]
      .filter((row) => row.balanceMinor !== null)
      .reduce((total, row) => total + row.amountMinor, account.openingMinor);
    expect(account.balanceMinor).toBe(sum);
  });

  it('hides what lies ahead of the clock', () => {
    const { ledger, clock } = seeded({ seed: 'one' }, '2026-11-21T06:00:00Z');
    const account = ledger.accountsOf('meridian', 'ada')[0]!;
    for (const row of ledger.page(account, { limit: everyRow })) expect(row.madeAt).toBeLessThanOrEqual(clock.now());
  });

  it('moves money between own accounts to the penny', () => {
    const { ledger } = seeded({ seed: 'one' });
    const [current, , card] = ledger.accountsOf('meridian', 'ada');
    const bills = (account: typeof current, word: string): number[] =>
      ledger
        .page(account!, { limit: everyRow })
        .filter((row) => row.detail.includes(word))
        .map((row) => Math.abs(row.amountMinor));
    expect(bills(card, 'PAYMENT RECEIVED').length).toBeGreaterThan(20);
    expect(bills(card, 'PAYMENT RECEIVED')).toEqual(bills(current, 'DIRECT DEBIT CREDIT CARD'));
  });

  it('gives accounts numbers of the right kind', () => {
    const { ledger } = seeded({ seed: 'one', months: 1 });
    const [current, savings, card, euro] = ledger.accountsOf('tamar', 'ada');
    expect(current).toMatchObject({ sortCode: '006528', accountNumber: expect.stringMatching(/^\d{8}$/) as string });
    expect(isIban(current!.iban!) && isIban(euro!.iban!)).toBe(true);
    expect(savings!.iban).toBeNull();
    expect(card!.maskedPan).toMatch(/^\d{4}\*{8}\d{4}$/);
    expect(euro).toMatchObject({ currency: 'EUR', sortCode: null });
  });
});
