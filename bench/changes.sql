-- Tables of the suites that bench/changes.py measures.  Each has the same rows.  "floor" has a trigger that
-- does nothing, "logged" the log of changes_track(), "queued" the queue of PgQ, if it is installed, and
-- "stamped" and "copied" have what users write themselves.
ALTER DATABASE :"DBNAME" SET search_path = public, uuid9562, uuid9562_changes;
SET search_path = public, uuid9562, uuid9562_changes;
-- let the join by hand use indexes, though nobody analyzes its log
ALTER DATABASE :"DBNAME" SET enable_seqscan = off;
ALTER DATABASE :"DBNAME" SET enable_hashjoin = off;
ALTER DATABASE :"DBNAME" SET enable_mergejoin = off;
CREATE TABLE plain (id bigint PRIMARY KEY, body text NOT NULL);
INSERT INTO plain SELECT n, 'A message of 30 characters...' FROM generate_series(1, least(:rows, 200000)) AS n;
CREATE FUNCTION pg_temp.copy_plain(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I (LIKE plain INCLUDING ALL)', name);
	EXECUTE format('INSERT INTO %I TABLE plain', name);
END$$;
SELECT pg_temp.copy_plain(name) FROM unnest('{empty,logged,quiet,stamped,copied}'::text[]) AS name;

CREATE FUNCTION floor.after() RETURNS trigger LANGUAGE c AS :'floor', 'floor_after';
CREATE TRIGGER floor AFTER INSERT OR UPDATE OR DELETE ON empty FOR EACH ROW EXECUTE FUNCTION floor.after();

SELECT changes_track('logged'), changes_track('quiet');

-- a time with an index
ALTER TABLE stamped ADD updated_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX ON stamped (updated_at);
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.updated_at := now(); RETURN NEW; END';
CREATE TRIGGER stamp BEFORE UPDATE ON stamped FOR EACH ROW EXECUTE FUNCTION stamp();

-- a log that statement triggers fill, its readers, and the notification of a listener
CREATE TABLE copied_keys (no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id bigint NOT NULL);
CREATE TABLE copied_reader (reader text PRIMARY KEY, no bigint NOT NULL) WITH (fillfactor = 50);
INSERT INTO copied_reader SELECT 'poller ' || n, 0 FROM generate_series(0, 49) AS n UNION ALL VALUES ('bench', 0);
CREATE FUNCTION log_new() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO copied_keys (id) SELECT id FROM new_rows; RETURN NULL; END';
CREATE FUNCTION log_old() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO copied_keys (id) SELECT id FROM old_rows; RETURN NULL; END';
CREATE TRIGGER log_insert AFTER INSERT ON copied REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION log_new();
CREATE TRIGGER log_update AFTER UPDATE ON copied REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION log_new();
CREATE TRIGGER log_delete AFTER DELETE ON copied REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION log_old();
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NOTIFY copied; RETURN NULL; END';

SELECT count(*) AS pgq FROM pg_available_extensions WHERE name = 'pgq' \gset
\if :pgq
CREATE EXTENSION pgq;
SELECT pg_temp.copy_plain('queued'), pgq.create_queue('bench'), pgq.register_consumer('bench', 'bench');
CREATE TRIGGER queue AFTER INSERT OR UPDATE OR DELETE ON queued FOR EACH ROW EXECUTE FUNCTION pgq.logutriga('bench');
\endif
ANALYZE;
