-- Row level security: the net under the filters in the code. A connection sees and writes only the rows of the applications
-- that its setting tributary.application_ids lists: ids joined by commas, '*' for every application, empty or unset for none.

-- The applications listed; none where the setting is missing, empty or '*'.
CREATE FUNCTION scope_application_ids() RETURNS uuid[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT string_to_array(nullif(nullif(current_setting('tributary.application_ids', true), ''), '*'), ',')::uuid[]
$$;

CREATE FUNCTION scope_is_system() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(current_setting('tributary.application_ids', true) = '*', false)
$$;

-- Puts a table under the policy. FORCE, because otherwise the table's owner would be exempt. Written as sub-selects, the
-- functions run once for each statement, not once for each row. Later migrations call it for the tables they add, as
-- SELECT protect_tenant_table('vrp_consents'::regclass, 'application_id = ANY ((SELECT scope_application_ids())::uuid[])');
CREATE FUNCTION protect_tenant_table(tenant_table regclass, is_ours text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', tenant_table);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', tenant_table);
  EXECUTE format('CREATE POLICY tenant ON %s USING ((SELECT scope_is_system()) OR %s)', tenant_table, is_ours);
END $$;

SELECT protect_tenant_table(
         format('%I.%I', table_schema, table_name)::regclass,
         'application_id = ANY ((SELECT scope_application_ids())::uuid[])')
  FROM information_schema.columns
 WHERE table_schema = current_schema() AND column_name = 'application_id';

SELECT protect_tenant_table('applications'::regclass, 'id = ANY ((SELECT scope_application_ids())::uuid[])');

-- Rows that belong to an application through another table are visible where that table's row is.
SELECT protect_tenant_table('snapshot_chunks'::regclass, 'EXISTS (SELECT FROM snapshots WHERE snapshots.id = snapshot_id)');
SELECT protect_tenant_table('attempts'::regclass, 'EXISTS (SELECT FROM deliveries WHERE deliveries.id = delivery_id)');
