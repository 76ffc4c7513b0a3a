-- Step 1 of the migration of a key to v7: add the new columns, and triggers that fill them.
--
--	psql -v table=orders -v key=id -v time='created_at + id % 1000 * interval ''1 microsecond''' -f 1_add_columns.sql
--
-- Variables (pass the same "table" and "key" to each step):
--	table	the table, whose primary key is one column of the type bigint, integer, uuid or text
--	key		the column, by default id
--	time	the creation time of an old row, as an expression of its columns, for step 1 only
--	default	the default of the new column, by default uuidv7_next(), for step 1 only
--
-- Each step can be repeated, also after an error.  The steps wait at most half a second for a lock.
-- If this is too short, they fail with "canceling statement due to lock timeout"; repeat them then.
\set ON_ERROR_STOP on
\ir plan.sql
\if :switched
	\echo 'The table has been switched.'
	\quit
\endif
\if :{?time} \else
	DO $$BEGIN RAISE 'the variable "time" is missing: psql -v time=created_at'; END$$;
\endif
\if :{?default} \else
	\set default 'uuidv7_next()'
\endif

-- Compute the time of each row as the trigger does, which would refuse updates if the expression
-- was wrong.
SELECT format('SELECT uuidv7_at(min(t)) AS first, uuidv7_at(max(t)) AS last, count(t) < count(*) AS untimed, %s AS migrated '
			  'FROM (SELECT %s AS key, (SELECT %s FROM (SELECT each.*) AS old_row) AS t FROM %s AS each) AS old',
			  CASE WHEN is_uuid THEN 'coalesce(bool_and(uuid_is_v7(key)), false)' ELSE 'false' END, "column", :'time', "table") AS times FROM parent
\gset
:times
\gset
\if :untimed
	DO $$BEGIN RAISE 'the expression "time" is null for some rows'; END$$;
\endif
\if :migrated
	DO $$BEGIN RAISE 'all keys of the table are v7 already'; END$$;
\endif

BEGIN;
SET LOCAL lock_timeout = '500ms';
-- add the column before its default, since both together would rewrite the table
SELECT format('ALTER TABLE %s ADD COLUMN IF NOT EXISTS %I uuid', "table", new) FROM parent
UNION ALL
SELECT format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', "table", new, :'default') FROM parent
UNION ALL
SELECT format('ALTER TABLE %s ADD COLUMN IF NOT EXISTS %I uuid', "table", new) FROM reference
\gexec

-- Old rows get their ID at their next update, or in step 2.
SELECT format($$
CREATE OR REPLACE FUNCTION %1$I.%2$I() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $body$
BEGIN
	IF NEW.%3$I IS NULL THEN
		NEW.%3$I := (SELECT uuidv7_at(%4$s) FROM (SELECT NEW.*) AS old_row);
	END IF;
	RETURN NEW;
END$body$;
$$, schema, 'fill_' || name || '_' || new, new, :'time') FROM parent
UNION ALL
SELECT format('CREATE OR REPLACE TRIGGER %I BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %I.%1$I()',
			  'fill_' || name || '_' || new, "table", schema) FROM parent
\gexec

-- SECURITY DEFINER, since writers of a referencing table may lack privileges on the referenced
-- table
SELECT format($$
CREATE OR REPLACE FUNCTION %1$I.%2$I() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
	IF TG_OP = 'INSERT' OR NEW.%4$I IS NULL OR NEW.%7$s IS DISTINCT FROM OLD.%7$s THEN
		SELECT %3$I INTO NEW.%4$I FROM %5$s WHERE %6$s = NEW.%7$s;
	END IF;
	RETURN NEW;
END$body$;
$$, r.schema, 'fill_' || r.name || '_' || r.new, p.new, r.new, p."table", p."column", r."column") FROM reference AS r, parent AS p
UNION ALL
SELECT format('CREATE OR REPLACE TRIGGER %I BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION %I.%1$I()',
			  'fill_' || name || '_' || new, "table", schema) FROM reference
\gexec
COMMIT;
\echo 'Step 1 is done.'
