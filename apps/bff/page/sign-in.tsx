import { useState } from 'preact/hooks';
import { openSession } from './api.js';
import { textOf } from './form-text.js';
import { type CustomerSession, saveSession } from './session.js';

/** Stands in for the merchant's backend, which opens a session with its API key and hands the token to its frontend. */
export function SignIn({ onSession }: { onSession: (session: CustomerSession) => void }) {
  const [problem, setProblem] = useState<string>();
  const submit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    try {
      const session = await openSession(textOf(form, 'apiKey'), textOf(form, 'reference'));
      saveSession(session);
      onSession(session);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <main class="sign-in">
      <h1>Reference merchant</h1>
      <p>
        What a merchant’s frontend can do with the API: connect a bank, read accounts and transactions, pay. It uses the
        public API and nothing else.
      </p>
      <form onSubmit={(event) => void submit(event)}>
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
        <button type="submit">Open a session</button>
        {problem && <p role="alert">{problem}</p>}
      </form>
    </main>
  );
}
