import { Choice, DateTime, Integer, Nested, Text, Uuid } from '#libs/contract';
import { ListPage, ListQuery } from '../list.dto.js';
import { StopCause } from './consent-clocks.js';

/** Who can do something about it. */
export const Owner = {
  customer: 'customer',
  institution: 'institution',
  operator: 'operator',
  nobody: 'nobody',
} as const;
export type Owner = (typeof Owner)[keyof typeof Owner];

/** What is to be done: `link` says where. */
export const Action = {
  renew: 'renew',
  reconfirm: 'reconfirm',
  connect: 'connect',
  authorise: 'authorise',
  nothing: 'nothing',
} as const;
export type Action = (typeof Action)[keyof typeof Action];

/** `ahead`: data will stop. `stopped`: data do not come. `steady`: no end is known. */
export const Outlook = {
  steady: 'steady',
  ahead: 'ahead',
  stopped: 'stopped',
} as const;
export type Outlook = (typeof Outlook)[keyof typeof Outlook];

/** One of a consent's three clocks. */
export class ConsentClock {
  @Choice(StopCause, 'StopCause', { example: 'consent-expiry' }) clock!: StopCause;
  @DateTime({ description: 'The last instant that it allows.', example: '2026-08-30T00:00:00.000Z' }) at!: string;
}

/** Data are late, because of a fault that passes. */
export class Interruption {
  @Text({ example: 'institution-failed' }) cause!: string;
  @Choice(Owner, 'Owner', { example: 'institution' }) owner!: Owner;
  @DateTime({ optional: true, description: 'When it is tried again, without anybody doing anything.' })
  nextAttemptAt?: string;
}

/** What of a connection’s data will stop, when and why, and what is to be done. */
export class Forecast {
  @Choice(Outlook, 'Outlook', {
    example: 'ahead',
    description: '`steady`: no end is known. `ahead`: data will stop. `stopped`: data do not come.',
  })
  outlook!: Outlook;
  @DateTime({
    optional: true,
    example: '2026-08-29T23:55:00.000Z',
    description: 'When data stop, some minutes before the nearest clock; since when, if they have.',
  })
  at?: string;
  @Integer({ optional: true, min: 0, example: 12, description: 'Whole days until then, one that has begun included.' })
  daysLeft?: number;
  @Text({
    optional: true,
    example: 'consent-expiry',
    description: 'A clock (`consent-expiry`, `sca-age`, `reconfirmation`), or what has ended it already.',
  })
  cause?: string;
  @Choice(Owner, 'Owner', { description: 'Who can do something about it.', example: 'customer' }) owner!: Owner;
  @Choice(Action, 'Action', {
    example: 'renew',
    description:
      '`renew`: at the bank’s pages, while data go on. `reconfirm`: the customer confirms to you. `connect`: anew. ' +
      '`authorise`: finish what was begun.',
  })
  action!: Action;
  @Text({
    optional: true,
    example: '/v1/connections/6f1c2f0e-6f0b-4c1c-9d5e-0d8f3b1c2a11/renewals',
    description:
      'Where to post for the action. An address for an e-mail is made with `POST …/renewal-links` of the connection.',
  })
  link?: string;
  @Nested(() => Interruption, { optional: true }) interruption?: Interruption;
  @Text({
    array: true,
    example: ['ACCOUNTS', 'ACCOUNT_BALANCES', 'ACCOUNT_TRANSACTIONS'],
    description: 'The data that the consent covers, as features of the interface.',
  })
  data!: string[];
  @Nested(() => ConsentClock, { array: true, description: 'The clocks that run, the nearest first.' })
  clocks!: ConsentClock[];
}

/** The forecast of one connection. */
export class ConnectionForecast extends Forecast {
  @Uuid() connectionId!: string;
  @Uuid() customerId!: string;
  @Text({ example: 'meridian-sandbox' }) institutionId!: string;
  @Uuid({ array: true, description: 'The accounts whose data it is.' }) accountIds!: string[];
}

export class ForecastQuery extends ListQuery {
  @DateTime({
    optional: true,
    description: 'Only what stops before this instant; 30 days ahead when absent. What has stopped is included.',
    example: '2026-09-30T00:00:00Z',
  })
  before?: string;
}

export class ForecastPage extends ListPage {
  @Nested(() => ConnectionForecast, { array: true, description: 'The soonest first.' }) data!: ConnectionForecast[];
}
