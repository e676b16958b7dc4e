import { DateTime, Integer, Url, Uuid } from '#libs/contract';

export class NewRenewalLink {
  @Url({
    optional: true,
    example: 'https://shop.example/bank',
    description:
      'Where the customer’s browser goes after the bank, with `connection`, `status`, `renewal` and `renewal-status` in the query.',
  })
  returnUrl?: string;
  @Integer({ optional: true, min: 1, max: 720, default: 168, description: 'For how many hours the link may be used.' })
  lifetimeHours?: number;
}

/** An address for an e-mail. */
export class RenewalLinkView {
  @Uuid() id!: string;
  @Uuid() connectionId!: string;
  @Url({
    example: 'https://bff.example/renew/4d1f…',
    description: 'Works once. Shown here and never again: whoever has it can begin the renewal.',
  })
  url!: string;
  @DateTime() createdAt!: string;
  @DateTime() expiresAt!: string;
}
