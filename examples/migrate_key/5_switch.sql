-- Step 5 of the migration of a key to v7: give the new columns the names of the old ones.
--
--	psql -v table=orders -v views=views.sql -f 5_switch.sql
--
-- The old columns stay, under names that begin with "old_".  Views refer to the old columns until
-- they are replaced, so the transaction also executes views.sql of step 4.  If the key's type
-- changes and a view returns the key or a foreign key, write DROP VIEW above its CREATE VIEW, and
-- grant its privileges again.  To replace no view, pass views=/dev/null.
\set ON_ERROR_STOP on
\ir plan.sql
\if :switched
	\echo 'The table has been switched.'
	\quit
\endif
\if :indexed \else
	DO $$BEGIN RAISE 'run 4_create_indexes.sql first'; END$$;
\endif
\if :{?views} \else
	SELECT EXISTS (SELECT FROM pg_depend AS d
				   JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
				   JOIN pg_class AS v ON v.oid = r.ev_class AND v.relkind IN ('v', 'm')
				   WHERE d.refobjid IN (SELECT oid FROM parent UNION SELECT oid FROM reference)) AS has_views
	\gset
	\if :has_views
		DO $$BEGIN RAISE 'the variable "views" is missing, and views use the tables: psql -v views=views.sql'; END$$;
	\endif
\endif

BEGIN;
\set mode 'ACCESS EXCLUSIVE'
\ir lock_tables.sql
SELECT unnest(ARRAY[
	format('DROP TRIGGER %I ON %s', 'fill_' || name || '_' || new, "table"),
	format('ALTER TABLE %s DROP CONSTRAINT %I', "table", foreign_key),
	CASE WHEN not_null THEN format('ALTER TABLE %s ALTER COLUMN %s DROP NOT NULL, ALTER COLUMN %I SET NOT NULL', "table", "column", new) END,
	format('ALTER TABLE %s DROP CONSTRAINT %I', "table", new || '_filled'),
	format('ALTER TABLE %s RENAME COLUMN %s TO %I', "table", "column", old),
	format('ALTER TABLE %s RENAME COLUMN %I TO %s', "table", new, "column"),
	format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', "table", new || '_fkey', foreign_key)])
FROM reference
\gexec
SELECT unnest(ARRAY[
	format('DROP TRIGGER %I ON %s', 'fill_' || name || '_' || new, "table"),
	format('ALTER TABLE %s DROP CONSTRAINT %I', "table", primary_key),
	-- an identity column cannot be NULL, but fills itself
	CASE WHEN NOT is_identity THEN format('ALTER TABLE %s ALTER COLUMN %s DROP NOT NULL', "table", "column") END,
	format('ALTER TABLE %s RENAME COLUMN %s TO %I', "table", "column", old),
	format('ALTER TABLE %s RENAME COLUMN %I TO %s', "table", new, "column"),
	format('ALTER TABLE %s ADD CONSTRAINT %I PRIMARY KEY USING INDEX %I', "table", primary_key, name || '_' || new),
	format('ALTER TABLE %s DROP CONSTRAINT %I', "table", new || '_filled')])
FROM parent
\gexec
\if :{?views}
	\i :views
\endif
COMMIT;
\echo 'Step 5 is done.'
