import { useState } from 'preact/hooks';
import type { CustomerApi } from './api.js';
import { textOf } from './form-text.js';
import { money, moment } from './format.js';
import { useLoaded } from './use-loaded.js';
import type { Institution, NewPayment } from './views.js';

interface Pay {
  api: CustomerApi;
  institutions: readonly Institution[];
  version: number;
}

/** A payment from the customer's bank to a payee, and how the last ones stand. */
export function Pay({ api, institutions, version }: Pay) {
  const [problem, setProblem] = useState<string>();
  const pay = async (form: FormData) => {
    setProblem(undefined);
    try {
      const { authorisationUrl } = await api.pay(paymentOf(form));
      if (authorisationUrl === undefined) throw new Error('The bank gave no address to go to.');
      location.assign(authorisationUrl);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <section aria-labelledby="pay-heading">
      <h2 id="pay-heading">Pay</h2>
      <PaymentForm institutions={institutions} onSubmit={(form) => void pay(form)} />
      {problem && <p role="alert">{problem}</p>}
      <Payments api={api} version={version} />
    </section>
  );
}

interface PaymentFormProps {
  institutions: readonly Institution[];
  onSubmit: (form: FormData) => void;
}

function PaymentForm({ institutions, onSubmit }: PaymentFormProps) {
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <form class="pay" onSubmit={submit}>
      <label>
        From
        <select name="institutionId" required>
          {institutions
            .filter(({ countries }) => countries.includes('GB'))
            .map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
        </select>
      </label>
      <label>
        Amount in GBP
        <input name="amount" type="number" min="0.01" step="0.01" required value="12.50" inputMode="decimal" />
      </label>
      <label>
        Payee
        <input name="payee" required maxLength={140} value="Corner Bakery" autocomplete="off" />
      </label>
      <label>
        Sort code
        <input name="sortCode" required pattern="[0-9]{6}" title="Six digits" value="200000" inputMode="numeric" />
      </label>
      <label>
        Account number
        <input
          name="accountNumber"
          required
          pattern="[0-9]{8}"
          title="Eight digits"
          value="55779911"
          inputMode="numeric"
        />
      </label>
      <label>
        Reference
        <input name="reference" maxLength={18} value="Order 1042" autocomplete="off" />
      </label>
      <button type="submit">Pay by bank</button>
    </form>
  );
}

function Payments({ api, version }: Pick<Pay, 'api' | 'version'>) {
  const { value = [], problem } = useLoaded(api.payments, [version]);
  if (problem) return <p role="alert">{problem}</p>;
  return (
    <ul class="payments" role="list" aria-label="Payments" aria-live="polite">
      {value.slice(0, 5).map(({ id, amount, currency, reference, status, reason, createdAt }) => (
        <li key={id}>
          <span>
            {money(amount, currency)} {reference}
          </span>
          <span class={`badge ${status.toLowerCase()}`}>{status}</span>
          <span class="note">
            {moment(createdAt)}
            {reason !== undefined && `, ${reason}`}
          </span>
        </li>
      ))}
    </ul>
  );
}

function paymentOf(form: FormData): NewPayment {
  const text = (name: string) => textOf(form, name);
  const reference = text('reference');
  return {
    institutionId: text('institutionId'),
    amount: Number(text('amount')),
    currency: 'GBP',
    payee: {
      name: text('payee'),
      accountIdentifications: [
        { type: 'SORT_CODE', identification: text('sortCode') },
        { type: 'ACCOUNT_NUMBER', identification: text('accountNumber') },
      ],
    },
    ...(reference ? { reference } : {}),
    returnUrl: location.origin + location.pathname,
  };
}
