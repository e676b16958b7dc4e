import { textOf } from './form-text.js';

interface PsuIdFormProps {
  /** The bank's name. */
  name: string;
  isBusy: boolean;
  onSubmit: (psuId: string) => void;
}

/** Asks by what name the bank knows the customer: one that asks them on a device of theirs has to know whom to ask. */
export function PsuIdForm({ name, isBusy, onSubmit }: PsuIdFormProps) {
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    onSubmit(textOf(new FormData(event.currentTarget), 'psuId'));
  };
  return (
    <form class="psu-id" onSubmit={submit}>
      <label>
        Your user name at {name}
        <input
          name="psuId"
          required
          maxLength={100}
          autocomplete="off"
          autocapitalize="none"
          ref={(field) => field?.focus()}
        />
      </label>
      <p class="note">{name} asks you on a device of yours.</p>
      <button disabled={isBusy}>Ask me there</button>
    </form>
  );
}
