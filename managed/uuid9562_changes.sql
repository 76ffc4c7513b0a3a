-- uuid9562_changes without C, for PostgreSQL 15 and later on servers that do not allow C extensions.
--
--	psql --set ON_ERROR_STOP=1 --file uuid9562_changes.sql
--
-- Run this script as a role with the CREATE privilege on the database.  The functions and views have the
-- names, arguments and results of the extension; doc/hosted.md lists the differences.
--
-- Triggers write the keys of changed rows to one log.  An entry first gets an ID above all others.  The
-- next reader that sees it publishes it: one session at a time gives entries their final IDs, which are
-- greater than all earlier ones.  So final IDs become visible in ascending order, although transactions
-- commit in another order than they write.  changes_read() returns the newest content of a row, in a
-- later statement, so a reader that has read all entries has the newest content of all rows.
--
-- The state of a reader, and the rules for confirming, are those of src/core/reader.h.
--
-- The tables belong to the role that runs the script, and no other role has a privilege on them.
-- Functions that write them are SECURITY DEFINER, and judge the caller by the session's role, because they
-- can be called with any arguments.  changes_read() reads the tracked table as its caller.  Whatever
-- runs as the owner of the script calls only output functions for values of other roles, never a cast.
--
-- The trigger of a table says that it is tracked.  All else that these tables contain can be lost: the
-- next page of each reader is then a reset.

BEGIN;

CREATE SCHEMA uuid9562_changes;
GRANT USAGE ON SCHEMA uuid9562_changes TO PUBLIC;
COMMENT ON SCHEMA uuid9562_changes IS 'the part of the extension uuid9562_changes 1.0 that needs no C';

SET LOCAL search_path = uuid9562_changes, pg_catalog, pg_temp;

CREATE SEQUENCE uuid9562_changes.changes_number;		-- order of entries

CREATE TABLE uuid9562_changes.log (
	source oid,
	id uuid,
	key text[],						-- OID of the key's constraint, and the key; NULL: all rows
	PRIMARY KEY (source, id));

CREATE TABLE uuid9562_changes.changes_purged (source oid PRIMARY KEY, id uuid NOT NULL);	-- entries up to the ID have been deleted

-- The states of tracked tables that readers have found.  A position is valid while its identity is here.
CREATE TABLE uuid9562_changes.changes_state (
	identity uuid PRIMARY KEY,
	source oid NOT NULL,
	timeline bigint NOT NULL,
	branch text NOT NULL,			-- run of the server
	parts text[] NOT NULL,			-- table and partitions, with their triggers
	columns text[] NOT NULL,		-- columns, their types, and the key
	files text[] NOT NULL,			-- of table and partitions
	marks text NOT NULL,			-- versions of the columns
	altered timestamptz NOT NULL);	-- when this row type was first found

-- A page that a program can still apply, as UuidReaderPage in reader.h.  The number is NULL if pages were merged.
CREATE TYPE uuid9562_changes.changes_page AS (
	number uuid, last uuid, horizon uuid, cap uuid, read_at timestamptz, until timestamptz, is_reset boolean, expired boolean);

CREATE TABLE uuid9562_changes.changes_reader (
	reader text,
	source oid,
	owner oid NOT NULL,
	identity uuid NOT NULL,
	confirmed uuid NOT NULL,		-- 0: the next page is a reset
	pages uuid9562_changes.changes_page[] NOT NULL,
	seen timestamptz NOT NULL,
	place text,						-- position that was passed as "after", or '' for NULL
	PRIMARY KEY (reader, source));

-- Rows to lock, because any role can hold an advisory lock: 1 of a table for publishing entries, 2 for deleting
-- them.  Row 0 of table 0 says in which database the tables were written, and by which transaction.  If that
-- differs, they were restored or copied.
CREATE TABLE uuid9562_changes.changes_slot (source oid, number integer, database oid, written xid, PRIMARY KEY (source, number));

-- Nobody has privileges on the tables, whatever the default privileges are.  Discard rows that no function of
-- this file writes, such as those of a publisher.  A function of an ordinary role cannot set a parameter of its
-- own, so functions that write set geqo_seed to a value that nobody else uses.
CREATE FUNCTION changes_discard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	IF TG_OP = 'TRUNCATE' THEN
		RAISE feature_not_supported USING MESSAGE = format('cannot truncate table "%s"', TG_TABLE_NAME),
			HINT = 'To delete entries of the log, call changes_purge(). To let all readers copy a table, call changes_reset().';
	END IF;
	RETURN NULL;
END$body$;

DO $do$
DECLARE
	path text := pg_catalog.current_setting('search_path');
	name text; grantee text;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	FOREACH name IN ARRAY '{log,changes_purged,changes_state,changes_reader,changes_slot,changes_number}'::text[] LOOP
		name := 'uuid9562_changes.' || name;
		FOR grantee IN SELECT DISTINCT coalesce(quote_ident(rolname), 'PUBLIC') FROM pg_class AS c, aclexplode(relacl) AS a LEFT JOIN pg_roles AS r ON r.oid = a.grantee
			WHERE c.oid = name::regclass AND a.grantee <> relowner
		LOOP
			EXECUTE format('REVOKE ALL ON %s FROM %s', name, grantee);
		END LOOP;
		CONTINUE WHEN name LIKE '%number';
		EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name);
		EXECUTE format('CREATE TRIGGER changes_discard BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW WHEN (current_setting(''geqo_seed'') <> ''0.9562'') EXECUTE FUNCTION uuid9562_changes.changes_discard()', name);
		EXECUTE format('CREATE TRIGGER changes_truncate BEFORE TRUNCATE ON %s EXECUTE FUNCTION uuid9562_changes.changes_discard()', name);
		EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER changes_discard, ENABLE ALWAYS TRIGGER changes_truncate', name);
	END LOOP;
	PERFORM set_config('search_path', path, true);
END$do$;

-- The role of the session.  current_user would be the owner of a SECURITY DEFINER function.
CREATE FUNCTION changes_caller() RETURNS oid LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	RETURN quote_ident(CASE current_setting('role') WHEN 'none' THEN session_user::text ELSE current_setting('role') END)::regrole;
END$body$;

CREATE FUNCTION changes_check_owner(source oid) RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
	owner oid := (SELECT relowner FROM pg_class WHERE oid = source);
BEGIN
	IF owner IS NULL THEN RAISE undefined_table USING MESSAGE = format('relation with OID %s does not exist', source);
	ELSIF NOT pg_has_role(uuid9562_changes.changes_caller(), owner, 'USAGE') THEN RAISE insufficient_privilege USING MESSAGE = format('must be owner of table %s', source::regclass);
	ELSIF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = source AND tgfoid = 'uuid9562_changes.log_trigger'::regproc AND tgtype & 1 = 1 AND tgparentid = 0) THEN
		RAISE object_not_in_prerequisite_state USING MESSAGE = format('changes of table %s are not tracked', source::regclass);
	END IF;
END$body$;

-- Has this transaction written a row that it sees, with this xmin?  A subtransaction has an ID of its own, greater
-- than that of its transaction.  A frozen row can have an ID of 2^32 transactions ago.
CREATE FUNCTION changes_is_own(xmin xid) RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
	own bigint := pg_current_xact_id_if_assigned()::text::bigint;
	written bigint := own + (xmin::text::bigint - own % 4294967296 + 4294967296) % 4294967296;
	completed bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
BEGIN
	RETURN own IS NOT NULL AND xmin::text::bigint > 2 AND written < completed + 10000000 AND (written >= completed OR pg_xact_status(written::text::xid8) = 'in progress');
END$body$;

-- Before PostgreSQL 17, only COMMIT can flush WAL.  The branch is a text for the run of the server: its start, and
-- the time at which a crash of a server process has last reset the statistics.
CREATE FUNCTION changes_place(OUT branch text, OUT timeline bigint, OUT lsn pg_lsn) LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	branch := to_hex((extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint)
		|| to_hex(coalesce((SELECT extract(epoch FROM stats_reset) * 1000000 FROM pg_stat_get_archiver()), 0)::bigint);
	lsn := pg_current_wal_insert_lsn();
	timeline := ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::bigint;
END$body$;

-- Do the tables belong to this database?
CREATE FUNCTION changes_is_settled() RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	RETURN EXISTS (SELECT FROM uuid9562_changes.changes_slot WHERE source = 0 AND number = 0 AND written = xmin AND database = (SELECT oid FROM pg_database WHERE datname = current_database()));
END$body$;

CREATE FUNCTION changes_settle() RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	LOCK TABLE uuid9562_changes.changes_slot IN SHARE ROW EXCLUSIVE MODE;
	IF uuid9562_changes.changes_is_settled() THEN RETURN; END IF;	-- another session has done so
	DELETE FROM uuid9562_changes.log;
	DELETE FROM uuid9562_changes.changes_purged;
	DELETE FROM uuid9562_changes.changes_state;
	DELETE FROM uuid9562_changes.changes_reader;
	DELETE FROM uuid9562_changes.changes_slot;
	INSERT INTO uuid9562_changes.changes_slot SELECT 0, 0, oid FROM pg_database WHERE datname = current_database();
	UPDATE uuid9562_changes.changes_slot SET written = xmin;
END$body$;

DO $do$
BEGIN
	PERFORM pg_catalog.set_config('geqo_seed', '0.9562', true);
	PERFORM uuid9562_changes.changes_settle();
	PERFORM pg_catalog.set_config('geqo_seed', '0', true);
END$do$;

-- --- the log ----------------------------------------------------------------------

-- An ID of an entry that is not published: ffff, the time and a number.
CREATE FUNCTION changes_new_id() RETURNS uuid LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
	t text := lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0');
BEGIN
	RETURN ('ffff' || left(t, 8) || '8' || substr(t, 9, 3) || '8' || right(t, 1) || lpad(to_hex(nextval('uuid9562_changes.changes_number')), 14, '0'))::uuid;
END$body$;

CREATE FUNCTION changes_time(id uuid) RETURNS timestamptz LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
	t text := replace(id::text, '-', '');
BEGIN
	RETURN to_timestamp(('x' || CASE WHEN t LIKE 'ffff%' THEN substr(t, 5, 8) || substr(t, 14, 3) || substr(t, 18, 1) ELSE left(t, 12) END)::bit(48)::bigint / 1000.0);
END$body$;

CREATE FUNCTION changes_base_type(type oid) RETURNS oid LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	WHILE (SELECT typtype = 'd' FROM pg_type WHERE oid = type) LOOP
		type := (SELECT typbasetype FROM pg_type WHERE oid = type);
	END LOOP;
	RETURN type;
END$body$;

-- The primary key of a table.  Values are written by their output function and read by their input
-- function, as the type that the operator of the key's index takes, which is text for varchar, oid for
-- regclass and the type itself for an enum.  An operand of exactly this type has no better match.
CREATE FUNCTION changes_key(source oid, OUT id oid, OUT numbers int2[], OUT columns text, OUT inputs text[], OUT same_row text, OUT same_bytes text) LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	SELECT c.oid, array_agg(attnum ORDER BY n),
		   string_agg(format('k%s %s%s', n, CASE io WHEN 'jsonb'::regtype THEN 'text' ELSE type END, ' COLLATE ' || nullif(attcollation, 0)::regcollation), ', ' ORDER BY n),
		   array_agg(input ORDER BY n),
		   string_agg(format('r.%I::%s OPERATOR(%I.%s) %s', attname, type, nspname, oprname, input), ' AND ' ORDER BY n),
		   string_agg(format('concat(r.%I::%s) COLLATE "C" = concat(%s)', attname, type, input), ' AND ' ORDER BY n)
	INTO id, numbers, columns, inputs, same_row, same_bytes
	FROM pg_index JOIN pg_constraint AS c ON conrelid = indrelid AND conindid = indexrelid AND contype = 'p'
	CROSS JOIN unnest(indkey::int2[], indclass::oid[]) WITH ORDINALITY AS k (number, class, n)
	JOIN pg_attribute AS a ON attrelid = indrelid AND attnum = number JOIN pg_type AS t ON t.oid = atttypid
	JOIN pg_opclass AS o ON o.oid = class JOIN pg_type AS i ON i.oid = opcintype
	JOIN pg_amop ON amopfamily = opcfamily AND amoplefttype = opcintype AND amoprighttype = opcintype AND amopstrategy = 3 AND amopmethod = 403
	JOIN pg_operator AS p ON p.oid = amopopr JOIN pg_namespace AS s ON s.oid = oprnamespace
	CROSS JOIN LATERAL (SELECT CASE WHEN i.typtype <> 'p' THEN i.oid ELSE uuid9562_changes.changes_base_type(t.oid) END AS io OFFSET 0) AS io
	-- jsonb_to_recordset() takes a text as a value of jsonb
	CROSS JOIN LATERAL (SELECT format_type(io, -1) AS type, CASE io WHEN 'jsonb'::regtype THEN format('e.k%s::jsonb', n) ELSE 'e.k' || n END AS input OFFSET 0) AS input
	WHERE indrelid = source AND indisprimary AND n <= indnkeyatts
	GROUP BY c.oid, indnkeyatts HAVING count(*) = indnkeyatts;
END$body$;

-- AFTER INSERT OR UPDATE OR DELETE FOR EACH ROW: log the keys of the old and the new row.  AFTER TRUNCATE: log
-- that any row can have changed.  The row trigger of a partition is a copy of that of the tracked table.
CREATE FUNCTION log_trigger() RETURNS trigger
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	SET DateStyle = 'ISO, YMD' SET IntervalStyle = postgres SET extra_float_digits = 1 SET TimeZone = 'UTC'
	SET bytea_output = hex SET lc_monetary = 'C' SET geqo_seed = 0.9562 AS $body$
DECLARE
	t record; key record; old_key text[]; new_key text[];
BEGIN
	IF TG_WHEN <> 'AFTER' OR (TG_LEVEL <> 'ROW' AND TG_OP <> 'TRUNCATE') THEN
		RAISE trigger_protocol_violated USING MESSAGE = 'function "log_trigger" must be fired AFTER ROW or AFTER TRUNCATE', HINT = 'Create the trigger with changes_track().';
	END IF;
	SELECT tgrelid, tgparentid INTO t FROM pg_trigger WHERE tgrelid = TG_RELID AND tgname = TG_NAME;
	IF NOT FOUND THEN
		-- the snapshot is older than the trigger
		RAISE serialization_failure USING MESSAGE = format('changes_track() was called for table %s after the transaction began', TG_RELID::regclass), HINT = 'Repeat the transaction.';
	ELSIF TG_OP = 'TRUNCATE' THEN
		INSERT INTO uuid9562_changes.log
		SELECT tgrelid, uuid9562_changes.changes_new_id() FROM (SELECT TG_RELID AS relid UNION SELECT relid FROM pg_partition_ancestors(TG_RELID)) AS tree JOIN pg_trigger ON tgrelid = relid
		WHERE tgfoid = 'uuid9562_changes.log_trigger'::regproc AND tgtype & 1 = 1 AND tgparentid = 0;
		RETURN NULL;
	END IF;
	WHILE t.tgparentid <> 0 LOOP
		SELECT tgrelid, tgparentid INTO t FROM pg_trigger WHERE oid = t.tgparentid;
	END LOOP;
	-- regclass and its kin are written as OIDs
	SELECT c.oid, string_agg(format('concat(($1).%I%s)', attname, CASE WHEN typcategory = 'N' AND typoutput::text ~ '^"?reg' THEN '::oid' END), ', ' ORDER BY n) AS outputs INTO key
	FROM pg_index JOIN pg_constraint AS c ON conrelid = indrelid AND conindid = indexrelid
	CROSS JOIN unnest(indkey::int2[]) WITH ORDINALITY AS k (number, n) JOIN pg_attribute ON attrelid = indrelid AND attnum = number JOIN pg_type AS y ON y.oid = atttypid
	WHERE indrelid = t.tgrelid AND indisprimary AND n <= indnkeyatts AND contype = 'p' GROUP BY c.oid;
	IF FOUND AND TG_OP <> 'INSERT' THEN EXECUTE concat('SELECT ARRAY[''', key.oid, ''', ', key.outputs, ']') INTO old_key USING OLD; END IF;
	IF key.oid IS NOT NULL AND TG_OP <> 'DELETE' THEN
		EXECUTE concat('SELECT ARRAY[''', key.oid, ''', ', key.outputs, ']') INTO new_key USING NEW;
	END IF;
	INSERT INTO uuid9562_changes.log VALUES (t.tgrelid, uuid9562_changes.changes_new_id(), coalesce(old_key, new_key));
	IF new_key COLLATE "C" <> old_key THEN INSERT INTO uuid9562_changes.log VALUES (t.tgrelid, uuid9562_changes.changes_new_id(), new_key); END IF;
	RETURN NULL;
END$body$;
COMMENT ON FUNCTION log_trigger() IS 'trigger that logs the keys of changed rows';

-- Give entries their final IDs: milliseconds, the number of the call in 40 bits, and the number of the
-- entry in 32 bits, so that a call that is rolled back and a later one use different IDs.  If another
-- session is publishing entries of the table, do nothing.
CREATE FUNCTION changes_publish(source oid) RETURNS void
	LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
	SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET join_collapse_limit = 1 SET jit = off SET plan_cache_mode = force_generic_plan AS $body$
#variable_conflict use_variable
DECLARE
	pending uuid := 'ffff0000-0000-0000-0000-000000000000';
	last text; t text; call text;
BEGIN
	IF current_setting('transaction_read_only') = 'on' OR NOT EXISTS (SELECT FROM uuid9562_changes.log AS l WHERE l.source = source AND l.id > pending) THEN
		RETURN;
	END IF;
	PERFORM FROM uuid9562_changes.changes_slot WHERE changes_slot.source = source AND number = 1 FOR UPDATE SKIP LOCKED;
	IF NOT FOUND THEN RETURN; END IF;
	-- the next statement sees what the last session has published
	last := greatest((SELECT l.id FROM uuid9562_changes.log AS l WHERE l.source = source AND l.id < pending ORDER BY l.id DESC LIMIT 1),
					 (SELECT p.id FROM uuid9562_changes.changes_purged AS p WHERE p.source = source))::text;
	t := lpad(to_hex(greatest((extract(epoch FROM clock_timestamp()) * 1000)::bigint, ('x' || left(last, 8) || substr(last, 10, 4))::bit(48)::bigint + 1)), 12, '0');
	call := lpad(to_hex(nextval('uuid9562_changes.changes_number') % 1099511627776), 10, '0');
	UPDATE uuid9562_changes.log AS l
	SET id = (t || '7' || left(call, 3) || '8' || right(call, 7) || lpad(to_hex(e.number), 8, '0'))::uuid
	FROM (SELECT p.id, row_number() OVER (ORDER BY p.id) AS number
		  FROM (SELECT n.id FROM uuid9562_changes.log AS n WHERE n.source = source AND n.id > pending ORDER BY n.id LIMIT 10000) AS p) AS e
	WHERE l.source = source AND l.id = e.id;
END$body$;

-- --- the state of a tracked table ------------------------------------------------------

-- Return a tracked table's options, its state without identity, and what prevents reading.
CREATE FUNCTION changes_find(source oid, OUT operations text[], OUT dropped_partitions text, OUT reader_expiry interval, OUT without_truncate_trigger regclass[],
	OUT state uuid9562_changes.changes_state, OUT key oid, OUT key_columns int2, OUT problem text) LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
	tracked record; given text[];
BEGIN
	SELECT min(tgtype) AS events, count(*), min(encode(tgargs, 'escape')) AS arguments INTO tracked
	FROM pg_trigger WHERE tgrelid = source AND tgfoid = 'uuid9562_changes.log_trigger'::regproc AND tgtype & 1 = 1 AND tgparentid = 0;
	IF tracked.count = 0 THEN RETURN; END IF;
	operations := CASE WHEN tracked.events & 4 > 0 THEN '{insert}'::text[] END || CASE WHEN tracked.events & 16 > 0 THEN '{update}'::text[] END || CASE WHEN tracked.events & 8 > 0 THEN '{delete}'::text[] END;
	given := string_to_array(tracked.arguments, chr(92) || '000');
	dropped_partitions := CASE WHEN given[1] = 'ignore' THEN 'ignore' ELSE 'reset' END;
	reader_expiry := CASE WHEN given[2] ~ '^[0-9]{1,16}$' THEN justify_hours(given[2]::bigint * interval '1 microsecond') ELSE '7 days' END;
	state.source := source;
	SELECT branch, timeline INTO state.branch, state.timeline FROM uuid9562_changes.changes_place();
	SELECT array_agg(concat_ws(' ', p.oid, p.row_triggers, coalesce(p.truncate_trigger, 'file ' || p.relfilenode)) ORDER BY p.oid),
		   array_agg(concat_ws(' ', p.oid, p.relfilenode) ORDER BY p.oid),
		   array_agg(p.oid::regclass ORDER BY p.oid) FILTER (WHERE p.relkind = 'r' AND p.truncate_trigger IS NULL),
		   min(CASE WHEN p.relkind NOT IN ('r', 'p') THEN format('partition %s is a foreign table', p.oid::regclass)
					WHEN p.relpersistence <> 'p' THEN format('table %s is not logged in WAL', p.oid::regclass)
					WHEN p.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = p.oid) THEN format('a table inherits from table %s', p.oid::regclass)
					WHEN p.count > 1 THEN format('table %s has two triggers that log changes', p.oid::regclass)
					WHEN p.events & tracked.events & 28 <> tracked.events & 28 IS NOT FALSE THEN format('table %s lacks the trigger that logs all changes, or the trigger is not enabled with ENABLE ALWAYS', p.oid::regclass) END)
	INTO state.parts, state.files, without_truncate_trigger, problem
	FROM (
		SELECT c.oid, relkind, relpersistence, relfilenode, t.*
		FROM (SELECT source AS oid UNION SELECT relid FROM pg_partition_tree(source)) AS tree JOIN pg_class AS c USING (oid)
		CROSS JOIN LATERAL (
			SELECT string_agg(concat_ws('.', oid, xmin), ' ' ORDER BY oid) FILTER (WHERE usable AND tgtype & 1 = 1) AS row_triggers,
				   bit_or(tgtype) FILTER (WHERE usable AND tgtype & 1 = 1) AS events, count(*) FILTER (WHERE tgtype & 1 = 1),
				   string_agg(concat_ws('.', oid, xmin), ' ' ORDER BY oid) FILTER (WHERE usable AND tgtype & 33 = 32) AS truncate_trigger
			FROM pg_trigger, LATERAL (SELECT tgenabled = 'A' AND tgqual IS NULL AND tgattr::text = '') AS u (usable)
			WHERE tgrelid = c.oid AND tgfoid = 'uuid9562_changes.log_trigger'::regproc) AS t) AS p;
	SELECT array_agg(concat_ws(' ', attnum, atttypid, atttypmod, CASE WHEN attgenerated <> '' THEN attgenerated || (SELECT oid FROM pg_attrdef WHERE adrelid = source AND adnum = attnum) END, attname) ORDER BY attnum),
		   string_agg(xmin::text, ' ' ORDER BY attnum)
	INTO state.columns, state.marks FROM pg_attribute WHERE attrelid = source AND attnum > 0 AND NOT attisdropped;
	SELECT c.oid, indnkeyatts, state.columns || concat_ws(' ', 'key', c.oid, indkey) INTO key, key_columns, state.columns
	FROM pg_index JOIN pg_constraint AS c ON conrelid = indrelid AND conindid = indexrelid WHERE indrelid = source AND indisprimary AND contype = 'p';
	IF NOT FOUND THEN problem := coalesce(problem, format('table %s has no primary key', source::regclass)); END IF;
	state.columns := state.columns || ARRAY(
		WITH RECURSIVE used AS (
			SELECT atttypid AS type FROM pg_attribute WHERE attrelid = source AND attnum > 0 AND NOT attisdropped AND atttypid >= 16384
			UNION
			SELECT part.type FROM used JOIN pg_type AS t ON t.oid = used.type, LATERAL (
				SELECT t.typelem UNION ALL SELECT t.typbasetype UNION ALL SELECT rngsubtype FROM pg_range WHERE used.type IN (rngtypid, rngmultitypid)
				UNION ALL SELECT atttypid FROM pg_attribute WHERE attrelid = t.typrelid AND attnum > 0 AND NOT attisdropped) AS part (type)
			WHERE part.type >= 16384)
		SELECT concat_ws(' ', 'attribute', attrelid, attnum, atttypid, atttypmod, attname) COLLATE "C"
		FROM used JOIN pg_type AS t ON t.oid = used.type JOIN pg_attribute ON attrelid = typrelid WHERE attnum > 0 AND NOT attisdropped
		UNION ALL
		SELECT concat_ws(' ', 'value', pg_enum.oid, pg_enum.xmin, enumlabel) COLLATE "C" FROM used JOIN pg_enum ON enumtypid = type
		ORDER BY 1);
END$body$;

-- Can rows of a table have changed without entries between two states?  If a file is another one, and columns
-- were altered or the server was restarted, a type can have been changed and restored, or a crash can have
-- emptied an unlogged table.  A partition that was attached can have rows without entries, or lack
-- rows that it had before it was detached.  ATTACH writes pg_attribute
-- and pg_inherits with the same command number, but CREATE TABLE ... PARTITION OF first writes pg_attribute.
CREATE FUNCTION changes_is_lost(old uuid9562_changes.changes_state, new uuid9562_changes.changes_state, dropped_partitions text) RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
	added oid[] := ARRAY(SELECT split_part(f, ' ', 1)::oid FROM unnest(new.files) AS f EXCEPT SELECT split_part(f, ' ', 1)::oid FROM unnest(old.files) AS f);
BEGIN
	RETURN old.timeline <> new.timeline
		OR EXISTS (SELECT FROM unnest(new.columns) AS c WHERE c <> ALL (old.columns) AND c NOT LIKE 'value %')
		OR EXISTS (SELECT FROM unnest(old.columns) AS c WHERE c <> ALL (new.columns) AND c !~ '^[0-9]')
		OR EXISTS (SELECT FROM unnest(old.parts) AS o LEFT JOIN unnest(new.parts) AS n ON split_part(n, ' ', 1) = split_part(o, ' ', 1)
				   WHERE o <> n OR (n IS NULL AND (dropped_partitions = 'reset' OR split_part(o, ' ', 1)::oid = old.source)))
		OR ((old.marks <> new.marks OR old.branch <> new.branch)
			AND EXISTS (SELECT FROM unnest(old.files) AS o JOIN unnest(new.files) AS n ON split_part(n, ' ', 1) = split_part(o, ' ', 1) WHERE o <> n))
		OR (EXISTS (SELECT FROM pg_inherits AS i WHERE inhrelid = ANY (added) AND NOT EXISTS (
				SELECT FROM pg_attribute AS a WHERE attrelid = inhrelid AND attnum > 0 AND NOT attisdropped AND a.xmin = i.xmin AND a.cmin::text::bigint < i.cmin::text::bigint))
			AND (dropped_partitions = 'ignore' OR EXISTS (SELECT FROM unnest(added) AS part WHERE pg_relation_size(part) > 0)));
END$body$;

-- If the current state of a table must be remembered, wait for changes_reset(), during which the table can change.
-- Return whether this was so.
CREATE FUNCTION changes_await_reset(state uuid9562_changes.changes_state) RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	IF current_setting('transaction_read_only') = 'on' OR (
			SELECT bool_and((s.timeline, s.branch, s.parts, s.columns, s.files, s.marks) = (state.timeline, state.branch, state.parts, state.columns, state.files, state.marks))
			FROM uuid9562_changes.changes_state AS s WHERE s.source = state.source) THEN
		RETURN false;
	END IF;
	LOCK TABLE uuid9562_changes.changes_state IN ROW EXCLUSIVE MODE;
	RETURN true;
END$body$;

-- Return the identity of a table's state, and since when its row type is known.  Prefer an identity that is
-- still valid.  Do not wait for other sessions that have found a change: each can draw an identity.  An
-- identity is not used if rows can have what its state lacks, while another session replaces this state.  That
-- session can have seen an older state.
CREATE FUNCTION changes_identify(new_state uuid9562_changes.changes_state, dropped_partitions text, wanted uuid, OUT identity uuid, OUT altered timestamptz) LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $body$
#variable_conflict use_column
DECLARE
	s uuid9562_changes.changes_state;
	stored boolean;
	known timestamptz;		-- since when a lost state had the same row type
BEGIN
	FOR s IN SELECT * FROM uuid9562_changes.changes_state AS s WHERE s.source = new_state.source ORDER BY (s.identity = wanted) IS NOT TRUE, s.identity LOOP
		IF (s.timeline, s.branch, s.parts, s.columns, s.files, s.marks) = (new_state.timeline, new_state.branch, new_state.parts, new_state.columns, new_state.files, new_state.marks) THEN
			changes_identify.identity := coalesce(changes_identify.identity, s.identity);
			changes_identify.altered := coalesce(changes_identify.altered, s.altered);
		ELSIF uuid9562_changes.changes_is_lost(s, new_state, dropped_partitions) THEN
			known := CASE WHEN s.columns = new_state.columns THEN greatest(known, s.altered) ELSE clock_timestamp() END;
			DELETE FROM uuid9562_changes.changes_state AS d
			WHERE d.identity IN (SELECT l.identity FROM uuid9562_changes.changes_state AS l WHERE l.identity = s.identity FOR UPDATE SKIP LOCKED);
		ELSE
			stored := false;
			IF current_setting('transaction_read_only') = 'off' THEN
				UPDATE uuid9562_changes.changes_state AS u
				SET branch = new_state.branch, parts = new_state.parts, columns = new_state.columns, files = new_state.files, marks = new_state.marks
				WHERE u.identity IN (SELECT l.identity FROM uuid9562_changes.changes_state AS l WHERE l.identity = s.identity FOR UPDATE SKIP LOCKED);
				stored := FOUND;
			END IF;
			IF stored OR (s.parts, s.columns) = (new_state.parts, new_state.columns) THEN
				changes_identify.identity := coalesce(changes_identify.identity, s.identity);
				changes_identify.altered := coalesce(changes_identify.altered, s.altered);
			END IF;
		END IF;
	END LOOP;
	IF changes_identify.identity IS NULL THEN
		INSERT INTO uuid9562_changes.changes_state
		VALUES (gen_random_uuid(), new_state.source, new_state.timeline, new_state.branch, new_state.parts, new_state.columns, new_state.files, new_state.marks, coalesce(known, clock_timestamp()))
		RETURNING changes_state.identity, changes_state.altered INTO changes_identify.identity, changes_identify.altered;
	END IF;
END$body$;

-- --- the state of a reader: src/core/reader.h --------------------------------------------

CREATE FUNCTION changes_guard(r uuid9562_changes.changes_reader, horizon uuid) RETURNS uuid9562_changes.changes_reader LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	r.confirmed := least(r.confirmed, horizon);
	FOR i IN 1 .. cardinality(r.pages) LOOP
		r.pages[i].cap := least(r.pages[i].cap, horizon);
	END LOOP;
	RETURN r;
END$body$;

CREATE FUNCTION changes_expire(r uuid9562_changes.changes_reader, but uuid) RETURNS uuid9562_changes.changes_reader LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
	now timestamptz := clock_timestamp();
	p uuid9562_changes.changes_page;
BEGIN
	FOR i IN REVERSE cardinality(r.pages) .. 1 LOOP
		p := r.pages[i];
		IF p.read_at > now THEN		-- the clock was set back
			p.until := now + (p.until - p.read_at);
			p.read_at := now;
			r.pages[i] := p;
		END IF;
		CONTINUE WHEN p.expired OR p.until > now OR p.number = but;
		r.pages[i].expired := true;
		r := uuid9562_changes.changes_guard(r, p.horizon);
		IF p.number IS NULL THEN r.pages := r.pages[:i - 1] || r.pages[i + 1:]; END IF;
	END LOOP;
	RETURN r;
END$body$;

CREATE FUNCTION changes_make_room(r uuid9562_changes.changes_reader) RETURNS uuid9562_changes.changes_reader LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
	i integer; a uuid9562_changes.changes_page; b uuid9562_changes.changes_page;
BEGIN
	IF cardinality(r.pages) < 64 THEN RETURN r; END IF;
	SELECT n - 1 INTO i FROM unnest(r.pages) WITH ORDINALITY AS p (number, last, horizon, cap, read_at, until, is_reset, expired, n) WHERE p.expired ORDER BY p.is_reset, n LIMIT 1;
	IF NOT FOUND THEN
		i := (SELECT n FROM generate_series(1, 31) AS n ORDER BY greatest(r.pages[n].until, r.pages[n + 1].until) - least(r.pages[n].read_at, r.pages[n + 1].read_at), n LIMIT 1);
		a := r.pages[i];
		b := r.pages[i + 1];
		r.pages[i] := ROW(NULL, NULL, least(a.horizon, b.horizon), NULL, least(a.read_at, b.read_at), greatest(a.until, b.until), false, false);
	END IF;
	r.pages := r.pages[:i] || r.pages[i + 2:];
	RETURN r;
END$body$;

-- --- reading ----------------------------------------------------------------------

-- A position is changes1.SOURCE.IDENTITY.NUMBER.START.HORIZON.BRANCH.TIMELINE.LSN.FILES.END.CHECKSUM.  FILES is 0
-- unless the page is a reset.
CREATE FUNCTION changes_seal(place text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	RETURN place || '.' || left(encode(sha256(convert_to(place, 'UTF8')), 'hex'), 16);
END$body$;

CREATE FUNCTION changes_fields(place text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	IF place !~ '^changes1([.][0-9a-fA-F/-]*){10}[.][0-9a-f]{16}$' OR uuid9562_changes.changes_seal(left(place, -17)) <> place THEN
		RAISE invalid_text_representation USING MESSAGE = format('invalid input syntax for position of changes: "%s"', left(place, 200)), HINT = 'Pass, without changes, the text that changes_read() has returned.';
	END IF;
	RETURN (string_to_array(place, '.'))[2:];
END$body$;

CREATE FUNCTION changes_hash_files(state uuid9562_changes.changes_state) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	RETURN left(encode(sha256(convert_to(state.files::text, 'UTF8')), 'hex'), 16);
END$body$;

-- Check whether the copy of a table counts that was made after a reset: uuid9562_reset_counts() in start.c.
CREATE FUNCTION changes_reset_counts(given text[], state uuid9562_changes.changes_state) RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	RETURN given[9] = '0' OR (given[6], given[9]) = (state.branch, uuid9562_changes.changes_hash_files(state));
END$body$;

-- The setting that remembers the positions that this transaction has read and not confirmed.
CREATE FUNCTION changes_memory(reader text) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	IF reader IS NULL OR reader = '' THEN RAISE invalid_parameter_value USING MESSAGE = 'name of reader must not be null or empty';
	ELSIF octet_length(reader) > 200 THEN
		RAISE invalid_parameter_value USING MESSAGE = format('invalid name of reader: "%s"', left(reader, 100)), DETAIL = format('The name has %s bytes, but at most 200 are possible.', octet_length(reader));
	END IF;
	RETURN 'uuid9562_changes_file.page_' || encode(sha256(convert_to(reader, getdatabaseencoding())), 'hex');
END$body$;

-- Would changes_read() return anything?  Everybody may call this.
CREATE FUNCTION changes_look(reader text, source oid, after text) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET geqo_seed = 0.9562
	SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET join_collapse_limit = 1 SET jit = off SET plan_cache_mode = force_generic_plan AS $body$
#variable_conflict use_variable
DECLARE
	given text[] := uuid9562_changes.changes_fields(nullif(after, 'confirmed'));
	r uuid9562_changes.changes_reader; f record; start uuid;
BEGIN
	SELECT * INTO r FROM uuid9562_changes.changes_reader AS o WHERE o.reader = reader AND o.source = source;
	start := CASE WHEN after = 'confirmed' THEN r.confirmed ELSE given[10]::uuid END;
	IF r.reader IS NULL OR start IS NULL OR NOT uuid9562_changes.changes_is_settled() OR NOT pg_has_role(uuid9562_changes.changes_caller(), r.owner, 'USAGE')
		OR (after = 'confirmed') <> (r.place IS NULL)
		OR EXISTS (SELECT FROM uuid9562_changes.log AS l WHERE l.source = source AND l.id > start)
		OR NOT EXISTS (SELECT FROM uuid9562_changes.log AS l WHERE l.source = source AND l.id = start
					   UNION ALL SELECT FROM uuid9562_changes.changes_purged AS p WHERE p.source = source AND p.id = start
					   UNION ALL SELECT WHERE start = '00000000-0000-7000-8000-000000000000' AND NOT EXISTS (SELECT FROM uuid9562_changes.changes_purged AS p WHERE p.source = source))
		OR EXISTS (SELECT FROM unnest(r.pages) AS p WHERE NOT p.expired AND p.until <= clock_timestamp())
		OR (after <> 'confirmed' AND after IS DISTINCT FROM r.place AND r.seen < clock_timestamp() - interval '1 minute')
	THEN
		RETURN true;
	END IF;
	SELECT * INTO f FROM uuid9562_changes.changes_find(source);
	IF f.problem IS NOT NULL OR (after IS DISTINCT FROM r.place AND NOT uuid9562_changes.changes_reset_counts(given, f.state)) OR NOT EXISTS (
			SELECT FROM uuid9562_changes.changes_state AS s
			WHERE s.identity = coalesce(given[2]::uuid, r.identity)
				AND (s.source, s.timeline, s.branch, s.parts, s.columns, s.files, s.marks)
					= ((f.state).source, (f.state).timeline, (f.state).branch, (f.state).parts, (f.state).columns, (f.state).files, (f.state).marks)) THEN
		RETURN true;
	END IF;
	IF r.seen < clock_timestamp() - least(interval '1 hour', f.reader_expiry / 10) AND current_setting('transaction_read_only') = 'off' THEN
		UPDATE uuid9562_changes.changes_reader AS u SET seen = clock_timestamp()
		WHERE u.ctid = (SELECT l.ctid FROM uuid9562_changes.changes_reader AS l WHERE l.reader = reader AND l.source = source FOR UPDATE SKIP LOCKED);
	END IF;
	RETURN false;
END$body$;

-- Another session can have read the table for the first time, too.  Then do without the rows for now.
CREATE FUNCTION changes_add_slots(source oid) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET lock_timeout = 1 AS $body$
BEGIN
	INSERT INTO uuid9562_changes.changes_slot (source, number) VALUES (changes_add_slots.source, 1), (changes_add_slots.source, 2) ON CONFLICT ON CONSTRAINT changes_slot_pkey DO NOTHING;
EXCEPTION WHEN lock_not_available THEN
	NULL;
END$body$;

-- Begin a page: lock the reader, notice changes of the table, publish entries, and store the page.  Return the
-- keys of the page, or NULL for a reset, and the beginning of its positions, or NULL if it is empty.
CREATE FUNCTION changes_begin(reader text, source oid, page integer, after text, lease interval, OUT entries jsonb, OUT start uuid, OUT place text, OUT altered timestamptz)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET geqo_seed = 0.9562
	SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET join_collapse_limit = 1 SET jit = off SET plan_cache_mode = force_generic_plan AS $body$
#variable_conflict use_variable
DECLARE
	caller oid := uuid9562_changes.changes_caller();
	given text[] := uuid9562_changes.changes_fields(nullif(after, 'confirmed'));	-- of the position after which to continue
	is_inside boolean := after IS NOT DISTINCT FROM 'confirmed';
	writes boolean := current_setting('transaction_read_only') = 'off';
	is_changing boolean := pg_current_xact_id_if_assigned() IS NOT NULL;
	base uuid := '00000000-0000-7000-8000-000000000000';	-- before all entries
	nothing uuid := '00000000-0000-0000-0000-000000000000';
	pending uuid := 'ffff0000-0000-0000-0000-000000000000';
	now timestamptz := clock_timestamp();
	r uuid9562_changes.changes_reader; f record; i record;
	s record;		-- what has been published
	last uuid;
	number uuid := gen_random_uuid();
	names text[];
BEGIN
	IF NOT has_table_privilege(caller, source, 'SELECT') THEN RAISE insufficient_privilege USING MESSAGE = format('permission denied for table %s', source::regclass);
	ELSIF EXISTS (SELECT FROM pg_class AS c, pg_roles AS a WHERE c.oid = source AND a.oid = caller AND relrowsecurity AND NOT rolsuper AND NOT rolbypassrls AND (relforcerowsecurity OR NOT pg_has_role(caller, relowner, 'USAGE'))) THEN
		RAISE insufficient_privilege USING MESSAGE = format('row-level security hides rows of table %s from role %s', source::regclass, caller::regrole);
	END IF;
	IF NOT uuid9562_changes.changes_is_settled() THEN PERFORM uuid9562_changes.changes_settle(); END IF;
	IF writes AND NOT EXISTS (SELECT FROM uuid9562_changes.changes_slot AS o WHERE o.source = source AND o.number = 2) THEN
		PERFORM uuid9562_changes.changes_add_slots(source);
	END IF;
	-- what can wait comes before the state, so that the page has nothing that the state does not tell about
	SELECT * INTO r FROM uuid9562_changes.changes_reader AS o WHERE o.reader = reader AND o.source = source;
	IF NOT FOUND AND writes THEN
		INSERT INTO uuid9562_changes.changes_reader VALUES (reader, source, caller, nothing, nothing, '{}', now, CASE WHEN NOT is_inside THEN '' END) ON CONFLICT DO NOTHING;
	END IF;
	IF is_inside OR (r.reader IS NULL AND writes) THEN
		SELECT * INTO r FROM uuid9562_changes.changes_reader AS o WHERE o.reader = reader AND o.source = source FOR UPDATE;
	END IF;
	f := uuid9562_changes.changes_find(source);
	IF uuid9562_changes.changes_await_reset(f.state) THEN f := uuid9562_changes.changes_find(source); END IF;
	IF f.state IS NULL THEN
		RAISE object_not_in_prerequisite_state USING MESSAGE = format('changes of table %s are not tracked', source::regclass),
			HINT = CASE WHEN (SELECT relispartition FROM pg_class WHERE oid = source) THEN 'Read the changes of the partitioned table.'
						ELSE format('Call changes_track(%L) as the owner of the table.', source::regclass) END;
	ELSIF f.problem IS NOT NULL THEN
		RAISE object_not_in_prerequisite_state USING MESSAGE = format('changes of table %s are not logged', source::regclass), DETAIL = upper(left(f.problem, 1)) || substr(f.problem, 2) || '.',
			HINT = format('Call changes_track(%L) as the owner of the table. All readers then copy the whole table.', source::regclass);
	END IF;
	i := uuid9562_changes.changes_identify(f.state, f.dropped_partitions, coalesce(given[2]::uuid, r.identity));
	altered := i.altered;
	IF NOT pg_has_role(caller, r.owner, 'USAGE') AND NOT pg_has_role(caller, (SELECT relowner FROM pg_class WHERE oid = source), 'USAGE') THEN
		RAISE insufficient_privilege USING MESSAGE = format('reader "%s" of table %s belongs to role %s', reader, source::regclass, r.owner::regrole), HINT = 'Choose another name for the reader.';
	ELSIF after IS NULL AND r.place IS NULL AND r.confirmed > nothing THEN
		-- another target can have read the table as this reader
		RAISE object_not_in_prerequisite_state USING MESSAGE = format('position of reader "%s" of table %s is stored in the database', reader, source::regclass),
			HINT = 'Omit "after" to continue at this position.  For a new target, choose another name, or call changes_forget().';
	END IF;
	IF is_changing AND (
			EXISTS (SELECT FROM uuid9562_changes.log AS l WHERE l.source = source AND l.id > pending AND uuid9562_changes.changes_is_own(l.xmin))
			OR EXISTS (SELECT FROM uuid9562_changes.changes_state AS o WHERE o.identity = i.identity AND uuid9562_changes.changes_is_own(o.xmin)
				AND EXISTS (SELECT FROM (SELECT split_part(file, ' ', 1)::oid AS part FROM unnest(o.files) AS file) AS p,
							LATERAL (SELECT xmin AS x FROM pg_class WHERE oid = part UNION ALL SELECT xmin FROM pg_attribute WHERE attrelid = part UNION ALL SELECT xmin FROM pg_trigger WHERE tgrelid = part) AS c
							WHERE uuid9562_changes.changes_is_own(x)))) THEN
		RAISE object_not_in_prerequisite_state USING MESSAGE = format('cannot read changes of table %s in a transaction that has changed it', source::regclass), HINT = 'Commit first.';
	END IF;

	PERFORM uuid9562_changes.changes_publish(source);
	names := ARRAY(SELECT 'k' || n FROM generate_series(1, f.key_columns) AS n);
	-- where the reader continues
	IF is_inside THEN
		IF r.identity <> i.identity OR r.place IS NOT NULL THEN
			FOR n IN 1 .. cardinality(r.pages) LOOP
				r.pages[n].horizon := nothing;
			END LOOP;
			r := uuid9562_changes.changes_guard(r, nothing);
		END IF;
		r := uuid9562_changes.changes_expire(r, NULL::uuid);
		start := r.confirmed;
	ELSIF given[2] = i.identity::text AND (f.state).timeline::text = given[7] AND (after = r.place OR uuid9562_changes.changes_reset_counts(given, f.state)) AND pg_current_wal_insert_lsn() >= given[8]::pg_lsn THEN
		start := given[10];
	ELSIF given[1] <> source::text AND EXISTS (SELECT FROM uuid9562_changes.changes_state AS o WHERE o.identity = given[2]::uuid AND o.source::text = given[1]) THEN
		RAISE invalid_parameter_value USING MESSAGE = format('position of table %s cannot be used for table %s', given[1]::oid::regclass, source::regclass);
	END IF;
	WITH page AS MATERIALIZED (SELECT l.id, l.key FROM uuid9562_changes.log AS l WHERE l.source = source AND l.id > start AND l.id < pending ORDER BY l.id LIMIT page),
		entry AS MATERIALIZED (
			SELECT DISTINCT ON (p.key COLLATE "C") p.id, p.key FROM page AS p
			WHERE (p.id < (SELECT o.id FROM page AS o WHERE (o.key[1] = f.key::text) IS NOT TRUE ORDER BY o.id LIMIT 1)) IS NOT FALSE
			ORDER BY p.key COLLATE "C", p.id DESC),
		purged AS MATERIALIZED (SELECT greatest(base, (SELECT p.id FROM uuid9562_changes.changes_purged AS p WHERE p.source = source)) AS id)
	SELECT greatest((SELECT l.id FROM uuid9562_changes.log AS l WHERE l.source = source AND l.id < pending ORDER BY l.id DESC LIMIT 1), p.id) AS horizon,
		   start = p.id OR (start > p.id AND EXISTS (SELECT FROM uuid9562_changes.log AS l WHERE l.source = source AND l.id = start)) AS is_there,
		   EXISTS (SELECT FROM page) AS waits, (SELECT e.id FROM entry AS e ORDER BY e.id DESC LIMIT 1) AS last,
		   (SELECT jsonb_agg(jsonb_object(names, e.key[2:]) || jsonb_build_object('id', e.id)) FROM entry AS e) AS entries
	INTO s FROM purged AS p;
	IF s.is_there AND NOT s.waits THEN
		s.last := NULL;
	ELSIF s.is_there AND s.last IS NOT NULL THEN
		entries := s.entries;
	ELSE
		start := s.horizon;
		s.last := s.horizon;
	END IF;
	IF s.last IS NOT NULL THEN
		IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'local', true); END IF;
		IF current_setting('server_version_num')::int >= 170000 THEN
			EXECUTE $$SELECT pg_logical_emit_message(false, 'uuid9562 changes_read', '', flush => true)$$;
		END IF;
		place := concat_ws('.', 'changes1', source, i.identity, number, start, s.horizon, (f.state).branch, (f.state).timeline, pg_current_wal_insert_lsn(), CASE WHEN entries IS NULL THEN uuid9562_changes.changes_hash_files(f.state) ELSE '0' END);
	END IF;
	IF is_inside THEN
		IF s.last IS NOT NULL THEN
			r := uuid9562_changes.changes_make_room(r);
			r.pages := r.pages || ROW(number, s.last, s.horizon, 'ffffffff-ffff-ffff-ffff-ffffffffffff', now, now + lease, entries IS NULL, false)::uuid9562_changes.changes_page;
		END IF;
		UPDATE uuid9562_changes.changes_reader AS u SET identity = i.identity, confirmed = r.confirmed, pages = r.pages, seen = now, place = NULL WHERE u.reader = reader AND u.source = source;
	ELSIF writes AND (r.confirmed = nothing OR (r.place IS DISTINCT FROM coalesce(after, '') AND r.seen < now - interval '1 minute')) THEN
		UPDATE uuid9562_changes.changes_reader AS u SET identity = i.identity, confirmed = start, seen = now, place = CASE WHEN s.last IS NULL OR entries IS NOT NULL THEN after ELSE '' END
		WHERE u.ctid = (SELECT l.ctid FROM uuid9562_changes.changes_reader AS l WHERE l.reader = reader AND l.source = source FOR UPDATE SKIP LOCKED);
	END IF;
END$body$;

-- A statement that was planned before a table's columns were altered takes the values of other columns from a
-- page, because it only names the row type.  So a session discards its plans, and raises an error, when the
-- row type is another one than it remembers, or has been found after it prepared a statement.  If versions of
-- columns have changed, but nothing else, names can have been exchanged for a while.  An error restores
-- settings, but not prepared statements, so the name of one remembers hashes.
CREATE FUNCTION changes_is_planned(source oid, altered timestamptz) RETURNS boolean LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
	memory text := 'uuid9562_changes_file.columns_' || source;
	mark text; old text;
	result boolean := true;
BEGIN
	SELECT string_agg(concat_ws(' ', attnum, atttypid, atttypmod, attname), ' ' ORDER BY attnum) FILTER (WHERE NOT attisdropped) || ':' || string_agg(xmin::text, ' ' ORDER BY attnum)
		|| ':' || string_agg(concat_ws(' ', attstattarget, attnotnull, atthasdef, attidentity, attisdropped, attoptions, attacl, attstorage, attcompression), ' ' ORDER BY attnum)
	INTO mark FROM pg_attribute WHERE attrelid = source AND attnum > 0;
	IF current_setting(memory, true) = mark THEN RETURN true; END IF;
	PERFORM set_config(memory, mark, false);
	SELECT 'changes_file ' || source || ' ' || string_agg(left(encode(sha256(convert_to(part, getdatabaseencoding())), 'hex'), 12), ' ' ORDER BY n)
	INTO mark FROM unnest(string_to_array(mark, ':')) WITH ORDINALITY AS p (part, n);
	old := (SELECT name FROM pg_prepared_statement() WHERE name LIKE 'changes_file ' || source || ' %');
	IF old = mark THEN
		RETURN true;
	ELSIF old IS NOT NULL THEN
		result := split_part(old, ' ', 3) = split_part(mark, ' ', 3) AND (split_part(old, ' ', 4) = split_part(mark, ' ', 4) OR split_part(old, ' ', 5) <> split_part(mark, ' ', 5));
		EXECUTE format('DEALLOCATE %I', old);
	ELSE
		result := NOT EXISTS (SELECT FROM pg_prepared_statement() WHERE prepare_time < altered AND statement ~* 'changes_read');
	END IF;
	EXECUTE format('PREPARE %I AS SELECT', mark);
	IF NOT result THEN EXECUTE 'DISCARD PLANS'; END IF;
	RETURN result;
END$body$;

CREATE FUNCTION changes_read(reader text, source anyelement, page integer DEFAULT 1000, after text DEFAULT 'confirmed', lease interval DEFAULT '60 s',
	OUT change_type text, OUT data anyelement, OUT change_position text)
RETURNS SETOF record LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET row_security = on
	SET DateStyle = 'ISO, YMD' SET IntervalStyle = postgres SET extra_float_digits = 1 SET TimeZone = 'UTC' SET bytea_output = hex SET lc_monetary = 'C'
	SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET join_collapse_limit = 1 SET jit = off SET plan_cache_mode = force_generic_plan AS $body$
#variable_conflict use_variable
DECLARE
	relation regclass := (SELECT typrelid FROM pg_type WHERE oid = pg_typeof(source));
	memory text := uuid9562_changes.changes_memory(reader);
	entries jsonb; place text; altered timestamptz; key record; change record; last uuid;
BEGIN
	IF page IS NULL OR page < 1 THEN RAISE invalid_parameter_value USING MESSAGE = format('value %s is out of range for page', coalesce(page::text, 'NULL')), DETAIL = 'A page has at least one change.';
	ELSIF relation IS NULL OR relation = 0 THEN
		RAISE datatype_mismatch USING MESSAGE = format('type %s is not the row type of a table', pg_typeof(source)), HINT = 'Pass a null value of the table''s row type: changes_read(''...'', NULL::customer).';
	ELSIF lease IS NULL THEN RAISE null_value_not_allowed USING MESSAGE = 'lease must not be null';
	ELSIF lease <= interval '0' OR lease > interval '30 days' THEN
		RAISE invalid_parameter_value USING MESSAGE = format('value %s is out of range for lease', lease), DETAIL = 'It must be greater than 0, and at most 30 days.';
	ELSIF pg_is_in_recovery() THEN RAISE read_only_sql_transaction USING MESSAGE = 'cannot execute changes_read() during recovery', HINT = 'Execute it on the primary.';
	ELSIF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
		RAISE active_sql_transaction USING MESSAGE = format('cannot execute changes_read() at isolation level %s', upper(current_setting('transaction_isolation'))), HINT = 'Execute it in a READ COMMITTED transaction.';
	ELSIF NOT has_table_privilege(relation, 'SELECT') THEN RAISE insufficient_privilege USING MESSAGE = format('permission denied for table %s', relation);
	ELSIF row_security_active(relation) THEN
		RAISE insufficient_privilege USING MESSAGE = format('row-level security hides rows of table %s from role %s', relation, current_user), HINT = 'Read the changes as a role that has the attribute BYPASSRLS or owns the table.';
	END IF;
	IF uuid9562_changes.changes_look(reader, relation::oid, after) THEN
		EXECUTE format('LOCK TABLE ONLY %s IN ACCESS SHARE MODE', relation);
		SELECT b.entries, b.start, b.place, b.altered INTO entries, last, place, altered FROM uuid9562_changes.changes_begin(reader, relation::oid, page, after, lease) AS b;
	END IF;
	IF entries IS NOT NULL THEN
		IF NOT uuid9562_changes.changes_is_planned(relation::oid, altered) THEN
			RAISE serialization_failure USING MESSAGE = format('row type of table %s has changed', relation), HINT = 'Execute the statement again.';
		END IF;
		SELECT * INTO key FROM uuid9562_changes.changes_key(relation::oid);
		-- a deleted key can equal that of a row, for example with citext; a column can be named r
		FOR change IN EXECUTE format('
			SELECT e.id, t.row, t.is_same, CASE WHEN t.is_same IS NOT TRUE THEN ROW(%1$s)::%2$s END AS old
			FROM jsonb_to_recordset($1) AS e (id uuid, %3$s) LEFT JOIN LATERAL (SELECT CASE WHEN true THEN r.* END AS row, %4$s AS is_same FROM %2$s AS r WHERE %5$s LIMIT 1) AS t ON true
			ORDER BY e.id',
			(SELECT string_agg(CASE WHEN attnum = ANY (key.numbers) THEN key.inputs[array_position(key.numbers, attnum)] ELSE format('(NULL::%s).%I', relation, attname) END, ', ' ORDER BY attnum)
			 FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped), relation, key.columns, key.same_bytes, key.same_row) USING entries
		LOOP
			IF change.is_same IS NOT TRUE THEN
				change_type := 'delete';
				data := change.old;
				change_position := uuid9562_changes.changes_seal(concat_ws('.', place, CASE WHEN change.is_same IS NULL THEN change.id ELSE last END));
				RETURN NEXT;
			END IF;
			IF change.is_same IS NOT NULL THEN
				change_type := 'upsert';
				data := change.row;
				change_position := uuid9562_changes.changes_seal(concat_ws('.', place, change.id));
				RETURN NEXT;
			END IF;
			last := change.id;
		END LOOP;
	ELSIF place IS NOT NULL THEN
		PERFORM uuid9562_changes.changes_is_planned(relation::oid, altered);
		change_type := 'reset';
		change_position := uuid9562_changes.changes_seal(concat_ws('.', place, last));
		RETURN NEXT;
	END IF;
	-- what changes_done() confirms without a position
	PERFORM set_config(memory, (coalesce(nullif(current_setting(memory, true), ''), '{}')::jsonb || jsonb_build_object(relation::oid, coalesce(change_position, '')))::text, true);
END$body$;
COMMENT ON FUNCTION changes_read(text, anyelement, integer, text, interval) IS 'read a page of changed rows of a tracked table';

-- --- confirming and purging -----------------------------------------------------------

CREATE FUNCTION changes_find_reader(reader text, source oid) RETURNS uuid9562_changes.changes_reader LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $body$
#variable_conflict use_variable
DECLARE
	caller oid := uuid9562_changes.changes_caller();
	r uuid9562_changes.changes_reader;
BEGIN
	SELECT * INTO r FROM uuid9562_changes.changes_reader AS o WHERE o.reader = reader AND o.source = source FOR UPDATE;
	IF NOT FOUND AND EXISTS (SELECT FROM uuid9562_changes.changes_reader AS o WHERE o.reader = reader) THEN
		RAISE invalid_parameter_value USING MESSAGE = format('reader "%s" has not read table %s', reader, source::regclass);
	ELSIF NOT FOUND THEN RAISE undefined_object USING MESSAGE = format('reader "%s" does not exist', reader);
	ELSIF NOT pg_has_role(caller, r.owner, 'USAGE') AND NOT pg_has_role(caller, (SELECT relowner FROM pg_class WHERE oid = source), 'USAGE') THEN
		RAISE insufficient_privilege USING MESSAGE = format('reader "%s" of table %s belongs to role %s', reader, source::regclass, r.owner::regrole);
	END IF;
	RETURN r;
END$body$;

CREATE FUNCTION changes_done(reader text, "position" text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET geqo_seed = 0.9562
	SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET join_collapse_limit = 1 SET jit = off SET plan_cache_mode = force_generic_plan AS $body$
#variable_conflict use_variable
DECLARE
	nothing uuid := '00000000-0000-0000-0000-000000000000';
	memory text := uuid9562_changes.changes_memory(reader);
	read jsonb := nullif(current_setting(memory, true), '')::jsonb;		-- positions of pages that this transaction has read
	given text[]; source oid; r uuid9562_changes.changes_reader; p uuid9562_changes.changes_page; place record; page integer;
	horizon uuid; is_lost boolean;
BEGIN
	IF "position" IS NULL THEN
		IF NOT EXISTS (SELECT FROM uuid9562_changes.changes_reader AS o WHERE o.reader = reader) THEN RAISE undefined_object USING MESSAGE = format('reader "%s" does not exist', reader);
		ELSIF read IS NULL THEN
			RAISE object_not_in_prerequisite_state USING MESSAGE = format('this transaction has not read a page of reader "%s"', reader), DETAIL = 'Another transaction can have read the last page.',
				HINT = 'Call changes_read() and changes_done() in one transaction, or pass the position of the last change that has been applied.';
		ELSIF (SELECT count(*) FROM jsonb_each_text(read) WHERE value <> '') > 1 THEN
			RAISE ambiguous_parameter USING MESSAGE = format('transaction has read more than one table as reader "%s"', reader), HINT = 'Pass the position of the last change that has been applied.';
		END IF;
		"position" := (SELECT value FROM jsonb_each_text(read) WHERE value <> '');
		PERFORM set_config(memory, (SELECT jsonb_object_agg(key, '')::text FROM jsonb_each_text(read)), true);
		IF "position" IS NULL THEN
			RETURN;		-- the page was empty
		END IF;
	END IF;
	given := uuid9562_changes.changes_fields("position");
	source := given[1];
	r := uuid9562_changes.changes_expire(uuid9562_changes.changes_find_reader(reader, source), given[3]::uuid);
	IF r.place IS NOT NULL THEN
		RAISE object_not_in_prerequisite_state USING MESSAGE = format('reader "%s" passes its position to changes_read()', reader), HINT = 'Let the target store the position, and pass it as "after".';
	END IF;
	page := (SELECT n FROM unnest(r.pages) WITH ORDINALITY AS u (number, last, horizon, cap, read_at, until, is_reset, expired, n) WHERE u.number = given[3]::uuid);
	p := r.pages[page];
	-- the state of the table is another one, or what was read outside a known page can have been lost by a crash
	SELECT * INTO place FROM uuid9562_changes.changes_place();
	is_lost := r.identity <> given[2]::uuid OR place.lsn < given[8]::pg_lsn OR (page IS NULL AND place.branch <> given[6])
		OR (given[9] <> '0' AND uuid9562_changes.changes_reset_counts(given, (SELECT f.state FROM uuid9562_changes.changes_find(source) AS f)) IS NOT TRUE)
		OR NOT EXISTS (SELECT FROM uuid9562_changes.changes_state AS s WHERE s.identity = given[2]::uuid AND s.timeline = place.timeline);
	-- an ID of a read that was rolled back does not exist
	horizon := greatest((SELECT l.id FROM uuid9562_changes.log AS l WHERE l.source = source AND l.id <= given[5]::uuid ORDER BY l.id DESC LIMIT 1),
						(SELECT o.id FROM uuid9562_changes.changes_purged AS o WHERE o.source = source), '00000000-0000-7000-8000-000000000000');
	is_lost := is_lost OR horizon > given[5]::uuid OR coalesce(p.horizon = nothing, false);
	IF is_lost THEN
		horizon := nothing;
	ELSIF p.is_reset THEN
		r.confirmed := CASE WHEN given[10]::uuid = p.last THEN least(p.last, p.cap) ELSE r.confirmed END;
	ELSIF page IS NOT NULL AND given[4]::uuid <= r.confirmed THEN
		r.confirmed := greatest(r.confirmed, least(given[10]::uuid, p.cap));
	END IF;
	IF page IS NOT NULL AND (is_lost OR given[10]::uuid = p.last) THEN r.pages := r.pages[:page - 1] || r.pages[page + 1:]; END IF;
	r := uuid9562_changes.changes_guard(r, horizon);
	UPDATE uuid9562_changes.changes_reader AS u SET confirmed = r.confirmed, pages = r.pages, seen = clock_timestamp() WHERE u.reader = reader AND u.source = source;
	IF page IS NULL OR is_lost THEN
		RAISE WARNING USING MESSAGE = format(CASE WHEN is_lost THEN 'changes after a page of reader "%s" are no longer known' ELSE 'page of reader "%s" is unknown' END, reader),
			DETAIL = CASE WHEN is_lost THEN 'The next page is "reset".'
						  ELSE 'It was confirmed before, or its read was rolled back. Changes that were made after it was read are delivered again.' END,
			HINT = 'Commit the transaction that reads a page before you apply the page elsewhere.';
	END IF;
	IF (SELECT uuid9562_changes.changes_time(l.id) FROM uuid9562_changes.log AS l WHERE l.source = source ORDER BY l.id LIMIT 1) < clock_timestamp() - interval '10 minutes' THEN
		BEGIN
			PERFORM uuid9562_changes.changes_delete(source, interval '10 minutes', 1000);
		EXCEPTION WHEN OTHERS THEN
			NULL;	-- the confirmation counts
		END;
	END IF;
END$body$;
COMMENT ON FUNCTION changes_done(text, text) IS 'confirm that a reader has applied changes up to a position, or the page that the transaction has read';

CREATE FUNCTION changes_forget(reader text, source regclass) RETURNS void LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET geqo_seed = 0.9562 AS $body$
BEGIN
	IF NOT EXISTS (SELECT FROM uuid9562_changes.changes_reader AS r WHERE r.reader = changes_forget.reader AND r.source = changes_forget.source) THEN
		RAISE undefined_object USING MESSAGE = format('reader "%s" of table %s does not exist', reader, source);
	END IF;
	PERFORM uuid9562_changes.changes_find_reader(reader, source::oid);
	DELETE FROM uuid9562_changes.changes_reader AS r WHERE r.reader = changes_forget.reader AND r.source = changes_forget.source;
END$body$;
COMMENT ON FUNCTION changes_forget(text, regclass) IS 'remove a reader, which then no longer prevents the deletion of log entries';

-- The last ID whose entries a reader needs no more: uuid_reader_keep().
CREATE FUNCTION changes_keep(r uuid9562_changes.changes_reader, reader_expiry interval) RETURNS uuid LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
	nothing uuid := '00000000-0000-0000-0000-000000000000';
	now timestamptz := clock_timestamp();
BEGIN
	RETURN (
		SELECT needed FROM (
			SELECT r.confirmed AS needed
			UNION ALL
			SELECT CASE WHEN is_reset THEN least(horizon, cap) ELSE horizon END FROM unnest(r.pages)
			WHERE NOT expired OR now < until + 10 * (until - read_at) OR (is_reset AND now < read_at + reader_expiry)) AS p
		WHERE needed <> nothing ORDER BY needed LIMIT 1);
END$body$;

CREATE FUNCTION changes_delete(source oid, keep interval, max_entries integer) RETURNS bigint
	LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
	SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET join_collapse_limit = 1 SET jit = off SET plan_cache_mode = force_generic_plan AS $body$
#variable_conflict use_variable
DECLARE
	last uuid := least((lpad(to_hex(greatest((extract(epoch FROM clock_timestamp() - keep) * 1000)::bigint, 0)), 12, '0') || '70008000000000000000')::uuid,
					   'ffff0000-0000-0000-0000-000000000000');
	expiry interval := (SELECT f.reader_expiry FROM uuid9562_changes.changes_find(source) AS f);
	deleted bigint;
BEGIN
	PERFORM FROM uuid9562_changes.changes_slot WHERE changes_slot.source = source AND number = 2 FOR UPDATE SKIP LOCKED;
	IF NOT FOUND THEN RETURN 0; END IF;
	last := least(last, (SELECT k FROM uuid9562_changes.changes_reader AS r CROSS JOIN uuid9562_changes.changes_keep(r, expiry) AS k
						 WHERE r.source = source AND r.seen > clock_timestamp() - expiry ORDER BY k LIMIT 1));
	last := coalesce((SELECT l.id FROM uuid9562_changes.log AS l WHERE l.source = source AND l.id <= last ORDER BY l.id OFFSET max_entries - 1 LIMIT 1),
					 (SELECT l.id FROM uuid9562_changes.log AS l WHERE l.source = source AND l.id <= last ORDER BY l.id DESC LIMIT 1));
	DELETE FROM uuid9562_changes.log AS l WHERE l.source = source AND l.id <= last;
	GET DIAGNOSTICS deleted = ROW_COUNT;
	INSERT INTO uuid9562_changes.changes_purged AS p SELECT source, last WHERE deleted > 0 ON CONFLICT ON CONSTRAINT changes_purged_pkey DO UPDATE SET id = excluded.id;
	RETURN deleted;
END$body$;

CREATE FUNCTION changes_purge(source regclass, keep interval DEFAULT '10 minutes', max_entries integer DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET geqo_seed = 0.9562 AS $body$
DECLARE
	gone oid := 0;
BEGIN
	IF max_entries < 1 THEN RAISE invalid_parameter_value USING MESSAGE = format('value %s is out of range for max_entries', max_entries);
	ELSIF keep IS NULL THEN RAISE null_value_not_allowed USING MESSAGE = 'keep must not be null';
	END IF;
	PERFORM uuid9562_changes.changes_check_owner(source::oid);
	LOOP
		gone := (SELECT l.source FROM uuid9562_changes.log AS l WHERE l.source > gone ORDER BY l.source LIMIT 1);
		EXIT WHEN gone IS NULL;
		DELETE FROM uuid9562_changes.log AS l WHERE l.source = gone AND NOT EXISTS (SELECT FROM pg_class WHERE oid = gone);
	END LOOP;
	DELETE FROM uuid9562_changes.changes_purged AS p WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = p.source);
	DELETE FROM uuid9562_changes.changes_state AS s WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = s.source);
	DELETE FROM uuid9562_changes.changes_reader AS r WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = r.source);
	RETURN uuid9562_changes.changes_delete(source::oid, keep, coalesce(max_entries, 2147483647));
END$body$;
COMMENT ON FUNCTION changes_purge(regclass, interval, integer) IS 'delete log entries that all readers have confirmed, and what is left of dropped tables';

CREATE FUNCTION changes_reset(source regclass) RETURNS void LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET geqo_seed = 0.9562 AS $body$
BEGIN
	PERFORM uuid9562_changes.changes_check_owner(source::oid);
	-- wait for sessions that have stored states, and let no other one do so until this transaction ends
	LOCK TABLE uuid9562_changes.changes_state IN SHARE ROW EXCLUSIVE MODE;
	DELETE FROM uuid9562_changes.changes_state AS s WHERE s.source = changes_reset.source;
END$body$;
COMMENT ON FUNCTION changes_reset(regclass) IS 'cause all readers of a table to copy the whole table again';

CREATE PROCEDURE changes_wait(reader text, source regclass, timeout interval DEFAULT '30 s', after text DEFAULT 'confirmed') LANGUAGE plpgsql AS $body$
DECLARE
	until pg_catalog.timestamptz := pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) timeout;
BEGIN
	COMMIT;		-- an error in a transaction block
	WHILE pg_catalog.clock_timestamp() OPERATOR(pg_catalog.<) until LOOP
		EXIT WHEN uuid9562_changes.changes_look(reader, source::pg_catalog.oid, after);
		COMMIT;
		PERFORM pg_catalog.pg_sleep(0.2::double precision);
	END LOOP;
END$body$;
COMMENT ON PROCEDURE changes_wait(text, regclass, interval, text) IS 'wait until changes_read() would return changes';

-- --- tracking ---------------------------------------------------------------------

CREATE FUNCTION changes_track(source regclass, operations text[] DEFAULT NULL, dropped_partitions text DEFAULT NULL, reader_expiry interval DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $body$
#variable_conflict use_variable
DECLARE
	tracked record; f record; name text;
BEGIN
	IF source IS NULL THEN RAISE null_value_not_allowed USING MESSAGE = 'table must not be null';
	ELSIF operations = '{}' OR NOT operations <@ '{insert,update,delete}'::text[] OR array_position(operations, NULL) IS NOT NULL THEN
		RAISE invalid_parameter_value USING MESSAGE = format('invalid operations: %s', operations), HINT = 'Valid operations are "insert", "update" and "delete".';
	ELSIF NOT extract(epoch FROM reader_expiry) BETWEEN 0.000001 AND extract(epoch FROM interval '100 years') THEN
		RAISE invalid_parameter_value USING MESSAGE = format('value %s is out of range for reader_expiry', reader_expiry), DETAIL = 'It must be greater than 0, and at most 100 years.';
	ELSIF dropped_partitions NOT IN ('reset', 'ignore') THEN
		RAISE invalid_parameter_value USING MESSAGE = format('invalid value for dropped_partitions: "%s"', dropped_partitions), HINT = 'Valid values are "reset" and "ignore".';
	END IF;
	SELECT c.oid, relowner,
		CASE WHEN relkind NOT IN ('r', 'p') THEN 'it is not a table'
			 WHEN c.oid < 16384 OR relnamespace = 'uuid9562_changes'::regnamespace THEN 'it is a system table'
			 WHEN relpersistence = 't' THEN 'it is a temporary table'
			 WHEN relpersistence = 'u' THEN 'it is unlogged, and a crash would remove its rows silently'
			 WHEN relispartition THEN 'it is a partition'
			 WHEN EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid OR (relkind = 'r' AND inhparent = c.oid)) THEN 'it inherits from a table, or a table inherits from it'
			 WHEN NOT EXISTS (SELECT FROM uuid9562_changes.changes_key(c.oid) AS k WHERE k.id IS NOT NULL) THEN 'it has no primary key'
			 ELSE (SELECT format('its partition %s is a foreign or unlogged table', relid) FROM pg_partition_tree(c.oid) JOIN pg_class AS p ON p.oid = relid
				   WHERE p.relkind = 'f' OR p.relpersistence <> 'p' LIMIT 1)
		END AS refusal
	INTO tracked FROM pg_class AS c WHERE c.oid = source;
	IF tracked.oid IS NULL THEN RAISE undefined_table USING MESSAGE = format('relation with OID %s does not exist', source::oid);
	ELSIF tracked.refusal IS NOT NULL THEN
		RAISE wrong_object_type USING MESSAGE = format('cannot track table %s: %s', source, tracked.refusal), HINT = CASE WHEN tracked.refusal = 'it is a partition' THEN 'Track the partitioned table.' ELSE '' END;
	ELSIF NOT pg_has_role(tracked.relowner, 'USAGE') THEN RAISE insufficient_privilege USING MESSAGE = format('must be owner of table %s', source);
	END IF;

	EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', source);
	f := uuid9562_changes.changes_find(source::oid);
	operations := ARRAY(SELECT o FROM unnest('{insert,update,delete}'::text[]) AS o WHERE o = ANY (coalesce(operations, f.operations, '{insert,update,delete}')));
	dropped_partitions := coalesce(dropped_partitions, f.dropped_partitions, 'reset');
	reader_expiry := coalesce(reader_expiry, f.reader_expiry, '7 days');
	IF f.problem IS NOT NULL OR (f.operations, f.dropped_partitions, f.reader_expiry) IS DISTINCT FROM (operations, dropped_partitions, reader_expiry) THEN
		-- replacing the trigger does not require ACCESS EXCLUSIVE, and so causes no deadlock
		FOR name IN SELECT tgname FROM pg_trigger WHERE tgrelid = source AND tgfoid = 'uuid9562_changes.log_trigger'::regproc AND tgtype & 1 = 1 AND tgname <> 'uuid9562_changes_' || source::oid LOOP
			EXECUTE format('DROP TRIGGER %I ON %s', name, source);
		END LOOP;
		name := 'uuid9562_changes_' || source::oid;
		EXECUTE format('CREATE OR REPLACE TRIGGER %I AFTER %s ON %s FOR EACH ROW EXECUTE FUNCTION uuid9562_changes.log_trigger(%L, %L)',
					   name, array_to_string(operations, ' OR '), source, dropped_partitions, (extract(epoch FROM reader_expiry) * 1000000)::bigint);
		EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', source, name);
	END IF;
	FOR tracked IN
		SELECT relid FROM (SELECT source AS relid UNION SELECT relid FROM pg_partition_tree(source)) AS tree
		WHERE NOT EXISTS (SELECT FROM pg_trigger
						  WHERE tgrelid = relid AND tgtype & 33 = 32 AND tgenabled = 'A' AND tgqual IS NULL AND tgfoid = 'uuid9562_changes.log_trigger'::regproc)
	LOOP
		EXECUTE format('CREATE OR REPLACE TRIGGER uuid9562_changes_truncate AFTER TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION uuid9562_changes.log_trigger()', tracked.relid);
		EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER uuid9562_changes_truncate', tracked.relid);
	END LOOP;
	SELECT pubname INTO name FROM pg_publication WHERE puballtables LIMIT 1;
	IF FOUND THEN
		RAISE WARNING 'publication "%" also publishes the log %', name, 'uuid9562_changes.log'
			USING HINT = 'Subscribers that have no such table stop with an error when a change is logged. List the tables of the publication instead of FOR ALL TABLES.';
	END IF;
END$body$;
COMMENT ON FUNCTION changes_track(regclass, text[], text, interval) IS 'log the changes of a table, for changes_read()';

CREATE FUNCTION changes_untrack(source regclass) RETURNS void LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
	trigger record;
BEGIN
	PERFORM uuid9562_changes.changes_check_owner(source::oid);
	EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', source);	-- as DROP TRIGGER does, before readers are locked
	PERFORM uuid9562_changes.changes_reset(source);
	PERFORM uuid9562_changes.changes_forget(r.reader, r.source) FROM uuid9562_changes.changes_readers AS r WHERE r.source = changes_untrack.source;
	FOR trigger IN SELECT tgname FROM pg_trigger WHERE tgrelid = source AND tgfoid = 'uuid9562_changes.log_trigger'::regproc AND tgtype & 1 = 1 LOOP
		EXECUTE format('DROP TRIGGER %I ON %s', trigger.tgname, source);
	END LOOP;
	-- also of detached partitions
	FOR trigger IN
		SELECT tgname, tgrelid::regclass AS relation FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = tgrelid
		WHERE tgfoid = 'uuid9562_changes.log_trigger'::regproc AND pg_has_role(relowner, 'USAGE')
			AND NOT EXISTS (SELECT FROM pg_trigger AS o WHERE o.tgrelid = t.tgrelid AND o.tgfoid = t.tgfoid AND o.tgtype & 1 = 1)
	LOOP
		EXECUTE format('DROP TRIGGER %I ON %s', trigger.tgname, trigger.relation);
	END LOOP;
END$body$;
COMMENT ON FUNCTION changes_untrack(regclass) IS 'drop the triggers of a table, and its readers';

-- --- views ------------------------------------------------------------------------

-- Entries are counted up to 100,000, and only for roles that may read the table.
CREATE FUNCTION changes_list_tables(OUT source regclass, OUT operations text[], OUT dropped_partitions text, OUT reader_expiry interval, OUT problem text,
	OUT without_truncate_trigger regclass[], OUT entries bigint, OUT purged uuid, OUT kept_by text) RETURNS SETOF record
	LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET join_collapse_limit = 1 SET jit = off SET plan_cache_mode = force_generic_plan AS $body$
#variable_conflict use_column
BEGIN
	RETURN QUERY SELECT t.tgrelid::regclass, f.operations, f.dropped_partitions, f.reader_expiry, f.problem, coalesce(f.without_truncate_trigger, '{}'),
		   CASE WHEN has_table_privilege(uuid9562_changes.changes_caller(), t.tgrelid, 'SELECT') THEN (SELECT count(*) FROM (SELECT FROM uuid9562_changes.log AS l WHERE l.source = t.tgrelid LIMIT 100000) AS e) END,
		   (SELECT p.id FROM uuid9562_changes.changes_purged AS p WHERE p.source = t.tgrelid),
		   (SELECT r.reader FROM uuid9562_changes.changes_reader AS r, uuid9562_changes.changes_keep(r, f.reader_expiry) AS keep
			WHERE r.source = t.tgrelid AND r.seen > clock_timestamp() - f.reader_expiry AND keep < (SELECT l.id FROM uuid9562_changes.log AS l WHERE l.source = t.tgrelid ORDER BY l.id DESC LIMIT 1) ORDER BY keep LIMIT 1)
	FROM (SELECT DISTINCT tgrelid FROM pg_trigger WHERE tgfoid = 'uuid9562_changes.log_trigger'::regproc AND tgtype & 1 = 1 AND tgparentid = 0) AS t,
		uuid9562_changes.changes_find(t.tgrelid) AS f;
END$body$;

CREATE FUNCTION changes_list_readers(OUT reader text, OUT source regclass, OUT owner regrole, OUT seen timestamptz, OUT pages_out integer, OUT entries_waiting bigint,
	OUT oldest_waiting interval, OUT waits_for text) RETURNS SETOF record
	LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET join_collapse_limit = 1 SET jit = off SET plan_cache_mode = force_generic_plan AS $body$
#variable_conflict use_column
BEGIN
	RETURN QUERY SELECT r.reader, r.source::regclass, r.owner::regrole, r.seen, cardinality(r.pages), CASE WHEN c.may_read THEN c.entries END,
		   CASE WHEN c.may_read THEN clock_timestamp() - uuid9562_changes.changes_time(c.first) END,
		   CASE WHEN r.confirmed < greatest(c.purged, '00000000-0000-7000-8000-000000000000') OR NOT c.is_valid THEN 'copy of the whole table'
				WHEN cardinality(r.pages) > 0 AND c.first IS NOT NULL THEN 'confirmation'
				WHEN c.first IS NOT NULL THEN 'changes_read()' END
	FROM uuid9562_changes.changes_reader AS r, LATERAL (
		SELECT has_table_privilege(uuid9562_changes.changes_caller(), r.source, 'SELECT') AS may_read,
			   (SELECT p.id FROM uuid9562_changes.changes_purged AS p WHERE p.source = r.source) AS purged,
			   EXISTS (SELECT FROM uuid9562_changes.changes_state AS s WHERE s.identity = r.identity) AS is_valid,
			   (SELECT count(*) FROM (SELECT FROM uuid9562_changes.log AS l WHERE l.source = r.source AND l.id > r.confirmed LIMIT 100000) AS e) AS entries,
			   (SELECT l.id FROM uuid9562_changes.log AS l WHERE l.source = r.source AND l.id > r.confirmed ORDER BY l.id LIMIT 1) AS first) AS c
	WHERE EXISTS (SELECT FROM pg_class WHERE oid = r.source);
END$body$;

CREATE VIEW changes_tables AS SELECT * FROM changes_list_tables();
CREATE VIEW changes_readers AS SELECT * FROM changes_list_readers();
GRANT SELECT ON changes_tables, changes_readers TO PUBLIC;
COMMENT ON VIEW changes_tables IS 'tracked tables, and what prevents readers from reading them';
COMMENT ON VIEW changes_readers IS 'readers of tracked tables, and what they wait for';

COMMIT;
