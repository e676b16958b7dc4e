import { DateTime, Flag, Integer, Json, Nested, Text, Uuid } from '#libs/contract';

export class EventsQuery {
  @Integer({ query: true, optional: true, min: 0, description: 'The sequence after which to start; 0 for everything.' })
  after?: number;
  @Integer({ query: true, optional: true, min: 1, max: 500, default: 100 }) limit?: number;
}

export class EventView {
  @Uuid() id!: string;
  @Integer({ min: 1, description: 'Without gaps, one series a merchant.' }) sequence!: number;
  @Text({ example: 'payment.completed' }) type!: string;
  @Uuid({ optional: true }) customerId?: string;
  @Json({ description: 'Ids and statuses: read the resource for more.' }) data!: Record<string, unknown>;
  @DateTime() createdAt!: string;
}

export class EventPage {
  @Nested(() => EventView, { array: true }) data!: EventView[];
  @Integer({ min: 0, description: 'What to send as `after` next time.' }) nextAfter!: number;
  @Flag() hasMore!: boolean;
}
