import { useRef, useState } from 'preact/hooks';
import { nameOf } from './accounts.js';
import type { CustomerApi } from './api.js';
import { institutionOf } from './banks.js';
import { money, moment, plural } from './format.js';
import { Skeleton } from './skeleton.js';
import { Amount } from './transaction-row.js';
import { datesOf, doubtOf, titleOf } from './transaction-words.js';
import { useAttempt } from './use-attempt.js';
import { useLoaded } from './use-loaded.js';
import type { Account, Institution, Transaction, TransactionFlag } from './views.js';

const doubtsShown = 10;

interface ChecksProps {
  api: CustomerApi;
  accounts: readonly Account[] | undefined;
  institutions: readonly Institution[] | undefined;
  version: number;
  onChange: () => void;
}

/** Whether what is here is all there is: balances held against the rows, and what is not sure, for a person to decide. */
export function Checks({ api, accounts, institutions = [], version, onChange }: ChecksProps) {
  const { value: doubts, problem } = useLoaded(() => doubtsOf(api), [version]);
  const [undo, setUndo] = useState<string>();
  const { attempt, isBusy, problem: undoProblem } = useAttempt();
  const heading = useRef<HTMLHeadingElement>(null);
  if (accounts?.length === 0) return null;
  /** The button that was pressed is gone, so the focus goes to where what is left can be read. */
  const onDecided = () => {
    heading.current?.focus();
    onChange();
  };
  const split = (id: string) =>
    attempt(async () => {
      await api.split(id);
      setUndo(undefined);
      onDecided();
    });
  return (
    <section aria-labelledby="checks-heading">
      <h2 id="checks-heading" tabIndex={-1} ref={heading}>
        Checks
      </h2>
      {!accounts && <Skeleton what="checks" lines={2} />}
      {accounts && <Proofs {...{ api, accounts, institutions }} />}
      {problem !== undefined && <p role="alert">{problem}</p>}
      {doubts?.list.length === 0 && <p class="check good">No transaction is in doubt.</p>}
      {doubts && doubts.list.length > 0 && (
        <p class="check bad">
          {plural(doubts.list.length, 'transaction')} {doubts.hasMore && 'and more '}to decide on.
        </p>
      )}
      {undo !== undefined && (
        <p class="row" role="status">
          They are one now.
          <button type="button" class="quiet" disabled={isBusy} onClick={() => split(undo)}>
            Undo
          </button>
        </p>
      )}
      {undoProblem !== undefined && <p role="alert">{undoProblem}</p>}
      <ul class="doubts" role="list">
        {doubts?.list.map((doubt) => (
          <Doubt key={doubt.transaction.id} {...{ api, doubt, onDecided }} onJoined={setUndo} />
        ))}
      </ul>
    </section>
  );
}

/** How the booked balances agree with the rows. */
function Proofs({
  api,
  accounts,
  institutions,
}: Required<Pick<ChecksProps, 'api' | 'institutions'>> & { accounts: readonly Account[] }) {
  const proven = accounts.flatMap(({ balanceProof }) => (balanceProof ? [balanceProof] : []));
  const wrong = accounts.filter(({ balanceProof }) => balanceProof !== undefined && balanceProof.difference !== 0);
  const agree = proven.length - wrong.length;
  return (
    <>
      {agree > 0 && (
        <p class="check good">
          {wrong.length === 0 ? 'All balances agree' : `${agree} of ${proven.length} balances agree`} with their
          transactions: {plural(agree, 'account')}, last compared at{' '}
          {moment(
            proven
              .map(({ checkedAt }) => checkedAt)
              .toSorted()
              .at(-1),
          )}
          .
        </p>
      )}
      {proven.length < accounts.length && (
        <p class="note">{plural(accounts.length - proven.length, 'account')} without a balance that could prove it.</p>
      )}
      {wrong.map((account) => (
        <Difference
          key={account.id}
          api={api}
          account={account}
          bank={institutionOf(institutions ?? [], account.institutionId).name}
        />
      ))}
    </>
  );
}

/** A difference that nothing absorbs, with what may explain it. */
function Difference({ api, account, bank }: { api: CustomerApi; account: Account; bank: string }) {
  const { difference = 0, currency, candidates = [] } = account.balanceProof ?? {};
  const { value: found } = useLoaded(
    async () => (await Promise.all(candidates.map((id) => api.transaction(id)))).filter((each) => each !== undefined),
    [candidates.join()],
  );
  return (
    <div class="difference">
      <p class="check bad">
        {nameOf(account)} at {bank}: the balance has moved {money(difference, currency)} beyond the transactions.{' '}
        {candidates.length === 0 && 'No transaction of that amount explains it.'}
      </p>
      {found && found.length > 0 && (
        <ul role="list" aria-label="What may explain it">
          {found.map((transaction) => (
            <Line key={transaction.id} transaction={transaction} />
          ))}
        </ul>
      )}
    </div>
  );
}

function Line({ transaction }: { transaction: Transaction }) {
  return (
    <li class="line">
      <span class="what">
        {titleOf(transaction)}
        <span class="note">{datesOf(transaction)}</span>
      </span>
      <Amount transaction={transaction} />
    </li>
  );
}

interface DoubtfulTransaction {
  transaction: Transaction;
  flag: TransactionFlag;
}

async function doubtsOf(api: CustomerApi): Promise<{ list: DoubtfulTransaction[]; hasMore: boolean }> {
  const { data, nextCursor } = await api.transactions({ flagged: true, limit: doubtsShown });
  const flags = await Promise.all(data.map(({ id }) => api.flag(id)));
  const list = data.flatMap((transaction, index) => {
    const flag = flags[index];
    return flag ? [{ transaction, flag }] : [];
  });
  return { list, hasMore: nextCursor !== undefined };
}

interface DoubtProps extends Pick<ChecksProps, 'api'> {
  onDecided: () => void;
  doubt: DoubtfulTransaction;
  /** Is given the transaction that has stayed. */
  onJoined: (id: string) => void;
}

/** One transaction that is not sure, those it may be, and a person's answer. */
function Doubt({ api, doubt: { transaction, flag }, onDecided, onJoined }: DoubtProps) {
  const { attempt, isBusy, problem } = useAttempt();
  const title = titleOf(transaction);
  const join = (other: string) =>
    attempt(async () => {
      onJoined((await api.join(other, transaction.id)).id);
      onDecided();
    });
  const dismiss = () =>
    attempt(async () => {
      await api.dismissFlag(transaction.id);
      onDecided();
    });
  return (
    <li>
      <ul role="list">
        <Line transaction={transaction} />
      </ul>
      <p class="note">{doubtOf(flag)}</p>
      <ul class="candidates" role="list" aria-label={`What ${title} may be`}>
        {flag.candidates.map(({ transaction: other, removedAt }) => (
          <li key={other.id}>
            <ul role="list">
              <Line transaction={other} />
            </ul>
            {removedAt === undefined ? (
              <button type="button" disabled={isBusy} onClick={() => join(other.id)}>
                They are one <span class="unseen">{`: ${titleOf(other)} and ${title}`}</span>
              </button>
            ) : (
              <span class="note">The bank has shown it no more since {moment(removedAt)}.</span>
            )}
          </li>
        ))}
      </ul>
      <p class="actions">
        <button type="button" class="quiet" disabled={isBusy} onClick={dismiss}>
          It is right as it is<span class="unseen">: {title}</span>
        </button>
      </p>
      {problem !== undefined && <p role="alert">{problem}</p>}
    </li>
  );
}
