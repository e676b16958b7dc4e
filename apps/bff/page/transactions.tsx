import { useEffect, useRef, useState } from 'preact/hooks';
import { nameOf, numberOf } from './accounts.js';
import { type CustomerApi, problemOf } from './api.js';
import { day, plural } from './format.js';
import { Skeleton } from './skeleton.js';
import { TransactionRow } from './transaction-row.js';
import type { Account, Transaction } from './views.js';

const pageSize = 50;
const typingMs = 250;
/** The API’s largest page: so many at most are read again when something has changed. */
const pageSizeMax = 500;

interface TransactionsProps {
  api: CustomerApi;
  accounts: readonly Account[];
  version: number;
}

/** What was synchronised, newest first, with a search over its texts; more comes as the list is scrolled. */
export function Transactions({ api, accounts, version }: TransactionsProps) {
  const [accountId, setAccountId] = useState<string>();
  const [text, setText] = useState('');
  const { rows, more, problem } = usePages(api, { accountId, text, version });
  const [stop, setStop] = useState<string>();
  const groups = groupsOf(rows ?? []);
  const stopped = rows?.find(({ id }) => id === stop) ?? groups[0]?.members[0];
  const names = new Map(accounts.map((account) => [account.id, `${nameOf(account)} ${numberOf(account)}`]));
  return (
    <section aria-labelledby="transactions-heading">
      <h2 id="transactions-heading">Transactions</h2>
      <SearchForm names={names} onText={setText} onAccount={setAccountId} />
      {problem !== undefined && <p role="alert">{problem}</p>}
      {!rows && problem === undefined && <Skeleton what="transactions" lines={6} />}
      <p class="unseen" role="status">
        {rows && `${plural(rows.length, 'transaction')} shown`}
      </p>
      {rows && (
        <div
          class="scroll"
          role="region"
          aria-label="Found transactions"
          onKeyDown={walk}
          onFocusIn={(event) => setStop(rowOf(event.target)?.dataset['row'] ?? stop)}
        >
          {groups.map(({ title, members }) => (
            <div key={title} class="day" role="group" aria-label={title}>
              <h3>{title}</h3>
              <ul role="list">
                {members.map((row) => (
                  <TransactionRow
                    key={row.id}
                    api={api}
                    transaction={row}
                    account={names.get(row.accountId) ?? ''}
                    isStop={row === stopped}
                  />
                ))}
              </ul>
            </div>
          ))}
          {rows.length === 0 && <p class="note">Nothing found.</p>}
          {more && <More onMore={more} />}
        </div>
      )}
    </section>
  );
}

interface SearchFormProps {
  /** The accounts' names by their ids. */
  names: ReadonlyMap<string, string>;
  onText: (text: string) => void;
  onAccount: (accountId: string | undefined) => void;
}

function SearchForm({ names, onText, onAccount }: SearchFormProps) {
  return (
    <form class="row" role="search" onSubmit={(event) => event.preventDefault()}>
      <label>
        Search
        <input type="search" maxLength={100} onInput={(event) => onText(event.currentTarget.value)} />
      </label>
      <label>
        Account
        <select onChange={(event) => onAccount(event.currentTarget.value || undefined)}>
          <option value="">All</option>
          {[...names].map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </form>
  );
}

/** The row that an event came from. */
function rowOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof HTMLElement ? target.closest<HTMLElement>('[data-row]') : null;
}

/** Arrow keys lead from row to row, so that the tab key need not pass hundreds of them. */
function walk(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex((row) => row === rowOf(event.target));
  const places: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 };
  const next = rows[places[event.key] ?? -1];
  if (at === -1 || !next) return;
  event.preventDefault();
  next.focus();
}

/** What is pending first, then a group for each day. */
function groupsOf(rows: readonly Transaction[]): { title: string; members: Transaction[] }[] {
  const groups = new Map<string, Transaction[]>();
  const pending = rows.filter(({ status }) => status === 'PENDING');
  if (pending.length > 0) groups.set('Pending', pending);
  for (const row of rows) {
    if (row.status === 'PENDING') continue;
    const title = day(row.bookingDateTime ?? row.date);
    groups.set(title, [...(groups.get(title) ?? []), row]);
  }
  return [...groups].map(([title, members]) => ({ title, members }));
}

/** The next page: by itself when the end of the list is seen, and by the button. */
function More({ onMore }: { onMore: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  const latest = useRef(onMore);
  latest.current = onMore;
  useEffect(() => {
    if (!button.current) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current();
    });
    observer.observe(button.current);
    return () => observer.disconnect();
  }, []);
  return (
    <button type="button" class="quiet" ref={button} onClick={onMore}>
      Show more
    </button>
  );
}

interface Search {
  accountId: string | undefined;
  text: string;
  version: number;
}

/** Pages of one search; a new search starts over, after a pause in the typing. A change reads again what is shown. */
function usePages(api: CustomerApi, { accountId, text, version }: Search) {
  const [rows, setRows] = useState<Transaction[]>();
  const [cursor, setCursor] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const loading = useRef<object | undefined>(undefined);
  const shown = useRef({ search: '', count: 0 });
  const search = JSON.stringify([accountId, text]);
  if (shown.current.search === search) shown.current.count = rows?.length ?? 0;
  else shown.current = { search, count: 0 };
  /** A later call makes the earlier one’s answer void. */
  const load = async (from: string | undefined) => {
    const mine = {};
    loading.current = mine;
    const limit = from === undefined ? Math.min(pageSizeMax, Math.max(pageSize, shown.current.count)) : pageSize;
    try {
      const page = await api.transactions({ accountId, text: text.trim() || undefined, cursor: from, limit });
      if (loading.current !== mine) return;
      setRows((before = []) => (from === undefined ? page.data : [...before, ...page.data]));
      setCursor(page.nextCursor);
      setProblem(undefined);
    } catch (error) {
      if (loading.current === mine) setProblem(problemOf(error));
    }
    if (loading.current === mine) loading.current = undefined;
  };
  useEffect(() => {
    const timer = setTimeout(() => void load(undefined), text === '' ? 0 : typingMs);
    return () => clearTimeout(timer);
  }, [accountId, text, version]);
  const isWaiting = cursor === undefined;
  const more = () => {
    if (!loading.current && cursor !== undefined) void load(cursor);
  };
  return { rows, problem, more: isWaiting ? undefined : more };
}
