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
	WITH privilege AS (
		SELECT c.oid AS relation, NULL AS attname, acl.* FROM pg_class AS c, aclexplode(relacl) AS acl WHERE grantee <> relowner
		UNION ALL
		SELECT attrelid, attname, acl.* FROM pg_attribute, aclexplode(attacl) AS acl
	)
	SELECT string_agg(object, E'\n' ORDER BY object) INTO missing FROM (
		SELECT pg_describe_object(classid, objid, 0) FROM pg_depend
		WHERE refclassid = 'pg_class'::regclass AND refobjid = old AND classid::regclass::text ~ 'rewrite|proc|trigger|policy|publication'
		GROUP BY classid, objid HAVING bool_and(deptype <> 'S')
		UNION ALL
		-- sequences of serial columns
		SELECT pg_describe_object(classid, objid, 0) FROM pg_depend
		WHERE refclassid = 'pg_class'::regclass AND refobjid = old AND deptype = 'a' AND objid IN (SELECT seqrelid FROM pg_sequence)
		UNION
		-- functions, columns and others that use the row type of the old table, or an array of it
		SELECT pg_describe_object(classid, objid, objsubid) FROM pg_depend
		WHERE refclassid = 'pg_type'::regclass AND deptype = 'n'
			  AND refobjid IN (SELECT unnest(ARRAY[oid, typarray]) FROM pg_type WHERE typrelid = old)
		UNION ALL
		-- foreign keys that are not part of a foreign key of the new table
		SELECT pg_describe_object('pg_constraint'::regclass, oid, 0) FROM pg_constraint
		WHERE old IN (conrelid, confrelid) AND contype = 'f' AND conparentid = 0
		UNION ALL
		-- A new sequence of an identity column begins at its start.  The old value is unknown since PostgreSQL 17,
		-- whose partitions cannot have such a sequence.
		SELECT format('value of the sequence of column %%I', attname)
		FROM pg_attribute JOIN pg_sequence ON seqrelid = pg_get_serial_sequence(new::text, attname)::regclass,
			pg_get_serial_sequence(old::text, attname) AS old_sequence, pg_sequence_last_value(old_sequence::regclass) AS last_value
		WHERE attrelid = new AND attidentity <> ''
			  AND CASE WHEN last_value IS NOT NULL OR old_sequence IS NULL THEN nextval(seqrelid) <= coalesce(last_value, seqstart) END
		UNION ALL
		SELECT 'owner' FROM pg_class AS o, pg_class AS n WHERE o.oid = old AND n.oid = new AND o.relowner <> n.relowner
		UNION ALL
		SELECT concat('privilege ', privilege_type, ' of ', coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC'), ' on column ' || attname)
		FROM privilege AS o
		WHERE relation = old AND NOT EXISTS (
			SELECT FROM privilege AS n WHERE relation = new AND n.attname IS NOT DISTINCT FROM o.attname AND n.grantee = o.grantee
				AND n.privilege_type = o.privilege_type AND n.is_grantable >= o.is_grantable)
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
