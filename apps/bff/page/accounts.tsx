import { useState } from 'preact/hooks';
import type { CustomerApi } from './api.js';
import { BalanceChart } from './balance-chart.js';
import { balanceSeries } from './balance-series.js';
import { BankLogo } from './bank-logo.js';
import { institutionOf } from './banks.js';
import { nowMs } from './clock.js';
import { moment, money } from './format.js';
import { Skeleton } from './skeleton.js';
import { useLoaded } from './use-loaded.js';
import type { Account, Institution, Transaction } from './views.js';

const yearMs = 365 * 86_400_000;

interface AccountsProps {
  api: CustomerApi;
  /** Undefined while they are being loaded. */
  accounts: readonly Account[] | undefined;
  institutions: readonly Institution[] | undefined;
  /** A bank is connected, so there will be some. */
  isExpecting: boolean;
}

/** The customer's accounts, and the balance of the chosen one over the last year. */
export function Accounts({ api, accounts, institutions = [], isExpecting }: AccountsProps) {
  const [chosen, choose] = useState<string>();
  const account = accounts?.find(({ id }) => id === chosen) ?? accounts?.[0];
  return (
    <section aria-labelledby="accounts-heading">
      <h2 id="accounts-heading">Accounts</h2>
      {!accounts && <Skeleton what="accounts" />}
      {accounts?.length === 0 && (
        <p class="note">{isExpecting ? 'They are being read.' : 'Connect a bank, and its accounts appear here.'}</p>
      )}
      <ul class="cards" role="list">
        {accounts?.map((each) => (
          <li key={each.id}>
            <button type="button" aria-pressed={each === account} onClick={() => choose(each.id)}>
              <BankLogo institution={institutionOf(institutions, each.institutionId)} />
              <span class="what">
                <span>
                  {nameOf(each)} <span class="soft">{numberOf(each)}</span>
                </span>
                <span class="note">{institutionOf(institutions, each.institutionId).name}</span>
              </span>
              <span class="amount">{money(each.mainBalance?.amount, each.mainBalance?.currency)}</span>
            </button>
          </li>
        ))}
      </ul>
      {account && <History key={account.id} api={api} account={account} />}
    </section>
  );
}

function History({ api, account }: { api: CustomerApi; account: Account }) {
  const from = new Date(nowMs() - yearMs).toISOString();
  const { value, problem } = useLoaded(() => api.history(account.id, from), [account.id, account.lastSyncedAt]);
  if (problem !== undefined) return <p role="alert">{problem}</p>;
  if (!value) return <Skeleton what="the history" lines={5} />;
  const balance = bookedBalance(account);
  if (balance?.amount === undefined) return <p class="note">This bank tells no balance of the account.</p>;
  const today = new Date(nowMs()).toISOString().slice(0, 10);
  return (
    <>
      <h3>{nameOf(account)}, the last year</h3>
      <BalanceChart points={balanceSeries(balance.amount, today, bookings(value))} currency={balance.currency} />
      <p class="note">Drawn back from the balance read at {moment(account.balancesAt)}, booking by booking.</p>
    </>
  );
}

/** What is booked belongs to bookings; the main balance may count what is pending, too. */
function bookedBalance({ balances = [], mainBalance }: Account) {
  return balances.find(({ type }) => type === 'INTERIM_BOOKED')?.balanceAmount ?? mainBalance;
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

/** The end of the account's number, by which people know it: `··2167`. */
export function numberOf({ accountIdentifications = [] }: Account): string {
  const types = ['ACCOUNT_NUMBER', 'IBAN', 'MASKED_PAN'];
  const known = types.map((type) => accountIdentifications.find((each) => each.type === type)).find(Boolean);
  const number = (known ?? accountIdentifications[0])?.identification;
  return number === undefined ? '' : `··${number.slice(-4)}`;
}
