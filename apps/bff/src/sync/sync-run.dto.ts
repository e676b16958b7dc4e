import { Choice, DateTime, Flag, Integer, Nested, Text, Uuid } from '#libs/contract';
import { SyncProgress } from '../connections/connection.dto.js';
import { SyncScope } from './call-budget.js';

const Owner = { user: 'user', merchant: 'merchant', institution: 'institution', operator: 'operator' } as const;

/** Why something is not up to date, and who can do what about it. */
export class Explanation {
  @Text({ description: 'The reason, as a name.', example: 'institution-failed' }) reason!: string;
  @Choice(Owner, 'ExplanationOwner') owner!: keyof typeof Owner;
  @Text({ description: '`wait`, `renew-consent`, `share-account` or `contact-operator`.' }) nextStep!: string;
  @DateTime({ optional: true, description: 'When it is tried again by itself.' }) at?: string;
}

/** What a synchronisation was to read and did not. */
export class UnreadPart {
  @Uuid({ optional: true, description: 'The account. Absent where the list of accounts was not read.' })
  accountId?: string;
  @Choice(SyncScope, 'SyncScope', { array: true, description: 'What of it was not read.' }) scopes!: SyncScope[];
  @DateTime({ description: 'When it may be read at the earliest while the customer is not present.' })
  nextPossibleAt!: string;
  @Nested(() => Explanation) explanation!: Explanation;
}

export class SyncRunView extends SyncProgress {
  @Uuid() connectionId!: string;
  @Flag({ description: 'The customer is present, so the institution does not count the calls.' }) attended!: boolean;
  @Integer({ min: 0, description: 'Accounts that the institution does not let be read yet.' }) accountsNotDue!: number;
  @DateTime({ optional: true, description: 'When the next account of the connection is due.' }) nextSyncAt?: string;
  @DateTime({
    optional: true,
    description: 'When the first of what was not read may be read while the customer is not present.',
  })
  nextPossibleAt?: string;
  @Nested(() => UnreadPart, {
    array: true,
    description: 'What was to be read and was not, each with its reason: empty when everything was read.',
  })
  notRead!: UnreadPart[];
  @Nested(() => Explanation, { optional: true, description: 'Absent while everything is read.' })
  explanation?: Explanation;
}

const OfferedScope = { balances: 'balances', transactions: 'transactions' } as const;

/** How the reading of an account stands. */
export class AccountSyncView {
  @DateTime({ optional: true, description: 'When it is read next.' }) nextSyncAt?: string;
  @DateTime({ description: 'When it may be read at the earliest while the customer is not present.' })
  nextPossibleAt!: string;
  @DateTime({ optional: true, description: 'Since when its history is here: as far back as the institution gave it.' })
  historyFrom?: string;
  @DateTime({ optional: true, description: 'When all of its history was last compared.' }) auditedAt?: string;
  @Choice(OfferedScope, 'OfferedScope', {
    array: true,
    optional: true,
    description: 'What the institution does not offer at all, which is no fault. Absent where it offers everything.',
  })
  notOffered?: (keyof typeof OfferedScope)[];
  @Nested(() => Explanation, { optional: true, description: 'Absent while it is up to date.' })
  explanation?: Explanation;
}
