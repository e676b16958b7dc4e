-- Processes keep applications and consents in memory. Whoever changes one tells all of them at commit, by name and id.
CREATE FUNCTION tell_of_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tributary_row_changes', TG_TABLE_NAME || ':' || OLD.id);
  RETURN NULL;
END $$;

CREATE TRIGGER tell_of_change AFTER UPDATE OR DELETE ON consents FOR EACH ROW EXECUTE FUNCTION tell_of_change();

-- A consent is shown with its user's references.
CREATE TRIGGER tell_of_change AFTER UPDATE OF application_user_id, reference_id OR DELETE ON users
  FOR EACH ROW EXECUTE FUNCTION tell_of_change();

-- A root application is kept with the ids of its sub-applications. Not told of: `event_sequence`, which every event raises.
CREATE FUNCTION tell_of_application() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed applications := CASE WHEN TG_OP = 'INSERT' THEN NEW ELSE OLD END;
BEGIN
  PERFORM pg_notify('tributary_row_changes', 'applications:' || changed.id);
  IF changed.root_application_id IS NOT NULL THEN
    PERFORM pg_notify('tributary_row_changes', 'applications:' || changed.root_application_id);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER tell_of_application
  AFTER INSERT OR DELETE OR UPDATE OF root_application_id, name, callback_urls, is_contract_present, secret_hash,
                                      previous_secret_hash, previous_secret_until ON applications
  FOR EACH ROW EXECUTE FUNCTION tell_of_application();
