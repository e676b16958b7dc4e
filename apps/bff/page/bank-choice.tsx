import { useState } from 'preact/hooks';
import { asksForPsuId, type CustomerApi, problemOf } from './api.js';
import { BankLogo } from './bank-logo.js';
import { here, leaveFor } from './navigation.js';
import { PsuIdForm } from './psu-id-form.js';
import type { Institution } from './views.js';

const shownMax = 12;

interface Choice {
  api: CustomerApi;
  institutions: readonly Institution[];
  /** Nothing is connected yet, so the list is open. */
  isFirst: boolean;
  /** A bank asks its customer elsewhere, and the page stays. */
  onAsked: () => void;
}

/** Every bank that can be connected, by name and picture. */
export function BankChoice({ api, institutions, isFirst, onAsked }: Choice) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<{ id: string; reason: string; asksWho: boolean }>();
  const [chosen, setChosen] = useState<string>();
  const found = institutions.filter((each) => isMeant(each, text));
  const connect = async (id: string, psuId?: string) => {
    setProblem(undefined);
    setChosen(id);
    try {
      const { authorisationUrl } = await api.connect(id, here(), psuId);
      if (authorisationUrl !== undefined) return leaveFor(authorisationUrl);
      setChosen(undefined);
      onAsked();
    } catch (error) {
      setProblem({ id, reason: problemOf(error), asksWho: psuId === undefined && asksForPsuId(error) });
      setChosen(undefined);
    }
  };
  return (
    <details class="choice" open={isFirst}>
      <summary>Connect {isFirst ? 'a' : 'another'} bank</summary>
      <label>
        Find a bank
        <input type="search" maxLength={100} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <ul role="list" aria-label="Banks to connect">
        {found.slice(0, shownMax).map((institution) => (
          <li key={institution.id}>
            <button
              type="button"
              class="quiet bank-button"
              disabled={chosen !== undefined || !isOffered(institution)}
              onClick={() => void connect(institution.id)}
            >
              <BankLogo institution={institution} />
              <span>
                <span class="unseen">Connect </span>
                {institution.name}
                <span class="note">{chosen === institution.id ? 'Asking the bank…' : noteOf(institution)}</span>
              </span>
            </button>
            {problem?.id === institution.id && !problem.asksWho && <p role="alert">{problem.reason}</p>}
            {problem?.id === institution.id && problem.asksWho && (
              <PsuIdForm
                name={institution.name}
                isBusy={chosen !== undefined}
                onSubmit={(psuId) => void connect(institution.id, psuId)}
              />
            )}
          </li>
        ))}
      </ul>
      <p class="note" role="status">
        {found.length === 0 && `No bank is called “${text}”.`}
        {found.length > shownMax && `${found.length - shownMax} more: type a part of the name.`}
      </p>
    </details>
  );
}

function isMeant({ name, fullName = '', countries }: Institution, text: string): boolean {
  return `${name} ${fullName} ${countries.join(' ')}`.toLowerCase().includes(text.trim().toLowerCase());
}

/** Whether the bank has a page of its own to be sent to. */
function isOffered({ features }: Institution): boolean {
  return features.includes('INITIATE_ACCOUNT_REQUEST');
}

const nameOfCountry = new Intl.DisplayNames('en-GB', { type: 'region' });

function noteOf(institution: Institution): string {
  const countries = institution.countries.map((code) => nameOfCountry.of(code) ?? code).join(', ');
  return isOffered(institution) ? countries : `${countries} · has no login page of its own`;
}
