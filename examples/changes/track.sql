-- Make the changes of a table readable in the order of their stamps, without missing any.
--
--	psql -v table=shop.customer -f track.sql
--
-- Variables:
--	table	a table with a primary key; it can be partitioned or a logical subscriber's
--	column	the new column with the stamp of a row's last change, by default changed
--	deleted	the column of the view that is true for deleted rows, by default deleted
--
-- For the table customer, this creates, in the schema of the table and for its owner:
--	customer.changed			stamp of the last INSERT or UPDATE, with an index
--	customer_deleted			keys of deleted rows, with the stamps of their deletions
--	customer_changes			view of both, for readers; grant SELECT on it
--	customer_after(position)	stamp after which a reader continues
--	customer_purge(keep)		forget deletions that are older than an interval
--
-- The page doc/changes.md explains their use.  The script does not rewrite the table.  It waits at
-- most half a second for a lock, and fills the stamps of old rows in batches.  If it is interrupted
-- or fails, run it again: it continues.  Also run it again after you have added a column or a
-- partition.  The table's other UPDATE triggers fire for the batches too, unless you may set
-- session_replication_role.
--
-- Run it as the table's owner.  A superuser who runs it executes the functions that the owner has
-- put into constraints and indexes of the table.
\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = warning;
SET row_security = off;
\if :{?table} \else
	DO $$BEGIN RAISE 'the variable "table" is missing: psql -v table=customer'; END$$;
\endif
\if :{?column} \else
	\set column changed
\endif
\if :{?deleted} \else
	\set deleted deleted
\endif

-- --- checks --------------------------------------------------------------------

-- From here on, find only objects of PostgreSQL without a schema, since other roles can create
-- objects in the schemas of the caller's search_path.
SELECT :'table'::pg_catalog.regclass::pg_catalog.oid AS "table" \gset
SET search_path = pg_catalog, pg_temp;
DROP TABLE IF EXISTS pg_temp.tracked;
CREATE TEMPORARY TABLE tracked AS
SELECT c.oid, c.relkind, n.nspname AS schema, c.relname AS name, c.oid::regclass::text AS "table",
	   format('%I.%I', n.nspname, c.relname) AS qualified, :'column' AS "column", :'deleted' AS deleted,
	   pg_get_userbyid(c.relowner) AS owner,
	   (SELECT quote_ident(nspname) FROM pg_extension AS e JOIN pg_namespace AS s ON s.oid = e.extnamespace WHERE extname = 'uuid9562') AS uuid9562,
	   key.columns AS key, key.old AS old_key, key.unchanged AS unchanged_key, key.same AS same_key,
	   stamp.tgname IS NOT NULL AS started,
	   CASE
		WHEN c.relkind NOT IN ('r', 'p') THEN 'it is not a table'
		WHEN c.oid < 16384 THEN 'it is a system table'
		WHEN c.relpersistence = 't' THEN 'it is a temporary table'
		WHEN c.relpersistence = 'u' THEN 'it is unlogged, and a crash would remove rows silently'
		WHEN c.relispartition THEN 'it is a partition: track the partitioned table'
		WHEN c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid) THEN 'other tables inherit from it: track each of these'
		WHEN foreign_or_unlogged.part IS NOT NULL THEN format('its partition %s is a foreign or unlogged table', foreign_or_unlogged.part)
		WHEN c.relforcerowsecurity THEN 'it hides rows from its owner (FORCE ROW LEVEL SECURITY)'
		WHEN key.columns IS NULL THEN 'it has no primary key'
		WHEN NOT pg_has_role(c.relowner, 'USAGE') THEN 'you are not its owner'
		WHEN NOT has_schema_privilege(c.relowner, n.oid, 'CREATE') THEN format('its owner may not create objects in schema %I', n.nspname)
		WHEN octet_length(c.relname || '_deleted_truncate') > 63 THEN 'its name is too long to derive others from it'
		WHEN greatest(octet_length(:'column'), octet_length(:'deleted')) > 63 THEN 'the name of a new column is too long'
		WHEN stamp.tgargs IS DISTINCT FROM convert_to(:'column', getdatabaseencoding()) || '\000' AND stamp.tgname IS NOT NULL
			THEN format('it is already tracked by column "%s"', convert_from(substr(stamp.tgargs, 1, length(stamp.tgargs) - 1), getdatabaseencoding()))
		WHEN stamp.tgname IS NOT NULL AND deleted_row.columns IS DISTINCT FROM format('%I uuid, %s', :'column', key.types)
			THEN 'its name or its primary key has changed since it was tracked: run untrack.sql first'
		WHEN stamp.tgname IS NULL AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = :'column')
			THEN format('column "%s" already exists: choose another one with -v column=', :'column')
		WHEN :'deleted' = :'column' OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = :'deleted')
			THEN format('column "%s" already exists: choose another name for the view''s column with -v deleted=', :'deleted')
		WHEN stamp.tgname IS NULL AND taken.name IS NOT NULL THEN format('"%s" already exists', taken.name)
		WHEN later.tgname IS NOT NULL THEN format('its trigger "%s" would fire after the stamp: rename the trigger', later.tgname)
	   END AS refusal
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN LATERAL (
	-- the index of the key knows its operators, which can be in any schema
	SELECT string_agg(format('%I', attname), ', ' ORDER BY n) AS columns, string_agg(format('OLD.%I', attname), ', ' ORDER BY n) AS old,
		   string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY n) AS types,
		   string_agg(format('OLD.%1$I OPERATOR(%2$I.%3$s) NEW.%1$I', attname, nspname, oprname), ' AND ' ORDER BY n) AS unchanged,
		   string_agg(format('t.%1$I OPERATOR(%2$I.%3$s) c.%1$I', attname, nspname, oprname), ' AND ' ORDER BY n) AS same
	FROM pg_index, unnest(indkey::int2[], indclass::oid[]) WITH ORDINALITY AS k (attnum, opclass, n)
	JOIN pg_attribute USING (attnum)
	JOIN pg_opclass ON pg_opclass.oid = opclass
	JOIN pg_amop ON amopfamily = opcfamily AND amoplefttype = opcintype AND amoprighttype = opcintype AND amopstrategy = 3
	JOIN pg_operator ON pg_operator.oid = amopopr
	JOIN pg_namespace ON pg_namespace.oid = oprnamespace
	WHERE indrelid = c.oid AND indisprimary AND attrelid = c.oid AND n <= indnkeyatts) AS key ON true
LEFT JOIN LATERAL (
	SELECT string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum) AS columns
	FROM pg_attribute WHERE attrelid = to_regclass(format('%I.%I', n.nspname, c.relname || '_deleted')) AND attnum > 0 AND NOT attisdropped) AS deleted_row ON true
LEFT JOIN pg_trigger AS stamp ON stamp.tgrelid = c.oid AND stamp.tgname = '~uuidv7_stamp'
LEFT JOIN LATERAL (
	SELECT relid::regclass AS part FROM pg_partition_tree(c.oid) JOIN pg_class AS p ON p.oid = relid
	WHERE p.relkind = 'f' OR p.relpersistence <> 'p' LIMIT 1) AS foreign_or_unlogged ON c.relkind = 'p'
LEFT JOIN LATERAL (
	SELECT c.relname || suffix AS name FROM unnest(ARRAY['_deleted', '_purged', '_changes', '_' || :'column']) AS suffix
	WHERE to_regclass(format('%I.%I', n.nspname, c.relname || suffix)) IS NOT NULL LIMIT 1) AS taken ON true
LEFT JOIN LATERAL (
	-- triggers fire in the order of the bytes of their names
	SELECT tgname FROM pg_trigger JOIN (SELECT c.oid AS relid UNION SELECT relid FROM pg_partition_tree(c.oid)) AS tree ON tgrelid = relid
	WHERE NOT tgisinternal AND tgtype & 3 = 3 AND tgtype & 20 <> 0 AND tgname::text COLLATE "C" > '~uuidv7_stamp' LIMIT 1) AS later ON true
WHERE c.oid = :table;
DO $$
BEGIN
	IF (SELECT uuid9562 IS NULL FROM pg_temp.tracked) THEN
		RAISE 'the extension is missing in this database' USING HINT = 'CREATE EXTENSION uuid9562;';
	ELSIF (SELECT refusal IS NOT NULL FROM pg_temp.tracked) THEN
		RAISE 'cannot track table "%": %', (SELECT "table" FROM pg_temp.tracked), (SELECT refusal FROM pg_temp.tracked);
	END IF;
END$$;
SELECT owner, started FROM tracked \gset
-- until the server has generated an ordered ID, readers would get an error
SELECT format('DO $$BEGIN PERFORM %s.uuidv7_ordered(); END$$', uuid9562) FROM tracked
\gexec
GRANT SELECT ON tracked TO PUBLIC;

-- --- triggers ------------------------------------------------------------------

-- After this transaction, each change of the table gets a stamp.
BEGIN;
SET LOCAL ROLE :"owner";
SET LOCAL lock_timeout = '500ms';
\if :started \else
	SELECT unnest(ARRAY[
		format('ALTER TABLE %s ADD COLUMN %I uuid', qualified, "column"),
		-- until the old rows have a stamp
		format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I IS NOT NULL) NOT VALID', qualified, name || '_stamped', "column"),
		format('CREATE TABLE %I.%I AS SELECT %I, %s FROM %s WITH NO DATA', schema, name || '_deleted', "column", key, qualified),
		format('ALTER TABLE %I.%I ADD PRIMARY KEY (%I)', schema, name || '_deleted', "column"),
		-- the greatest stamp of deletions that are gone, also those before untrack.sql, and whether any was purged
		format('CREATE TABLE %I.%I (%I uuid NOT NULL, "~purged" boolean NOT NULL)', schema, name || '_purged', "column"),
		format('INSERT INTO %I.%I VALUES (%s.uuidv7_ordered(), false)', schema, name || '_purged', uuid9562)])
	FROM tracked
	\gexec
\endif

-- The functions run as the table's owner, since those who change the table may lack privileges on
-- customer_deleted.  They qualify all names, since logical replication has an empty search_path.
SELECT format('CREATE OR REPLACE FUNCTION %I.%I() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L',
			  schema, name || suffix, body)
FROM tracked, LATERAL (VALUES
	('_deleted_row', format($$
BEGIN
	INSERT INTO %I.%I VALUES (%s.uuidv7_ordered(), %s);
	RETURN NULL;
END$$, schema, name || '_deleted', uuid9562, old_key)),
	-- A subscriber's process that applies changes cannot be refused, since it would repeat the
	-- TRUNCATE forever.  The function must see all rows, so it refuses an old snapshot.
	('_deleted_truncate', format($$
BEGIN
	IF current_setting('session_replication_role') <> 'replica' OR current_setting('transaction_isolation') <> 'read committed' THEN
		RAISE 'cannot truncate table "%%", whose changes are tracked', TG_TABLE_NAME
			USING ERRCODE = 'feature_not_supported', HINT = 'Use DELETE, which readers of the changes notice.';
	END IF;
	IF (SELECT relkind = 'r' FROM pg_class WHERE oid = TG_RELID) THEN
		EXECUTE %L || TG_RELID::regclass;
	END IF;
	RETURN NULL;
END$$, format('INSERT INTO %I.%I SELECT %s.uuidv7_ordered(), %s FROM ', schema, name || '_deleted', uuid9562, key)))) AS f (suffix, body)
\gexec
SELECT format('REVOKE ALL ON FUNCTION %1$I.%2$I(), %1$I.%3$I() FROM PUBLIC', schema, name || '_deleted_row', name || '_deleted_truncate')
FROM tracked
\gexec

-- "~" sorts after the names of other triggers.  Partitions inherit the triggers, except that of
-- TRUNCATE.
DO $$
BEGIN
	IF EXISTS (
		SELECT FROM pg_temp.tracked AS t, unnest(ARRAY['~uuidv7_stamp', '~uuidv7_deleted', '~uuidv7_key']) AS name
			LEFT JOIN pg_trigger ON tgname = name AND (tgrelid = (SELECT oid FROM pg_temp.tracked)
				OR tgrelid IN (SELECT relid FROM pg_partition_tree((SELECT oid FROM pg_temp.tracked))))
		WHERE started AND tgenabled IS DISTINCT FROM 'A') THEN
		RAISE WARNING 'triggers of table "%" were disabled, so changes can be missing', (SELECT "table" FROM pg_temp.tracked)
			USING HINT = 'Compare all copies with the table.';
	END IF;
END$$;
SELECT definition
FROM tracked, LATERAL (VALUES
	('~uuidv7_stamp', format('BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %s.uuidv7_stamp_trigger(%L)', qualified, uuid9562, "column")),
	('~uuidv7_deleted', format('AFTER DELETE ON %s FOR EACH ROW EXECUTE FUNCTION %I.%I()', qualified, schema, name || '_deleted_row')),
	('~uuidv7_key', format('AFTER UPDATE ON %s FOR EACH ROW WHEN (NOT (%s)) EXECUTE FUNCTION %I.%I()', qualified, unchanged_key, schema, name || '_deleted_row'))) AS row_trigger (trigger, rest),
	format('CREATE TRIGGER %I %s', trigger, rest) AS definition
WHERE NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = tracked.oid AND tgname = trigger)
\gexec
SELECT format('CREATE TRIGGER "~uuidv7_truncate" BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION %I.%I()', part, schema, name || '_deleted_truncate')
FROM tracked, LATERAL (SELECT oid::regclass AS part UNION SELECT relid FROM pg_partition_tree(oid)) AS tree
WHERE NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = part AND tgname = '~uuidv7_truncate')
\gexec
-- also on a subscriber, and if somebody has disabled them
SELECT format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', part, tgname)
FROM tracked, LATERAL (SELECT oid::regclass AS part UNION SELECT relid FROM pg_partition_tree(oid)) AS tree
JOIN pg_trigger ON tgrelid = part
WHERE tgname IN ('~uuidv7_stamp', '~uuidv7_deleted', '~uuidv7_key', '~uuidv7_truncate') AND tgenabled <> 'A'
\gexec
COMMIT;

-- --- old rows ------------------------------------------------------------------

-- without other triggers, if this user may
SELECT has_parameter_privilege('session_replication_role', 'SET') AS without_triggers,
	   EXISTS (SELECT FROM pg_constraint WHERE conrelid = tracked.oid AND conname = name || '_stamped') AS unfilled
FROM tracked \gset
\if :without_triggers
	SET session_replication_role = replica;
\endif
SET ROLE :"owner";
\if :unfilled
-- A batch consists of the rows in 100 blocks.  Rows that another transaction has locked are left
-- to the next round.
SELECT format('DO %L', format($$
DECLARE
	unfilled_rows text;
	part regclass;
	blocks int;
	batch tid[];
	unfilled bigint := 0;
	waiting bigint;
	reported timestamptz := clock_timestamp();
BEGIN
	LOOP
		waiting := 0;
		FOR part IN SELECT coalesce(relid, %1$s::regclass) FROM (SELECT) AS one LEFT JOIN pg_partition_tree(%1$s) ON true WHERE isleaf IS NOT false LOOP
			unfilled_rows := ' FROM ONLY ' || part || ' WHERE ctid >= $1 AND ctid < $2 AND ' || %2$L || ' IS NULL';
			blocks := pg_relation_size(part) / current_setting('block_size')::int;
			FOR block IN 0 .. blocks - 1 BY 100 LOOP
				batch := ARRAY[format('(%%s,0)', block), format('(%%s,0)', block + 100)]::tid[];
				EXECUTE 'UPDATE ' || part || ' SET ' || %2$L || ' = NULL WHERE ctid = ANY (ARRAY(SELECT ctid' || unfilled_rows || ' FOR NO KEY UPDATE SKIP LOCKED))'
				USING batch[1], batch[2];
				EXECUTE 'SELECT count(*)' || unfilled_rows INTO unfilled USING batch[1], batch[2];
				waiting := waiting + unfilled;
				COMMIT;
				IF clock_timestamp() > reported + interval '5 seconds' THEN
					reported := clock_timestamp();
					RAISE INFO '%%: %% %% of %%', %3$L, 100 * block / blocks, '%%', part;
				END IF;
			END LOOP;
		END LOOP;
		EXIT WHEN waiting = 0;
		RAISE INFO '%%: %% rows are locked by other transactions, or kept by a trigger', %3$L, waiting;
		PERFORM pg_sleep(1);
	END LOOP;
END$$, oid, quote_ident("column"), qualified))
FROM tracked
\gexec
SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', qualified, name || '_stamped') FROM tracked
\gexec
BEGIN;
SET LOCAL lock_timeout = '500ms';
SELECT unnest(ARRAY[
	format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', qualified, "column"),
	format('ALTER TABLE %s DROP CONSTRAINT %I', qualified, name || '_stamped')])
FROM tracked
\gexec
COMMIT;
\endif

-- --- index and view ------------------------------------------------------------

DROP TABLE IF EXISTS pg_temp.new_index;
CREATE TEMPORARY TABLE new_index AS
SELECT part, schema, CASE WHEN part = tracked.oid THEN name || '_' || "column" ELSE format('changes_%s_%s', part::oid, relname) END AS name, "column", c.relkind = 'p' AS partitioned
FROM tracked, LATERAL (SELECT tracked.oid::regclass AS part UNION SELECT relid FROM pg_partition_tree(tracked.oid)) AS tree
JOIN pg_class AS c ON c.oid = part
WHERE c.relkind = 'r' OR part = tracked.oid;
-- remove what a failed run has left
SELECT format('DROP INDEX CONCURRENTLY %I.%I', schema, name) FROM new_index
WHERE NOT partitioned AND EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(format('%I.%I', schema, name)) AND NOT indisvalid)
\gexec
SELECT format('CREATE INDEX CONCURRENTLY IF NOT EXISTS %I ON %s (%I)', name, part, "column") FROM new_index WHERE NOT partitioned
\gexec
-- takes over the indexes of the partitions
SELECT format('CREATE INDEX IF NOT EXISTS %I ON %s (%I)', name, part, "column") FROM new_index WHERE partitioned
\gexec

BEGIN;
SET LOCAL lock_timeout = '500ms';
SELECT unnest(ARRAY[
	format('CREATE OR REPLACE FUNCTION %I.%I(reader_position text) RETURNS uuid LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L',
		   schema, name || '_after', format($$
DECLARE
	after uuid := %1$s.uuidv7_after(reader_position);
BEGIN
	-- before the first purge, a reader without a position gets all rows and deletions
	IF EXISTS (SELECT FROM %2$I.%3$I WHERE after < %4$I AND ("~purged" OR reader_position IS NOT NULL)) THEN
		RAISE 'position is older than the last purge of deletions'
			USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Begin again with an empty copy: store the position of uuidv7_horizon(), then copy all rows.';
	END IF;
	RETURN after;
END$$, uuid9562, schema, name || '_purged', "column")),
	-- The stamp is later than now only after a reset or a failover to a server whose clock was behind.
	-- Readers have been refused since then, unless they have begun again.
	format('CREATE OR REPLACE FUNCTION %I.%I(keep interval) RETURNS bigint LANGUAGE sql SET search_path = pg_catalog, pg_temp AS %L',
		   schema, name || '_purge', format($$
	WITH purged AS (
		DELETE FROM %1$I.%2$I WHERE %4$I < least(%5$s.uuidv7_floor(now() - keep), %5$s.uuidv7_horizon()) RETURNING %4$I),
	last AS (
		UPDATE %1$I.%3$I SET %4$I = CASE WHEN %4$I > %5$s.uuidv7_ceil(now())
										 THEN %5$s.uuidv7_after(%5$s.uuidv7_position(%5$s.uuidv7_horizon(), NULL))
										 ELSE greatest(%4$I, (SELECT max(%4$I::text)::uuid FROM purged)) END,
							 "~purged" = "~purged" OR EXISTS (SELECT FROM purged))
	SELECT count(*) FROM purged
$$, schema, name || '_deleted', name || '_purged', "column", uuid9562))])
FROM tracked
\gexec

-- An INSERT that waits for the DELETE of its key has the smaller stamp, so a deletion counts only if
-- the key does not exist.  The planner merges the indexes of both branches only if their types are
-- the same, so domains, which can refuse NULL, become their base types.  OFFSET 0 prevents a hash
-- table of the whole table for each page.
WITH RECURSIVE type (attnum, typid, typmod) AS (
	SELECT attnum, atttypid, atttypmod FROM pg_attribute, tracked
	WHERE attrelid = oid AND attnum > 0 AND NOT attisdropped AND attname <> "column"
	UNION ALL
	SELECT attnum, typbasetype, typtypmod FROM type JOIN pg_type ON oid = typid WHERE typtype = 'd'),
-- the last type of each column is no domain
base AS (SELECT DISTINCT ON (attnum) attnum, format_type(typid, typmod) AS type FROM type JOIN pg_type ON oid = typid WHERE typtype <> 'd')
SELECT format($$
CREATE OR REPLACE VIEW %1$I.%2$I AS
SELECT * FROM (SELECT %3$I, false AS %4$I, %5$s FROM %6$s
			   UNION ALL
			   SELECT %3$I, true, %7$s FROM %1$I.%8$I) AS c
WHERE %3$I < %9$s.uuidv7_horizon()
  AND (NOT %4$I OR NOT EXISTS (SELECT FROM %6$s AS t WHERE %10$s OFFSET 0))
$$, schema, name || '_changes', "column", deleted,
			  string_agg(live, ', ' ORDER BY attnum),
			  qualified,
			  string_agg(CASE WHEN in_key THEN live ELSE format('NULL::%s%s', type, collate_clause) END, ', ' ORDER BY attnum),
			  name || '_deleted', uuid9562, same_key)
FROM tracked, LATERAL (
	SELECT attnum, type, CASE typtype WHEN 'd' THEN format('%1$I::%2$s AS %1$I', attname, type) ELSE format('%I', attname) END AS live,
		   EXISTS (SELECT FROM pg_constraint WHERE conrelid = tracked.oid AND contype = 'p' AND attnum = ANY (conkey)) AS in_key,
		   CASE WHEN attcollation <> typcollation THEN format(' COLLATE %s', attcollation::regcollation) ELSE '' END AS collate_clause
	FROM pg_attribute JOIN base USING (attnum) JOIN pg_type ON pg_type.oid = atttypid WHERE attrelid = tracked.oid) AS col
GROUP BY schema, name, "column", deleted, qualified, uuid9562, same_key
\gexec
COMMIT;
\echo 'The changes can be read.'
