import { useState } from 'preact/hooks';
import type { CustomerApi } from './api.js';
import { money, moment } from './format.js';
import { datesOf, titleOf } from './transaction-words.js';
import { useAttempt } from './use-attempt.js';
import type { Transaction } from './views.js';

/** The signed amount of a transaction. */
export function Amount({ transaction }: { transaction: Transaction }) {
  const { amount, currency } = transaction.transactionAmount ?? transaction;
  return <span class={`amount ${(amount ?? 0) > 0 ? 'in' : ''}`}>{money(amount, currency)}</span>;
}

interface Row {
  api: CustomerApi;
  transaction: Transaction;
  /** The account's name. */
  account: string;
  /** The one row of the list that the tab key stops at; arrow keys lead to the others. */
  isStop: boolean;
}

/** One transaction of the list; what else is known of it opens below. */
export function TransactionRow({ api, transaction, account, isStop }: Row) {
  const [isOpen, setOpen] = useState(false);
  const isPending = transaction.status === 'PENDING';
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary tabIndex={isStop ? 0 : -1} data-row={transaction.id}>
          <span class="what">
            {titleOf(transaction)}
            <span class="note">
              {account}
              {isPending && `, ${datesOf(transaction)}`}
            </span>
          </span>
          <Amount transaction={transaction} />
        </summary>
        {isOpen && <Facts api={api} transaction={transaction} />}
      </details>
    </li>
  );
}

function Facts({ api, transaction }: Pick<Row, 'api' | 'transaction'>) {
  const { attempt, isBusy, problem } = useAttempt();
  return (
    <div class="facts">
      <dl>
        {factsOf(transaction).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p>
        <button
          type="button"
          class="quiet"
          disabled={isBusy}
          onClick={() => attempt(async () => void (await api.split(transaction.id)))}
        >
          Split: these are two
        </button>{' '}
        <span class="note">Undoes a join, or the link of a pending row to its booking.</span>
      </p>
      {problem !== undefined && <p role="alert">{problem}</p>}
    </div>
  );
}

function factsOf(transaction: Transaction): [string, string][] {
  const { bookingDateTime, valueDateTime, reference, merchant, id, institutionTransactionId } = transaction;
  const isAhead = transaction.status === 'PENDING';
  const facts: [string, string | undefined][] = [
    ['Transaction id, for life', id],
    ['The bank’s id, a clue', institutionTransactionId],
    [isAhead ? 'Booking expected' : 'Booked', bookingDateTime && moment(bookingDateTime)],
    ['Value date', valueDateTime && moment(valueDateTime)],
    ['Reference', reference],
    ['The bank’s text', transaction.description],
    ['Category (ISO 18245)', merchant?.merchantCategoryCode],
    ['From', transaction.payerDetails?.name],
    ['To', transaction.payeeDetails?.name],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== undefined && fact[1] !== '');
}
