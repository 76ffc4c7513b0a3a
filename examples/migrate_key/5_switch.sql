-- Step 5 of the migration of a key to v7: give the new columns the names of the old ones.
--
--	psql -v table=orders -v views=views.sql -f 5_switch.sql
--
-- The old columns stay, under names that begin with "old_".  Views refer to the old columns until
-- they are replaced, so the transaction also executes views.sql of step 4.  If the key's type
-- changes and a view returns the key or a foreign key, write DROP VIEW above its CREATE VIEW, and
-- grant its privileges again.  To replace no view, pass views=/dev/null.
--
-- The step fails if an old column has more indexes, constraints, policies, triggers, publications,
-- functions or other objects of a kind than its new column, or privileges that the new one lacks.
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
DO $$
DECLARE
	forgotten text;
BEGIN
	WITH part AS (
		SELECT oid, name, old, substr(old, 5) AS new FROM parent UNION SELECT oid, name, old, substr(old, 5) FROM reference
	), used AS (
		SELECT part.oid, attname = old AS is_old, pg_describe_object(d.classid, d.objid, d.objsubid) AS object,
			   CASE WHEN i.indisunique OR k.contype = 'u' THEN 'unique' ELSE concat_ws(' ', d.classid, c.relkind, k.contype, k.conrelid) END AS kind
		FROM part
		JOIN pg_attribute AS a ON a.attrelid = part.oid AND a.attname IN (old, new)
		JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = part.oid AND d.refobjsubid = a.attnum
		LEFT JOIN pg_class AS c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
		LEFT JOIN pg_index AS i ON i.indexrelid = c.oid
		LEFT JOIN pg_constraint AS k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid
		LEFT JOIN pg_attrdef AS e ON d.classid = 'pg_attrdef'::regclass AND e.oid = d.objid
		LEFT JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
		LEFT JOIN pg_class AS v ON v.oid = r.ev_class
		-- without the key and its default, NOT NULL, the index of step 4, sequences and views
		WHERE (k.contype NOT IN ('p', 'n')) IS NOT FALSE AND (c.relkind <> 'S' AND c.relname <> (part.name || '_' || old)::name) IS NOT FALSE
			  AND (e.adnum <> a.attnum OR part.oid NOT IN (SELECT oid FROM parent)) IS NOT FALSE AND (v.relkind IN ('v', 'm')) IS NOT TRUE
		UNION
		SELECT part.oid, attname = old, format('privileges of column %I of table %s', attname, part.oid::regclass), 'privileges'
		FROM part JOIN pg_attribute ON attrelid = part.oid AND attname IN (old, new) WHERE attacl IS NOT NULL
	)
	SELECT string_agg(objects, E'\n' ORDER BY objects) INTO forgotten
	FROM (SELECT string_agg(object, E'\n' ORDER BY object) FILTER (WHERE is_old) AS objects FROM used GROUP BY oid, kind
		  HAVING count(*) FILTER (WHERE is_old) > count(*) FILTER (WHERE NOT is_old)) AS missing;
	IF forgotten IS NOT NULL THEN
		RAISE 'the new columns lack objects that the old columns have' USING DETAIL = forgotten,
			HINT = 'Before you repeat this step, create such objects for the new columns, or drop those of the old columns.';
	END IF;
END$$;
COMMIT;
\echo 'Step 5 is done.'
