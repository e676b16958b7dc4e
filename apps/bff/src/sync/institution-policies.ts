import type { PoolClient } from 'pg';
import { now } from '#libs/server';
import { addEvidence, type Evidence, type IdentityPolicy, noEvidence, policyOf, teaches } from './identity-policy.js';

/** What is known of one institution's habits, read before a comparison and written after it. */
export class InstitutionPolicies {
  readonly policy: IdentityPolicy;
  private learnt: Evidence = noEvidence;

  private constructor(
    private readonly institutionId: string,
    private readonly before: Evidence,
  ) {
    this.policy = policyOf(before);
  }

  static async read(tx: PoolClient, institutionId: string): Promise<InstitutionPolicies> {
    const { rows } = await tx.query<{ evidence: string }>(
      'select evidence from institution_policies where institution_id = $1',
      [institutionId],
    );
    const evidence = rows[0] ? { ...noEvidence, ...(JSON.parse(rows[0].evidence) as Partial<Evidence>) } : noEvidence;
    return new InstitutionPolicies(institutionId, evidence);
  }

  learn(evidence: Evidence): void {
    this.learnt = addEvidence(this.learnt, evidence);
  }

  /** Adds to what is stored; others may have added meanwhile. The row stays locked until the transaction ends. */
  async write(tx: PoolClient): Promise<void> {
    if (!teaches(this.before, this.learnt)) return;
    const { rows } = await tx.query<{ evidence: string }>(
      `insert into institution_policies (institution_id, evidence, updated_at) values ($1, '{}', $2)
       on conflict (institution_id) do update set updated_at = excluded.updated_at returning evidence`,
      [this.institutionId, now()],
    );
    const stored = { ...noEvidence, ...(JSON.parse(rows[0]?.evidence ?? '{}') as Partial<Evidence>) };
    await tx.query('update institution_policies set evidence = $2 where institution_id = $1', [
      this.institutionId,
      JSON.stringify(addEvidence(stored, this.learnt)),
    ]);
  }
}
