import { Choice, DateTime, Integer, Nested, Text, Url, Uuid } from '#libs/contract';
import { Forecast } from '../consents/forecast.dto.js';
import { ListPage, ListQuery } from '../list.dto.js';
import { ConnectionStatus } from './connection-state.js';

export class NewConnection {
  @Text({ maxLength: 100, example: 'meridian-sandbox' }) institutionId!: string;
  @Url({
    optional: true,
    description: 'Where the customer’s browser goes after the bank, with `connection` and `status` in the query.',
  })
  returnUrl?: string;
}

/** The last synchronisation; while it runs, its progress. */
export class SyncProgress {
  @Uuid() id!: string;
  @Text({
    description:
      '`running`, `completed`, `incomplete` or `failed`. What was not read, why and when it is possible stands in `notRead` of the ' +
      'synchronisation, also where the institution only allows no more calls yet.',
  })
  status!: string;
  @DateTime() startedAt!: string;
  @DateTime({ optional: true }) endedAt?: string;
  @Integer({ min: 0 }) accounts!: number;
  @Integer({ min: 0 }) accountsDone!: number;
  @Integer({ min: 0 }) pages!: number;
  @Integer({ min: 0 }) rowsRead!: number;
  @Integer({ min: 0, description: 'What there is to read, as far as the institution has said.' }) rowsExpected!: number;
  @Integer({ min: 0 }) added!: number;
  @Integer({ min: 0 }) modified!: number;
  @Integer({ min: 0 }) removed!: number;
  @Integer({
    optional: true,
    min: 0,
    description: 'Rows matched and recorded a second, without the waits for the bank.',
  })
  rowsPerSecond?: number;
  @Text({ optional: true }) problem?: string;
}

export class ConnectionView {
  @Uuid() id!: string;
  @Text() institutionId!: string;
  @Choice(ConnectionStatus, 'ConnectionStatus') status!: ConnectionStatus;
  @Text({ optional: true, description: 'Why it is so, as a name.' }) reason?: string;
  @Text({ description: '`unknown`, `healthy` or `degraded`.' }) health!: string;
  @Text({
    optional: true,
    description:
      'Where to send the customer; only while awaiting authorisation. Absent then: the bank asks them on a device of theirs, and the ' +
      'connection becomes active within seconds of their answer.',
  })
  authorisationUrl?: string;
  @DateTime() createdAt!: string;
  @DateTime({ optional: true }) authorisedAt?: string;
  @DateTime({ optional: true, description: 'When the consent ends at the bank.' }) expiresAt?: string;
  @DateTime({ optional: true, description: 'By when the customer has to confirm that access may go on.' })
  reconfirmBy?: string;
  @DateTime({ optional: true, description: 'When the customer last confirmed.' }) confirmedAt?: string;
  @DateTime({ optional: true }) lastSyncedAt?: string;
  @DateTime({ optional: true }) nextSyncAt?: string;
  @Nested(() => Forecast) forecast!: Forecast;
  @Nested(() => SyncProgress, { optional: true }) sync?: SyncProgress;
}

export class ConnectionList extends ListPage {
  @Nested(() => ConnectionView, { array: true }) data!: ConnectionView[];
}

export class InstitutionMedia {
  @Text({ example: 'icon' }) type!: string;
  @Text({ description: 'Address of the picture.' }) source!: string;
}

export class InstitutionView {
  @Text() id!: string;
  @Text() name!: string;
  @Text({ optional: true }) fullName?: string;
  @Text({ array: true, description: 'ISO 3166-1 alpha-2' }) countries!: string[];
  @Text({ optional: true, description: 'Address of a picture.' }) logo?: string;
  @Nested(() => InstitutionMedia, { array: true, description: 'All pictures: logos and icons.' })
  media!: InstitutionMedia[];
  @Text({ array: true }) features!: string[];
}

export class InstitutionQuery extends ListQuery {
  @Text({
    optional: true,
    maxLength: 100,
    description: 'A part of the name, in small or capital letters, with or without accents.',
    example: 'bank',
  })
  name?: string;
  @Text({ optional: true, pattern: /^[A-Za-z]{2}$/, description: 'ISO 3166-1 alpha-2', example: 'GB' })
  country?: string;
  @Text({
    optional: true,
    array: { max: 50 },
    query: true,
    description: 'All of these features; repeated or comma separated.',
    example: ['ACCOUNTS', 'ACCOUNT_TRANSACTIONS'],
  })
  features?: string[];
}

export class InstitutionList extends ListPage {
  @Nested(() => InstitutionView, { array: true }) data!: InstitutionView[];
}
