-- Remove from a table what track.sql has added: the column, the triggers, and the view, tables and
-- functions that are named after the table.
--
--	psql -v table=shop.customer -f untrack.sql
--
-- If something else uses one of these, such as a view of yours, nothing is removed.
\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = warning;
\if :{?table} \else
	DO $$BEGIN RAISE 'the variable "table" is missing: psql -v table=customer'; END$$;
\endif

SELECT :'table'::pg_catalog.regclass::pg_catalog.oid AS "table" \gset
SET search_path = pg_catalog, pg_temp;
DROP TABLE IF EXISTS pg_temp.tracked;
-- the name of a function shows the name that the table had when it was tracked
CREATE TEMPORARY TABLE tracked AS
SELECT t.tgrelid AS oid, t.tgrelid::regclass AS qualified, n.nspname AS schema, left(proname, -length('_deleted_row')) AS name,
	   convert_from(substr(t.tgargs, 1, length(t.tgargs) - 1), getdatabaseencoding()) AS "column"
FROM pg_trigger AS t JOIN pg_trigger AS d ON d.tgrelid = t.tgrelid AND d.tgname = '~uuidv7_deleted'
JOIN pg_proc ON pg_proc.oid = d.tgfoid JOIN pg_namespace AS n ON n.oid = pronamespace
WHERE t.tgrelid = :table AND t.tgname = '~uuidv7_stamp';
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_temp.tracked) THEN
		RAISE 'the table is not tracked';
	END IF;
END$$;

BEGIN;
SET LOCAL lock_timeout = '500ms';
SELECT format('DROP TRIGGER "~uuidv7_truncate" ON %s', tgrelid::regclass)
FROM tracked, LATERAL (SELECT oid AS part UNION SELECT relid FROM pg_partition_tree(oid)) AS tree
JOIN pg_trigger ON tgrelid = part WHERE tgname = '~uuidv7_truncate'
UNION ALL
SELECT unnest(ARRAY[
	format('DROP TRIGGER "~uuidv7_key" ON %s', qualified),
	format('DROP TRIGGER "~uuidv7_deleted" ON %s', qualified),
	format('DROP TRIGGER "~uuidv7_stamp" ON %s', qualified),
	format('DROP VIEW IF EXISTS %I.%I', schema, name || '_changes'),
	format('DROP FUNCTION IF EXISTS %1$I.%2$I(text), %1$I.%3$I(interval)', schema, name || '_after', name || '_purge'),
	format('DROP FUNCTION %1$I.%2$I(), %1$I.%3$I()', schema, name || '_deleted_row', name || '_deleted_truncate'),
	format('DROP TABLE %1$I.%2$I, %1$I.%3$I', schema, name || '_deleted', name || '_purged'),
	-- this also drops the index
	format('ALTER TABLE %s DROP COLUMN %I', qualified, "column")])
FROM tracked
\gexec
COMMIT;
\echo 'The table is no longer tracked.'
