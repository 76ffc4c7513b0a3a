-- "Is within a period" against its definition written out in SQL, over random
-- ids and periods whose edges meet: called as a function, rewritten for scans
-- of the table and for scans of an index, with periods from a table and as
-- constants.  PGOPTIONS='-c test.seed=0.5' repeats a run.

BEGIN;
SELECT plan(24);

SELECT coalesce(nullif(current_setting('test.seed', true), ''), (random() * 2 - 1)::numeric(10,9)::text) AS seed \gset
SELECT diag('test.seed=' || :'seed');
SELECT setseed(:seed);
SET LOCAL TimeZone = 'UTC';

-- Moments that many ids and bounds share: edges of the time fields, of a
-- millisecond, of a microsecond.
CREATE TEMP TABLE moments AS
SELECT base + n * interval '1 microsecond' AS moment
FROM unnest(ARRAY['1970-01-01', '1969-12-31 23:59:59.999', '1582-10-15', '1582-10-14 23:59:59.999999', '2026-01-01',
				  '2026-01-01 00:00:00.001', '5236-03-31 21:21:00.684697', '10889-08-02 05:31:50.655']::timestamptz[]) AS base,
	 unnest(ARRAY[-1000, -999, -1, 0, 1, 500, 999, 1000, 1001]) AS n;

CREATE FUNCTION a_moment() RETURNS timestamptz VOLATILE LANGUAGE sql
AS $$SELECT moment FROM pg_temp.moments ORDER BY random() LIMIT 1$$;

-- NULL where the version's field does not hold the time
CREATE FUNCTION try_uuid(expression text, moment timestamptz) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
	id uuid;
BEGIN
	EXECUTE 'SELECT ' || expression INTO id USING moment;
	RETURN id;
EXCEPTION WHEN datetime_field_overflow THEN
	RETURN NULL;
END$$;

-- First, last and any id of each moment, v7, v6 and v8 with a node id; these octets under other
-- versions and variants; the ids of the other generators; Nil, Max, NULL.
CREATE TEMP TABLE ids AS
WITH timed AS (
	SELECT try_uuid(expression, moment) AS id
	FROM moments, unnest(ARRAY['public.uuidv7_floor($1)', 'public.uuidv7_ceil($1)', 'public.uuidv7_at($1)',
							   'public.uuidv6_floor($1)', 'public.uuidv6_ceil($1)', 'public.uuidv6_at($1)',
							   'public.uuidv8_node_floor($1)', 'public.uuidv8_node_ceil($1)', 'public.uuidv8_node_at($1, 5)']) AS expression
), chosen AS (
	SELECT id FROM timed
	UNION ALL
	SELECT overlay(id::text PLACING digit FROM position)::uuid
	FROM timed, (VALUES ('4', 15), ('8', 15), ('6', 15), ('7', 15), ('0', 20), ('c', 20), ('f', 20)) AS change (digit, position)
	WHERE random() < 0.2
	UNION ALL
	SELECT id
	FROM generate_series(1, 20) AS n,
		 LATERAL (VALUES (public.uuidv1()), (public.uuidv4()), (public.uuidv6()), (public.uuidv7()), (public.uuidv8())) AS made (id)
	UNION ALL
	VALUES (public.nil_uuid()), (public.max_uuid()), (NULL)
)
SELECT row_number() OVER () AS no, id FROM chosen WHERE id IS NOT NULL OR random() < 0.05;
CREATE INDEX ids_id ON ids (id);

CREATE TEMP TABLE periods AS
SELECT n AS no,
	   CASE WHEN n % 40 = 0 THEN 'empty'
			WHEN n % 40 = 1 THEN NULL
			ELSE tstzrange(CASE WHEN random() < 0.1 THEN NULL WHEN random() < 0.05 THEN '-infinity' ELSE least(a, b) END,
						   CASE WHEN random() < 0.1 THEN NULL WHEN random() < 0.05 THEN 'infinity' ELSE greatest(a, b) END,
						   (ARRAY['[)', '[]', '(]', '()'])[1 + floor(random() * 4)::int])
	   END AS period
FROM (SELECT n, a_moment() AS a, a_moment() AS b FROM generate_series(1, 300) AS n) AS pairs;

-- The definition.  The timestamp function is tested elsewhere; <@ is PostgreSQL's.
CREATE TEMP TABLE truth AS
SELECT i.no AS id_no, p.no AS period_no, i.id, p.period,
	   CASE WHEN i.id IS NOT NULL AND p.period IS NOT NULL
			THEN coalesce(public.uuidv7_timestamp(i.id) OPERATOR(pg_catalog.<@) p.period, false) END AS v7,
	   CASE WHEN i.id IS NOT NULL AND p.period IS NOT NULL
			THEN coalesce(public.uuidv6_timestamp(i.id) OPERATOR(pg_catalog.<@) p.period, false) END AS v6,
	   CASE WHEN i.id IS NOT NULL AND p.period IS NOT NULL
			THEN coalesce(public.uuidv8_node_timestamp(i.id) OPERATOR(pg_catalog.<@) p.period, false) END AS v8
FROM ids AS i, periods AS p;
ANALYZE ids;
ANALYZE periods;

SELECT cmp_ok(count(*), '>=', 100000::bigint, 'at least 100,000 pairs of an id and a period') FROM truth;
SELECT ok(count(*) FILTER (WHERE v7) > 1000 AND count(*) FILTER (WHERE NOT v7) > 1000 AND count(*) FILTER (WHERE v7 IS NULL) > 100
		  AND count(*) FILTER (WHERE v6) > 1000 AND count(*) FILTER (WHERE v8) > 1000,
		  'with many of each answer')
FROM truth;

-- the functions, called: id and period come from one row
SELECT is_empty(
	$$SELECT id, period FROM truth
	  WHERE v7 IS DISTINCT FROM public.uuidv7_within(id, period) OR v7 IS DISTINCT FROM (id <@ period) OR v7 IS DISTINCT FROM (period @> id)$$,
	'v7: the functions are as the definition says');
SELECT is_empty(
	'SELECT id, period FROM truth WHERE v6 IS DISTINCT FROM public.uuidv6_within(id, period)',
	'v6: the function is as the definition says');
SELECT is_empty(
	'SELECT id, period FROM truth WHERE v8 IS DISTINCT FROM public.uuidv8_node_within(id, period)',
	'v8 with a node id: the function is as the definition says');

-- rewritten: as an expression, three-valued, and as a condition, with its plan
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	lines text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query
	LOOP
		lines := lines || line || E'\n';
	END LOOP;
	RETURN lines;
END$$;

SELECT is_empty(
	$$SELECT t.id, t.period FROM ids AS i CROSS JOIN periods AS p JOIN truth AS t ON t.id_no = i.no AND t.period_no = p.no
	  WHERE v7 IS DISTINCT FROM (i.id <@ p.period) OR v6 IS DISTINCT FROM public.uuidv6_within(i.id, p.period)
			OR v8 IS DISTINCT FROM public.uuidv8_node_within(i.id, p.period)$$,
	'rewritten: as the definition says');

PREPARE joined_v7 AS SELECT i.no AS id_no, p.no AS period_no FROM periods AS p JOIN ids AS i ON i.id <@ p.period;
PREPARE joined_v6 AS SELECT i.no AS id_no, p.no AS period_no FROM periods AS p JOIN ids AS i ON public.uuidv6_within(i.id, p.period);
PREPARE joined_v8 AS SELECT i.no AS id_no, p.no AS period_no FROM periods AS p JOIN ids AS i ON public.uuidv8_node_within(i.id, p.period);
PREPARE truth_v7 AS SELECT id_no, period_no FROM truth WHERE v7;
PREPARE truth_v6 AS SELECT id_no, period_no FROM truth WHERE v6;
PREPARE truth_v8 AS SELECT id_no, period_no FROM truth WHERE v8;

SET LOCAL enable_indexscan = off;
SET LOCAL enable_indexonlyscan = off;
SET LOCAL enable_bitmapscan = off;
SELECT unalike(plan_of('EXECUTE joined_v7') || plan_of('EXECUTE joined_v6') || plan_of('EXECUTE joined_v8'), '%Index Cond%', 'with scans of the table,');
SELECT bag_eq('joined_v7', 'truth_v7', 'v7: the pairs of the definition');
SELECT bag_eq('joined_v6', 'truth_v6', 'v6: the pairs of the definition');
SELECT bag_eq('joined_v8', 'truth_v8', 'v8 with a node id: the pairs of the definition');

DEALLOCATE joined_v7;
DEALLOCATE joined_v6;
DEALLOCATE joined_v8;
PREPARE joined_v7 AS SELECT i.no AS id_no, p.no AS period_no FROM periods AS p JOIN ids AS i ON p.period @> i.id;
PREPARE joined_v6 AS SELECT i.no AS id_no, p.no AS period_no FROM periods AS p JOIN ids AS i ON public.uuidv6_within(i.id, p.period);
PREPARE joined_v8 AS SELECT i.no AS id_no, p.no AS period_no FROM periods AS p JOIN ids AS i ON public.uuidv8_node_within(i.id, p.period);
SET LOCAL enable_indexscan = on;
SET LOCAL enable_seqscan = off;
SELECT alike(plan_of('EXECUTE joined_v7') || plan_of('EXECUTE joined_v6') || plan_of('EXECUTE joined_v8'), '%Index Cond%Index Cond%Index Cond%', 'with scans of the index,');
SELECT bag_eq('joined_v7', 'truth_v7', 'v7: the pairs of the definition');
SELECT bag_eq('joined_v6', 'truth_v6', 'v6: the pairs of the definition');
SELECT bag_eq('joined_v8', 'truth_v8', 'v8 with a node id: the pairs of the definition');

-- constants: each period as a literal, what is within it and what is not
CREATE FUNCTION counts(way text) RETURNS TABLE (no bigint, v7 bigint, without bigint, v6 bigint, v8 bigint) LANGUAGE plpgsql AS $$
DECLARE
	p record;
BEGIN
	FOR p IN SELECT * FROM periods
	LOOP
		no := p.no;
		EXECUTE format('SELECT count(*) FROM ids WHERE id <@ %L::tstzrange', p.period) INTO v7;
		EXECUTE format('SELECT count(*) FROM ids WHERE NOT id <@ %L::tstzrange', p.period) INTO without;
		EXECUTE format('SELECT count(*) FROM ids WHERE public.uuidv6_within(id, %L)', p.period) INTO v6;
		EXECUTE format('SELECT count(*) FROM ids WHERE public.uuidv8_node_within(id, %L)', p.period) INTO v8;
		RETURN NEXT;
	END LOOP;
END$$;
PREPARE true_counts AS
SELECT period_no::bigint AS no, count(*) FILTER (WHERE v7) AS v7, count(*) FILTER (WHERE NOT v7) AS without, count(*) FILTER (WHERE v6) AS v6,
	   count(*) FILTER (WHERE v8) AS v8
FROM truth GROUP BY period_no;

SELECT alike(plan_of($$SELECT count(*) FROM ids WHERE id <@ '[2026-01-01,2026-01-02)'$$), '%Index Cond%', 'with scans of the index,');
SELECT set_eq($$SELECT * FROM counts('index')$$, 'true_counts', 'each period as a constant: the counts of the definition');
SET LOCAL enable_seqscan = on;
SET LOCAL enable_indexscan = off;
SELECT unalike(plan_of($$SELECT count(*) FROM ids WHERE id <@ '[2026-01-01,2026-01-02)'$$), '%Index Cond%', 'with scans of the table,');
SELECT set_eq($$SELECT * FROM counts('table')$$, 'true_counts', 'each period as a constant: the counts of the definition');

-- grouped by: grouping sets have NULL in its place, whatever is made of it
SET LOCAL enable_indexscan = on;
CREATE TEMP TABLE hours AS
SELECT public.uuidv7_at('2026-03-01'::timestamptz + n * interval '1 hour') AS id, n < 3 AS early FROM generate_series(0, 47) AS n;
CREATE INDEX ON hours (id);
SELECT bag_eq(
	$$SELECT NOT id <@ '[2026-03-01,2026-03-02)', count(*) FROM hours GROUP BY ROLLUP (id <@ '[2026-03-01,2026-03-02)')$$,
	$$VALUES (false, 24::bigint), (true, 24), (NULL, 48)$$, 'NOT of a grouped condition: NULL in the total');
SELECT bag_eq(
	$$SELECT '[2026-03-01,2026-03-02)'::tstzrange @> id AND early, count(*) FROM hours GROUP BY CUBE ('[2026-03-01,2026-03-02)'::tstzrange @> id, early)$$,
	$$VALUES (true, 3::bigint), (false, 21), (false, 24), (NULL, 24), (false, 24), (NULL, 3), (false, 45), (NULL, 48)$$,
	'a grouped condition with another: NULL where both are');
SELECT bag_eq(
	$$SELECT id <@ tstzrange('2026-03-01', '2026-03-02'), count(*) FROM hours
	  GROUP BY ROLLUP (id <@ tstzrange('2026-03-01', '2026-03-02')) HAVING id <@ tstzrange('2026-03-01', '2026-03-02')$$,
	$$VALUES (true, 24::bigint)$$, 'a grouped condition in HAVING');
SELECT bag_eq(
	$$SELECT NOT public.uuidv7_within(period => '[2026-03-01,2026-03-02)', id => id), count(*) FROM hours
	  GROUP BY GROUPING SETS ((public.uuidv7_within(period => '[2026-03-01,2026-03-02)', id => id)), ())$$,
	$$VALUES (false, 24::bigint), (true, 24), (NULL, 48)$$, 'by a call with named arguments');
PREPARE grouped (tstzrange) AS SELECT NOT id <@ $1, count(*) FROM hours GROUP BY ROLLUP (id <@ $1);
SET LOCAL plan_cache_mode = force_generic_plan;
SELECT bag_eq($$EXECUTE grouped ('[2026-03-01,2026-03-02)')$$,
	$$VALUES (false, 24::bigint), (true, 24), (NULL, 48)$$, 'with a period that is a parameter');
SET LOCAL enable_seqscan = off;
SELECT alike(plan_of($$SELECT count(*) FROM hours WHERE id <@ '[2026-03-01,2026-03-02)' GROUP BY ROLLUP (id <@ '[2026-03-01,2026-03-01 12:00)')$$),
	'%Index Cond%', 'and a condition on another period has its index');

SELECT * FROM finish();
ROLLBACK;
