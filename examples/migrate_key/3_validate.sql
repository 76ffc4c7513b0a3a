-- Step 3 of the migration of a key to v7: prove that every row has its new ID.
--
--	psql -v table=orders -f 3_validate.sql
--
-- The constraints apply to new and updated rows at once.  Adding a constraint waits for the
-- transactions that wrote rows before step 1.  So step 2, which runs again here, sees these rows.
\set ON_ERROR_STOP on
\ir plan.sql
\if :switched
	\echo 'The table has been switched.'
	\quit
\endif
\if :added \else
	DO $$BEGIN RAISE 'run 1_add_columns.sql first'; END$$;
\endif

\set mode 'ACCESS EXCLUSIVE'
BEGIN;
\ir lock_tables.sql
SELECT format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I IS NOT NULL) NOT VALID', "table", new || '_filled', new) FROM parent
WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = parent.oid AND conname = new || '_filled')
\gexec
COMMIT;
\ir 2_fill.sql
\set mode 'SHARE UPDATE EXCLUSIVE'
BEGIN;
\ir lock_tables.sql
SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', "table", new || '_filled') FROM parent
\gexec
COMMIT;

\set mode 'ACCESS EXCLUSIVE'
BEGIN;
\ir lock_tables.sql
SELECT format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s IS NULL OR %I IS NOT NULL) NOT VALID', "table", new || '_filled', "column", new)
FROM reference
WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = reference.oid AND conname = new || '_filled')
\gexec
COMMIT;
\ir 2_fill.sql
\set mode 'SHARE UPDATE EXCLUSIVE'
BEGIN;
\ir lock_tables.sql
SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', "table", new || '_filled') FROM reference
\gexec
COMMIT;
\echo 'Step 3 is done.'
