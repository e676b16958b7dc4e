import { useState } from 'preact/hooks';
import type { CustomerApi } from './api.js';
import { textOf } from './form-text.js';
import { day, moment } from './format.js';
import { SyncProgress } from './sync-progress.js';
import type { Connection, Institution, SyncRun } from './views.js';

interface Banks {
  api: CustomerApi;
  token: string;
  connections: readonly Connection[];
  institutions: readonly Institution[];
  /** Something changed: read everything again. */
  onChange: () => void;
}

/** The customer's banks: connect one, see how each stands, synchronise, disconnect. */
export function Banks({ api, token, connections, institutions, onChange }: Banks) {
  const [problem, setProblem] = useState<string>();
  const attempt = async (work: () => Promise<void>) => {
    setProblem(undefined);
    await work().catch((error: Error) => setProblem(error.message));
  };
  const open = connections.filter(({ status }) => !over.has(status));
  return (
    <section aria-labelledby="banks-heading">
      <h2 id="banks-heading">Banks</h2>
      {problem && <p role="alert">{problem}</p>}
      <ul class="banks" role="list">
        {open.map((connection) => (
          <Bank
            key={connection.id}
            {...{ api, token, connection, attempt, onChange }}
            name={institutions.find(({ id }) => id === connection.institutionId)?.name ?? connection.institutionId}
          />
        ))}
      </ul>
      <ConnectBank api={api} institutions={institutions} attempt={attempt} />
    </section>
  );
}

/** Ends of a connection that have nothing more to tell. */
const over: ReadonlySet<string> = new Set(['revoked', 'denied', 'failed', 'abandoned']);

type Attempt = (work: () => Promise<void>) => Promise<void>;

interface BankProps extends Pick<Banks, 'api' | 'token' | 'onChange'> {
  connection: Connection;
  name: string;
  attempt: Attempt;
}

function Bank({ api, token, connection, name, attempt, onChange }: BankProps) {
  const [run, setRun] = useState<SyncRun>();
  const { id, status, health, lastSyncedAt, expiresAt, authorisationUrl } = connection;
  const watched = run ?? (connection.sync?.status === 'running' ? connection.sync : undefined);
  return (
    <li>
      <h3>{name}</h3>
      <p class="note">
        <span class={`badge ${status}`}>{status}</span> {health === 'degraded' && <span class="badge">degraded</span>}{' '}
        {lastSyncedAt === undefined ? 'not synchronised yet' : `synchronised ${moment(lastSyncedAt)}`}
        {expiresAt !== undefined && `, consent until ${day(expiresAt)}`}
      </p>
      {watched && (
        <SyncProgress
          key={watched.id}
          {...{ token, name }}
          connectionId={id}
          run={watched}
          onEnd={() => {
            setRun(undefined);
            onChange();
          }}
        />
      )}
      <div class="actions">
        {authorisationUrl !== undefined && <a href={authorisationUrl}>Go to {name}</a>}
        {status === 'active' && !watched && (
          <button type="button" onClick={() => void attempt(async () => setRun(await api.synchronise(id)))}>
            Synchronise <span class="unseen">{name}</span>
          </button>
        )}
        <button
          type="button"
          class="quiet"
          onClick={() =>
            void attempt(async () => {
              await api.disconnect(id);
              onChange();
            })
          }
        >
          Disconnect <span class="unseen">{name}</span>
        </button>
      </div>
    </li>
  );
}

function ConnectBank({ api, institutions, attempt }: Pick<Banks, 'api' | 'institutions'> & { attempt: Attempt }) {
  const connect = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const chosen = textOf(new FormData(event.currentTarget), 'institution');
    void attempt(async () => {
      const { authorisationUrl } = await api.connect(chosen, location.origin + location.pathname);
      if (authorisationUrl === undefined) throw new Error('The bank gave no address to go to.');
      location.assign(authorisationUrl);
    });
  };
  return (
    <form class="row" onSubmit={connect}>
      <label>
        Bank
        <select name="institution" required>
          {institutions.map(({ id, name, countries }) => (
            <option key={id} value={id}>
              {name} ({countries.join(', ')})
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Connect</button>
    </form>
  );
}
