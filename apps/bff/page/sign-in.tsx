import { openSession } from './api.js';
import { textOf } from './form-text.js';
import type { CustomerSession } from './session.js';
import { useAttempt } from './use-attempt.js';

interface SignInProps {
  /** Why one has to sign in again. */
  told: string | undefined;
  onSession: (session: CustomerSession) => void;
}

/** Stands in for the merchant's backend, which opens a session with its API key and hands the token to its frontend. */
export function SignIn({ told, onSession }: SignInProps) {
  const { attempt, isBusy, problem } = useAttempt();
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    attempt(async () => onSession(await openSession(textOf(form, 'apiKey'), textOf(form, 'reference'))));
  };
  return (
    <main class="sign-in">
      <h1>Reference merchant</h1>
      <p>
        What a merchant’s frontend can do with the API: connect a bank, read accounts and transactions, pay. It uses the
        public API and nothing else, so everything you see here your own frontend can do.
      </p>
      {told !== undefined && <p role="status">{told}</p>}
      <form onSubmit={submit}>
        <label>
          Merchant API key
          <input
            name="apiKey"
            type="password"
            required
            autocomplete="off"
            spellcheck={false}
            aria-describedby="key-note"
          />
        </label>
        <p id="key-note" class="note">
          <code>npm start</code> prints one. It opens a session, as a merchant’s backend would, and is not kept.
        </p>
        <label>
          Customer
          <input name="reference" required maxLength={200} value="customer-1" autocomplete="off" />
        </label>
        <button type="submit" disabled={isBusy}>
          Open a session
        </button>
        {problem !== undefined && <p role="alert">{problem}</p>}
      </form>
    </main>
  );
}
