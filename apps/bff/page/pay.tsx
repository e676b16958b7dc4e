import type { CustomerApi } from './api.js';
import { textOf } from './form-text.js';
import { money, moment } from './format.js';
import { here, leaveFor } from './navigation.js';
import { paymentStatus, paymentTone } from './payment-words.js';
import { Skeleton } from './skeleton.js';
import { useAttempt } from './use-attempt.js';
import type { Loaded } from './use-loaded.js';
import type { Institution, NewPayment, Payment } from './views.js';

interface PayProps {
  api: CustomerApi;
  institutions: readonly Institution[];
  payments: Loaded<Payment[]>;
}

/** A payment from the customer's bank to a payee, and how the last ones stand. */
export function Pay({ api, institutions, payments }: PayProps) {
  const { attempt, isBusy, problem } = useAttempt();
  return (
    <section aria-labelledby="pay-heading">
      <h2 id="pay-heading">Pay</h2>
      <PaymentForm
        institutions={institutions.filter(({ features }) => features.includes('CREATE_DOMESTIC_SINGLE_PAYMENT'))}
        isBusy={isBusy}
        onSubmit={(form) => attempt(async () => leaveFor((await api.pay(paymentOf(form))).authorisationUrl))}
      />
      {problem !== undefined && <p role="alert">{problem}</p>}
      <Payments payments={payments} institutions={institutions} />
    </section>
  );
}

interface PaymentFormProps {
  institutions: readonly Institution[];
  isBusy: boolean;
  onSubmit: (form: FormData) => void;
}

function PaymentForm({ institutions, isBusy, onSubmit }: PaymentFormProps) {
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <form class="pay" onSubmit={submit}>
      <label>
        From
        <select name="institutionId" required>
          {institutions.map(({ id, name }) => (
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
      <button type="submit" disabled={isBusy}>
        {isBusy ? 'Asking the bank…' : 'Pay by bank'}
      </button>
    </form>
  );
}

function Payments({ payments: { value, problem }, institutions }: Pick<PayProps, 'payments' | 'institutions'>) {
  if (problem !== undefined) return <p role="alert">{problem}</p>;
  if (!value) return <Skeleton what="payments" lines={2} />;
  return (
    <ul class="payments" role="list" aria-label="Payments">
      {value.slice(0, 5).map(({ id, institutionId, amount, currency, reference, status, reason, createdAt }) => (
        <li key={id}>
          <span class="what">
            {money(amount, currency)} {reference}
            <span class="note">
              {institutions.find((each) => each.id === institutionId)?.name}, {moment(createdAt)}
              {reason !== undefined && `, ${reason.replaceAll('-', ' ')}`}
            </span>
          </span>
          <span class={`badge ${paymentTone(status)}`}>{paymentStatus(status)}</span>
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
    returnUrl: here(),
  };
}
