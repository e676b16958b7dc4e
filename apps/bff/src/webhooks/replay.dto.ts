import { Choice, DateTime, Flag, Integer, Uuid } from '#libs/contract';
import { EventType } from '../events/event-type.js';
import { sequenceMax } from '../events/event.dto.js';

const endpointId = {
  optional: true,
  description: 'Only to this endpoint, whatever it subscribes to; to all that subscribe without it.',
} as const;

export class EventReplay {
  @Uuid(endpointId) endpointId?: string;
}

export class RangeReplay {
  @Integer({
    optional: true,
    min: 0,
    max: sequenceMax,
    example: 41,
    description: 'The sequence after which to begin; this or `from` is needed.',
  })
  after?: number;
  @Integer({ optional: true, min: 1, max: sequenceMax, description: 'The last sequence.' }) through?: number;
  @DateTime({ optional: true, description: 'Events from this instant on.' }) from?: string;
  @DateTime({ optional: true, description: 'Events before this instant.' }) to?: string;
  @Choice(EventType, 'EventType', {
    optional: true,
    array: { max: 20, unique: true },
    description: 'Only these types.',
  })
  types?: EventType[];
  @Uuid(endpointId) endpointId?: string;
}

export class ReplayView {
  @Integer({ min: 0, description: 'Events of the range; 10,000 at most in one call.' }) events!: number;
  @Integer({ min: 0, description: 'Deliveries that are now due; those that were due already are not counted.' })
  deliveries!: number;
  @Integer({ min: 0, description: 'What to send as `after` for the rest.' }) nextAfter!: number;
  @Flag() hasMore!: boolean;
}
