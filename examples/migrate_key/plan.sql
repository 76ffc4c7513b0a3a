-- Check the variables, and list the foreign keys that reference the key.  The other scripts include
-- this file.  They set ON_ERROR_STOP before, since psql would read on after an error in this file.
\set QUIET on
SET client_min_messages = warning;
-- at other levels, a statement that waits for a lock does not see what others have written meanwhile
SET default_transaction_isolation = 'read committed';
\if :{?table} \else
	DO $$BEGIN RAISE 'the variable "table" is missing: psql -v table=orders'; END$$;
\endif
\if :{?key} \else
	\set key id
\endif

-- The table and its key.  During the migration, the new column has the prefix "new_".  The switch
-- gives the old column the prefix "old_".
DROP TABLE IF EXISTS pg_temp.parent, pg_temp.reference;
CREATE TEMPORARY TABLE parent AS
SELECT c.oid, format('%I.%I', n.nspname, c.relname) AS "table", n.nspname AS schema, c.relname AS name,
       format('%I', a.attname) AS "column", 'new_' || a.attname AS new, 'old_' || a.attname AS old, p.conname AS primary_key,
       a.attidentity <> '' AS is_identity, a.atttypid = 'uuid'::regtype AS is_uuid
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_constraint AS p ON p.conrelid = c.oid AND p.contype = 'p'
JOIN pg_attribute AS a ON a.attrelid = c.oid AND p.conkey = ARRAY[a.attnum]
WHERE c.oid = :'table'::regclass AND a.attname = :'key' AND c.relkind = 'r' AND a.atttypid = ANY ('{bigint,int,uuid,text,varchar,bpchar,bytea}'::regtype[])
AND NOT EXISTS (SELECT FROM pg_inherits WHERE c.oid IN (inhparent, inhrelid));

-- The referencing columns.  The foreign keys of the new columns are no part of the plan.
CREATE TEMPORARY TABLE reference AS
SELECT c.oid, format('%I.%I', n.nspname, c.relname) AS "table", n.nspname AS schema, c.relname AS name,
       format('%I', a.attname) AS "column", 'new_' || a.attname AS new, 'old_' || a.attname AS old, f.conname AS foreign_key,
       a.attnotnull AS not_null,
       concat(CASE f.confdeltype WHEN 'r' THEN ' ON DELETE RESTRICT' WHEN 'c' THEN ' ON DELETE CASCADE'
              WHEN 'n' THEN ' ON DELETE SET NULL' WHEN 'd' THEN ' ON DELETE SET DEFAULT' END,
              CASE f.confupdtype WHEN 'r' THEN ' ON UPDATE RESTRICT' WHEN 'c' THEN ' ON UPDATE CASCADE'
              WHEN 'n' THEN ' ON UPDATE SET NULL' WHEN 'd' THEN ' ON UPDATE SET DEFAULT' END) AS actions,
       c.relkind <> 'r' OR f.condeferrable OR c.oid = parent.oid OR cardinality(f.conkey) > 1 OR r.attname <> :'key'
       OR EXISTS (SELECT FROM pg_inherits WHERE c.oid IN (inhparent, inhrelid))
       OR EXISTS (SELECT FROM pg_constraint AS u WHERE u.conrelid = c.oid AND u.contype IN ('p', 'u', 'x') AND a.attnum = ANY (u.conkey))
           AS unsupported
FROM parent
JOIN pg_constraint AS f ON f.confrelid = parent.oid AND f.contype = 'f'
JOIN pg_attribute AS r ON r.attrelid = f.confrelid AND r.attnum = f.confkey[1] AND r.attname <> parent.new
JOIN pg_class AS c ON c.oid = f.conrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = f.conkey[1];

-- Which steps are done?  A step that is repeated finds what it has created itself.
SELECT bool_and(EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = part.oid AND a.attname = new AND NOT a.attisdropped)) AS added,
       bool_and(EXISTS (SELECT FROM pg_constraint AS c WHERE c.conrelid = part.oid AND c.conname = new || '_filled' AND c.convalidated)) AS validated,
       bool_and(EXISTS (SELECT FROM pg_index AS i WHERE i.indexrelid = to_regclass(format('%I.%I', schema, name || '_' || new)) AND i.indisvalid)
                AND (n = 1 OR EXISTS (SELECT FROM pg_constraint AS c WHERE c.conrelid = part.oid AND c.conname = new || '_fkey' AND c.convalidated))) AS indexed
FROM (SELECT 1 AS n, oid, schema, name, new FROM parent UNION ALL SELECT 2, oid, schema, name, new FROM reference) AS part
\gset
SELECT NOT EXISTS (SELECT FROM parent) AS no_key,
       EXISTS (SELECT FROM reference WHERE unsupported) AS unsupported,
       EXISTS (SELECT FROM pg_attribute AS a JOIN parent ON a.attrelid = parent.oid AND a.attname = parent.old AND NOT a.attisdropped) AS switched
\gset
\if :no_key
	DO $$BEGIN RAISE 'the key of this table cannot be migrated by the scripts' USING
		DETAIL = 'The variable "key" must be the primary key, of type bigint, integer, uuid, text, varchar, char or bytea, and the table must have no partitions, '
				 'parents or children.'; END$$;
\endif
\if :unsupported
	SELECT "table", foreign_key FROM reference WHERE unsupported;
	DO $$BEGIN RAISE 'these foreign keys cannot be migrated by the scripts' USING
		DETAIL = 'A foreign key must have one column, and must not be deferrable, on a table with partitions, parents or children, '
				 'on the table itself, or on a column of a unique constraint.'; END$$;
\endif
