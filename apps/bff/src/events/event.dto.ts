import { Choice, DateTime, Flag, Integer, Json, Nested, Text, Uuid } from '#libs/contract';
import { EventType } from './event-type.js';

/** Beyond it a JSON number is no longer exact. */
export const sequenceMax = Number.MAX_SAFE_INTEGER;

/** Which events a pull or a stream is about. */
export class EventFilter {
  @Integer({
    query: true,
    optional: true,
    min: 0,
    max: sequenceMax,
    example: 41,
    description:
      'The sequence after which to start. Without it, the oldest event that is still kept. Answered with 410 when events after it are no longer kept.',
  })
  after?: number;
  @Choice(EventType, 'EventType', {
    query: true,
    optional: true,
    array: { max: 20, unique: true },
    example: ['payment.completed', 'payment.failed'],
    description: 'Only these types; repeated or separated by commas.',
  })
  types?: EventType[];
  @Uuid({
    optional: true,
    description: 'Only of this customer. A session sees its own customer’s events, whatever this says.',
  })
  customerId?: string;
}

export class EventsQuery extends EventFilter {
  @Integer({ query: true, optional: true, min: 1, max: 500, default: 100 }) limit?: number;
}

export class EventView {
  @Uuid({ example: '0b7e9a52-6f0a-4a53-9a55-0d5f0f3a1c11' }) id!: string;
  @Integer({ min: 1, example: 42, description: 'Without gaps, one series a merchant.' }) sequence!: number;
  @Text({
    example: 'payment.completed',
    description:
      'What happened: a value of `EventType`, which grows in time. Among them `account.balance-mismatch`: a booked balance has moved beyond the transactions; and `account.balance-agreed`: the difference that was told last is gone.',
  })
  type!: string;
  @Uuid({ optional: true, example: '5a0f3b62-1df4-4f0f-8f0e-2f4e8a6b7c90' }) customerId?: string;
  @Json({
    description: 'Ids and statuses: read the resource for more.',
    example: { paymentId: '7f1d5f0e-7d40-4f9b-9f6e-8f5b1f0a2d33', status: 'COMPLETED' },
  })
  data!: Record<string, unknown>;
  @DateTime({ example: '2026-01-31T12:00:00.000Z' }) createdAt!: string;
}

export class EventPage {
  @Nested(() => EventView, { array: true }) data!: EventView[];
  @Integer({
    min: 0,
    example: 42,
    description:
      'What to send as `after` next time; on the last page it is the newest event, whether it matched or not.',
  })
  nextAfter!: number;
  @Flag({ example: false }) hasMore!: boolean;
}
