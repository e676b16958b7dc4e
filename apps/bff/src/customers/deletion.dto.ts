import { Choice, DateTime, Flag, Integer, Json, Nested, Text, Uuid } from '#libs/contract';
import { ListPage } from '../list.dto.js';

export const DeletionStatus = { running: 'running', completed: 'completed' } as const;
export type DeletionStatus = (typeof DeletionStatus)[keyof typeof DeletionStatus];

/** What became of a consent: the bank has confirmed its end, or the time for that was over. */
export const ConsentOutcome = { revoked: 'revoked', unconfirmed: 'unconfirmed' } as const;
export type ConsentOutcome = (typeof ConsentOutcome)[keyof typeof ConsentOutcome];

export class DeletedConsent {
  @Text({ example: 'meridian' }) institutionId!: string;
  @Choice(ConsentOutcome, 'ConsentOutcome') outcome!: ConsentOutcome;
  @Text({
    optional: true,
    example: 'institution-refused',
    description:
      'Why it is unconfirmed: `institution-refused` (the bank refused or could not be reached) or `aggregator-failed`.',
  })
  reason?: string;
}

export class DeletionView {
  @Uuid() id!: string;
  @Choice(DeletionStatus, 'DeletionStatus') status!: DeletionStatus;
  @DateTime() requestedAt!: string;
  @DateTime({ description: 'When it ends at the latest, but for payments on their way.' }) deadlineAt!: string;
  @DateTime({ optional: true }) completedAt?: string;
  @DateTime({ optional: true, description: 'When it is tried again.' }) nextAttemptAt?: string;
  @Integer({ min: 0 }) attempts!: number;
  @Text({
    optional: true,
    example: 'consent-unconfirmed',
    description:
      'What it waits for: `consent-unconfirmed` (a bank), `payment-under-way`, `aggregator-failed`, or `internal-fault`.',
  })
  problem?: string;
  @Nested(() => DeletedConsent, { array: true, description: 'The consents that were open when it began.' })
  consents!: DeletedConsent[];
  @Flag({ description: 'Whether the aggregator has confirmed that its user, and every consent of theirs, is gone.' })
  userDeleted!: boolean;
  @Json({
    description: 'How many rows of each kind were deleted.',
    example: { connections: 1, accounts: 2, transactions: 731, payments: 1, webhooks: 4 },
  })
  erased!: Record<string, unknown>;
}

export class DeletionPage extends ListPage {
  @Nested(() => DeletionView, { array: true }) data!: DeletionView[];
}
