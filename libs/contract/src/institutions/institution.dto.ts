import { enumeration } from '../enumeration.js';
import { Feature } from '../feature.js';
import { Choice, Nested, Text } from '../field.js';

export const EnvironmentType = enumeration('SANDBOX', 'MOCK', 'LIVE');
export type EnvironmentType = keyof typeof EnvironmentType;

export const CredentialsType = enumeration(
  'OAUTH1',
  'OAUTH2',
  'OAUTH2_NOSECRET',
  'OAUTH2_SIGNATURE',
  'OPEN_BANKING_UK_MANUAL',
  'OPEN_BANKING_UK_AUTO',
  'OPEN_BANKING_IBM',
  'OPEN_BANKING_AUTO',
  'OPEN_BANKING_AUTO_EMAIL',
  'OPEN_BANKING_MANUAL',
  'OPEN_BANKING_WITH_TPP_ID_AND_SECRET',
  'API_KEY',
  'OPEN_BANKING_NO_KEY',
  'OPEN_BANKING_NO_TRANSPORT',
  'TOKEN_IO',
);
export type CredentialsType = keyof typeof CredentialsType;

export class Country {
  @Text({ optional: true }) displayName?: string;
  @Text({ always: true }) countryCode2!: string;
  @Text({ optional: true }) bic?: string;
}

export class Media {
  @Text({ always: true }) source!: string;
  @Text({ always: true }) type!: string;
}

export class Institution {
  @Text({ always: true }) id!: string;
  @Text({ always: true }) name!: string;
  @Text({ always: true }) fullName!: string;
  @Nested(() => Country, { always: true, array: { unique: true } }) countries!: Country[];
  @Choice(EnvironmentType, 'EnvironmentType', { always: true }) environmentType!: EnvironmentType;
  @Choice(CredentialsType, 'CredentialsType', { always: true }) credentialsType!: CredentialsType;
  @Nested(() => Media, { always: true, array: { unique: true } }) media!: Media[];
  @Choice(Feature, 'FeatureEnum', { always: true, array: { unique: true } }) features!: Feature[];
}
