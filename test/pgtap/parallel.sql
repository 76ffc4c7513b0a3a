-- In parallel workers: every function runs there, and no value comes twice.

BEGIN;
SELECT plan(3);

CREATE TABLE big AS SELECT n FROM generate_series(1, 200000) AS n;
ANALYZE big;
SET LOCAL max_parallel_workers_per_gather = 4;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;

CREATE FUNCTION workers(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF) ' || query LOOP
		IF line ~ 'Workers Launched' THEN
			RETURN substring(line FROM 'Launched: (\d+)');
		END IF;
	END LOOP;
	RETURN 0;
END
$$;
SELECT cmp_ok(workers('SELECT public.uuidv7() FROM big'), '>', 0, 'uuidv7() runs in parallel workers');

CREATE TEMP TABLE made AS
SELECT public.uuidv1() AS v1, public.uuidv4() AS v4, public.uuidv6() AS v6, public.uuidv7() AS v7,
	   public.uuidv8() AS v8, public.uuidv8_node(1) AS v8_node
FROM big;
SELECT results_eq(
	$$SELECT count(DISTINCT v1), count(DISTINCT v4), count(DISTINCT v6), count(DISTINCT v7), count(DISTINCT v8), count(DISTINCT v8_node)
	  FROM made$$,
	'VALUES (200000::bigint, 200000::bigint, 200000::bigint, 200000::bigint, 200000::bigint, 200000::bigint)',
	'no value comes twice from several workers');

SELECT is(count(*), 0::bigint, 'inspectors, converters and names give in workers what they give here')
FROM big, LATERAL public.uuidv5(public.nil_uuid(), n::text) AS v5
WHERE public.uuid_extract_version(v5) <> 5
   OR public.uuid_from_urn(public.uuid_to_urn(v5)) <> v5
   OR public.uuid_extract_timestamp(v5) IS NOT NULL;

SELECT * FROM finish();
ROLLBACK;
