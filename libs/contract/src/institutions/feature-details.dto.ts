import { Feature } from '../feature.js';
import { Choice, Text } from '../field.js';

/** One line of the deprecated `/features`: which operation a feature enables. */
export class FeatureDetails {
  @Choice(Feature, 'FeatureEnum', { always: true }) feature!: Feature;
  @Text({ optional: true }) endpoint?: string;
  @Text({ optional: true }) documentationUrl?: string;
}
