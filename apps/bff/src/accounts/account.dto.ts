import { AccountSyncView } from '../sync/sync-run.dto.js';
import {
  AccountBalance,
  AccountIdentification,
  AccountName,
  Amount,
  DateTime,
  Nested,
  Text,
  Uuid,
} from '#libs/contract';

export class AccountView {
  @Uuid({ description: 'The same for ever, whatever the bank calls the account under a later consent.' }) id!: string;
  @Uuid() connectionId!: string;
  @Text() institutionId!: string;
  @Text({ optional: true }) accountType?: string;
  @Text({ optional: true }) usageType?: string;
  @Text({ optional: true }) currency?: string;
  @Text({ optional: true }) name?: string;
  @Nested(() => AccountName, { array: true, optional: true }) accountNames?: AccountName[];
  @Nested(() => AccountIdentification, { array: true, optional: true })
  accountIdentifications?: AccountIdentification[];
  @Nested(() => Amount, { optional: true, description: 'Absent when the institution gives none: never a zero.' })
  mainBalance?: Amount;
  @Nested(() => AccountBalance, { array: true, optional: true }) balances?: AccountBalance[];
  @DateTime({ optional: true, description: 'When the balances were read.' }) balancesAt?: string;
  @DateTime({ optional: true }) lastSyncedAt?: string;
  @Nested(() => AccountSyncView, { optional: true, description: 'How its reading stands, and why.' })
  sync?: AccountSyncView;
}

export class AccountList {
  @Nested(() => AccountView, { array: true }) data!: AccountView[];
}
