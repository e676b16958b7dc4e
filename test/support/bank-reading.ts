import { Account, Balances, Transaction } from '#libs/contract';
import { accountOperation, accountsOperation, walkPages, type Grant, type Step } from '#libs/connectors';
import { now } from '#libs/server';
import type { BankUnderTest } from './bank-under-test.js';
import { expectShape } from './expect-shape.js';
import type { SandboxBank } from './sandbox.js';

/** The headers of a call that the PSU is there for. */
export const present = { ipAddress: '192.0.2.7' };

/** The step, which must be of this kind. */
export function isKind<K extends Step['kind']>(step: Step, kind: K): Extract<Step, { kind: K }> {
  if (step.kind !== kind) throw new Error(`Expected ${kind}, not ${JSON.stringify(step)}`);
  return step as Extract<Step, { kind: K }>;
}

/** A consent by redirect, however often the bank sends the PSU to its pages. */
export async function consentAt(sandbox: SandboxBank, bank: BankUnderTest): Promise<Grant> {
  let step = await bank.authorise();
  while (step.kind === 'redirect') {
    const callback = await sandbox.visit(step.url);
    step = await bank.connector.proceed(bank.call(), step.pending, { callback });
  }
  return isKind(step, 'authorised').grant;
}

/** Reads all that a grant opens while the PSU is there: accounts, balances, every page, each of the contract's shape. */
export async function readsEverything(bank: BankUnderTest, grant: Grant): Promise<void> {
  const attended = () => bank.under(grant, { psu: present });
  const { connector } = bank;
  const hasBalances = connector.operations.ACCOUNT_BALANCES !== undefined;
  const accounts = await accountsOperation(connector)(attended());
  expect(accounts.length).toBeGreaterThan(0);
  for (const account of accounts) {
    expectShape(Account, account);
    expect(typeof account.balance).toBe(hasBalances ? 'number' : 'undefined');
    expect(account.accountIdentifications?.[0]?.type).toBe('IBAN');
  }
  const first = accounts[0]!;
  expect(await accountOperation(connector)(attended(), first.id)).toEqual(first);
  const balances = await connector.operations.ACCOUNT_BALANCES?.(attended(), first.id);
  if (balances) expectShape(Balances, balances);
  expect(balances?.mainBalanceAmount?.amount).toBe(first.balance);
  const read = connector.operations.ACCOUNT_TRANSACTIONS;
  if (!read) return;
  const all = await walkPages((cursor) => read(attended(), first.id, cursor === undefined ? {} : { cursor }), {
    bounds: bank.institution.pageBounds,
    now,
  });
  expect(all.length).toBeGreaterThan(50);
  for (const transaction of all.slice(0, 100)) expectShape(Transaction, transaction);
  const ids = all.map(({ id }) => id).filter((id) => id !== undefined);
  expect(new Set(ids).size).toBe(ids.length);
  expect(all.some(({ amount }) => (amount ?? 0) > 0) && all.some(({ amount }) => (amount ?? 0) < 0)).toBe(true);
}
