-- Step 6 of the migration of a key to v7: drop the old columns, when nobody uses the old IDs.
--
--	psql -v table=orders -f 6_drop_old_columns.sql
\set ON_ERROR_STOP on
\ir plan.sql
\if :switched \else
	\echo 'The table has no old column.'
	\quit
\endif

BEGIN;
\set mode 'ACCESS EXCLUSIVE'
\ir lock_tables.sql
SELECT unnest(ARRAY[
	format('DROP FUNCTION IF EXISTS %I.%I()', schema, 'fill_' || name || '_' || new),
	format('ALTER TABLE %s DROP COLUMN IF EXISTS %I', "table", old)])
FROM (SELECT schema, name, "table", new, old FROM parent UNION ALL SELECT schema, name, "table", new, old FROM reference) AS part
\gexec
COMMIT;
\echo 'Step 6 is done.'
