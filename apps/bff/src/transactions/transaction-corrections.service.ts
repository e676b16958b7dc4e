import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { problems } from '#libs/contract';
import { POOL, transaction } from '#libs/database';
import type { Scope } from '../auth/caller.js';
import { toldBooking } from '../sync/booking-evidence.js';
import type { Change, Flag } from '../sync/change.js';
import { noEvidence } from '../sync/identity-policy.js';
import { InstitutionPolicies } from '../sync/institution-policies.js';
import { recordChanges, type StagedRow } from '../sync/record-changes.js';
import { transactionOf } from '../sync/served-text.js';
import { StagedAnswer } from '../sync/staged-answer.js';
import { rowOf } from '../sync/transaction-row.js';

interface Stored {
  id: string;
  account_id: string;
  status: string;
  flag: string | null;
  wire: string;
  removed_at: Date | null;
}

const stored = 'id, account_id, status, flag, wire, removed_at';

/** Makes changes out of stored rows; `row` puts a served text aside and gives the row that changes speak of. */
type Correct = (row: (wire: string) => StagedRow) => Change<StagedRow>[];

/**
 * What a person knows better than the bank's data told. Corrections are changes like any other: in the log, in the feed, and
 * respected by every later synchronisation, since a joined row stays known as another face of its transaction.
 */
@Injectable()
export class TransactionCorrections {
  constructor(@Inject(POOL) private readonly pool: Pool) {}

  /** The transaction that is left, as JSON text. */
  join(scope: Scope, id: string, otherId: string): Promise<string> {
    if (id === otherId.toLowerCase())
      throw problems.unexpectedValue({
        parameter: 'transactionId',
        message: 'transactionId must be another transaction',
      });
    return this.correct(scope, id, async (tx, kept) => {
      const joined = await findToJoin(tx, kept, otherId);
      if (!joined)
        throw problems.unexpectedValue({
          parameter: 'transactionId',
          message:
            'transactionId must be of the same account, and neither removed as booked nor joined with it already',
        });
      await learnFrom(tx, kept, joined);
      const isBooking = kept.status === 'PENDING' && joined.status === 'BOOKED';
      return (row) => [
        ...(isBooking
          ? [{ kind: 'linked' as const, id, row: row(joined.wire), rule: 'person' as const, confidence: 1 }]
          : kept.flag !== null
            ? [{ kind: 'cleared' as const, id }]
            : []),
        { kind: 'joined', id: joined.id, into: id, row: row(isBooking ? kept.wire : joined.wire), rule: 'person' },
      ];
    }).then((wires) => wires[0] ?? '');
  }

  /** The transaction and the one that was parted from it, as JSON text. */
  async split(scope: Scope, id: string): Promise<string> {
    const wires = await this.correct(scope, id, async (tx, found) => {
      const face = await faceOf(tx, scope, id);
      if (face) return (row) => [{ kind: 'split', id: face.id, from: id, row: row(face.wire) }];
      const before = await beforeLink(tx, scope, id);
      if (before === undefined)
        throw problems.conflict({
          message: 'The transaction has neither been joined nor linked: there is nothing to split',
        });
      return (row) => [
        { kind: 'modified', id, row: row(before), rule: 'person', confidence: 1 },
        { kind: 'split', id: randomUUID(), from: id, row: row(found.wire) },
      ];
    });
    return `{"data":[${wires.join(',')}]}`;
  }

  /** What is not sure about a transaction, with those it may be, as JSON text. */
  async flagOf({ customerId }: Scope, id: string): Promise<string> {
    const { rows: flagged } = await this.pool.query<{ flag: string | null }>(
      'select flag from transactions where id = $1 and customer_id = $2 and removed_at is null',
      [id, customerId],
    );
    const flag = flagged[0]?.flag;
    if (!flag) throw problems.notFound({ message: 'The transaction is not known, or nothing about it is in doubt' });
    const { reason, candidates } = JSON.parse(flag) as Flag;
    const { rows } = await this.pool.query<{ wire: string; removed_at: Date | null }>(
      'select wire, removed_at from transactions where id = any($1) and customer_id = $2 order by array_position($1, id)',
      [candidates, customerId],
    );
    const shown = rows.map(({ wire, removed_at }) => {
      const gone = removed_at === null ? '' : `,"removedAt":"${removed_at.toISOString()}"`;
      return `{"transaction":${wire}${gone}}`;
    });
    return `{"reason":"${reason}","candidates":[${shown.join(',')}]}`;
  }

  /** The transaction without its flag, as JSON text. */
  async dismiss(scope: Scope, id: string): Promise<string> {
    const [wire = ''] = await this.correct(scope, id, (_tx, { flag }) => {
      if (flag === null) throw problems.conflict({ message: 'The transaction has no flag' });
      const { reason } = JSON.parse(flag) as Flag;
      return Promise.resolve(() => [{ kind: 'cleared', id, dismissed: reason }]);
    });
    return wire;
  }

  /** Records what `decide` says about a transaction, and answers what is served for it and for what came of it now. */
  private async correct(
    scope: Scope,
    id: string,
    decide: (tx: PoolClient, found: Stored) => Promise<Correct>,
  ): Promise<string[]> {
    return transaction(this.pool, async (tx) => {
      const found = await find(tx, scope, id);
      if (!found) throw problems.notFound({ message: 'The transaction is not known' });
      const accountId = found.account_id;
      const correct = await decide(tx, found);
      const staged = StagedAnswer.beside(this.pool, { accountId });
      const wires: string[] = [];
      const changes = correct((wire) => {
        wires.push(wire);
        return { ...rowOf(transactionOf(wire)), ordinal: wires.length - 1, newId: '' };
      });
      await staged.addWith(tx, wires.map(transactionOf));
      await recordChanges(tx, { customerId: scope.customerId, accountId, syncRunId: null }, { staged, changes });
      await staged.discard(tx);
      const ids = [...new Set([id, ...changes.map((each) => each.id)])];
      const { rows } = await tx.query<{ wire: string }>(
        'select wire from transactions where id = any($1) and removed_at is null order by array_position($1, id)',
        [ids],
      );
      return rows.map(({ wire }) => wire);
    });
  }
}

/** A live transaction of the customer. Its account stays locked, so that no synchronisation records at the same time. */
async function find(tx: PoolClient, { customerId }: Scope, id: string): Promise<Stored | undefined> {
  const { rows: accounts } = await tx.query<{ account_id: string }>(
    'select account_id from transactions where id = $1 and customer_id = $2',
    [id, customerId],
  );
  await tx.query('select 1 from accounts where id = $1 for no key update', [accounts[0]?.account_id]);
  const { rows } = await tx.query<Stored>(
    `select ${stored} from transactions where id = $1 and customer_id = $2 and removed_at is null`,
    [id, customerId],
  );
  return rows[0];
}

/** What may be joined with a transaction: another of its account, also a pending one that the bank no longer shows. */
async function findToJoin(tx: PoolClient, kept: Stored, otherId: string): Promise<Stored | undefined> {
  const { rows } = await tx.query<Stored>(
    `select ${stored} from transactions where id = $1 and account_id = $2
       and (removed_at is null or status = 'PENDING' and joined_into is distinct from $3)`,
    [otherId, kept.account_id, kept.id],
  );
  return rows[0];
}

/** A person who joins a pending row with its booking tells how the institution books. */
async function learnFrom(tx: PoolClient, one: Stored, other: Stored): Promise<void> {
  const [pending, booked] = one.status === 'PENDING' ? [one, other] : [other, one];
  if (pending.status !== 'PENDING' || booked.status !== 'BOOKED') return;
  const { rows } = await tx.query<{ institution_id: string }>('select institution_id from accounts where id = $1', [
    one.account_id,
  ]);
  const policies = await InstitutionPolicies.read(tx, rows[0]?.institution_id ?? '');
  const pair = { known: rowOf(transactionOf(pending.wire)), row: rowOf(transactionOf(booked.wire)) };
  policies.learn({ ...noEvidence, ...toldBooking(pair, { isShown: pending.removed_at === null }) });
  await policies.write(tx);
}

/** What was last joined into a transaction. */
async function faceOf(
  tx: PoolClient,
  { customerId }: Scope,
  id: string,
): Promise<Pick<Stored, 'id' | 'wire'> | undefined> {
  const { rows } = await tx.query<Pick<Stored, 'id' | 'wire'>>(
    'select id, wire from transactions where joined_into = $1 and customer_id = $2 order by sequence desc limit 1',
    [id, customerId],
  );
  return rows[0];
}

/** What a transaction said before a pending row of it was booked. */
async function beforeLink(tx: PoolClient, { customerId }: Scope, id: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ wire: string }>(
    `select b.wire from changes l join changes b on b.transaction_id = l.transaction_id and b.sequence < l.sequence
     where l.transaction_id = $1 and l.customer_id = $2 and l.kind = 'linked' and b.wire is not null
       and not exists (select from changes s where s.transaction_id = $1 and s.sequence > l.sequence
         and s.kind = 'modified' and s.payload like '%"person"%')
     order by l.sequence desc, b.sequence desc limit 1`,
    [id, customerId],
  );
  return rows[0]?.wire;
}
