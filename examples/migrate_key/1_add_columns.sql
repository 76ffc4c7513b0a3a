-- Step 1 of the migration of a key to v7: add the new columns, and triggers that fill them.
--
--	psql -v table=orders -v key=id -v time='created_at + id % 1000 * interval ''1 microsecond''' -f 1_add_columns.sql
--
-- Variables (pass the same "table" and "key" to each step):
--	table	the table, whose primary key is one column of the type bigint, integer, uuid, text, varchar, char
--			or bytea
--	key		the column, by default id
--	time	the creation time of an old row, as an expression of its columns, for step 1 only
--	new_id	instead of the time: the new ID of an old row, such as uuidv7_from(created_at, int8send(id))
--	default	the default of the new column, by default uuidv7_next(), for step 1 only
--	views	the file for the definitions of views, by default views.sql, for steps 4 and 5 only
--
-- Each step can be repeated, also after an error.  The steps wait at most half a second for a lock.
-- If this is too short, they fail, and name the sessions that have a lock; repeat them then.
\set ON_ERROR_STOP on
\ir plan.sql
\if :switched
	\echo 'The table has been switched.'
	\quit
\endif
\if :{?new_id} \else
	\if :{?time} \else
		DO $$BEGIN RAISE 'the variable "time" is missing: psql -v time=created_at'; END$$;
	\endif
	\set new_id 'uuidv7_at(' :time ')'
\endif
\if :{?default} \else
	\set default 'uuidv7_next()'
\endif

-- Compute the new ID of each row as the trigger does, which would refuse updates if the expression
-- was wrong.
SELECT format('SELECT count(new) < count(*) AS incomplete, %s AS migrated '
			  'FROM (SELECT %s AS key, (SELECT %s FROM (SELECT each.*) AS old_row) AS new FROM %s AS each) AS old',
			  CASE WHEN is_uuid THEN 'coalesce(bool_and(uuid_is_v7(key)), false)' ELSE 'false' END, "column", :'new_id', "table") AS new_ids FROM parent
\gset
:new_ids
\gset
\if :incomplete
	DO $$BEGIN RAISE 'the expression "time" or "new_id" is null for some rows'; END$$;
\endif
\if :migrated
	DO $$BEGIN RAISE 'all keys of the table are v7 already'; END$$;
\endif

BEGIN;
\set mode 'ACCESS EXCLUSIVE'
\ir lock_tables.sql
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
		NEW.%3$I := (SELECT %4$s FROM (SELECT NEW.*) AS old_row);
	END IF;
	RETURN NEW;
END$body$;
$$, schema, 'fill_' || name || '_' || new, new, :'new_id') FROM parent
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
