-- Commit the transaction that replaces a table with a partitioned table, as doc/migrating.md shows it.
-- If something of the old table is missing in the new table, raise an error instead.
--
-- Variables:
--	table		the new, partitioned table
--	partition	the old table, which has become a partition
--
-- LIKE ... INCLUDING ALL copies columns, defaults, indexes, CHECK constraints and statistics.
SELECT format($$
DO $body$
DECLARE
	new regclass := %L;
	old regclass := %L;
	missing text;
BEGIN
	SELECT string_agg(object, E'\n' ORDER BY object) INTO missing FROM (
		SELECT pg_describe_object(classid, objid, 0) FROM pg_depend
		WHERE refobjid = old AND classid::regclass::text ~ 'rewrite|proc|trigger|policy|publication'
		GROUP BY classid, objid HAVING bool_and(deptype <> 'S')
		UNION ALL
		-- foreign keys that are not part of a foreign key of the new table
		SELECT pg_describe_object('pg_constraint'::regclass, oid, 0) FROM pg_constraint
		WHERE old IN (conrelid, confrelid) AND contype = 'f' AND conparentid = 0
		UNION ALL
		-- a new sequence begins at 1
		SELECT format('value of the sequence of column %%I', attname) FROM pg_attribute
		WHERE attrelid = new AND attidentity <> '' AND pg_sequence_last_value(pg_get_serial_sequence(new::text, attname)::regclass) IS NULL
		UNION ALL
		SELECT 'owner' FROM pg_class AS o, pg_class AS n WHERE o.oid = old AND n.oid = new AND o.relowner <> n.relowner
		UNION ALL
		SELECT 'privileges' FROM pg_class AS o, pg_class AS n WHERE o.oid = old AND n.oid = new AND NOT coalesce(n.relacl, '{}') @> o.relacl
		UNION ALL
		SELECT format('privileges of column %%I', attname) FROM pg_attribute AS o JOIN pg_attribute AS n USING (attname)
		WHERE o.attrelid = old AND n.attrelid = new AND NOT coalesce(n.attacl, '{}') @> o.attacl
		UNION ALL
		SELECT 'row-level security' FROM pg_class AS o, pg_class AS n
		WHERE o.oid = old AND n.oid = new AND (o.relrowsecurity > n.relrowsecurity OR o.relforcerowsecurity > n.relforcerowsecurity)) AS old_one (object);
	IF missing IS NOT NULL THEN
		RAISE 'the new table lacks what the old table has' USING DETAIL = missing, HINT = 'Roll back, and repeat the transaction with statements that add it.';
	END IF;
END$body$
$$, :'table', :'partition') AS check_new_table
\gset
:check_new_table;
COMMIT;
