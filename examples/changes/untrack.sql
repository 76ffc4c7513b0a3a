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

DROP TABLE IF EXISTS pg_temp.tracked;
CREATE TEMPORARY TABLE tracked AS
SELECT c.oid, n.nspname AS schema, c.relname AS name, format('%I.%I', n.nspname, c.relname) AS qualified,
	   encode(substr(tgargs, 1, length(tgargs) - 1), 'escape') AS "column"
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_trigger ON tgrelid = c.oid
WHERE c.oid = :'table'::regclass AND tgname = '~uuidv7_stamp';
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
