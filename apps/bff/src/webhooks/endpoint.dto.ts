import { Choice, DateTime, Flag, Integer, Nested, Text, Url, Uuid } from '#libs/contract';
import { EventType } from '../events/event-type.js';
import { DeliveryStatus } from './delivery-state.js';
import { EndpointStatus } from './endpoint-state.js';

const types = {
  array: { max: 50, unique: true },
  example: ['payment.completed', 'connection.updated'],
  description: 'The types of event to be told of; none or an empty list means all, also those to come.',
} as const;
const url = {
  example: 'https://shop.example/hooks/tributary',
  description: 'https and public, without query, fragment or credentials; redirects are not followed.',
} as const;
const description = { optional: true, maxLength: 200, example: 'The shop’s order service' } as const;

export class NewEndpoint {
  @Url(url) url!: string;
  @Choice(EventType, 'EventType', { ...types, optional: true }) types?: EventType[];
  @Text(description) description?: string;
}

export class EndpointChange {
  @Url({ ...url, optional: true }) url?: string;
  @Choice(EventType, 'EventType', { ...types, optional: true }) types?: EventType[];
  @Text(description) description?: string;
  @Choice(EndpointStatus, 'EndpointStatus', {
    optional: true,
    description: 'A disabled endpoint is told nothing; what it missed can be replayed when it is enabled again.',
  })
  status?: EndpointStatus;
}

export class EndpointView {
  @Uuid() id!: string;
  @Url(url) url!: string;
  @Choice(EventType, 'EventType', types) types!: string[];
  @Text(description) description?: string;
  @Choice(EndpointStatus, 'EndpointStatus') status!: EndpointStatus;
  @Text({
    optional: true,
    example: 'failing',
    description: 'by-merchant, gone (it answered 410) or failing (for three days)',
  })
  disabledReason?: string;
  @DateTime({ optional: true, description: 'Its first failure since it last took an event.' }) failingSince?: string;
  @DateTime() createdAt!: string;
}

export class EndpointWithSecret extends EndpointView {
  @Text({
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
    description: 'Verifies the signatures (Standard Webhooks). Shown here and never again.',
  })
  secret!: string;
}

export class EndpointList {
  @Nested(() => EndpointView, { array: true }) data!: EndpointView[];
}

export class SecretRotation {
  @Integer({
    optional: true,
    min: 0,
    max: 604_800,
    default: 86_400,
    description: 'For how many seconds deliveries carry the old secret’s signature, too.',
  })
  overlapSeconds?: number;
}

export class DeliveryQuery {
  @Choice(DeliveryStatus, 'DeliveryStatus', { optional: true }) status?: DeliveryStatus;
  @Uuid({ optional: true, description: 'The delivery behind which to go on.' }) after?: string;
  @Integer({ query: true, optional: true, min: 1, max: 100, default: 50 }) limit?: number;
}

export class AttemptView {
  @DateTime() startedAt!: string;
  @Integer({ min: 0 }) durationMs!: number;
  @Integer({ optional: true, example: 503 }) httpStatus?: number;
  @Text({ optional: true, example: 'timeout', description: 'timeout, unreachable or refused-address' })
  failure?: string;
}

export class DeliveryView {
  @Uuid() id!: string;
  @Uuid({ description: 'The event’s id, and the `webhook-id` of every attempt.' }) eventId!: string;
  @Integer({ min: 1 }) sequence!: number;
  @Text({ example: 'payment.completed' }) type!: string;
  @Choice(DeliveryStatus, 'DeliveryStatus') status!: DeliveryStatus;
  @DateTime({ optional: true }) nextAttemptAt?: string;
  @DateTime() createdAt!: string;
  @DateTime({ optional: true }) finishedAt?: string;
  @Nested(() => AttemptView, { array: true, description: 'The newest twenty, newest first.' }) attempts!: AttemptView[];
}

export class DeliveryPage {
  @Nested(() => DeliveryView, { array: true, description: 'Newest first; ids and statuses only.' })
  data!: DeliveryView[];
  @Flag() hasMore!: boolean;
}
