import type { Queryable } from '#libs/database';
import { now } from '#libs/server';
import type { Reach, Stage } from './reading-window.js';

interface ReachRow {
  days: number | null;
  refused: number | null;
  overlap_days: number | null;
}

/** Institutions change: what was learnt is learnt again after this. */
const validMs = 90 * 24 * 3_600_000;

/** What was learnt of an institution: how far back it goes at this stage, and how late its rows come. */
export async function readReach(
  client: Queryable,
  institutionId: string,
  stage: Stage,
): Promise<Reach & { overlapDays: number | null }> {
  const { rows } = await client.query<ReachRow>(
    `select case when updated_at > $2 then ${stage}_days end as days, overlap_days,
       case when updated_at > $2 then ${stage}_refused_days end as refused from institution_reaches where institution_id = $1`,
    [institutionId, new Date(now().getTime() - validMs)],
  );
  const row = rows[0];
  return { days: row?.days ?? null, refusedDays: row?.refused ?? null, overlapDays: row?.overlap_days ?? null };
}

/** The institution gave so many days: the most it gave counts. */
export async function learnDepth(client: Queryable, institutionId: string, stage: Stage, days: number): Promise<void> {
  await client.query(
    `insert into institution_reaches as r (institution_id, ${stage}_days, updated_at) values ($1, $2, $3)
     on conflict (institution_id) do update set ${stage}_days = excluded.${stage}_days, updated_at = excluded.updated_at
       where r.${stage}_days is null or r.${stage}_days < excluded.${stage}_days`,
    [institutionId, days, now()],
  );
}

/** The institution refused so many days while it gave fewer: the fewest it refused count. */
export async function learnRefusal(
  client: Queryable,
  institutionId: string,
  stage: Stage,
  days: number,
): Promise<void> {
  await client.query(
    `insert into institution_reaches as r (institution_id, ${stage}_refused_days, updated_at) values ($1, $2, $3)
     on conflict (institution_id) do update set ${stage}_refused_days = excluded.${stage}_refused_days, updated_at = excluded.updated_at
       where r.${stage}_refused_days is null or r.${stage}_refused_days > excluded.${stage}_refused_days`,
    [institutionId, days, now()],
  );
}

/** Rows came later than the overlap allows for: it grows, and never shrinks. */
export async function learnOverlap(client: Queryable, institutionId: string, days: number): Promise<void> {
  await client.query(
    `insert into institution_reaches as r (institution_id, overlap_days, updated_at) values ($1, $2, $3)
     on conflict (institution_id) do update set overlap_days = excluded.overlap_days, updated_at = excluded.updated_at
       where r.overlap_days is null or r.overlap_days < excluded.overlap_days`,
    [institutionId, days, now()],
  );
}
