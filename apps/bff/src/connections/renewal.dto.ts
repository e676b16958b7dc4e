import { Choice, DateTime, Nested, Text, Url, Uuid } from '#libs/contract';
import { ListPage } from '../list.dto.js';
import { RenewalStatus } from './renewal-state.js';

export class NewRenewal {
  @Url({
    optional: true,
    example: 'https://shop.example/bank',
    description:
      'Where the customer’s browser goes after the bank, with `connection`, `status`, `renewal` and `renewal-status` in the query.',
  })
  returnUrl?: string;
}

/** One attempt to authorise a connection again; until it is `completed` the connection goes on with what it has. */
export class RenewalView {
  @Uuid() id!: string;
  @Uuid() connectionId!: string;
  @Choice(RenewalStatus, 'RenewalStatus', { example: 'awaiting-authorisation' }) status!: RenewalStatus;
  @Text({ optional: true, description: 'Why it is so, as a name.', example: 'access-denied' }) reason?: string;
  @Text({ optional: true, description: 'Where to send the customer; only while awaiting authorisation.' })
  authorisationUrl?: string;
  @DateTime() createdAt!: string;
  @DateTime({ optional: true }) endedAt?: string;
  @DateTime({ optional: true, description: 'When the institution accepted the end of the consent that was replaced.' })
  formerConsentEndedAt?: string;
}

export class RenewalList extends ListPage {
  @Nested(() => RenewalView, { array: true }) data!: RenewalView[];
}
