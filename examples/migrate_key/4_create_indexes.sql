-- Step 4 of the migration of a key to v7: create the indexes and foreign keys of the new columns.
--
--	psql -v table=orders -v views=/tmp/views.sql -f 4_create_indexes.sql
--
-- Writers are blocked only for a moment, but CREATE INDEX CONCURRENTLY waits for transactions in
-- progress.
-- If you need other indexes on the new columns, create them yourself.
\set ON_ERROR_STOP on
\ir plan.sql
\if :switched
	\echo 'The table has been switched.'
	\quit
\endif
\if :validated \else
	DO $$BEGIN RAISE 'run 3_validate.sql first'; END$$;
\endif

\if :{?views} \else
	\set views views.sql
\endif
\echo 'The definitions of views go to the file' :views '- if psql cannot write there, set the variable "views" to another file.'
\o :views
\o

-- wait for transactions in progress, even if the role has a lock timeout
SET lock_timeout = 0;
DROP TABLE IF EXISTS pg_temp.new_index;
CREATE TEMPORARY TABLE new_index AS
SELECT 'UNIQUE INDEX' AS kind, schema, name || '_' || new AS name, "table", format('%I', new) AS "column" FROM parent
UNION ALL
-- to find rows by their old ID after the switch
SELECT 'UNIQUE INDEX', schema, name || '_' || old, "table", "column" FROM parent
UNION ALL
SELECT 'INDEX', schema, name || '_' || new, "table", format('%I', new) FROM reference;

-- remove what a failed run has left
SELECT format('DROP INDEX CONCURRENTLY %I.%I', schema, name) FROM new_index
WHERE EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass(format('%I.%I', schema, name)) AND NOT indisvalid)
\gexec
SELECT format('CREATE %s CONCURRENTLY IF NOT EXISTS %I ON %s (%s)', kind, name, "table", "column") FROM new_index
\gexec

BEGIN;
\set mode 'SHARE ROW EXCLUSIVE'
\ir lock_tables.sql
SELECT format('ALTER TABLE %s ADD CONSTRAINT %I FOREIGN KEY (%I) REFERENCES %s (%I)%s NOT VALID',
			  r."table", r.new || '_fkey', r.new, p."table", p.new, r.actions)
FROM reference AS r, parent AS p
WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = r.oid AND conname = r.new || '_fkey')
\gexec
COMMIT;
SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', "table", new || '_fkey') FROM reference
\gexec

-- the views that use the tables, for step 5
SELECT DISTINCT CASE v.relkind
	WHEN 'v' THEN format(E'CREATE OR REPLACE VIEW %s%s AS\n%s', v.oid::regclass,
						 ' WITH (' || array_to_string(v.reloptions, ', ') || ')', pg_get_viewdef(v.oid))
	ELSE format('-- drop and create the materialized view %s', v.oid::regclass) END
FROM pg_depend AS d
JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
JOIN pg_class AS v ON v.oid = r.ev_class AND v.relkind IN ('v', 'm')
WHERE d.refobjid IN (SELECT oid FROM parent UNION SELECT oid FROM reference)
\g (tuples_only=on format=unaligned) :views
\echo 'Step 4 is done.  Check the file' :views 'for step 5.'
