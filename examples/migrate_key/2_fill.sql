-- Step 2 of the migration of a key to v7: fill the new columns of old rows in batches, and report the
-- progress.  Rows that other transactions have locked are skipped.
--
--	psql -v table=orders -f 2_fill.sql
--
-- You can interrupt this step at any time.  Repeat it until it reports that no row is left.
\set ON_ERROR_STOP on
\ir plan.sql
\if :switched
	\echo 'The table has been switched.'
	\quit
\endif
\if :added \else
	DO $$BEGIN RAISE 'run 1_add_columns.sql first'; END$$;
\endif

-- A batch consists of the rows in 100 blocks of the table.  The update fires the triggers of
-- step 1, which fill the columns.
SELECT format($$
DO $body$
DECLARE
	blocks int := pg_relation_size(%1$L::regclass) / current_setting('block_size')::int;
	range tid[];
	filled bigint := 0;
	total bigint := 0;
	unfilled bigint := 0;
	reported timestamptz := clock_timestamp();
BEGIN
	FOR block IN 0 .. blocks - 1 BY 100 LOOP
		range := ARRAY[format('(%%s,0)', block), format('(%%s,0)', block + 100)]::tid[];
		UPDATE %1$s SET %3$I = NULL
		WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$s
								WHERE ctid >= range[1] AND ctid < range[2] AND %3$I IS NULL AND %2$s IS NOT NULL
								FOR NO KEY UPDATE SKIP LOCKED));
		GET DIAGNOSTICS filled = ROW_COUNT;
		total := total + filled;
		unfilled := unfilled + (SELECT count(*) FROM %1$s
								WHERE ctid >= range[1] AND ctid < range[2] AND %3$I IS NULL AND %2$s IS NOT NULL);
		COMMIT;
		IF clock_timestamp() > reported + interval '5 seconds' THEN
			reported := clock_timestamp();
			RAISE INFO '%%: %% %% of the table, %% rows filled', %1$L, 100 * block / blocks, '%%', total;
		END IF;
	END LOOP;
	RAISE INFO '%%: %% rows filled, %% left', %1$L, total, unfilled;
END$body$
$$, "table", "column", new)
FROM (SELECT 1 AS step, "table", "column", new FROM parent
	  UNION ALL SELECT 2, "table", "column", new FROM reference) AS part
ORDER BY step
\gexec
