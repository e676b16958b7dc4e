import type { Transaction } from '#libs/contract';
import type { Institution, Page } from './connector.js';

type Rule = NonNullable<Institution['amountSigns']>;

const rules: Readonly<Record<Rule, (transaction: Transaction) => number>> = {
  swapped: () => -1,
  // A payee alone was paid. With both of them, or neither, nothing is known better than by the bank.
  missing: ({ amount = 0, payeeDetails, payerDetails }) => (amount > 0 && payeeDetails && !payerDetails ? -1 : 1),
};

/** A page with its amounts signed as the contract wants it, at banks that sign them otherwise. Running balances stay. */
export function signed(page: Page<Transaction>, rule: Rule | undefined): Page<Transaction> {
  if (rule === undefined) return page;
  return { ...page, items: page.items.map((item) => turned(item, rules[rule](item))) };
}

function turned(transaction: Transaction, sign: number): Transaction {
  const { amount, transactionAmount } = transaction;
  if (sign > 0 || !amount) return transaction;
  const turnedAmount = -amount;
  return {
    ...transaction,
    amount: turnedAmount,
    ...(transactionAmount ? { transactionAmount: { ...transactionAmount, amount: turnedAmount } } : {}),
  };
}
