import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { asksForPsuId, type CustomerApi } from './api.js';
import { BankChoice } from './bank-choice.js';
import { BankLogo } from './bank-logo.js';
import { clockWords, isUrgent, latenessOf, outlookOf, statusOf } from './connection-words.js';
import { day, moment, sentence } from './format.js';
import { here, leaveFor } from './navigation.js';
import { PsuIdForm } from './psu-id-form.js';
import { Skeleton } from './skeleton.js';
import { resultOf, SyncProgress } from './sync-progress.js';
import { useAttempt } from './use-attempt.js';
import type { Connection, Institution, SyncRun } from './views.js';

interface Banks {
  api: CustomerApi;
  /** Undefined while they are being loaded. */
  connections: readonly Connection[] | undefined;
  institutions: readonly Institution[] | undefined;
  /** Something changed: read everything again. */
  onChange: () => void;
}

/** The customer's banks: connect one, see how each stands and what will stop, synchronise, renew, disconnect. */
export function Banks({ api, connections, institutions = [], onChange }: Banks) {
  const open = connections?.filter(({ status }) => !over.has(status));
  return (
    <section aria-labelledby="banks-heading">
      <h2 id="banks-heading">Banks</h2>
      {!open && <Skeleton what="banks" />}
      <ul class="banks" role="list">
        {open?.map((connection) => (
          <Bank
            key={connection.id}
            {...{ api, connection, onChange }}
            institution={institutionOf(institutions, connection.institutionId)}
          />
        ))}
      </ul>
      {open && <BankChoice api={api} institutions={institutions} isFirst={open.length === 0} onAsked={onChange} />}
    </section>
  );
}

/** Ends of a connection that have nothing more to tell. */
const over: ReadonlySet<string> = new Set(['revoked', 'denied', 'failed', 'abandoned']);

/** The institution of that id; by its id alone where the list does not have it any more. */
export function institutionOf(institutions: readonly Institution[], id: string): Pick<Institution, 'name' | 'logo'> {
  return institutions.find((institution) => institution.id === id) ?? { name: id };
}

interface BankProps extends Pick<Banks, 'api' | 'onChange'> {
  connection: Connection;
  institution: Pick<Institution, 'name' | 'logo'>;
}

function Bank({ api, connection, institution, onChange }: BankProps) {
  const [asked, setAsked] = useState<SyncRun>();
  /** The run whose progress cannot be followed: the connection tells its end. */
  const [lost, setLost] = useState<string>();
  const { attempt, isBusy, problem } = useAttempt();
  const { id, status, sync, forecast } = connection;
  const { name } = institution;
  const isOver = sync !== undefined && sync.status !== 'running' && sync.id === lost;
  const watched = isOver ? undefined : (asked ?? (sync?.status === 'running' ? sync : undefined));
  return (
    <li>
      <BankLogo institution={institution} />
      <div class="bank">
        <h3>
          {name} <span class={`badge ${latenessOf(forecast) ? 'late' : status}`}>{statusOf(connection)}</span>
        </h3>
        <Standing connection={connection} isReading={watched !== undefined} />
        {watched && (
          <SyncProgress
            key={watched.id}
            {...{ api, name }}
            connectionId={id}
            run={watched}
            onBreak={() => setLost(watched.id)}
            onEnd={() => {
              setAsked(undefined);
              onChange();
            }}
          />
        )}
        <More forecast={forecast} name={name}>
          <Disconnect
            name={name}
            onConfirm={() =>
              attempt(async () => {
                await api.disconnect(id);
                onChange();
              })
            }
          />
        </More>
        {problem !== undefined && <p role="alert">{problem}</p>}
      </div>
      <div class="actions">
        <NextStep {...{ api, connection, name, attempt, isBusy, onChange }} />
        {status === 'active' && !watched && (
          <button
            type="button"
            class="quiet"
            disabled={isBusy}
            onClick={() => attempt(async () => setAsked(await api.synchronise(id)))}
          >
            Synchronise <span class="unseen">{name}</span>
          </button>
        )}
      </div>
    </li>
  );
}

/** What will stop or is late, and what was read last. */
function Standing({ connection, isReading }: { connection: Connection; isReading: boolean }) {
  const { sync, lastSyncedAt, forecast } = connection;
  const late = latenessOf(forecast);
  return (
    <>
      <p class={isUrgent(forecast) ? 'urgent' : 'note'}>{outlookOf(forecast)}</p>
      {late !== undefined && <p class="urgent">{late}</p>}
      {lastSyncedAt !== undefined && !isReading && (
        <p class="note">
          Read at {moment(lastSyncedAt)}
          {sync && `: ${resultOf(sync)}`}.
        </p>
      )}
    </>
  );
}

/** What is asked for less often: the clocks that run against the consent, and its end. */
function More({
  forecast,
  name,
  children,
}: {
  forecast: Connection['forecast'];
  name: string;
  children: ComponentChildren;
}) {
  return (
    <details class="more">
      <summary>
        Clocks and end <span class="unseen">of {name}</span>
      </summary>
      <dl>
        {forecast.clocks.map(({ clock, at }) => (
          <div key={clock}>
            <dt>{sentence(clockWords[clock])}</dt>
            <dd>until {day(at)}</dd>
          </div>
        ))}
      </dl>
      <p class="actions">{children}</p>
    </details>
  );
}

interface Step extends Pick<BankProps, 'api' | 'connection' | 'onChange'> {
  name: string;
  attempt: (work: () => Promise<void>) => void;
  isBusy: boolean;
}

/** What the forecast says is to be done, as one button. */
function NextStep({ api, connection: { id, forecast, authorisationUrl }, name, attempt, isBusy, onChange }: Step) {
  const style = isUrgent(forecast) ? '' : 'quiet';
  switch (forecast.action) {
    case 'authorise':
      if (authorisationUrl === undefined) return null;
      return (
        <a class="button" href={authorisationUrl}>
          Go to {name}
        </a>
      );
    case 'reconfirm':
      return (
        <button
          type="button"
          class={style}
          disabled={isBusy}
          onClick={() =>
            attempt(async () => {
              await api.reconfirm(id);
              onChange();
            })
          }
        >
          Confirm <span class="unseen">that access to {name} may go on</span>
        </button>
      );
    case 'renew':
      return <Renew {...{ api, id, name, style, attempt, isBusy, onChange }} />;
    default:
      return null;
  }
}

interface RenewProps extends Omit<Step, 'connection'> {
  id: string;
  style: string;
}

/** Leads to the bank; one that asks on a device of the customer's may first have to be told who they are. */
function Renew({ api, id, name, style, attempt, isBusy, onChange }: RenewProps) {
  const [asksWho, setAsksWho] = useState(false);
  const renew = async (psuId?: string) => {
    try {
      const { authorisationUrl } = await api.renew(id, here(), psuId);
      if (authorisationUrl !== undefined) return leaveFor(authorisationUrl);
      setAsksWho(false);
      onChange();
    } catch (error) {
      if (psuId !== undefined || !asksForPsuId(error)) throw error;
      setAsksWho(true);
    }
  };
  if (asksWho) return <PsuIdForm name={name} isBusy={isBusy} onSubmit={(psuId) => attempt(() => renew(psuId))} />;
  return (
    <button type="button" class={style} disabled={isBusy} onClick={() => attempt(renew)}>
      Renew <span class="unseen">{name}</span>
    </button>
  );
}

/** Asks once more, in place: what is withdrawn at the bank does not come back by itself. The focus goes with the question. */
function Disconnect({ name, onConfirm }: { name: string; onConfirm: () => void }) {
  const [stage, setStage] = useState<'at-rest' | 'asking' | 'kept'>('at-rest');
  if (stage !== 'asking')
    return (
      <button
        key="begin"
        type="button"
        class="quiet"
        ref={stage === 'kept' ? focus : null}
        onClick={() => setStage('asking')}
      >
        Disconnect <span class="unseen">{name}</span>
      </button>
    );
  return (
    <>
      <button key="end" type="button" class="danger" ref={focus} onClick={onConfirm}>
        End access to {name}
      </button>
      <button type="button" class="quiet" onClick={() => setStage('kept')}>
        Keep <span class="unseen">{name}</span>
      </button>
    </>
  );
}

/** As a ref that never changes it is called once, when the element appears. */
function focus(element: HTMLElement | null): void {
  element?.focus();
}
