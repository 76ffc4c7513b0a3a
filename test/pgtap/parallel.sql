-- Parallel workers can run name-based functions, converters, inspectors, and generators
-- other than the _ordered() functions.  Workers generate no value twice, and compute the
-- same results as the leader.

BEGIN;
SELECT plan(4);

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
CREATE TEMP TABLE queries (name text, query text);
INSERT INTO queries VALUES
	('made', 'SELECT public.uuidv1() AS v1, public.uuidv4() AS v4, public.uuidv6() AS v6, public.uuidv7() AS v7,
					 public.uuidv8() AS v8, public.uuidv8_node(1) AS v8_node
			  FROM big'),
	('computed', 'SELECT n, v5, public.uuidv3(v5, n::text) AS v3, public.uuidv8_name(v5, n::text) AS v8,
						 public.uuid_decode(public.uuid_encode(v5, ''urn''), ''urn'') AS urn, public.uuid_inspect(v5)::text AS inspected,
						 public.uuidv6_to_v1(overlay(v5::text PLACING ''6'' FROM 15)::uuid) AS v1
				  FROM (SELECT n, public.uuidv5(public.nil_uuid(), n::text) AS v5 FROM big) AS named');
SELECT cmp_ok(workers(query), '>', 0, name || ': the functions run in parallel workers') FROM queries;

SELECT format('CREATE TEMP TABLE %I AS %s', name, query) FROM queries \gexec
SELECT results_eq(
	$$SELECT count(DISTINCT v1), count(DISTINCT v4), count(DISTINCT v6), count(DISTINCT v7), count(DISTINCT v8), count(DISTINCT v8_node)
	  FROM made$$,
	'VALUES (200000::bigint, 200000::bigint, 200000::bigint, 200000::bigint, 200000::bigint, 200000::bigint)',
	'several workers generate no value twice');

-- compute the same values without workers
SET LOCAL max_parallel_workers_per_gather = 0;
SELECT query AS computed FROM queries WHERE name = 'computed' \gset
SELECT is(count(*), 200000::bigint, 'name-based functions, converters and inspectors return the same values with and without workers')
FROM computed JOIN (:computed) AS here USING (n)
WHERE computed.* IS NOT DISTINCT FROM here.*;

SELECT * FROM finish();
ROLLBACK;
