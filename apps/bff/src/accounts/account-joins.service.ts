import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { problems } from '#libs/contract';
import { POOL, transaction } from '#libs/database';
import type { Scope } from '../auth/caller.js';
import { joinAccounts, lockAccount, lockAccounts } from '../sync/account-join.js';

/** What a person knows of accounts that neither their numbers nor their transactions told. */
@Injectable()
export class AccountJoins {
  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /** Two accounts are one, which goes by the first id from now on. */
  async join({ merchantId, customerId }: Scope, id: string, otherId: string): Promise<void> {
    if (id === otherId.toLowerCase()) throw notAnother('accountId must be another account');
    await transaction(this.pool, async (tx) => {
      await lockAccounts(tx, customerId);
      const [first, second] = [id, otherId.toLowerCase()].toSorted();
      const locked = [
        await lockAccount(tx, { customerId, id: first ?? '' }),
        await lockAccount(tx, { customerId, id: second ?? '' }),
      ];
      const kept = locked.find((each) => each?.id === id);
      const gone = locked.find((each) => each && each.id !== id);
      if (!kept) throw problems.notFound({ message: 'The account is not known' });
      if (!gone) throw notAnother('accountId must be an account of the same customer');
      if (kept.currency !== null && gone.currency !== null && kept.currency !== gone.currency)
        throw notAnother('accountId must be an account of the same currency');
      if (kept.isRead && gone.isRead)
        throw problems.conflict({ message: 'Both accounts are shown by institutions now: they are two' });
      await joinAccounts(tx, this.pool, { merchantId, customerId, kept, gone, by: 'person' });
    });
  }
}

function notAnother(message: string): Error {
  return problems.unexpectedValue({ parameter: 'accountId', message });
}
