import { render } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Accounts } from './accounts.js';
import { CustomerApi } from './api.js';
import { Banks } from './banks.js';
import { EventLog, useEvents } from './event-log.js';
import { Pay } from './pay.js';
import { type CustomerSession, savedSession, saveSession } from './session.js';
import { SignIn } from './sign-in.js';
import { Transactions } from './transactions.js';
import { useLoaded } from './use-loaded.js';
import { useVersion } from './use-version.js';

function Page() {
  const [session, setSession] = useState(savedSession);
  if (!session) return <SignIn onSession={setSession} />;
  const leave = () => {
    saveSession(undefined);
    setSession(undefined);
  };
  return <Dashboard session={session} onLeave={leave} />;
}

/** Everything of one customer. Each event of the log is a reason to read again: the page polls nothing. */
function Dashboard({ session, onLeave }: { session: CustomerSession; onLeave: () => void }) {
  const { token, reference } = session;
  const api = useMemo(() => new CustomerApi(token), [token]);
  const [version, onChange] = useVersion();
  const [told] = useState(takeReturned);
  const events = useEvents(token, onChange);
  const institutions = useLoaded(api.institutions, [token]);
  const connections = useLoaded(api.connections, [version]);
  const accounts = useLoaded(api.accounts, [version]);
  const problem = institutions.problem ?? connections.problem ?? accounts.problem;
  const banks = institutions.value ?? [];
  return (
    <>
      <header>
        <h1>Reference merchant</h1>
        <p>
          {reference}{' '}
          <button type="button" class="quiet" onClick={onLeave}>
            Leave
          </button>
        </p>
      </header>
      <main class="dashboard">
        {problem && <p role="alert">{problem}</p>}
        {told && <p role="status">{told}</p>}
        <div class="wide">
          <Banks {...{ api, token, onChange }} connections={connections.value ?? []} institutions={banks} />
          <Accounts api={api} accounts={accounts.value ?? []} version={version} />
          <Transactions api={api} accounts={accounts.value ?? []} version={version} />
        </div>
        <div class="narrow">
          <Pay api={api} institutions={banks} version={version} />
          <EventLog events={events} />
        </div>
      </main>
    </>
  );
}

/** What the API told the browser on its way back from a bank; the address is then cleaned of it. */
function takeReturned(): string | undefined {
  const query = new URLSearchParams(location.search);
  const status = query.get('status');
  if (status === null) return undefined;
  history.replaceState(null, '', location.pathname);
  return query.has('payment')
    ? 'Back from your bank: how the payment stands is told below it.'
    : `Back from your bank: the connection is ${status}.`;
}

const place = document.getElementById('page');
if (place) render(<Page />, place);
