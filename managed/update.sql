-- Update a database from the functions of an older uuid9562.sql to those of the file in this folder.
--
--	psql --dbname shop --file managed/update.sql
--
-- Run this as the owner of the schema uuid9562.  Defaults, constraints, indexes and views need no
-- change: each function keeps its identity and gets its new body.  The script stops with an error if
-- the new file has an operator, a type or an aggregate that the old one lacks, or a function with other
-- parameter names.  If it stops, the schema uuid9562_old contains the functions that the objects of the
-- database use, and uuid9562 those of the new file.  You can run the script again.
\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = error;
SET search_path = pg_catalog;

SELECT to_regnamespace('uuid9562_old') IS NULL AS is_new \gset
BEGIN;
\if :is_new
	ALTER SCHEMA uuid9562 RENAME TO uuid9562_old;
	-- The file ends with COMMIT, so both schemas appear together.
	\ir uuid9562.sql
	BEGIN;
\endif
SET LOCAL search_path = pg_catalog;

DO $$
DECLARE
	added text;
BEGIN
	SELECT string_agg(object, ', ') INTO added
	FROM (SELECT 'type ' || typname AS object, typnamespace AS schema FROM pg_type WHERE typtype = 'd'
		  UNION ALL SELECT format('operator %s (%s, %s)', oprname, oprleft::regtype, oprright::regtype), oprnamespace FROM pg_operator
		  UNION ALL SELECT format('aggregate %s', proname), pronamespace FROM pg_proc WHERE prokind = 'a') AS new
	WHERE schema = 'uuid9562'::regnamespace
	  AND replace(object, 'uuid9562.', 'uuid9562_old.') NOT IN (
		SELECT 'type ' || typname FROM pg_type WHERE typtype = 'd' AND typnamespace = 'uuid9562_old'::regnamespace
		UNION ALL SELECT format('operator %s (%s, %s)', oprname, oprleft::regtype, oprright::regtype) FROM pg_operator
			WHERE oprnamespace = 'uuid9562_old'::regnamespace
		UNION ALL SELECT format('aggregate %s', proname) FROM pg_proc WHERE prokind = 'a' AND pronamespace = 'uuid9562_old'::regnamespace);
	IF added IS NOT NULL THEN
		RAISE 'the functions cannot be updated in place' USING DETAIL = 'The new file adds ' || added || '.';
	END IF;

	SELECT string_agg(pg_describe_object(classid, objid, objsubid), ', ') INTO added
	FROM pg_depend
	WHERE (pg_identify_object(refclassid, refobjid, refobjsubid)).schema = 'uuid9562'
	  AND (pg_identify_object(classid, objid, objsubid)).schema IS DISTINCT FROM 'uuid9562';
	IF added IS NOT NULL THEN
		RAISE 'other objects use the schema uuid9562 already' USING DETAIL = added;
	END IF;
END$$;

-- in the order of creation, since a function can use earlier ones
SELECT replace(pg_get_functiondef(oid), 'uuid9562.', 'uuid9562_old.')
FROM pg_proc WHERE pronamespace = 'uuid9562'::regnamespace AND prokind = 'f' ORDER BY oid
\gexec
SELECT format('COMMENT ON FUNCTION uuid9562_old.%I(%s) IS %L', proname, replace(pg_get_function_identity_arguments(oid), 'uuid9562.', 'uuid9562_old.'),
			  obj_description(oid, 'pg_proc'))
FROM pg_proc WHERE pronamespace = 'uuid9562'::regnamespace AND prokind = 'f'
UNION ALL
SELECT format('COMMENT ON SCHEMA uuid9562_old IS %L', obj_description('uuid9562'::regnamespace, 'pg_namespace'))
\gexec

SELECT format('Not in the new file, but kept: %s', o.oid::regprocedure)
FROM pg_proc AS o
WHERE o.pronamespace = 'uuid9562_old'::regnamespace
  AND NOT EXISTS (SELECT FROM pg_proc AS n WHERE n.pronamespace = 'uuid9562'::regnamespace AND n.proname = o.proname AND n.pronargs = o.pronargs)
\g (format=unaligned tuples_only=on)
DROP SCHEMA uuid9562 CASCADE;
ALTER SCHEMA uuid9562_old RENAME TO uuid9562;
COMMIT;
