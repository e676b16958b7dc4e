import { useEffect, useState } from 'preact/hooks';
import { nameOf } from './accounts.js';
import type { CustomerApi } from './api.js';
import { day, money } from './format.js';
import type { Account, Transaction } from './views.js';

const pageSize = 50;
const typingMs = 250;

/** What was synchronised, newest first, with a search over its texts. */
export function Transactions({
  api,
  accounts,
  version,
}: {
  api: CustomerApi;
  accounts: readonly Account[];
  version: number;
}) {
  const [accountId, setAccountId] = useState<string>();
  const [text, setText] = useState('');
  const { rows, more, problem } = usePages(api, { accountId, text, version });
  return (
    <section aria-labelledby="transactions-heading">
      <h2 id="transactions-heading">Transactions</h2>
      <form class="row" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          Search
          <input type="search" maxLength={100} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <label>
          Account
          <select onChange={(event) => setAccountId(event.currentTarget.value || undefined)}>
            <option value="">All</option>
            {accounts.map((account) => (
              <option key={account.id} value={account.id}>
                {nameOf(account)}
              </option>
            ))}
          </select>
        </label>
      </form>
      {problem && <p role="alert">{problem}</p>}
      <p class="unseen" role="status">{`${rows.length} transactions shown`}</p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Found transactions">
        <table>
          <thead>
            <tr>
              <th scope="col">Date</th>
              <th scope="col">Description</th>
              <th scope="col">Status</th>
              <th scope="col">Amount</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={row.id} row={row} />
            ))}
          </tbody>
        </table>
        {rows.length === 0 && <p class="note">Nothing found.</p>}
        {more && (
          <button type="button" onClick={more}>
            Show more
          </button>
        )}
      </div>
    </section>
  );
}

function Row({ row }: { row: Transaction }) {
  const amount = row.transactionAmount ?? row;
  return (
    <tr>
      <td>{day(row.date ?? row.bookingDateTime)}</td>
      <td>{row.description ?? row.reference ?? '–'}</td>
      <td>{row.status?.toLowerCase()}</td>
      <td class={`amount ${(amount.amount ?? 0) > 0 ? 'in' : ''}`}>{money(amount.amount, amount.currency)}</td>
    </tr>
  );
}

interface Search {
  accountId: string | undefined;
  text: string;
  version: number;
}

/** Pages of one search; a new search starts over, after a pause in the typing. */
function usePages(api: CustomerApi, { accountId, text, version }: Search) {
  const [rows, setRows] = useState<Transaction[]>([]);
  const [cursor, setCursor] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const query = { accountId, text: text.trim() || undefined, limit: pageSize };
  const load = async (from: string | undefined, isCurrent: () => boolean) => {
    try {
      const { data, nextCursor } = await api.transactions({ ...query, cursor: from });
      if (!isCurrent()) return;
      setRows((before) => (from === undefined ? data : [...before, ...data]));
      setCursor(nextCursor);
      setProblem(undefined);
    } catch (error) {
      if (isCurrent()) setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(() => void load(undefined, () => isCurrent), text === '' ? 0 : typingMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [accountId, text, version]);
  return { rows, problem, more: cursor === undefined ? undefined : () => void load(cursor, () => true) };
}
