import { ListPage } from '../list.dto.js';
import { AccountSyncView } from '../sync/sync-run.dto.js';
import {
  AccountBalance,
  AccountIdentification,
  AccountName,
  Amount,
  DateTime,
  Decimal,
  Flag,
  Integer,
  Nested,
  Text,
  Uuid,
} from '#libs/contract';

/** The booked balance held against the rows: opening + rows = closing. */
export class BalanceProofView {
  @DateTime({
    description:
      'When they were last compared with a verdict: a booking between the reading of the two leaves it to the next comparison.',
  })
  checkedAt!: string;
  @Decimal({
    example: 0,
    description: 'What the balance has moved beyond the rows, in the sign of the rows; 0 where they agree.',
  })
  difference!: number;
  @Text({ example: 'GBP' }) currency!: string;
  @Uuid({ array: true, description: 'Transactions that may explain a difference: one too many, or not counted.' })
  candidates!: string[];
}

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
  @Nested(() => BalanceProofView, {
    optional: true,
    description: 'Absent where the institution gives no balance that can prove something.',
  })
  balanceProof?: BalanceProofView;
}

export class AccountList extends ListPage {
  @Nested(() => AccountView, { array: true }) data!: AccountView[];
}

export class JoinAccount {
  @Uuid({ description: 'The account of the same customer that is the same in truth; its id ends.' })
  accountId!: string;
}

export class BalanceQuery {
  @DateTime({
    optional: true,
    description: 'First seen on or after this instant.',
    example: '2026-01-01T00:00:00.000Z',
  })
  from?: string;
  @DateTime({ optional: true, description: 'First seen on or before this instant.' }) before?: string;
  @Text({
    optional: true,
    maxLength: 60,
    pattern: /^[A-Z_]+$/,
    description: 'One type only.',
    example: 'INTERIM_BOOKED',
  })
  type?: string;
  @Integer({ query: true, optional: true, min: 1, max: 1000, default: 500 }) limit?: number;
  @Text({ optional: true, maxLength: 200, description: '`nextCursor` of the page before, with the same filters.' })
  cursor?: string;
}

export class BalanceRecordView {
  @Text({ description: 'The interface’s type; `MAIN` where the institution types none.', example: 'INTERIM_BOOKED' })
  type!: string;
  @Decimal({ example: 1250.4 }) amount!: number;
  @Text({ example: 'GBP' }) currency!: string;
  @DateTime({ description: 'When it was first seen with this amount.' }) observedAt!: string;
}

export class BalanceHistory {
  @Nested(() => BalanceRecordView, { array: true }) data!: BalanceRecordView[];
  @Flag() hasMore!: boolean;
  @Text({ optional: true, description: 'Present when there is more.' }) nextCursor?: string;
}
