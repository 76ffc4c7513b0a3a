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

SET lock_timeout = '500ms';
SELECT format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I IS NOT NULL) NOT VALID', "table", new || '_filled', new) FROM parent
WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = parent.oid AND conname = new || '_filled')
\gexec
\ir 2_fill.sql
SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', "table", new || '_filled') FROM parent
\gexec

SELECT format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s IS NULL OR %I IS NOT NULL) NOT VALID', "table", new || '_filled', "column", new)
FROM reference
WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = reference.oid AND conname = new || '_filled')
\gexec
\ir 2_fill.sql
SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', "table", new || '_filled') FROM reference
\gexec
\echo 'Step 3 is done.'
