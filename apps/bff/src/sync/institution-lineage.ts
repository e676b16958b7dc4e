import type { Queryable } from '#libs/database';

/**
 * The institution, and those that it has succeeded or that have succeeded it, by mergers and moves of their customers, in as many steps as
 * it takes: what their customers had at one they have at another. Data of this installation (`npm run console -- rules succeed`).
 */
export async function lineageOf(client: Queryable, institutionId: string): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `with recursive lineage (id) as (
       select $1::text
       union select unnest(array[s.institution_id, s.successor_id]) from institution_successions s
         join lineage on lineage.id in (s.institution_id, s.successor_id))
     select id from lineage order by id <> $1, id`,
    [institutionId],
  );
  return rows.map(({ id }) => id);
}
