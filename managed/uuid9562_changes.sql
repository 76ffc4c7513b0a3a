-- The part of uuid9562_changes that needs no C, for PostgreSQL 15 and later on servers that do not
-- allow C extensions.
--
--	psql --set ON_ERROR_STOP=1 --file uuid9562.sql --file uuid9562_changes.sql
--
-- Run this script as a role with the CREATE privilege on the database, after uuid9562.sql.  The
-- functions refer to the schema by name, so do not rename it while tables are tracked.
--
-- changes_track() creates a log beside a table, and triggers that write the keys of changed rows to
-- it.  changes_read() returns the rows of these keys.
--
-- The functions are those of the C extension, apart from the functions that it has in C, and from the
-- replacements in test/project/hosted.t.  While a transaction changes rows, its entries get IDs of
-- version 8, greater than all others, in the order of the sequence changes_number.  Before changes_read()
-- reads, it publishes the entries that it sees: one session at a time gives each of them an ID of
-- version 7, greater than all earlier ones.  So IDs become visible in ascending order, although
-- transactions commit in another order than they write.  An entry is published after its transaction
-- has committed, and changes_read() returns the newest content of a row, in a later statement.  So a
-- reader that has read all entries has the newest content of all rows.
--
-- The functions run with the rights of their caller, except changes_log_trigger(), changes_notice(),
-- changes_publish() and changes_purge(), which write logs.  So all logs belong to the role that
-- installed the file, because the owner of a log could let a trigger of the log execute code.

BEGIN;

CREATE SCHEMA uuid9562_changes;
GRANT USAGE ON SCHEMA uuid9562_changes TO PUBLIC;
COMMENT ON SCHEMA uuid9562_changes IS 'the part of the extension uuid9562_changes 1.0 that needs no C';

SET LOCAL search_path = uuid9562_changes, pg_catalog, pg_temp;

-- The tracked tables.  Only changes_register() and changes_notice() write it.
CREATE TABLE uuid9562_changes.changes_catalog (
	source regclass PRIMARY KEY,
	log regclass NOT NULL,
	key int2[] NOT NULL,			-- numbers of the key's columns
	identity uuid NOT NULL,			-- if it changes, readers must copy the table
	server text NOT NULL,			-- the server and database of the rest
	purged uuid NOT NULL,			-- entries up to this ID can be missing
	parts text[] NOT NULL,			-- tables and triggers; see changes_state()
	structure text[] NOT NULL,		-- columns; see changes_state()
	log_file oid NOT NULL,			-- of the log; TRUNCATE changes it
	operations text[] NOT NULL,
	dropped_partitions text NOT NULL,	-- "reset" or "ignore"
	reader_expiry interval NOT NULL,
	altered timestamptz NOT NULL	-- when its columns or its name were last found to be others
);
GRANT SELECT ON uuid9562_changes.changes_catalog TO PUBLIC;
COMMENT ON TABLE uuid9562_changes.changes_catalog IS 'tracked tables and their logs';

-- The logs that lack entries of a transaction, until changes_notice() lets readers copy the table.  Each
-- transaction has a row of its own, so that nobody waits.
CREATE TABLE uuid9562_changes.changes_missing (
	log regclass,
	xid xid8 DEFAULT pg_catalog.pg_current_xact_id(),
	PRIMARY KEY (log, xid)
);
GRANT SELECT ON uuid9562_changes.changes_missing TO PUBLIC;
COMMENT ON TABLE uuid9562_changes.changes_missing IS 'logs that lack entries';

-- The readers.
CREATE TABLE uuid9562_changes.changes_reader (
	reader text,
	source regclass,
	owner regrole NOT NULL DEFAULT pg_catalog.quote_ident(current_user)::regrole,
	identity uuid NOT NULL,			-- as in changes_catalog when the reader came
	generation bigint NOT NULL,		-- number of the last page
	confirmed uuid,					-- all changes up to it have been applied; NULL: not even the table
	confirmed_position text,
	hold uuid NOT NULL,				-- entries after it must not be purged
	page_position text,				-- position of the last page's last row
	page_pid integer NOT NULL,		-- process of the session that read the last page
	abandoned uuid,					-- where an unconfirmed page began, whose rows another session can still apply
	abandoned_by integer[],			-- processes of these sessions
	abandoned_at timestamptz,
	seen timestamptz NOT NULL,
	is_outside boolean NOT NULL DEFAULT false,	-- has the target stored the confirmed position?
	PRIMARY KEY (reader, source)
);
COMMENT ON TABLE uuid9562_changes.changes_reader IS 'readers of tracked tables';
GRANT SELECT, INSERT, UPDATE, DELETE ON uuid9562_changes.changes_reader TO PUBLIC;
ALTER TABLE uuid9562_changes.changes_reader ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen_by_all ON uuid9562_changes.changes_reader FOR SELECT USING (true);
CREATE POLICY created_by_readers ON uuid9562_changes.changes_reader FOR INSERT
	WITH CHECK (owner OPERATOR(pg_catalog.=) pg_catalog.quote_ident(current_user)::regrole AND pg_catalog.has_table_privilege(source, 'SELECT'));
CREATE POLICY changed_by_owner ON uuid9562_changes.changes_reader FOR UPDATE
	USING (pg_catalog.pg_has_role(owner, 'USAGE') OR (SELECT pg_catalog.pg_has_role(relowner, 'USAGE') FROM pg_catalog.pg_class WHERE oid OPERATOR(pg_catalog.=) source))
	WITH CHECK (pg_catalog.has_table_privilege(source, 'SELECT')
				AND (pg_catalog.pg_has_role(owner, 'USAGE') OR (SELECT pg_catalog.pg_has_role(relowner, 'USAGE') FROM pg_catalog.pg_class WHERE oid OPERATOR(pg_catalog.=) source)));
CREATE POLICY deleted_by_owner ON uuid9562_changes.changes_reader FOR DELETE
	USING (pg_catalog.pg_has_role(owner, 'USAGE') OR (SELECT pg_catalog.pg_has_role(relowner, 'USAGE') FROM pg_catalog.pg_class WHERE oid OPERATOR(pg_catalog.=) source));

DO $do$
BEGIN
	-- if this is an extension, pg_dump dumps the rows too
	IF EXISTS (SELECT FROM pg_catalog.pg_depend WHERE classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
			   AND objid OPERATOR(pg_catalog.=) 'uuid9562_changes.changes_catalog'::pg_catalog.regclass AND deptype OPERATOR(pg_catalog.=) 'e') THEN
		PERFORM pg_catalog.pg_extension_config_dump('uuid9562_changes.changes_catalog', '');
	END IF;
END$do$;

-- Functions of uuid9562 that this file calls.  They are defined again, because an extension can be in any
-- schema.

CREATE FUNCTION uuid9562_changes.id_floor(timestamptz) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
	IF $1 < '1970-01-01 00:00+00' OR $1 > '10889-08-02 05:31:50.655999+00' THEN
		RAISE datetime_field_overflow USING MESSAGE = format('timestamp out of range for UUID version 7: "%s"', $1),
			DETAIL = 'UUID version 7 supports timestamps from 1970-01-01 to approximately year 10889.';
	END IF;
	RETURN (lpad(to_hex(floor(extract(epoch FROM $1) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;
END$body$;
COMMENT ON FUNCTION uuid9562_changes.id_floor(timestamptz) IS 'uuidv7_floor() of uuid9562';

CREATE FUNCTION uuid9562_changes.id_timestamp(uuid) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
	RETURN CASE WHEN substr($1::text, 15, 1) = '7' THEN to_timestamp(('x' || left($1::text, 8) || substr($1::text, 10, 4))::bit(48)::bigint / 1000.0) END;
END$body$;
COMMENT ON FUNCTION uuid9562_changes.id_timestamp(uuid) IS 'uuidv7_timestamp() of uuid9562';

CREATE SEQUENCE changes_number;
COMMENT ON SEQUENCE changes_number IS 'order of log entries that are not published';

-- The logs for the changes of a table: its own, and those of its partitioned tables.  If the columns of
-- a log are not those of the key any more, "fits" is false.  If the log belongs to another role than
-- the one that installed the file, or has triggers, rules or policies, which could execute code or
-- remove entries, "fits" is NULL, and nothing must be written to it.
CREATE FUNCTION changes_targets(relation regclass, OUT log regclass, OUT columns text[], OUT key text[], OUT fits boolean)
RETURNS SETOF record
LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan
AS $body$
#variable_conflict use_column
DECLARE
	target record;
BEGIN
	FOR target IN
		SELECT c.source, c.log, c.key FROM uuid9562_changes.changes_catalog AS c
		WHERE c.source IN (SELECT changes_targets.relation UNION ALL SELECT relid FROM pg_partition_ancestors(changes_targets.relation))
			AND pg_table_is_visible(c.log) IS NOT NULL	-- the log exists
	LOOP
		log := target.log;
		SELECT array_agg(quote_ident(e.attname) ORDER BY e.attnum), array_agg(quote_ident(t.attname) ORDER BY e.attnum) FILTER (WHERE e.attnum > 1),
			   max(e.attnum) = cardinality(target.key) + 1 AND bool_and(e.attnum = 1 OR (e.atttypid = t.atttypid) IS TRUE)
		INTO columns, key, fits
		FROM pg_attribute AS e LEFT JOIN pg_attribute AS t ON t.attrelid = target.source AND t.attnum = target.key[e.attnum - 1] AND NOT t.attisdropped
		WHERE e.attrelid = target.log AND e.attnum > 0;
		IF (SELECT relowner = (SELECT relowner FROM pg_class WHERE oid = 'uuid9562_changes.changes_catalog'::regclass) AND NOT relrowsecurity
				AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = target.log AND NOT (tgtype = 8 AND tgqual IS NULL AND tgfoid = 'uuid9562_changes.changes_log_trigger'::regproc))
				AND (NOT relhasrules OR uuid9562_changes.changes_is_log(target.log))
			FROM pg_class WHERE oid = target.log) IS NOT TRUE THEN
			fits := NULL;
		ELSIF NOT fits THEN
			-- the columns of the key can have domains
			SELECT k.numbers = target.key AND k.types = ARRAY(SELECT atttypid FROM pg_attribute WHERE attrelid = target.log AND attnum > 1 ORDER BY attnum) IS TRUE
			INTO fits FROM uuid9562_changes.changes_key(target.source) AS k;
		END IF;
		RETURN NEXT;
	END LOOP;
END$body$;
COMMENT ON FUNCTION changes_targets(regclass) IS 'logs for the changes of a table';

-- AFTER INSERT OR UPDATE OR DELETE FOR EACH ROW: log the keys of the old and the new row.  AFTER
-- TRUNCATE: log that any row can have changed.  AFTER DELETE FOR EACH STATEMENT, on a log: record that
-- the log lacks entries, unless changes_delete() deletes them.
CREATE FUNCTION changes_log_trigger() RETURNS trigger
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	id text;
	target record;
	keys text;
	new_keys text;
	is_logged boolean := false;
BEGIN
	IF TG_WHEN = 'AFTER' AND TG_LEVEL = 'STATEMENT' AND TG_OP = 'DELETE' THEN
		IF current_setting('changes_log.purge', true) IS DISTINCT FROM 'on' THEN
			INSERT INTO uuid9562_changes.changes_missing VALUES (TG_RELID::regclass) ON CONFLICT DO NOTHING;
		END IF;
		RETURN NULL;
	ELSIF TG_WHEN <> 'AFTER' OR (TG_LEVEL <> 'ROW' AND TG_OP <> 'TRUNCATE') THEN
		RAISE trigger_protocol_violated USING
			MESSAGE = 'function "changes_log_trigger" must be fired AFTER ROW or AFTER TRUNCATE',
			HINT = 'Create the trigger with changes_track().';
	END IF;
	-- the schema can have been renamed, which readers notice; see changes_place()
	IF to_regprocedure('uuid9562_changes.changes_targets(regclass)') IS NULL THEN
		RETURN NULL;
	END IF;
	id := format('(''ffffffffffff80008'' || lpad(to_hex(nextval(%s::regclass)), 15, ''0''))::uuid', 'uuid9562_changes.changes_number'::regclass::oid);
	FOR target IN SELECT * FROM uuid9562_changes.changes_targets(TG_RELID::regclass)
	LOOP
		is_logged := true;
		keys := '($1).' || array_to_string(target.key, ', ($1).');
		new_keys := '($2).' || array_to_string(target.key, ', ($2).');
		IF target.fits IS NULL THEN
			-- let readers copy the table when the log can be used again
			INSERT INTO uuid9562_changes.changes_missing VALUES (target.log) ON CONFLICT DO NOTHING;
		ELSIF TG_OP = 'TRUNCATE' OR NOT target.fits THEN
			EXECUTE format('INSERT INTO %s (%s) SELECT %s', target.log, target.columns[1], id);
		ELSIF TG_OP = 'INSERT' THEN
			EXECUTE format('INSERT INTO %s (%s) SELECT %s, %s', target.log, array_to_string(target.columns, ', '), id, new_keys) USING NULL, NEW;
		ELSIF TG_OP = 'DELETE' THEN
			EXECUTE format('INSERT INTO %s (%s) SELECT %s, %s', target.log, array_to_string(target.columns, ', '), id, keys) USING OLD;
		ELSE
			-- the old key too, if its bytes differ
			EXECUTE format('INSERT INTO %1$s (%2$s) SELECT %3$s, %4$s WHERE ROW(%4$s)::record OPERATOR(pg_catalog.*<>) ROW(%5$s)::record UNION ALL SELECT %3$s, %5$s',
				target.log, array_to_string(target.columns, ', '), id, keys, new_keys) USING OLD, NEW;
		END IF;
	END LOOP;
	-- the snapshot can be older than the trigger or the log
	IF NOT is_logged AND current_setting('transaction_isolation') <> 'read committed'
		AND (NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = TG_RELID AND tgname = TG_NAME)
			 OR EXISTS (SELECT FROM uuid9562_changes.changes_catalog JOIN pg_class ON pg_class.oid = log
						WHERE source IN (SELECT TG_RELID UNION ALL SELECT relid FROM pg_partition_ancestors(TG_RELID)) AND pg_table_is_visible(log) IS NULL)) THEN
		RAISE serialization_failure USING MESSAGE = format('changes_track() was called for table %s after the transaction began', TG_RELID::regclass),
			HINT = 'Repeat the transaction.';
	END IF;
	RETURN NULL;
END$body$;
COMMENT ON FUNCTION changes_log_trigger() IS 'trigger that collects the keys of changed rows for the log';

CREATE FUNCTION changes_log_rows(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	target record;
BEGIN
	FOR target IN SELECT * FROM uuid9562_changes.changes_targets(relation)
	LOOP
		CONTINUE WHEN target.fits IS NULL;
		-- do not execute policies and expressions of indexes of other roles
		target.fits := target.fits AND (SELECT relowner FROM pg_class WHERE oid = relation) = (SELECT relowner FROM pg_class WHERE oid = 'uuid9562_changes.changes_catalog'::regclass);
		EXECUTE format('INSERT INTO %s (%s) SELECT (''ffffffffffff80008'' || lpad(to_hex(nextval(%s::regclass)), 15, ''0''))::uuid%s FROM %s',
			target.log, CASE WHEN target.fits THEN array_to_string(target.columns, ', ') ELSE target.columns[1] END, 'uuid9562_changes.changes_number'::regclass::oid,
			CASE WHEN target.fits THEN ', ' || array_to_string(target.key, ', ') ELSE '' END, CASE WHEN target.fits THEN 'ONLY ' || relation ELSE '(SELECT) AS one' END);
	END LOOP;
END$body$;
COMMENT ON FUNCTION changes_log_rows(regclass) IS 'collect the keys of all rows of a table for its logs';
REVOKE EXECUTE ON FUNCTION changes_log_rows(regclass) FROM PUBLIC;

CREATE FUNCTION changes_is_log(relation regclass) RETURNS boolean
LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
	RETURN EXISTS (
		SELECT FROM pg_class AS c
		WHERE oid = relation AND relkind = 'r' AND relpersistence = 'p' AND NOT relispartition AND NOT relrowsecurity
			AND relowner = (SELECT relowner FROM pg_class WHERE oid = 'uuid9562_changes.changes_catalog'::regclass)
			AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND NOT (tgtype = 8 AND tgqual IS NULL AND tgfoid = 'uuid9562_changes.changes_log_trigger'::regproc))
			AND NOT EXISTS (SELECT FROM pg_rewrite WHERE ev_class = c.oid)
			AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = c.oid AND contype NOT IN ('p', 'n'))
			AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND (indexprs IS NOT NULL OR indpred IS NOT NULL OR (indisunique AND indkey::text <> '1')))
			AND (SELECT bool_and((attnum > 1 OR atttypid = 'uuid'::regtype) AND attnotnull = (attnum = 1) AND attgenerated = '' AND NOT attisdropped) AND count(*) > 1
				 FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0));
END$body$;
COMMENT ON FUNCTION changes_is_log(regclass) IS 'can the table be used as a log of changes?';

-- Only C can notice that a table has been altered, so changes_read() compares it each time.  A setting
-- is the only memory of a session, so this function notices only what was altered since an earlier
-- call, if that call was not rolled back, and settings have not been reset since.
CREATE FUNCTION changes_verified(source regclass, invalidations bigint DEFAULT 0, columns text DEFAULT '', altered timestamptz DEFAULT '-infinity')
	RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	setting text := 'changes_read.columns_' || source::oid;
	is_stale boolean := columns <> nullif(current_setting(setting, true), '') IS TRUE;
BEGIN
	IF invalidations <> 0 THEN
		PERFORM set_config(setting, columns, false);
		IF is_stale THEN
			EXECUTE 'DISCARD PLANS';
			RETURN -1;
		END IF;
	END IF;
	RETURN 1;
END$body$;
COMMENT ON FUNCTION changes_verified(regclass, bigint, text, timestamptz) IS 'has this session compared a table with changes_catalog since the table was altered?';

CREATE FUNCTION changes_register(entry uuid9562_changes.changes_catalog) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
	DELETE FROM uuid9562_changes.changes_catalog AS c WHERE c.source = entry.source;
	IF entry.log IS NULL THEN
		DELETE FROM uuid9562_changes.changes_reader AS r WHERE r.source = entry.source;
	ELSE
		INSERT INTO uuid9562_changes.changes_catalog SELECT (entry).*;
	END IF;
END$body$;
COMMENT ON FUNCTION changes_register(uuid9562_changes.changes_catalog) IS 'replace the row of a table in changes_catalog; used by changes_track() and changes_untrack()';

CREATE FUNCTION changes_delete(log regclass, after uuid, last uuid, max_entries integer, OUT deleted bigint, OUT up_to uuid)
RETURNS record
LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $body$
DECLARE
	id text := (SELECT attname FROM pg_attribute WHERE attrelid = log AND attnum = 1);
BEGIN
	deleted := 0;
	EXECUTE format('LOCK TABLE ONLY %s IN ROW EXCLUSIVE MODE', log);
	IF uuid9562_changes.changes_is_log(log) THEN
		-- an entry, because changes_publish() gives later entries greater IDs
		EXECUTE format('SELECT coalesce((SELECT %1$I FROM ONLY %2$s WHERE %1$I > $1 AND %1$I <= $2 ORDER BY %1$I OFFSET $3 - 1 LIMIT 1),
										(SELECT %1$I FROM ONLY %2$s WHERE %1$I > $1 AND %1$I <= $2 ORDER BY %1$I DESC LIMIT 1))', id, log) INTO up_to USING after, last, max_entries;
		PERFORM set_config('changes_log.purge', 'on', true);
		EXECUTE format('DELETE FROM ONLY %2$s WHERE %1$I > $1 AND %1$I <= $2', id, log) USING after, up_to;
		GET DIAGNOSTICS deleted = ROW_COUNT;
		PERFORM set_config('changes_log.purge', 'off', true);
	END IF;
END$body$;
COMMENT ON FUNCTION changes_delete(regclass, uuid, uuid, integer) IS 'delete entries of a log of changes; used by changes_purge()';
REVOKE EXECUTE ON FUNCTION changes_delete(regclass, uuid, uuid, integer) FROM PUBLIC;

-- The server includes the version of the schema's name, because nothing is logged while the schema has
-- another name.  The branch is a text for the run of the server: its start, and the time at which a crash
-- of a server process has last reset the statistics.  Before PostgreSQL 17, only COMMIT can flush WAL.
CREATE FUNCTION changes_place(flush boolean, OUT server text, OUT branch text, OUT timeline bigint, OUT lsn pg_lsn)
RETURNS record
LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
	IF flush AND current_setting('synchronous_commit') = 'off' THEN
		PERFORM set_config('synchronous_commit', 'local', true);
	END IF;
	IF flush AND current_setting('server_version_num')::int >= 170000 THEN
		EXECUTE $$SELECT pg_logical_emit_message(false, 'uuid9562 changes_read', '', flush => true)$$;
	END IF;
	server := concat_ws('/', (SELECT system_identifier FROM pg_control_system()), (SELECT oid FROM pg_database WHERE datname = current_database()),
		(SELECT xmin FROM pg_namespace WHERE oid = 'uuid9562_changes'::regnamespace));
	branch := left(md5(concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), (SELECT extract(epoch FROM stats_reset) FROM pg_stat_archiver))), 16);
	lsn := pg_current_wal_insert_lsn();
	timeline := ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::bigint;
END$body$;
COMMENT ON FUNCTION changes_place(boolean) IS 'server, branch, timeline and end of WAL of the statement''s snapshot, optionally after flushing WAL';

CREATE FUNCTION changes_is_lost(branch text, id uuid, timeline bigint, lsn pg_lsn) RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	place record;
BEGIN
	SELECT * INTO place FROM uuid9562_changes.changes_place(false);
	RETURN place.timeline <> changes_is_lost.timeline OR place.lsn < changes_is_lost.lsn;
END$body$;
COMMENT ON FUNCTION changes_is_lost(text, uuid, bigint, pg_lsn) IS 'can this server lack changes that a reader has read?';

-- Give the entries that the statement sees IDs of version 7: milliseconds, the number of the entry in 32
-- bits, and random bits, so that no ID is generated again after a rollback.  All of them are greater
-- than the published ones and than "purged".  Return the ID above all published entries.
--
-- The lock lasts until the transaction ends, so the next session that publishes sees these IDs.
CREATE FUNCTION changes_publish(source regclass) RETURNS uuid
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
	SET plan_cache_mode = force_generic_plan
AS $body$
#variable_conflict use_column
DECLARE
	horizon uuid := 'ffffffff-ffff-8000-8000-000000000000';
	entry record;
	is_pending boolean;
BEGIN
	SELECT c.log, a.attname AS id INTO entry
	FROM uuid9562_changes.changes_catalog AS c JOIN pg_attribute AS a ON attrelid = log AND attnum = 1
	WHERE c.source = changes_publish.source AND uuid9562_changes.changes_is_log(c.log);
	IF entry.log IS NULL THEN
		RETURN horizon;
	END IF;
	EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s WHERE %I > $1)', entry.log, entry.id) INTO is_pending USING horizon;
	IF is_pending AND current_setting('transaction_isolation') = 'read committed' AND pg_try_advisory_xact_lock(hashtextextended('uuid9562 changes_publish', changes_publish.source::oid::bigint)) THEN
		EXECUTE format($$
			WITH entry AS MATERIALIZED (
					SELECT id, lpad(to_hex(row_number() OVER (ORDER BY id)), 8, '0') AS number
					FROM (SELECT %2$I AS id FROM ONLY %1$s WHERE %2$I > $1 ORDER BY %2$I LIMIT 10000) AS entry),
				last AS MATERIALIZED (
					SELECT greatest((SELECT %2$I FROM ONLY %1$s WHERE %2$I < $1 ORDER BY %2$I DESC LIMIT 1),
									(SELECT purged FROM uuid9562_changes.changes_catalog WHERE source = $2))::text AS id),
				time AS MATERIALIZED (
					SELECT lpad(to_hex(greatest((extract(epoch FROM clock_timestamp()) * 1000)::bigint, ('x' || left(id, 8) || substr(id, 10, 4))::bit(48)::bigint + 1)), 12, '0') AS hex
					FROM last)
			UPDATE ONLY %1$s AS l
			SET %2$I = (time.hex || '7' || left(entry.number, 3) || '8' || right(entry.number, 5) || right(gen_random_uuid()::text, 10))::uuid
			FROM entry, time WHERE l.%2$I = entry.id$$, entry.log, entry.id) USING horizon, changes_publish.source;
	END IF;
	RETURN horizon;
END$body$;
COMMENT ON FUNCTION changes_publish(regclass) IS 'give new log entries their final IDs; used by changes_read()';

-- The state of a tracked table.  "parts" has a text for the table and for each partition: its OID,
-- its row triggers, and its TRUNCATE trigger or else its file, which TRUNCATE changes.  "structure"
-- has a text for each column, one for the versions of the columns of all tables, one for the name and
-- the versions of the columns of the table itself, one for each file with the expressions of its
-- generated columns, one for each attribute of a composite type and each value of an enum that the
-- columns use, and one for the trigger of the log.  No text depends on a setting of the session.
-- changes_catalog also has the branch of ordered IDs, which changes if the server is restarted.
CREATE FUNCTION changes_state(source regclass, OUT parts text[], OUT structure text[], OUT problem text)
LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
	SELECT array_agg(concat_ws(' ', part.oid, part.row_triggers, coalesce(part.truncate_trigger, 'file ' || part.relfilenode)) ORDER BY part.oid),
		   array_agg(concat_ws(' ', 'file', part.oid, part.relfilenode, part.generated) ORDER BY part.oid),
		   min(CASE WHEN part.relkind NOT IN ('r', 'p') THEN format('partition %s is a foreign table', part.oid::regclass)
					WHEN part.relpersistence <> 'p' THEN format('table %s is not logged in WAL', part.oid::regclass)
					WHEN part.is_inherited THEN format('a table inherits from table %s', part.oid::regclass)
					WHEN part.events & tracked.events <> tracked.events IS NOT FALSE THEN format('table %s lacks the trigger that logs all changes, or the trigger is not enabled with ENABLE ALWAYS', part.oid::regclass) END)
	INTO parts, structure, problem
	FROM (
		SELECT coalesce(bit_or(CASE operation WHEN 'insert' THEN 4 WHEN 'delete' THEN 8 ELSE 16 END), 0) AS events	-- as in tgtype
		FROM uuid9562_changes.changes_catalog AS c, unnest(c.operations) AS operation WHERE c.source = changes_state.source) AS tracked, (
		SELECT c.oid, c.relkind, c.relpersistence, c.relfilenode, t.row_triggers, t.events, t.truncate_trigger,
			   c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid) AS is_inherited,
			   (SELECT md5(string_agg(concat_ws(' ', adnum, adbin), ' ' ORDER BY adnum))
				FROM pg_attribute JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attrelid = c.oid AND attgenerated <> '') AS generated
		FROM (SELECT source AS oid UNION SELECT relid FROM pg_partition_tree(source)) AS tree
		JOIN pg_class AS c ON c.oid = tree.oid
		LEFT JOIN LATERAL (
			SELECT string_agg(concat_ws('.', tgname, oid, xmin), ' ' ORDER BY oid) FILTER (WHERE tgtype & 1 = 1) AS row_triggers,
				   bit_or(tgtype) FILTER (WHERE tgtype & 1 = 1) AS events,
				   string_agg(concat_ws('.', tgname, oid, xmin), ' ' ORDER BY oid) FILTER (WHERE tgtype & 33 = 32) AS truncate_trigger
			FROM pg_trigger
			WHERE tgrelid = c.oid AND tgenabled = 'A' AND tgqual IS NULL AND tgattr::text = '' AND tgfoid = 'uuid9562_changes.changes_log_trigger()'::regprocedure) AS t ON true) AS part;
	structure := structure || (
		SELECT ARRAY['columns ' || md5(string_agg(a.xmin::text, ' ' ORDER BY attrelid, attnum)),
				'table ' || md5(concat_ws(' ', (SELECT concat_ws(' ', relnamespace, relname) FROM pg_class WHERE oid = source),
										  string_agg(concat_ws(' ', a.xmin, attname), ' ' ORDER BY attnum) FILTER (WHERE attrelid = source)))]
			|| array_agg(concat_ws(' ', attnum, atttypid, atttypmod, nullif(attgenerated, ''), attname) ORDER BY attnum) FILTER (WHERE attrelid = source)
		FROM (SELECT source AS relid UNION SELECT relid FROM pg_partition_tree(source)) AS tree JOIN pg_attribute AS a ON attrelid = relid
		WHERE attnum > 0 AND NOT attisdropped)
		|| ARRAY(
		WITH RECURSIVE used AS (
			SELECT atttypid AS type FROM pg_attribute WHERE attrelid = source AND attnum > 0 AND NOT attisdropped
			UNION
			SELECT part.type FROM used JOIN pg_type AS t ON t.oid = used.type, LATERAL (
				SELECT t.typelem UNION ALL SELECT t.typbasetype UNION ALL SELECT rngsubtype FROM pg_range WHERE used.type IN (rngtypid, rngmultitypid)
				UNION ALL SELECT atttypid FROM pg_attribute WHERE attrelid = t.typrelid AND attnum > 0 AND NOT attisdropped) AS part (type)
			WHERE part.type <> 0)
		SELECT concat_ws(' ', 'attribute', attrelid, attnum, atttypid, atttypmod, attname) COLLATE "C"
		FROM used JOIN pg_type AS t ON t.oid = used.type JOIN pg_attribute ON attrelid = typrelid WHERE attnum > 0 AND NOT attisdropped
		UNION ALL
		SELECT concat_ws(' ', 'value', pg_enum.oid, pg_enum.xmin, enumlabel) COLLATE "C" FROM used JOIN pg_enum ON enumtypid = type
		UNION ALL
		SELECT concat_ws(' ', 'log', t.oid, t.xmin) FROM uuid9562_changes.changes_catalog AS c JOIN pg_trigger AS t ON tgrelid = c.log
		WHERE c.source = changes_state.source AND tgenabled = 'A' AND tgtype = 8 AND tgqual IS NULL AND tgfoid = 'uuid9562_changes.changes_log_trigger()'::regprocedure
		ORDER BY 1);
	IF problem IS NULL AND NOT EXISTS (SELECT FROM unnest(structure) AS text WHERE text LIKE 'log %') THEN
		SELECT format('log %s lacks its trigger, or the trigger is not enabled with ENABLE ALWAYS', c.log) INTO problem
		FROM uuid9562_changes.changes_catalog AS c JOIN pg_class AS l ON l.oid = c.log WHERE c.source = changes_state.source;
	END IF;
END$body$;
COMMENT ON FUNCTION changes_state(regclass) IS 'state of a tracked table, for comparison with changes_catalog';

-- The columns of a table's primary key, with the base types of domains, which may forbid NULL, and
-- without limits of length.  The operator compares a column as the key's index does.
--
-- The result is NULL for a deferrable key if equal keys can have different bytes: a transaction can
-- insert 1.00 before it deletes 1.0, and a copy that applies both in this order lacks the row.
CREATE FUNCTION changes_key(source regclass, OUT numbers int2[], OUT names text[], OUT types oid[], OUT operators text[], OUT columns text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
AS $body$
BEGIN
	SELECT array_agg(attnum ORDER BY n), array_agg(attname::text ORDER BY n), array_agg(base.oid ORDER BY n), array_agg(operator ORDER BY n),
		   string_agg(format('%I %s%s', attname, format_type(base.oid, -1),
							 CASE WHEN attcollation <> 0 THEN ' COLLATE ' || attcollation::regcollation END), ', ' ORDER BY n)
	INTO numbers, names, types, operators, columns
	FROM pg_index, unnest(indkey::int2[], indclass::oid[]) WITH ORDINALITY AS k (number, class, n)
	JOIN pg_attribute ON attnum = number,
	LATERAL (WITH RECURSIVE base AS (
			SELECT atttypid AS oid
			UNION ALL
			SELECT typbasetype FROM base JOIN pg_type USING (oid) WHERE typtype = 'd')
		SELECT base.oid FROM base JOIN pg_type USING (oid) WHERE typtype <> 'd') AS base,
	LATERAL (SELECT format('%I.%s', nspname, oprname) AS operator
		FROM pg_opclass JOIN pg_amop ON amopfamily = opcfamily AND amopstrategy = 3 AND amoplefttype = opcintype AND amoprighttype = opcintype
		JOIN pg_operator AS o ON o.oid = amopopr JOIN pg_namespace AS s ON s.oid = oprnamespace
		WHERE pg_opclass.oid = class) AS operator
	WHERE indrelid = source AND indisprimary AND attrelid = source AND n <= indnkeyatts AND (indimmediate OR NOT EXISTS (
		SELECT FROM unnest(indclass::oid[], indcollation::oid[]) AS k (class, coll)
		WHERE (SELECT NOT collisdeterministic FROM pg_collation WHERE oid = coll) OR (SELECT opcintype = 'bpchar'::regtype FROM pg_opclass WHERE oid = class)
			OR NOT EXISTS (SELECT FROM pg_opclass JOIN pg_amproc ON amprocfamily = opcfamily AND amproclefttype = opcintype	-- equalimage
						   WHERE pg_opclass.oid = class AND amprocnum = 4 AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'btree'))));
END$body$;
COMMENT ON FUNCTION changes_key(regclass) IS 'columns of a primary key, for the log of a table';

-- Compare a tracked table with what changes_catalog remembers.  Log the keys of new partitions.  If
-- rows can have changed without an entry in the log, give the log a new identity, so that all readers
-- copy the table.  Everybody may call this, because it changes nothing that is right.
CREATE FUNCTION changes_notice(source regclass) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
#variable_conflict use_column
DECLARE
	old record;
	part text[];
	added text[];
	removed text[];
	reset boolean;
BEGIN
	PERFORM pg_advisory_xact_lock(hashtextextended('uuid9562 changes_catalog', changes_notice.source::oid::bigint));
	DELETE FROM uuid9562_changes.changes_reader AS r WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = r.source);
	DELETE FROM uuid9562_changes.changes_catalog AS c WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = c.source);
	DELETE FROM uuid9562_changes.changes_missing AS m WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = m.log);
	SELECT c.*, place.server AS current_server, place.branch, s.parts AS current_parts, s.structure AS current_structure, s.problem, l.relfilenode AS file
	INTO old
	FROM uuid9562_changes.changes_catalog AS c LEFT JOIN pg_class AS l ON l.oid = c.log,
		uuid9562_changes.changes_place(false) AS place, uuid9562_changes.changes_state(c.source) AS s
	WHERE c.source = changes_notice.source;
	IF old.source IS NULL OR old.problem IS NOT NULL OR old.file IS NULL THEN
		RETURN;
	END IF;
	-- If a file is another one, and columns have been altered or the server has been restarted, the type
	-- of a column can have been changed and restored, or a crash can have emptied an unlogged table.
	old.current_structure := old.current_structure || ('branch ' || old.branch);
	added := ARRAY(SELECT text FROM unnest(old.current_structure) AS text WHERE text <> ALL (old.structure));
	removed := ARRAY(SELECT text FROM unnest(old.structure) AS text WHERE text <> ALL (old.current_structure));
	DELETE FROM uuid9562_changes.changes_missing AS m WHERE m.log = old.log;
	reset := FOUND OR old.server <> old.current_server OR old.log_file <> old.file OR old.purged > uuid 'ffffffff-ffff-8000-8000-000000000000'
		OR EXISTS (SELECT FROM unnest(added) AS text WHERE text ~ '^([0-9]|attribute)')
		OR EXISTS (SELECT FROM unnest(removed) AS text WHERE text ~ '^(attribute|value|log)')
		OR (EXISTS (SELECT FROM unnest(added) AS text WHERE text ~ '^(columns|branch)')
			AND EXISTS (SELECT FROM unnest(added) AS new_file, unnest(removed) AS old_file
						WHERE new_file LIKE 'file %' AND split_part(new_file, ' ', 2) = split_part(old_file, ' ', 2)));
	FOR part IN
		SELECT ARRAY[new_part, old_part] FROM unnest(old.parts) AS old_part
		FULL JOIN unnest(old.current_parts) AS new_part ON split_part(new_part, ' ', 1) = split_part(old_part, ' ', 1)
		WHERE old_part IS DISTINCT FROM new_part
		ORDER BY old_part NULLS LAST
	LOOP
		IF part[2] IS NOT NULL THEN
			reset := reset OR part[1] IS NOT NULL OR old.dropped_partitions = 'reset' OR split_part(part[2], ' ', 1) = changes_notice.source::oid::text;
		ELSIF NOT reset AND (SELECT relkind FROM pg_class WHERE oid = split_part(part[1], ' ', 1)::oid) = 'r' THEN
			PERFORM uuid9562_changes.changes_log_rows(split_part(part[1], ' ', 1)::oid::regclass);
		END IF;
	END LOOP;
	UPDATE uuid9562_changes.changes_catalog AS c
	SET identity = CASE WHEN reset THEN gen_random_uuid() ELSE c.identity END, server = old.current_server,
		purged = CASE WHEN reset THEN '00000000-0000-0000-0000-000000000000' ELSE c.purged END,
		parts = old.current_parts, structure = old.current_structure, log_file = old.file,
		altered = CASE WHEN EXISTS (SELECT FROM unnest(added) AS text WHERE text LIKE 'table %') THEN clock_timestamp() ELSE c.altered END
	WHERE c.source = changes_notice.source;
END$body$;
COMMENT ON FUNCTION changes_notice(regclass) IS 'compare a tracked table with what changes_catalog remembers; used by changes_read()';

CREATE FUNCTION changes_track(source regclass, log_schema text DEFAULT NULL, log_name text DEFAULT NULL,
	operations text[] DEFAULT NULL, dropped_partitions text DEFAULT NULL, reader_expiry interval DEFAULT NULL)
RETURNS regclass
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning
AS $body$
DECLARE
	tracked record;
	key record;
	old record;
	log regclass;
	log_table text;
	id_column text := 'change_id';
	row_trigger text := 'uuid9562_changes_' || source::oid;
	part regclass;
	publication name;
	grantee text;
BEGIN
	IF source IS NULL THEN
		RAISE null_value_not_allowed USING MESSAGE = 'table must not be null';
	ELSIF operations = '{}' OR NOT operations <@ '{insert,update,delete}'::text[] THEN
		RAISE invalid_parameter_value USING MESSAGE = format('invalid operations: %s', operations),
			HINT = 'Valid operations are "insert", "update" and "delete".';
	ELSIF log_schema LIKE '{%' THEN
		RAISE invalid_parameter_value USING MESSAGE = format('invalid name of schema: "%s"', log_schema),
			HINT = 'To log only some operations, write changes_track(''...'', operations => ''...'').';
	ELSIF now() - reader_expiry >= now() THEN
		RAISE invalid_parameter_value USING MESSAGE = format('value %s is out of range for reader_expiry', reader_expiry),
			DETAIL = 'It must be greater than 0.';
	ELSIF dropped_partitions NOT IN ('reset', 'ignore') THEN
		RAISE invalid_parameter_value USING MESSAGE = format('invalid value for dropped_partitions: "%s"', dropped_partitions),
			HINT = 'Valid values are "reset" and "ignore".';
	END IF;
	SELECT c.oid, relname, relowner, relkind, (SELECT relowner FROM pg_class WHERE oid = 'uuid9562_changes.changes_catalog'::regclass)::regrole AS log_owner,
		CASE WHEN relkind NOT IN ('r', 'p') THEN 'it is not a table'
			 WHEN c.oid < 16384 THEN 'it is a system table'
			 WHEN relpersistence = 't' THEN 'it is a temporary table'
			 WHEN relpersistence = 'u' THEN 'it is unlogged, and a crash would remove its rows silently'
			 WHEN relispartition THEN 'it is a partition'
			 WHEN EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid OR (relkind = 'r' AND inhparent = c.oid)) THEN 'it inherits from a table, or a table inherits from it'
			 WHEN NOT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisprimary) THEN 'it has no primary key'
			 WHEN (SELECT k.numbers IS NULL FROM uuid9562_changes.changes_key(source) AS k) THEN 'its primary key is deferrable, and its equal values can have different bytes'
			 ELSE (SELECT format('its partition %s is a foreign or unlogged table', relid) FROM pg_partition_tree(c.oid) JOIN pg_class AS p ON p.oid = relid
				   WHERE p.relkind = 'f' OR p.relpersistence <> 'p' LIMIT 1)
		END AS refusal
	INTO tracked FROM pg_class AS c WHERE c.oid = source;
	IF tracked.oid IS NULL THEN
		RAISE undefined_table USING MESSAGE = format('relation with OID %s does not exist', source::oid);
	ELSIF tracked.refusal = 'it is a partition' THEN
		RAISE wrong_object_type USING MESSAGE = format('cannot track table %s: %s', source, tracked.refusal),
			HINT = 'Track the partitioned table.';
	ELSIF tracked.refusal IS NOT NULL THEN
		RAISE wrong_object_type USING MESSAGE = format('cannot track table %s: %s', source, tracked.refusal);
	ELSIF NOT pg_has_role(tracked.relowner, 'USAGE') THEN
		RAISE insufficient_privilege USING MESSAGE = format('must be owner of table %s', source);
	ELSIF NOT (pg_has_role(tracked.log_owner, 'USAGE') AND tracked.log_owner = tracked.relowner) THEN
		RAISE insufficient_privilege USING MESSAGE = format('cannot track table %s: role %s must own it and call changes_track()', source, tracked.log_owner);
	END IF;

	-- first wait for other sessions, and only then let writers wait, so that each change is before the
	-- triggers or fires them
	PERFORM pg_advisory_xact_lock(hashtextextended('uuid9562 changes_catalog', source::oid::bigint));
	LOCK TABLE uuid9562_changes.changes_reader IN ROW EXCLUSIVE MODE;
	EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', source);
	PERFORM uuid9562_changes.changes_notice(source);
	SELECT c.*, s.problem, uuid9562_changes.changes_is_log(c.log) AS is_log, l.relowner AS log_owner, l.relacl AS log_acl, l.relname AS log_name, l.relnamespace::regnamespace::text AS log_schema
	INTO old FROM uuid9562_changes.changes_catalog AS c LEFT JOIN pg_class AS l ON l.oid = c.log, uuid9562_changes.changes_state(c.source) AS s
	WHERE c.source = changes_track.source;
	IF old.log_owner <> tracked.log_owner THEN
		-- the table has got another owner
		IF NOT pg_has_role(old.log_owner, 'USAGE') THEN
			RAISE insufficient_privilege USING MESSAGE = format('must be owner of log %s of table %s', old.log, source),
				HINT = format('Let a superuser execute ALTER TABLE %s OWNER TO %s.', old.log, tracked.log_owner);
		END IF;
		EXECUTE format('ALTER TABLE %s OWNER TO %s', old.log, tracked.log_owner);
	END IF;
	operations := coalesce(operations, old.operations, '{insert,update,delete}');
	dropped_partitions := coalesce(dropped_partitions, old.dropped_partitions, 'reset');
	reader_expiry := coalesce(reader_expiry, old.reader_expiry, '7 days');
	log_schema := coalesce(quote_ident(log_schema), old.log_schema, 'changes');
	log_name := coalesce(log_name, old.log_name, tracked.relname);
	log_table := format('%s.%I', log_schema, log_name);

	SELECT * INTO key FROM uuid9562_changes.changes_key(source);

	IF old.source IS NULL OR old.problem IS NOT NULL OR NOT old.is_log OR old.key <> key.numbers OR old.operations <> operations
		OR (old.log_schema, old.log_name) <> (log_schema, log_name::name)
		OR ARRAY(SELECT atttypid FROM pg_attribute WHERE attrelid = old.log AND attnum > 1 AND NOT attisdropped ORDER BY attnum) <> key.types
	THEN
		-- remove what is left of an earlier log, and begin anew
		PERFORM uuid9562_changes.changes_untrack(source);
		IF to_regnamespace(log_schema) IS NULL THEN
			IF NOT has_database_privilege(current_database(), 'CREATE') THEN
				RAISE insufficient_privilege USING MESSAGE = format('schema %s does not exist, and you may not create schemas', log_schema),
					HINT = 'Name a schema in which you may create tables: changes_track(''...'', log_schema => ''...'').';
			END IF;
			EXECUTE format('CREATE SCHEMA %s', log_schema);
			EXECUTE format('GRANT USAGE ON SCHEMA %s TO PUBLIC', log_schema);
		END IF;
		log := to_regclass(log_table);
		IF log IS NOT NULL AND (SELECT relowner FROM pg_class WHERE oid = log) = tracked.log_owner
			AND obj_description(log, 'pg_class') = format('log of changes of %s', source)
			AND NOT EXISTS (SELECT FROM uuid9562_changes.changes_catalog AS c WHERE c.log = to_regclass(log_table)) THEN
			EXECUTE format('DROP TABLE %s', log_table);	-- left by DROP EXTENSION ... CASCADE
		ELSIF log IS NOT NULL THEN
			RAISE duplicate_table USING MESSAGE = format('relation %s already exists', log_table),
				HINT = 'Choose another name for the log: changes_track(''...'', log_name => ''...'').';
		END IF;
		WHILE id_column = ANY (key.names) LOOP
			id_column := id_column || '_';
		END LOOP;
		EXECUTE format('CREATE TABLE %s (%I uuid PRIMARY KEY, %s)', log_table, id_column, key.columns);
		log := log_table::regclass;
		EXECUTE format('COMMENT ON TABLE %s IS %L', log_table, format('log of changes of %s', source));
		EXECUTE format('ALTER TABLE %s OWNER TO %s', log_table, tracked.log_owner);
		FOR grantee IN
			SELECT coalesce(quote_ident(r.rolname), 'PUBLIC') FROM aclexplode(old.log_acl) AS a LEFT JOIN pg_roles AS r ON r.oid = a.grantee
			WHERE privilege_type = 'SELECT' AND a.grantee <> old.log_owner AND (r.oid IS NOT NULL OR a.grantee = 0)
		LOOP
			EXECUTE format('GRANT SELECT ON %s TO %s', log_table, grantee);	-- the readers of an earlier log
		END LOOP;
		EXECUTE format('CREATE TRIGGER uuid9562_changes_deleted AFTER DELETE ON %s FOR EACH STATEMENT EXECUTE FUNCTION %s.changes_log_trigger()', log_table, 'uuid9562_changes');
		EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER uuid9562_changes_deleted', log_table);
		EXECUTE format('CREATE TRIGGER %I AFTER %s ON %s FOR EACH ROW EXECUTE FUNCTION %s.changes_log_trigger()',
					   row_trigger, array_to_string(operations, ' OR '), source, 'uuid9562_changes');
		EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', source, row_trigger);
		old.identity := gen_random_uuid();
		old.purged := '00000000-0000-0000-0000-000000000000';
		old.log_file := (SELECT relfilenode FROM pg_class WHERE oid = log);
	ELSE
		log := old.log;
	END IF;
	FOR part IN
		SELECT relid FROM (SELECT source AS relid UNION SELECT relid FROM pg_partition_tree(source)) AS tree
		WHERE NOT EXISTS (SELECT FROM pg_trigger
						  WHERE tgrelid = relid AND tgtype & 33 = 32 AND tgenabled = 'A' AND tgqual IS NULL AND tgfoid = 'uuid9562_changes.changes_log_trigger'::regproc)
	LOOP
		EXECUTE format('DROP TRIGGER IF EXISTS uuid9562_changes_truncate ON %s', part);
		EXECUTE format('CREATE TRIGGER uuid9562_changes_truncate AFTER TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION %s.changes_log_trigger()', part, 'uuid9562_changes');
		EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER uuid9562_changes_truncate', part);
	END LOOP;
	PERFORM uuid9562_changes.changes_register(ROW(source, log, key.numbers, old.identity, place.server, old.purged, state.parts, state.structure || ('branch ' || place.branch),
		old.log_file, operations, dropped_partitions, reader_expiry,
		coalesce(CASE WHEN EXISTS (SELECT FROM unnest(state.structure) AS text WHERE text LIKE 'table %' AND text <> ALL (old.structure)) THEN clock_timestamp() ELSE old.altered END, '-infinity'))::uuid9562_changes.changes_catalog)
	FROM uuid9562_changes.changes_state(source) AS state, uuid9562_changes.changes_place(false) AS place;

	SELECT pubname INTO publication FROM pg_publication WHERE puballtables LIMIT 1;
	IF FOUND THEN
		RAISE WARNING 'publication "%" also publishes the log %', publication, log
			USING HINT = 'Subscribers that have no such table stop with an error when a change is logged. List the tables of the publication instead of FOR ALL TABLES.';
	END IF;
	RETURN log;
END$body$;
COMMENT ON FUNCTION changes_track(regclass, text, text, text[], text, interval) IS 'log the changes of a table, for changes_read()';

CREATE FUNCTION changes_untrack(source regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	log regclass;
	trigger record;
	others regclass[];
BEGIN
	IF NOT EXISTS (SELECT FROM pg_class WHERE oid = source) THEN
		RAISE undefined_table USING MESSAGE = format('relation with OID %s does not exist', source::oid);
	END IF;
	PERFORM pg_advisory_xact_lock(hashtextextended('uuid9562 changes_catalog', source::oid::bigint));
	LOCK TABLE uuid9562_changes.changes_reader IN ROW EXCLUSIVE MODE;
	EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', source);
	log := (SELECT c.log FROM uuid9562_changes.changes_catalog AS c WHERE c.source = changes_untrack.source);
	others := ARRAY(SELECT c.source FROM uuid9562_changes.changes_catalog AS c WHERE c.source <> changes_untrack.source);
	FOR trigger IN
		SELECT tgname, tgrelid::regclass AS relation
		FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid
		WHERE tgfoid = 'uuid9562_changes.changes_log_trigger'::regproc AND tgparentid = 0
			AND (tgrelid = source OR tgtype & 32 = 32 AND pg_has_role(relowner, 'USAGE'))	-- also of detached partitions
			AND NOT (tgtype & 32 = 32 AND EXISTS (
				SELECT FROM (SELECT tgrelid::regclass AS relid UNION SELECT relid FROM pg_partition_ancestors(tgrelid)) AS tree WHERE relid = ANY (others)))
	LOOP
		EXECUTE format('DROP TRIGGER %I ON %s', trigger.tgname, trigger.relation);
	END LOOP;
	IF EXISTS (SELECT FROM pg_class WHERE oid = log) THEN
		EXECUTE format('DROP TABLE %s', log);
	END IF;
	PERFORM uuid9562_changes.changes_register(jsonb_populate_record(NULL::uuid9562_changes.changes_catalog, jsonb_build_object('source', source::oid::text)));
END$body$;
COMMENT ON FUNCTION changes_untrack(regclass) IS 'drop the log of a table and the triggers that fill it';

CREATE FUNCTION changes_reset(source regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	entry uuid9562_changes.changes_catalog;
BEGIN
	PERFORM pg_advisory_xact_lock(hashtextextended('uuid9562 changes_catalog', source::oid::bigint));
	SELECT * INTO entry FROM uuid9562_changes.changes_catalog AS c WHERE c.source = changes_reset.source;
	IF entry.source IS NULL THEN
		RAISE object_not_in_prerequisite_state USING MESSAGE = format('changes of table %s are not tracked', source);
	END IF;
	entry.identity := gen_random_uuid();
	PERFORM uuid9562_changes.changes_register(entry);
END$body$;
COMMENT ON FUNCTION changes_reset(regclass) IS 'cause all readers of a table to copy the whole table again';

-- A position is changes1.IDENTITY.GENERATION.START.ID.BRANCH.TIMELINE.LSN.CHECKSUM.  START is where the
-- page began, and empty if the reader had to copy the whole table.
--
-- Planner settings of changes_read(): the entries of a page and their rows are found by index, with
-- or without statistics, and each of its own statements is planned once in a session.
CREATE FUNCTION changes_read(reader text, source anyelement, page integer DEFAULT 1000, after text DEFAULT 'confirmed',
	OUT change_type text, OUT data anyelement, OUT change_position text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET row_security = on
	SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
	SET plan_cache_mode = force_generic_plan
AS $body$
#variable_conflict use_column
DECLARE
	own text := 'uuid9562_changes';
	relation regclass := (SELECT typrelid FROM pg_type WHERE oid = pg_typeof(changes_read.source));
	given text[];		-- fields of the position after which to continue
	place record;
	state record;
	other regclass;
	by_position boolean := after IS DISTINCT FROM 'confirmed';	-- does the target store positions?
	confirmation text := nullif(changes_read.after, 'confirmed');
	is_lost boolean;
	start uuid;			-- entries after it have not been read
	horizon uuid;
	entries uuid[];		-- the first two from "start" on
	next uuid;			-- the first one after "start"
	is_locked boolean := false;
	invalidations bigint;	-- 0 if the session has compared the table since it was altered
	is_stale boolean := false;	-- can the statement have been planned before the table was altered?
	last uuid;			-- last entry before a reset
	alive integer[];
	key record;
	part record;		-- parts of the query for the rows
	change record;
BEGIN
	IF reader IS NULL OR reader = '' THEN
		RAISE invalid_parameter_value USING MESSAGE = 'name of reader must not be null or empty';
	ELSIF page IS NULL OR page < 1 THEN
		RAISE invalid_parameter_value USING MESSAGE = format('value %s is out of range for page', coalesce(page::text, 'NULL')),
			DETAIL = 'A page has at least one change.';
	ELSIF relation IS NULL OR relation = 0 THEN
		RAISE datatype_mismatch USING MESSAGE = format('type %s is not the row type of a table', pg_typeof(changes_read.source)),
			HINT = 'Pass a null value of the table''s row type: changes_read(''...'', NULL::customer).';
	ELSIF confirmation ~ '^changes1([.][^.]*){7}[.][0-9a-f]{8}$' IS FALSE OR left(md5(left(confirmation, -9)), 8) <> right(confirmation, 8) THEN
		RAISE invalid_text_representation USING MESSAGE = format('invalid input syntax for position of changes: "%s"', left(after, 200)),
			HINT = 'Pass, without changes, the text that changes_read() has returned.';
	ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
		RAISE active_sql_transaction USING MESSAGE = format('cannot execute changes_read() at isolation level %s', upper(current_setting('transaction_isolation'))),
			HINT = 'Execute it in a READ COMMITTED transaction.';
	END IF;
	-- one session at a time reads the pages of a reader
	PERFORM pg_advisory_xact_lock(hashtextextended('uuid9562 changes_read ' || reader, relation::oid::bigint));

	-- Repeat this until nothing has changed that changes_catalog remembers.  If there is a page, lock table and
	-- log, so that they stay as they are.
	FOR attempt IN 1 .. 5 LOOP
		IF NOT EXISTS (SELECT FROM uuid9562_changes.changes_catalog AS c WHERE c.source = relation) THEN
			RAISE object_not_in_prerequisite_state USING MESSAGE = format('changes of table %s are not tracked', relation),
				HINT = CASE WHEN (SELECT relispartition FROM pg_class WHERE oid = relation) THEN 'Read the changes of the partitioned table.'
							ELSE format('Call changes_track(%L) as the owner of the table.', relation) END;
		END IF;
		-- the branch before the horizon; see uuid9562_snapshot_state()
		SELECT * INTO place FROM uuid9562_changes.changes_place(false);
		horizon := uuid9562_changes.changes_publish(relation);
		invalidations := uuid9562_changes.changes_verified(relation);
		IF invalidations <> 0 THEN
			-- changes_state() locks partitions, and others lock the table before them
			IF has_table_privilege(relation, 'SELECT') AND (SELECT relkind = 'p' FROM pg_class WHERE oid = relation) THEN
				EXECUTE format('LOCK TABLE ONLY %s IN ACCESS SHARE MODE', relation);
			END IF;
		END IF;
		SELECT c.log, quote_ident(n.nspname) || '.' || quote_ident(l.relname) AS log_name, c.key, c.identity, c.purged, c.reader_expiry, c.altered, s.problem,
			   c.server = place.server AND c.log_file = l.relfilenode AND c.purged <= horizon
				   AND NOT EXISTS (SELECT FROM uuid9562_changes.changes_missing AS m WHERE m.log = c.log)
				   AND (invalidations = 0 OR (c.parts = s.parts AND c.structure = s.structure || ('branch ' || place.branch))) AS unchanged,
			   l.oid IS NOT NULL AND (invalidations = 0 OR uuid9562_changes.changes_is_log(c.log)) AS is_log,
			   (SELECT text FROM unnest(s.structure) AS text WHERE text LIKE 'table %') AS columns,
			   has_table_privilege(relation, 'SELECT') AS may_read, has_table_privilege(l.oid, 'SELECT') AS may_read_log,
			   ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.log AND attnum > 0 ORDER BY attnum) AS log_columns,
			   r.identity AS reader_identity, r.owner, r.generation, r.confirmed, r.confirmed_position, r.page_position, r.page_pid,
			   r.abandoned, r.abandoned_by, r.abandoned_at, r.seen, r.is_outside
		INTO state
		FROM uuid9562_changes.changes_catalog AS c
		LEFT JOIN pg_class AS l ON l.oid = c.log
		LEFT JOIN pg_namespace AS n ON n.oid = l.relnamespace
		LEFT JOIN uuid9562_changes.changes_reader AS r ON r.source = c.source AND r.reader = changes_read.reader,
		uuid9562_changes.changes_state(CASE WHEN invalidations <> 0 THEN c.source END) AS s
		WHERE c.source = relation;
		IF NOT FOUND THEN
			CONTINUE;	-- changes_untrack() has just been called
		ELSIF NOT state.may_read THEN
			RAISE insufficient_privilege USING MESSAGE = format('permission denied for table %s', relation);
		ELSIF NOT state.may_read_log THEN
			RAISE insufficient_privilege USING MESSAGE = format('permission denied for log %s of table %s', state.log, relation),
				HINT = format('As the owner of the table, execute GRANT SELECT ON %s TO %I.', state.log, current_user);
		ELSIF attempt = 1 AND (state.problem IS NOT NULL OR state.is_log IS NOT TRUE) THEN
			CONTINUE;	-- changes_track() can just have replaced the log
		ELSIF state.problem IS NOT NULL OR state.is_log IS NOT TRUE THEN
			RAISE object_not_in_prerequisite_state USING MESSAGE = format('changes of table %s are not logged', relation),
				DETAIL = coalesce(upper(left(state.problem, 1)) || substr(state.problem, 2) || '.', 'The log has been dropped or altered.'),
				HINT = format('Call changes_track(%L) as the owner of the table. All readers then copy the whole table.', relation);
		ELSIF row_security_active(relation) OR row_security_active(state.log) THEN
			RAISE insufficient_privilege USING MESSAGE = format('row-level security hides rows of table %s or its log from role %s', relation, current_user),
				HINT = 'Read the changes as a role that has the attribute BYPASSRLS or owns the table.';
		ELSIF NOT pg_has_role(state.owner, 'USAGE') AND NOT (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = relation) THEN
			RAISE insufficient_privilege USING MESSAGE = format('reader "%s" of table %s belongs to role %s', reader, relation, state.owner),
				HINT = 'Choose another name for the reader.';
		ELSIF after IS NULL AND state.confirmed IS NOT NULL AND NOT state.is_outside THEN
			-- another target can have read the table as this reader
			RAISE object_not_in_prerequisite_state USING MESSAGE = format('position of reader "%s" of table %s is stored in the database', reader, relation),
				HINT = 'Omit "after" to continue at this position.  For a new target, choose another name, or call changes_forget().';
		ELSIF NOT state.unchanged THEN
			PERFORM uuid9562_changes.changes_notice(relation);
			CONTINUE;
		END IF;
		-- If a statement was planned before the table's name or columns were altered, it would read a table that now
		-- has another name, or take the values of other columns from a page.  PostgreSQL does not notice that,
		-- because the statement only names the table's row type.
		IF invalidations <> 0 AND uuid9562_changes.changes_verified(relation, invalidations, state.columns, state.altered) < 0 THEN
			is_stale := true;
		END IF;

		-- Where to continue.  A copy of the whole table counts only if the server has run without a crash
		-- or promotion until it was confirmed, because the copied rows can have been lost otherwise.  NULL
		-- is the position of a new target.
		given := string_to_array(confirmation, '.');
		IF NOT by_position AND state.reader_identity = state.identity AND state.confirmed IS NOT NULL AND NOT state.is_outside THEN
			IF state.abandoned IS NOT NULL THEN
				-- sessions that can still apply the rows of an abandoned page; the others can have done so
				alive := ARRAY(SELECT pid FROM pg_stat_get_activity(NULL) WHERE pid = ANY (state.abandoned_by) AND state.abandoned_at > now() - interval '10 minutes');
				IF cardinality(alive) < cardinality(state.abandoned_by) THEN
					state.confirmed := least(state.confirmed, state.abandoned);
					state.abandoned_by := alive;
					state.abandoned := CASE WHEN alive <> '{}' THEN state.abandoned END;
				END IF;
			END IF;
			confirmation := state.confirmed_position;
			given := string_to_array(confirmation, '.');
			given[5] := state.confirmed;
			is_lost := given[7] <> place.timeline::text;
		ELSIF given[2] = state.identity::text THEN
			is_lost := given[4] = '' AND given[6] <> place.branch AND after IS DISTINCT FROM state.confirmed_position;
		ELSE
			SELECT c.source INTO other FROM uuid9562_changes.changes_catalog AS c WHERE c.identity::text = given[2];
			IF other IS NOT NULL THEN
				RAISE invalid_parameter_value USING MESSAGE = format('position of table %s cannot be used for table %s', other, relation);
			END IF;
			is_lost := true;
		END IF;
		start := given[5];
		is_lost := is_lost OR start < state.purged OR uuid9562_changes.changes_is_lost(given[6], start, given[7]::bigint, given[8]::pg_lsn);
		next := NULL;
		IF NOT is_lost THEN
			-- the entry at which the reader stands must be there, unless it has been purged
			EXECUTE format('SELECT ARRAY(SELECT %1$I FROM ONLY %2$s WHERE %1$I >= $1 ORDER BY %1$I LIMIT 2)', state.log_columns[1], state.log_name) INTO entries USING start;
			next := CASE WHEN entries[1] = start THEN entries[2] ELSE entries[1] END;
			is_lost := entries[1] = start IS NOT TRUE AND start <> state.purged;
			CONTINUE WHEN is_lost AND (SELECT c.purged <> state.purged FROM uuid9562_changes.changes_catalog AS c WHERE c.source = relation);	-- a purge has just deleted it
		END IF;
		EXIT WHEN is_locked OR NOT (is_lost OR next < horizon IS TRUE);
		EXECUTE format('LOCK TABLE ONLY %s, ONLY %s IN ACCESS SHARE MODE', relation, state.log_name);
		is_locked := true;
		EXIT WHEN uuid9562_changes.changes_verified(relation) = 0;
	END LOOP;
	IF state.unchanged IS NOT TRUE THEN
		RAISE serialization_failure USING MESSAGE = format('table %s has been altered while its changes were read', relation),
			HINT = 'Call changes_read() again.';
	END IF;
	-- a new reader has other numbers of pages than one of its name that was forgotten
	state.generation := coalesce(state.generation, (extract(epoch FROM clock_timestamp()) * 1000)::bigint);
	IF is_stale THEN
		-- "reset" has no values of columns, but other changes come with the next call, which is planned anew
		next := NULL;
	END IF;
	IF is_lost OR next < horizon THEN
		SELECT * INTO key FROM uuid9562_changes.changes_key(relation);
		IF key.numbers IS DISTINCT FROM state.key OR key.types <> ARRAY(SELECT atttypid FROM pg_attribute WHERE attrelid = state.log AND attnum > 1 ORDER BY attnum) THEN
			RAISE object_not_in_prerequisite_state USING MESSAGE = format('changes of table %s are not logged', relation),
				DETAIL = 'The primary key has been altered.',
				HINT = format('Call changes_track(%L) as the owner of the table. All readers then copy the whole table.', relation);
		END IF;
		state.generation := state.generation + 1;
	ELSIF confirmation IS NOT DISTINCT FROM state.confirmed_position AND by_position = state.is_outside AND state.seen > now() - least(interval '1 hour', state.reader_expiry / 10) THEN
		RETURN;	-- an empty page writes nothing
	END IF;

	IF NOT is_lost AND next < horizon THEN
		SELECT string_agg(format('r.%I OPERATOR(%s) e.%I', name, operator, log_column), ' AND ') AS same_row,
			   string_agg(format('r.%I::%s', name, format_type(type, -1)), ', ' ORDER BY n) AS row_key,
			   string_agg(format('e.%I', log_column), ', ' ORDER BY n) AS entry_key,
			   (SELECT string_agg(coalesce('e.' || quote_ident(state.log_columns[array_position(state.key, attnum) + 1]), format('(NULL::%s).%I', relation, attname)), ', ' ORDER BY attnum)
				FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped) AS columns
		INTO part
		FROM unnest(key.names, key.types, key.operators, state.log_columns[2:]) WITH ORDINALITY AS k (name, type, operator, log_column, n);
		-- Each key once, where it changed last; keys differ if their bytes differ.  The page ends before an entry
		-- that stands for the whole table.
		FOR change IN EXECUTE format('
			WITH place AS MATERIALIZED (SELECT * FROM %1$s.changes_place(true)),
				page AS MATERIALIZED (SELECT * FROM ONLY %2$s WHERE %3$I > $1 AND %3$I < $2 ORDER BY %3$I LIMIT $6),
				entry AS MATERIALIZED (
					SELECT DISTINCT ON (ROW(%4$s)::record) e.* FROM page AS e
					WHERE (%3$I < (SELECT %3$I FROM page WHERE %9$I IS NOT DISTINCT FROM NULL ORDER BY %3$I LIMIT 1)) IS NOT FALSE
					ORDER BY ROW(%4$s)::record USING OPERATOR(pg_catalog.*<), %3$I DESC)
			SELECT CASE WHEN t.found THEN ''upsert'' ELSE ''delete'' END AS type,
				   CASE WHEN t.found THEN t.row ELSE ROW(%5$s)::%6$s END AS data,
				   concat_ws(''.'', ''changes1'', $3, $4, $1, e.%3$I, $5, place.timeline, place.lsn) AS position
			FROM place, entry AS e LEFT JOIN LATERAL (
				SELECT true AS found, CASE WHEN true THEN r.* END AS row
				FROM %6$s AS r WHERE %7$s AND ROW(%8$s)::record OPERATOR(pg_catalog.*=) ROW(%4$s)::record LIMIT 1) AS t ON true
			ORDER BY e.%3$I', own, state.log_name, state.log_columns[1], part.entry_key, part.columns, relation, part.same_row, part.row_key, state.log_columns[2])
			USING start, horizon, state.identity, state.generation, place.branch, page
		LOOP
			change_type := change.type;
			data := change.data;
			change_position := concat_ws('.', change.position, left(md5(change.position), 8));
			RETURN NEXT;
		END LOOP;
		is_lost := change_position IS NULL;
		IF (SELECT c.purged > start FROM uuid9562_changes.changes_catalog AS c WHERE c.source = relation) THEN
			RAISE serialization_failure USING MESSAGE = 'log entries have been purged while they were read',
				HINT = 'Call changes_read() again.';
		END IF;
	END IF;
	IF is_lost THEN
		start := NULL;
		EXECUTE format('
			SELECT greatest((SELECT %1$I FROM ONLY %2$s WHERE %1$I > $1 AND %1$I < $2 ORDER BY %1$I DESC LIMIT 1), $1)',
			state.log_columns[1], state.log_name) INTO last USING state.purged, horizon;
		change_type := 'reset';
		SELECT concat_ws('.', 'changes1', state.identity, state.generation, '', last, place.branch, flushed.timeline, flushed.lsn)
		INTO change_position FROM uuid9562_changes.changes_place(true) AS flushed;
		change_position := concat_ws('.', change_position, left(md5(change_position), 8));
		RETURN NEXT;
	END IF;

	-- Another session has read a page that has not been confirmed.  It can still apply the rows.
	IF NOT by_position AND change_position IS NOT NULL AND state.page_pid <> pg_backend_pid()
		AND (state.confirmed IS NULL OR split_part(state.page_position, '.', 5)::uuid > state.confirmed)
		AND EXISTS (SELECT FROM pg_stat_get_activity(state.page_pid)) THEN
		state.abandoned := least(state.abandoned, coalesce(nullif(split_part(state.page_position, '.', 4), ''), split_part(state.page_position, '.', 5))::uuid);
		state.abandoned_by := array_remove(state.abandoned_by, state.page_pid) || state.page_pid;
		state.abandoned_at := now();
	END IF;
	INSERT INTO uuid9562_changes.changes_reader AS r (reader, source, identity, generation, confirmed, confirmed_position, hold, page_position, page_pid, seen, is_outside)
	VALUES (changes_read.reader, relation, state.identity, state.generation, start, CASE WHEN start IS NOT NULL THEN confirmation END,
		coalesce(least(start, state.abandoned), last), coalesce(change_position, confirmation), pg_backend_pid(), now(), by_position)
	ON CONFLICT (reader, source) DO UPDATE SET identity = excluded.identity, generation = excluded.generation, confirmed = excluded.confirmed,
		confirmed_position = excluded.confirmed_position, hold = excluded.hold, seen = now(), is_outside = excluded.is_outside, page_pid = excluded.page_pid,
		page_position = CASE WHEN change_position IS NULL THEN r.page_position ELSE excluded.page_position END,
		abandoned = state.abandoned, abandoned_by = state.abandoned_by, abandoned_at = state.abandoned_at;
	IF by_position AND start IS NOT NULL AND state.generation % 4 = 0 THEN
		PERFORM uuid9562_changes.changes_purge(relation, interval '10 minutes', 50000);
	END IF;
END$body$;
COMMENT ON FUNCTION changes_read(text, anyelement, integer, text) IS 'read a page of changed rows of a tracked table';

CREATE FUNCTION changes_done(reader text, "position" text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET row_security = on SET plan_cache_mode = force_generic_plan
AS $body$
#variable_conflict use_column
DECLARE
	given text[] := string_to_array("position", '.');
	tables regclass[];
	readers bigint;
	current record;
	other regclass;
BEGIN
	IF reader IS NULL OR reader = '' THEN
		RAISE invalid_parameter_value USING MESSAGE = 'name of reader must not be null or empty';
	ELSIF "position" ~ '^changes1([.][^.]*){7}[.][0-9a-f]{8}$' IS FALSE OR left(md5(left("position", -9)), 8) <> right("position", 8) THEN
		RAISE invalid_text_representation USING MESSAGE = format('invalid input syntax for position of changes: "%s"', left("position", 200)),
			HINT = 'Pass, without changes, the text that changes_read() has returned.';
	END IF;
	SELECT array_agg(c.source) FILTER (WHERE c.identity::text = given[2] OR (given IS NULL AND r.page_pid = pg_backend_pid())), count(*) INTO tables, readers
	FROM uuid9562_changes.changes_reader AS r JOIN uuid9562_changes.changes_catalog AS c USING (source) JOIN pg_class AS t ON t.oid = c.source
	WHERE r.reader = changes_done.reader;
	IF readers = 0 THEN
		RAISE undefined_object USING MESSAGE = format('reader "%s" does not exist', reader);
	ELSIF cardinality(tables) > 1 THEN
		RAISE ambiguous_parameter USING MESSAGE = format('session has read more than one table as reader "%s"', reader),
			HINT = 'Pass the position of the last change that has been applied.';
	ELSIF tables IS NULL AND given IS NULL THEN
		RAISE object_not_in_prerequisite_state USING MESSAGE = format('another session has read the last page of reader "%s"', reader),
			HINT = 'Pass the position of the last change that has been applied.';
	ELSIF tables IS NULL THEN
		SELECT c.source INTO other FROM uuid9562_changes.changes_catalog AS c WHERE c.identity::text = given[2];
		IF other IS NOT NULL THEN
			RAISE invalid_parameter_value USING MESSAGE = format('reader "%s" has not read table %s', reader, other);
		END IF;
		-- The log has got a new identity, so changes_read() returns "reset".  If it has already done so, the
		-- rows of the old page can have replaced newer ones.
		UPDATE uuid9562_changes.changes_reader AS r SET generation = r.generation + 1, confirmed = NULL, confirmed_position = NULL
		WHERE r.reader = changes_done.reader
			AND NOT EXISTS (SELECT FROM uuid9562_changes.changes_reader AS o WHERE o.reader = changes_done.reader AND o.identity::text = given[2]);
		RETURN;
	END IF;

	PERFORM pg_advisory_xact_lock(hashtextextended('uuid9562 changes_read ' || reader, tables[1]::oid::bigint));
	SELECT r.*, place.branch, place.timeline INTO current
	FROM uuid9562_changes.changes_reader AS r, uuid9562_changes.changes_place(false) AS place WHERE r.reader = changes_done.reader AND r.source = tables[1];
	IF NOT pg_has_role(current.owner, 'USAGE') AND NOT (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = tables[1]) THEN
		RAISE insufficient_privilege USING MESSAGE = format('reader "%s" of table %s belongs to role %s', reader, tables[1], current.owner);
	END IF;
	"position" := coalesce("position", current.page_position);
	given := string_to_array("position", '.');
	IF given[3]::bigint <> current.generation THEN
		-- another page has been returned since, so rows of this page can have replaced newer ones
		current.generation := current.generation + 1;
		current.confirmed := CASE WHEN current.confirmed IS NOT NULL THEN least(current.confirmed, coalesce(nullif(given[4], ''), given[5])::uuid) END;
	ELSIF given[4] = '' AND (given[6] <> current.branch OR given[7] <> current.timeline::text) THEN
		RETURN;	-- copied rows can have been lost by a crash, so changes_read() returns "reset" again
	ELSIF given[5]::uuid > current.confirmed IS NOT FALSE THEN
		current.confirmed := given[5];
		current.confirmed_position := "position";
	END IF;
	UPDATE uuid9562_changes.changes_reader AS r
	SET generation = current.generation, confirmed = current.confirmed, confirmed_position = current.confirmed_position,
		hold = coalesce(least(current.confirmed, r.abandoned), r.hold), seen = now()
	WHERE r.reader = changes_done.reader AND r.source = tables[1];
	IF current.generation % 4 = 0 THEN
		PERFORM uuid9562_changes.changes_purge(tables[1], interval '10 minutes', 50000);
	END IF;
END$body$;
COMMENT ON FUNCTION changes_done(text, text) IS 'confirm that a reader has applied changes up to a position, or the last page that it has read';

CREATE FUNCTION changes_forget(reader text, source regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp SET row_security = on
AS $body$
BEGIN
	DELETE FROM uuid9562_changes.changes_reader AS r WHERE r.reader = changes_forget.reader AND r.source = changes_forget.source;
	IF FOUND THEN
		RETURN;
	ELSIF EXISTS (SELECT FROM uuid9562_changes.changes_reader AS r WHERE r.reader = changes_forget.reader AND r.source = changes_forget.source) THEN
		RAISE insufficient_privilege USING MESSAGE = format('reader "%s" of table %s belongs to another role', reader, source);
	END IF;
	RAISE undefined_object USING MESSAGE = format('reader "%s" of table %s does not exist', reader, source);
END$body$;
COMMENT ON FUNCTION changes_forget(text, regclass) IS 'remove a reader, which then no longer prevents the deletion of log entries';

-- Entries that are not older than "keep" stay, because a process that was overtaken by another one of
-- the same name, or whose target has lost its last transactions, continues at an earlier position.  The
-- role of the session counts, because the current role is the owner of the function.
CREATE FUNCTION changes_purge(source regclass, keep interval DEFAULT '10 minutes', max_entries integer DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $body$
#variable_conflict use_column
DECLARE
	entry record;
	purge record;
BEGIN
	IF max_entries < 1 THEN
		RAISE invalid_parameter_value USING MESSAGE = format('value %s is out of range for max_entries', max_entries);
	ELSIF keep IS NULL THEN
		RAISE null_value_not_allowed USING MESSAGE = 'keep must not be null';
	ELSIF now() - keep > now() - interval '10 minutes' AND NOT (SELECT pg_has_role(session_user, relowner, 'MEMBER') FROM pg_class WHERE oid = source) THEN
		RAISE insufficient_privilege USING MESSAGE = format('must be owner of table %s to delete entries of the last 10 minutes', source);
	END IF;
	-- one session at a time; others need not wait
	IF NOT pg_try_advisory_xact_lock(hashtextextended('uuid9562 changes_catalog', changes_purge.source::oid::bigint)) THEN
		RETURN 0;
	END IF;
	SELECT l.oid::regclass AS log, c.purged, least(uuid 'ffffffff-ffff-8000-8000-000000000000', uuid9562_changes.id_floor(now() - keep),
		(SELECT hold FROM uuid9562_changes.changes_reader AS r WHERE r.source = c.source AND r.seen > now() - c.reader_expiry ORDER BY hold LIMIT 1)) AS last
	INTO entry
	FROM uuid9562_changes.changes_catalog AS c JOIN pg_class AS l ON l.oid = c.log WHERE c.source = changes_purge.source;
	IF entry.last > entry.purged IS NOT TRUE THEN
		RETURN 0;
	END IF;
	SELECT * INTO purge FROM uuid9562_changes.changes_delete(entry.log, entry.purged, entry.last, coalesce(max_entries, 2147483647));
	UPDATE uuid9562_changes.changes_catalog AS c SET purged = purge.up_to WHERE c.source = changes_purge.source AND purge.deleted > 0;
	RETURN purge.deleted;
END$body$;
COMMENT ON FUNCTION changes_purge(regclass, interval, integer) IS 'delete log entries that all readers have confirmed';

CREATE VIEW changes_tables AS
SELECT c.source, c.log, c.operations, c.dropped_partitions, c.reader_expiry,
	   CASE WHEN t.oid IS NULL THEN 'the table has been dropped'
			WHEN l.oid IS NULL OR NOT changes_is_log(c.log) THEN 'the log has been dropped or altered'
			WHEN s.problem IS NOT NULL THEN s.problem
			WHEN (k.numbers OPERATOR(pg_catalog.=) c.key) IS NOT TRUE
				OR k.types OPERATOR(pg_catalog.<>) ARRAY(SELECT atttypid FROM pg_catalog.pg_attribute WHERE attrelid OPERATOR(pg_catalog.=) c.log AND attnum OPERATOR(pg_catalog.>) 1 ORDER BY attnum)
				THEN 'the primary key has been altered' END AS problem,
	   ARRAY(SELECT pg_catalog.split_part(part, ' ', 1)::oid::regclass FROM pg_catalog.unnest(s.parts) AS part WHERE part LIKE '% file %' AND EXISTS (SELECT FROM pg_class WHERE oid = pg_catalog.split_part(part, ' ', 1)::oid AND relkind = 'r')) AS without_truncate_trigger,
	   greatest(l.reltuples, 0)::bigint AS estimated_entries,
	   nullif(c.purged, '00000000-0000-0000-0000-000000000000') AS purged
FROM uuid9562_changes.changes_catalog AS c
LEFT JOIN pg_class AS t ON t.oid OPERATOR(pg_catalog.=) c.source
LEFT JOIN pg_class AS l ON l.oid OPERATOR(pg_catalog.=) c.log
LEFT JOIN LATERAL changes_state(c.source) AS s ON t.oid IS NOT NULL
LEFT JOIN LATERAL changes_key(c.source) AS k ON t.oid IS NOT NULL;
GRANT SELECT ON changes_tables TO PUBLIC;
COMMENT ON VIEW changes_tables IS 'tracked tables, their logs, and what prevents readers from reading them';

-- What a reader who has confirmed the entries up to "after" still has to read, counted up to 100,000
-- entries.  The result is null for callers who may not read the log.
CREATE FUNCTION changes_waiting(log regclass, after uuid, OUT entries bigint, OUT first uuid)
LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $body$
DECLARE
	id text;
BEGIN
	IF has_table_privilege(log, 'SELECT') AND has_schema_privilege((SELECT relnamespace FROM pg_class WHERE oid = log), 'USAGE')
		AND uuid9562_changes.changes_is_log(log) THEN
		SELECT attname INTO id FROM pg_attribute WHERE attrelid = log AND attnum = 1;
		EXECUTE format('SELECT (SELECT count(*) FROM (SELECT FROM ONLY %2$s WHERE %1$I > $1 LIMIT 100000) AS entry),
							   (SELECT %1$I FROM ONLY %2$s WHERE %1$I > $1 ORDER BY %1$I LIMIT 1)', id, log)
			INTO entries, first USING after;
	END IF;
END$body$;
COMMENT ON FUNCTION changes_waiting(regclass, uuid) IS 'entries of a log that a reader has not confirmed; used by changes_readers';

-- The numbers of entries are counted up to 100,000, and only if the caller may read the log.
CREATE VIEW changes_readers AS
SELECT r.reader, r.source, r.owner, r.seen,
	   waiting.entries AS entries_waiting,
	   now() - uuid9562_changes.id_timestamp(waiting.first) AS oldest_waiting,
	   CASE WHEN r.confirmed IS NULL OR r.identity <> c.identity OR r.confirmed < c.purged OR l.relfilenode OPERATOR(pg_catalog.<>) c.log_file
				OR EXISTS (SELECT FROM uuid9562_changes.changes_missing AS m WHERE m.log OPERATOR(pg_catalog.=) c.log) THEN 'copy of the whole table'
			WHEN pg_catalog.split_part(r.page_position, '.', 5)::uuid > r.confirmed THEN 'confirmation'
			WHEN waiting.first < uuid 'ffffffff-ffff-8000-8000-000000000000' THEN 'changes_read()'
			WHEN waiting.first IS NOT NULL THEN 'changes_read()'
	   END AS waits_for
FROM uuid9562_changes.changes_reader AS r
JOIN uuid9562_changes.changes_catalog AS c ON c.source OPERATOR(pg_catalog.=) r.source
LEFT JOIN pg_class AS l ON l.oid OPERATOR(pg_catalog.=) c.log,
LATERAL changes_waiting(l.oid::regclass, coalesce(r.confirmed, c.purged)) AS waiting;
GRANT SELECT ON changes_readers TO PUBLIC;
COMMENT ON VIEW changes_readers IS 'readers of tracked tables, and what they wait for';

COMMIT;
