/* uuid9562_changes--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION uuid9562_changes CASCADE" to load this file. \quit

-- changes_track() creates triggers that collect the keys of changed rows.  When the transaction commits,
-- C writes them to the table "log".  changes_read() returns the rows of these keys.
--
-- No object of the extension uuid9562 is called here: the schema of uuid9562 is not known, because
-- PostgreSQL 15 has no @extschema:uuid9562@, and any role could create a function with a name that this
-- script searches for.

-- Migration tools try to drop tables that they do not know from the schemas that they manage, so the
-- tables are in a schema of their own.
CREATE SCHEMA uuid9562_changes;
GRANT USAGE ON SCHEMA uuid9562_changes TO PUBLIC;
COMMENT ON SCHEMA uuid9562_changes IS 'log of tracked tables, and their readers';

-- ------------------------------------------------------------------------
-- Tables
--
-- Only C reads and writes them, and it only inserts and deletes rows.  They
-- are not dumped: triggers are dumped with their tables, and readers of a
-- restored table must copy it anyway.
-- ------------------------------------------------------------------------

CREATE TABLE uuid9562_changes.log (
	source oid,						-- tracked table
	id uuid,						-- for each key, in the order of the commits
	key bytea,						-- see src/changes/key.c; NULL: any row can have changed
	PRIMARY KEY (source, id)
) USING heap;
COMMENT ON TABLE uuid9562_changes.log IS 'keys of changed rows';

-- What was found when tracked tables were read; see src/changes/table_state.c
CREATE TABLE uuid9562_changes.state (
	source oid NOT NULL,
	identity uuid NOT NULL,			-- positions of readers contain it
	basis bigint NOT NULL,
	version bigint NOT NULL,
	branch bigint NOT NULL,
	columns bigint[] NOT NULL,
	attributes bigint[] NOT NULL,
	labels bigint[] NOT NULL,
	parts bigint[] NOT NULL,
	bounds bigint[] NOT NULL,
	bound_texts text[] NOT NULL
) USING heap;
CREATE INDEX state_source_idx ON uuid9562_changes.state (source);
COMMENT ON TABLE uuid9562_changes.state IS 'states of tracked tables';

CREATE TABLE uuid9562_changes.purged (
	source oid PRIMARY KEY,
	id uuid NOT NULL,				-- entries up to it can have been deleted
	branch bigint NOT NULL			-- of ordered IDs, when this was stored
) USING heap;
COMMENT ON TABLE uuid9562_changes.purged IS 'how far the log is purged';

CREATE TABLE uuid9562_changes.reader (
	reader text COLLATE "C",		-- as the index is searched
	source oid,
	owner oid NOT NULL,
	identity uuid NOT NULL,
	confirmed uuid,					-- all changes up to it are applied, or will be delivered again
	accepted_reset bigint NOT NULL,	-- number of the last page with "reset" that was confirmed, or 0
	branch bigint NOT NULL,			-- where the confirmed ID was read
	timeline bigint NOT NULL,
	lsn bigint NOT NULL,
	seen timestamptz NOT NULL,
	is_outside boolean NOT NULL,	-- does the target store positions?
	pages bigint[] NOT NULL,		-- pages that are out; see src/changes/reader.c
	PRIMARY KEY (reader, source)
) USING heap;
COMMENT ON TABLE uuid9562_changes.reader IS 'readers of tracked tables';

CREATE FUNCTION uuid9562_changes.guard_trigger() RETURNS trigger
AS 'MODULE_PATHNAME', 'uuid9562_guard_trigger'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION uuid9562_changes.guard_trigger() IS 'trigger that discards rows which SQL or logical replication writes';

-- Nobody has privileges on the tables, whatever the default privileges are, and row-level security hides
-- the rows from pg_read_all_data.  A publication FOR ALL TABLES sends new rows, but no deletes, because
-- there is no replica identity; a subscriber discards them.
DO $body$
DECLARE
	name text;
	grantee text;
BEGIN
	FOREACH name IN ARRAY pg_catalog.string_to_array('log state purged reader', ' ') LOOP
		FOR grantee IN
			SELECT DISTINCT CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0::oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)) END
			FROM pg_catalog.pg_class AS c, LATERAL pg_catalog.aclexplode(c.relacl) AS a
			WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.format('uuid9562_changes.%I', name)::pg_catalog.regclass
		LOOP
			EXECUTE pg_catalog.format('REVOKE ALL ON uuid9562_changes.%I FROM %s CASCADE', name, grantee);
		END LOOP;
		EXECUTE pg_catalog.format('ALTER TABLE uuid9562_changes.%I REPLICA IDENTITY NOTHING, ENABLE ROW LEVEL SECURITY', name);
		EXECUTE pg_catalog.format('CREATE TRIGGER guard BEFORE INSERT OR UPDATE OR DELETE ON uuid9562_changes.%I FOR EACH ROW EXECUTE FUNCTION uuid9562_changes.guard_trigger()', name);
		EXECUTE pg_catalog.format('CREATE TRIGGER guard_truncate BEFORE TRUNCATE ON uuid9562_changes.%I FOR EACH STATEMENT EXECUTE FUNCTION uuid9562_changes.guard_trigger()', name);
		EXECUTE pg_catalog.format('ALTER TABLE uuid9562_changes.%I ENABLE ALWAYS TRIGGER guard, ENABLE ALWAYS TRIGGER guard_truncate', name);
	END LOOP;
END$body$;

-- ------------------------------------------------------------------------
-- Tracking
-- ------------------------------------------------------------------------

-- The trigger of tracked tables.  It is in this schema, so that a dump can be restored wherever the other
-- functions are.
CREATE FUNCTION uuid9562_changes.log_trigger() RETURNS trigger
AS 'MODULE_PATHNAME', 'uuid9562_log_trigger'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION uuid9562_changes.log_trigger() IS 'trigger that collects the keys of changed rows for the log';

CREATE FUNCTION uuid9562_changes.forget_table(source regclass, remove_readers boolean) RETURNS void
AS 'MODULE_PATHNAME', 'uuid9562_forget_table'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION uuid9562_changes.forget_table(regclass, boolean) IS 'remove what readers know of a table; used by changes_track() and changes_untrack()';

CREATE FUNCTION uuid9562_changes.table_info(source oid, wait boolean, OUT operations text[], OUT dropped_partitions text, OUT reader_expiry bigint,
	OUT problem text, OUT without_truncate_trigger regclass[], OUT purged uuid, OUT kept_by text, OUT key_problem text)
AS 'MODULE_PATHNAME', 'uuid9562_table_info'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION uuid9562_changes.table_info(oid, boolean) IS 'options and state of a tracked table; used by changes_track() and changes_tables';

CREATE FUNCTION uuid9562_changes.entries_after(source oid, after uuid, OUT entries bigint, OUT first uuid, OUT is_purged boolean)
AS 'MODULE_PATHNAME', 'uuid9562_entries_after'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION uuid9562_changes.entries_after(oid, uuid) IS 'number of log entries after an ID, the first of them, and whether others were deleted; used by changes_tables and changes_readers';

CREATE FUNCTION uuid9562_changes.horizon() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_horizon'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuid9562_changes.horizon() IS 'uuidv7_horizon() of uuid9562';

CREATE FUNCTION uuid9562_changes.id_timestamp(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_timestamp'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid9562_changes.id_timestamp(uuid) IS 'uuidv7_timestamp() of uuid9562';

CREATE FUNCTION uuid9562_changes.generator_stats(OUT last_timestamp timestamptz, OUT generated bigint,
												 OUT ahead_of_clock bigint, OUT mark_writes bigint,
												 OUT held_since timestamptz, OUT held_by_pid integer, OUT held_by_prepared xid)
RETURNS record
AS 'MODULE_PATHNAME', 'uuid9562_uuid_generator_stats'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuid9562_changes.generator_stats() IS 'uuid_generator_stats() of uuid9562';

CREATE FUNCTION changes_track(source regclass, operations text[] DEFAULT NULL, dropped_partitions text DEFAULT NULL, reader_expiry interval DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS $body$
DECLARE
	refusal text;
	info record;
	part regclass;
	old record;
	micros bigint;
	is_tracked boolean;
BEGIN
	IF source IS NULL THEN
		RAISE null_value_not_allowed USING MESSAGE = 'table must not be null';
	ELSIF operations = '{}' OR NOT operations <@ '{insert,update,delete}'::text[] OR array_position(operations, NULL) IS NOT NULL THEN
		RAISE invalid_parameter_value USING MESSAGE = format('invalid operations: %s', operations),
			HINT = 'Valid operations are "insert", "update" and "delete".';
	ELSIF NOT extract(epoch FROM reader_expiry) BETWEEN 0.000001 AND extract(epoch FROM interval '100 years') THEN
		RAISE invalid_parameter_value USING MESSAGE = format('value %s is out of range for reader_expiry', reader_expiry),
			DETAIL = 'It must be greater than 0, and at most 100 years.';
	ELSIF dropped_partitions NOT IN ('reset', 'ignore') THEN
		RAISE invalid_parameter_value USING MESSAGE = format('invalid value for dropped_partitions: "%s"', dropped_partitions),
			HINT = 'Valid values are "reset" and "ignore".';
	END IF;
	SELECT CASE WHEN relkind NOT IN ('r', 'p') THEN 'it is not a table'
			 WHEN c.oid < 16384 OR relnamespace = 'uuid9562_changes'::regnamespace THEN 'it is a system table'
			 WHEN relpersistence = 't' THEN 'it is a temporary table'
			 WHEN relpersistence = 'u' THEN 'it is unlogged, and a crash would remove its rows silently'
			 WHEN relispartition THEN 'it is a partition'
			 WHEN EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid OR (relkind = 'r' AND inhparent = c.oid)) THEN 'it inherits from a table, or a table inherits from it'
			 WHEN NOT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisprimary) THEN 'it has no primary key'
			 ELSE (SELECT format('its partition %s is a foreign or unlogged table', relid) FROM pg_partition_tree(c.oid) JOIN pg_class AS p ON p.oid = relid
				   WHERE p.relkind = 'f' OR p.relpersistence <> 'p' LIMIT 1)
		END INTO refusal
	FROM pg_class AS c WHERE c.oid = source;
	IF NOT FOUND THEN
		RAISE undefined_table USING MESSAGE = format('relation with OID %s does not exist', source::oid);
	ELSIF refusal = 'it is a partition' THEN
		RAISE wrong_object_type USING MESSAGE = format('cannot track table %s: %s', source, refusal),
			HINT = 'Track the partitioned table.';
	ELSIF refusal IS NOT NULL THEN
		RAISE wrong_object_type USING MESSAGE = format('cannot track table %s: %s', source, refusal);
	ELSIF NOT (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = source) THEN
		RAISE insufficient_privilege USING MESSAGE = format('must be owner of table %s', source);
	END IF;

	micros := extract(epoch FROM reader_expiry) * 1000000;
	-- each change is before the triggers or fires them
	EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', source);
	is_tracked := EXISTS (SELECT FROM pg_trigger WHERE tgrelid = source AND tgfoid = 'uuid9562_changes.log_trigger'::regproc AND tgparentid = 0 AND tgtype & 1 = 1);
	info := uuid9562_changes.table_info(source, true);
	IF info.key_problem IS NOT NULL THEN
		RAISE wrong_object_type USING MESSAGE = format('cannot track table %s: its primary key %s', source, info.key_problem);
	END IF;
	operations := coalesce(operations, CASE WHEN is_tracked THEN nullif(info.operations, '{}') END, '{insert,update,delete}');
	dropped_partitions := coalesce(dropped_partitions, CASE WHEN is_tracked THEN info.dropped_partitions END, 'reset');
	micros := coalesce(micros, CASE WHEN is_tracked THEN nullif(info.reader_expiry, 0) END, 7 * 86400000000);
	IF NOT is_tracked OR info.problem IS NOT NULL OR info.dropped_partitions <> dropped_partitions OR info.reader_expiry <> micros
		OR NOT (info.operations <@ operations AND info.operations @> operations)
	THEN
		-- under another name after a restore; replacing the trigger does not require ACCESS EXCLUSIVE, and so causes no deadlock
		FOR old IN SELECT tgname FROM pg_trigger WHERE tgrelid = source AND tgparentid = 0 AND tgfoid = 'uuid9562_changes.log_trigger'::regproc AND tgtype & 1 = 1
			AND tgname <> 'uuid9562_changes_' || source::oid
		LOOP
			EXECUTE format('DROP TRIGGER %I ON %s', old.tgname, source);
		END LOOP;
		EXECUTE format('CREATE OR REPLACE TRIGGER uuid9562_changes_%s AFTER %s ON %s FOR EACH ROW EXECUTE FUNCTION uuid9562_changes.log_trigger(%L, %L)',
					   source::oid, array_to_string(operations, ' OR '), source, dropped_partitions, micros);
		EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER uuid9562_changes_%s', source, source::oid);
		-- rows can have changed without an entry, which changes_readers shall show before a reader notices it
		PERFORM uuid9562_changes.forget_table(source, false);
	END IF;
	FOR part IN
		SELECT relid FROM (SELECT source AS relid UNION SELECT relid FROM pg_partition_tree(source)) AS tree
		WHERE NOT EXISTS (SELECT FROM pg_trigger
						  WHERE tgrelid = relid AND tgtype & 33 = 32 AND tgenabled = 'A' AND tgqual IS NULL AND tgfoid = 'uuid9562_changes.log_trigger'::regproc)
	LOOP
		EXECUTE format('CREATE OR REPLACE TRIGGER uuid9562_changes_truncate AFTER TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION uuid9562_changes.log_trigger()', part);
		EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER uuid9562_changes_truncate', part);
	END LOOP;
END$body$;
COMMENT ON FUNCTION changes_track(regclass, text[], text, interval) IS 'log the changes of a table, for changes_read()';

CREATE FUNCTION changes_untrack(source regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	trigger record;
BEGIN
	IF EXISTS (SELECT FROM pg_class WHERE oid = source)
		AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = source AND tgfoid = 'uuid9562_changes.log_trigger'::regproc AND tgparentid = 0)
	THEN
		RAISE object_not_in_prerequisite_state USING MESSAGE = format('changes of table %s are not tracked', source);
	END IF;
	PERFORM uuid9562_changes.forget_table(source, true);	-- checks that the caller owns the table, and locks it
	-- also TRUNCATE triggers of partitions, unless another tracked table needs them, and of detached ones
	FOR trigger IN
		SELECT tgname, tgrelid::regclass AS relation
		FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid
		WHERE tgfoid = 'uuid9562_changes.log_trigger'::regproc AND tgparentid = 0
			AND (tgrelid = source OR (tgtype & 33 = 32 AND pg_has_role(relowner, 'USAGE')
				AND NOT EXISTS (
					SELECT FROM (SELECT tgrelid::regclass AS relid UNION SELECT relid FROM pg_partition_ancestors(tgrelid)) AS tree
					JOIN pg_trigger AS t ON t.tgrelid = tree.relid
					WHERE tree.relid <> source AND t.tgfoid = 'uuid9562_changes.log_trigger'::regproc AND t.tgparentid = 0 AND t.tgtype & 1 = 1)))
	LOOP
		EXECUTE format('DROP TRIGGER %I ON %s', trigger.tgname, trigger.relation);
	END LOOP;
END$body$;
COMMENT ON FUNCTION changes_untrack(regclass) IS 'drop the triggers that log the changes of a table, and remove its readers';

CREATE FUNCTION changes_reset(source regclass) RETURNS void
AS 'MODULE_PATHNAME', 'uuid9562_changes_reset'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION changes_reset(regclass) IS 'cause all readers of a table to copy the whole table again';

-- ------------------------------------------------------------------------
-- Reading
-- ------------------------------------------------------------------------

CREATE FUNCTION changes_read(reader text, source anyelement, page integer DEFAULT 1000, after text DEFAULT 'confirmed', lease interval DEFAULT '60 s',
	OUT change_type text, OUT data anyelement, OUT change_position text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'uuid9562_changes_read'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION changes_read(text, anyelement, integer, text, interval) IS 'read a page of changed rows of a tracked table';

CREATE FUNCTION changes_done(reader text, "position" text DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'uuid9562_changes_done'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION changes_done(text, text) IS 'confirm that a reader has applied changes up to a position, or the page that the transaction has read';

CREATE PROCEDURE changes_wait(reader text, source regclass, timeout interval DEFAULT '30 s', after text DEFAULT 'confirmed')
AS 'MODULE_PATHNAME', 'uuid9562_changes_wait'
LANGUAGE C;
COMMENT ON PROCEDURE changes_wait(text, regclass, interval, text) IS 'wait until changes_read() has a page for a reader, or until the timeout';

CREATE FUNCTION changes_forget(reader text, source regclass) RETURNS void
AS 'MODULE_PATHNAME', 'uuid9562_changes_forget'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION changes_forget(text, regclass) IS 'remove a reader, which then no longer prevents the deletion of log entries';

CREATE FUNCTION changes_purge(source regclass, keep interval DEFAULT '10 minutes', max_entries integer DEFAULT NULL) RETURNS bigint
AS 'MODULE_PATHNAME', 'uuid9562_changes_purge'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION changes_purge(regclass, interval, integer) IS 'delete log entries that all readers have confirmed';

-- ------------------------------------------------------------------------
-- Monitoring
-- ------------------------------------------------------------------------

CREATE FUNCTION changes_entries(source anyelement, OUT change_id uuid, OUT data anyelement) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'uuid9562_changes_entries'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION changes_entries(anyelement) IS 'keys of a tracked table that are in the log';

CREATE VIEW changes_tables AS
SELECT t.tgrelid::regclass AS source, i.operations, i.dropped_partitions,
	   pg_catalog.justify_hours(i.reader_expiry OPERATOR(pg_catalog.*) interval '1 microsecond') AS reader_expiry,
	   i.problem, i.without_truncate_trigger, log.entries, i.purged, i.kept_by
FROM pg_catalog.pg_trigger AS t, LATERAL uuid9562_changes.table_info(t.tgrelid, false) AS i,
LATERAL uuid9562_changes.entries_after(t.tgrelid, NULL) AS log
WHERE t.tgfoid OPERATOR(pg_catalog.=) 'uuid9562_changes.log_trigger'::regproc AND t.tgparentid OPERATOR(pg_catalog.=) 0::oid
	AND t.tgtype::integer OPERATOR(pg_catalog.&) 1 OPERATOR(pg_catalog.=) 1;
GRANT SELECT ON changes_tables TO PUBLIC;
COMMENT ON VIEW changes_tables IS 'tracked tables, and what prevents readers from reading them';

-- Entries above the horizon that no transaction holds are from before uuid_generator_reset(), so nobody waits.
CREATE VIEW changes_readers AS
SELECT r.reader, r.source::regclass AS source, r.owner::regrole AS owner, r.seen,
	   pg_catalog.cardinality(r.pages) OPERATOR(pg_catalog./) 12 AS pages_out,
	   waiting.entries AS entries_waiting,
	   now() OPERATOR(pg_catalog.-) uuid9562_changes.id_timestamp(waiting.first) AS oldest_waiting,
	   CASE WHEN waiting.is_purged
				OR NOT EXISTS (SELECT FROM uuid9562_changes.state AS s WHERE s.source OPERATOR(pg_catalog.=) r.source AND s.identity OPERATOR(pg_catalog.=) r.identity)
				THEN 'copy of the whole table'
			WHEN waiting.first IS NOT NULL AND r.pages OPERATOR(pg_catalog.<>) '{}'::bigint[] THEN 'confirmation'
			WHEN waiting.first OPERATOR(pg_catalog.<) uuid9562_changes.horizon() THEN 'changes_read()'
			WHEN waiting.first IS NOT NULL THEN coalesce('transaction of process '::text OPERATOR(pg_catalog.||) holder.held_by_pid::text, 'prepared transaction '::text OPERATOR(pg_catalog.||) holder.held_by_prepared::text)
	   END AS waits_for
FROM uuid9562_changes.reader AS r
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) r.source,
LATERAL uuid9562_changes.generator_stats() AS holder,
LATERAL uuid9562_changes.entries_after(r.source, r.confirmed) AS waiting;
GRANT SELECT ON changes_readers TO PUBLIC;
COMMENT ON VIEW changes_readers IS 'readers of tracked tables, and what they wait for';
