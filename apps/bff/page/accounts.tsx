import { useState } from 'preact/hooks';
import type { CustomerApi } from './api.js';
import { BalanceChart } from './balance-chart.js';
import { balanceSeries } from './balance-series.js';
import { nowMs } from './clock.js';
import { moment, money } from './format.js';
import { useLoaded } from './use-loaded.js';
import type { Account, Transaction } from './views.js';

const yearMs = 365 * 86_400_000;

/** The customer's accounts, and the balance of the chosen one over the last year. */
export function Accounts({
  api,
  accounts,
  version,
}: {
  api: CustomerApi;
  accounts: readonly Account[];
  version: number;
}) {
  const [chosen, choose] = useState<string>();
  const account = accounts.find(({ id }) => id === chosen) ?? accounts[0];
  return (
    <section aria-labelledby="accounts-heading">
      <h2 id="accounts-heading">Accounts</h2>
      {!account && <p class="note">Connect a bank, and its accounts appear here.</p>}
      <ul class="cards" role="list">
        {accounts.map((each) => (
          <li key={each.id}>
            <button type="button" aria-pressed={each === account} onClick={() => choose(each.id)}>
              <span class="name">{nameOf(each)}</span>
              <span class="amount">{money(each.mainBalance?.amount, each.mainBalance?.currency)}</span>
              <span class="note">{identificationOf(each)}</span>
            </button>
          </li>
        ))}
      </ul>
      {account && <History key={account.id} api={api} account={account} version={version} />}
    </section>
  );
}

function History({ api, account, version }: { api: CustomerApi; account: Account; version: number }) {
  const from = new Date(nowMs() - yearMs).toISOString();
  const { value, problem } = useLoaded(() => api.history(account.id, from), [account.id, version]);
  if (problem) return <p role="alert">{problem}</p>;
  if (!value) return <p class="note">Reading the history…</p>;
  const balance = account.mainBalance;
  if (balance?.amount === undefined) return <p class="note">This bank gives no balance for the account.</p>;
  const today = new Date(nowMs()).toISOString().slice(0, 10);
  return (
    <>
      <BalanceChart points={balanceSeries(balance.amount, today, bookings(value))} currency={balance.currency} />
      <p class="note">Drawn back from the balance read {moment(account.balancesAt)}, booking by booking.</p>
    </>
  );
}

function bookings(transactions: readonly Transaction[]): { bookedAt: string; amount: number }[] {
  return transactions.flatMap(({ status, bookingDateTime, date, transactionAmount, amount }) => {
    const bookedAt = bookingDateTime ?? date;
    const signed = transactionAmount?.amount ?? amount;
    return status === 'BOOKED' && bookedAt !== undefined && signed !== undefined ? [{ bookedAt, amount: signed }] : [];
  });
}

/** What a person would call the account. */
export function nameOf({ accountNames, accountType, name }: Account): string {
  return name ?? accountNames?.[0]?.name ?? accountType?.toLowerCase() ?? 'Account';
}

function identificationOf({ accountIdentifications = [] }: Account): string {
  const of = (type: string) => accountIdentifications.find((each) => each.type === type)?.identification;
  const [sortCode, number] = [of('SORT_CODE'), of('ACCOUNT_NUMBER')];
  if (sortCode !== undefined && number !== undefined) return `${sortCode} ${number}`;
  return accountIdentifications[0]?.identification ?? '';
}
