import { render } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Accounts, nameOf } from './accounts.js';
import { CustomerApi } from './api.js';
import { Banks, institutionOf } from './banks.js';
import { CallLog } from './call-log.js';
import { Calls } from './calls.js';
import { Checks } from './checks.js';
import { EventLog, useEvents } from './event-log.js';
import { Pay } from './pay.js';
import { takeReturned, toldOf } from './returned.js';
import { type CustomerSession, savedSession, saveSession } from './session.js';
import { SignIn } from './sign-in.js';
import { Transactions } from './transactions.js';
import { useLoaded } from './use-loaded.js';
import { useVersion } from './use-version.js';

function Page() {
  const [session, setSession] = useState(savedSession);
  const [told, setTold] = useState<string>();
  const change = (next: CustomerSession | undefined, why?: string) => {
    saveSession(next);
    setSession(next);
    setTold(why);
  };
  if (!session) return <SignIn told={told} onSession={change} />;
  const onEnded = () => change(undefined, 'The session has ended, as it does after half an hour. Open another one.');
  return <Dashboard key={session.token} session={session} onLeave={() => change(undefined)} onEnded={onEnded} />;
}

interface DashboardProps {
  session: CustomerSession;
  onLeave: () => void;
  onEnded: () => void;
}

/** Everything of one customer. Each event of the log is a reason to read again: the page polls nothing. */
function Dashboard({ session: { token, reference }, onLeave, onEnded }: DashboardProps) {
  const calls = useMemo(() => new CallLog(), []);
  const api = useMemo(() => new CustomerApi({ token, calls, onEnded }), [token]);
  const [version, onChange] = useVersion();
  const [returned] = useState(takeReturned);
  const { events, problem: streamProblem } = useEvents(token, onChange);
  const { value: institutions, problem: institutionsProblem } = useLoaded(api.institutions, [token]);
  const { value: connections, problem: connectionsProblem } = useLoaded(api.connections, [version]);
  const { value: accounts, problem: accountsProblem } = useLoaded(api.accounts, [version]);
  const payments = useLoaded(api.payments, [version]);
  const problem = institutionsProblem ?? connectionsProblem ?? accountsProblem;
  const bankOf = (institutionId: string) => institutionOf(institutions ?? [], institutionId).name;
  const told =
    returned &&
    toldOf(returned, { connections, payments: payments.value, nameOf: (each) => bankOf(each.institutionId) });
  const names = {
    connection: (id: string) => {
      const connection = connections?.find((each) => each.id === id);
      return connection && bankOf(connection.institutionId);
    },
    account: (id: string) => {
      const account = accounts?.find((each) => each.id === id);
      return account && nameOf(account);
    },
  };
  return (
    <>
      <Header reference={reference} onLeave={onLeave} />
      <main class="dashboard">
        {problem !== undefined && <p role="alert">{problem}</p>}
        <p class="told" role="status">
          {told}
        </p>
        <div class="wide">
          <Banks {...{ api, connections, institutions, onChange }} />
          <Accounts
            {...{ api, accounts, institutions }}
            isExpecting={connections?.some(({ status }) => status === 'active') ?? false}
          />
          <Checks {...{ api, accounts, institutions, version, onChange }} />
          <Transactions api={api} accounts={accounts ?? []} version={version} />
        </div>
        <div class="narrow">
          <Pay api={api} institutions={institutions ?? []} payments={payments} />
          <EventLog events={events} problem={streamProblem} names={names} />
          <Calls calls={calls} />
        </div>
      </main>
    </>
  );
}

function Header({ reference, onLeave }: { reference: string; onLeave: () => void }) {
  return (
    <header>
      <h1>
        Tributary <span class="note">Reference merchant</span>
      </h1>
      <p>
        <span class="who">{reference}</span>
        <button type="button" class="quiet" onClick={onLeave}>
          Leave
        </button>
      </p>
    </header>
  );
}

const place = document.getElementById('page');
if (place) render(<Page />, place);
