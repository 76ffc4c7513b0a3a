-- Compare period conditions with their definition in SQL, for random IDs and periods.  IDs are
-- often exactly at a bound of a period.  The conditions are function calls, or are rewritten for
-- scans of a table or of its index.  The periods come from a table or a subquery, or are constants.
-- Each run prints its seed.  To repeat a run with seed 0.5, set
-- PGOPTIONS='-c test.seed=0.5'.

BEGIN;
SELECT plan(53);

SELECT coalesce(nullif(current_setting('test.seed', true), ''), (random() * 2 - 1)::numeric(10,9)::text) AS seed \gset
SELECT diag('test.seed=' || :'seed');
SELECT setseed(:seed);
SET LOCAL TimeZone = 'UTC';

-- The IDs and the periods take their times from this table, so the times often coincide.  It
-- has the ends of the time fields, and times near the start of a millisecond.
CREATE TEMP TABLE moments AS
SELECT base + n * interval '1 microsecond' AS moment
FROM unnest(ARRAY['1970-01-01', '1969-12-31 23:59:59.999', '1582-10-15', '1582-10-14 23:59:59.999999', '2026-01-01',
				  '2026-01-01 00:00:00.001', '5236-03-31 21:21:00.684697', '10889-08-02 05:31:50.655']::timestamptz[]) AS base,
	 unnest(ARRAY[-1000, -999, -1, 0, 1, 500, 999, 1000, 1001]) AS n;

CREATE FUNCTION a_moment() RETURNS timestamptz VOLATILE LANGUAGE sql
AS $$SELECT moment FROM pg_temp.moments ORDER BY random() LIMIT 1$$;

-- Evaluate an expression whose $1 is the time, and return its UUID.  Return NULL if the
-- time is outside the field of the UUID version.
CREATE FUNCTION try_uuid(expression text, moment timestamptz) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
	id uuid;
BEGIN
	EXECUTE 'SELECT ' || expression INTO id USING moment;
	RETURN id;
EXCEPTION WHEN datetime_field_overflow THEN
	RETURN NULL;
END$$;

-- The first, the last and a random ID of each time, in v7, v6, and v8 with a node ID;
-- some of these with another version or variant; IDs of the current time; Nil, Max and
-- NULL.
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

-- The expected results, from PostgreSQL's own <@ on the timestamp of the ID.  Other tests
-- check the timestamp functions.
CREATE TEMP TABLE truth AS
SELECT i.no AS id_no, p.no AS period_no, i.id, p.period,
	   CASE WHEN i.id IS NOT NULL AND p.period IS NOT NULL
			THEN coalesce(public.uuidv7_timestamp(i.id) OPERATOR(pg_catalog.<@) p.period, false) END AS within
FROM ids AS i, periods AS p;
ANALYZE ids;
ANALYZE periods;

SELECT cmp_ok(count(*), '>=', 100000::bigint, 'at least 100,000 pairs of an id and a period') FROM truth;
SELECT ok(count(*) FILTER (WHERE within) > 1000 AND count(*) FILTER (WHERE NOT within) > 1000 AND count(*) FILTER (WHERE within IS NULL) > 100,
		  'there are many pairs with each result')
FROM truth;

-- conditions that are not rewritten but call the function, since ID and period come from
-- the same row
SELECT is_empty(
	$$SELECT id, period FROM truth
	  WHERE within IS DISTINCT FROM public.uuidv7_within(id, period) OR within IS DISTINCT FROM (id <@ period) OR within IS DISTINCT FROM (period @> id)$$,
	'the functions agree with the timestamp of the ID');

-- the function can become a part of a query that is compiled at run time
SET LOCAL jit = on;
SET LOCAL jit_above_cost = 0;
SET LOCAL jit_inline_above_cost = 0;
SET LOCAL jit_optimize_above_cost = 0;
SELECT is_empty(
	$$SELECT id, period FROM truth
	  WHERE within IS DISTINCT FROM public.uuidv7_within(id, period)$$,
	'the function agrees with the timestamp of the ID in a compiled query');
SET LOCAL jit = off;

-- rewritten conditions have the results of the definition: in the select list, where the
-- result can be NULL, and in joins that scan the table or the index
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
	  WHERE within IS DISTINCT FROM (i.id <@ p.period) OR within IS DISTINCT FROM public.uuidv7_within(i.id, p.period)$$,
	'conditions that are rewritten in the select list have the results of the definition');

PREPARE truth AS SELECT id_no, period_no FROM truth WHERE within;
CREATE TEMP TABLE conditions (condition) AS
VALUES ('i.id <@ p.period'), ('p.period @> i.id'), ('public.uuidv7_within(i.id, p.period)');
CREATE FUNCTION joined(condition text) RETURNS text
RETURN 'SELECT i.no AS id_no, p.no AS period_no FROM periods AS p JOIN ids AS i ON ' || condition;

SET LOCAL enable_indexscan = off;
SET LOCAL enable_indexonlyscan = off;
SET LOCAL enable_bitmapscan = off;
SELECT unalike(plan_of(joined(condition)), '%Index Cond%', condition || ': the join scans the table') FROM conditions;
SELECT bag_eq(joined(condition), 'truth', condition || ': a scan of the table finds the pairs of the definition') FROM conditions;
SET LOCAL enable_indexscan = on;
SET LOCAL enable_seqscan = off;
SELECT alike(plan_of(joined(condition)), '%Index Cond%', condition || ': the join scans the index') FROM conditions;
SELECT bag_eq(joined(condition), 'truth', condition || ': a scan of the index finds the pairs of the definition') FROM conditions;

-- periods from two times: first test each bound on its own, then both in tstzrange()
SET LOCAL enable_seqscan = on;
CREATE TEMP TABLE times AS
SELECT moment FROM moments
UNION ALL VALUES ('-infinity'), ('4713-01-01 BC'), ('294276-12-31 23:59:59.999999'), ('infinity'), (NULL::timestamptz);
SELECT is(ARRAY[public.uuidv7_lower_bound(NULL, true), public.uuidv7_lower_bound(NULL, false),
				public.uuidv7_upper_bound(NULL, true), public.uuidv7_upper_bound(NULL, false)],
		  ARRAY['00000000-0000-7000-8000-000000000000', '00000000-0000-7000-8000-000000000000',
				'ffffffff-ffff-7fff-bfff-ffffffffffff', 'ffffffff-ffff-7fff-bfff-ffffffffffff']::uuid[],
		  'the bound for NULL is the first or last UUID of the version');
SELECT is(public.uuidv7_lower_bound(now(), NULL), NULL, 'a lower bound is NULL if "inclusive" is NULL');
SELECT is(public.uuidv7_upper_bound(now(), NULL), NULL, 'an upper bound is NULL if "inclusive" is NULL');
SELECT is_empty(
	$$SELECT i.id, t.moment FROM (SELECT ids.id, uuidv7_timestamp(ids.id) AS stamp FROM ids) AS i CROSS JOIN times AS t
	  WHERE stamp IS NOT NULL
			AND ((i.id >= public.uuidv7_lower_bound(t.moment, true)) <> (stamp <@ tstzrange(t.moment, NULL, '[]'))
				 OR (i.id >= public.uuidv7_lower_bound(t.moment, false)) <> (stamp <@ tstzrange(t.moment, NULL, '(]'))
				 OR (i.id <= public.uuidv7_upper_bound(t.moment, true)) <> (stamp <@ tstzrange(NULL, t.moment, '[]'))
				 OR (i.id <= public.uuidv7_upper_bound(t.moment, false)) <> (stamp <@ tstzrange(NULL, t.moment, '[)')))$$,
	'a comparison with each bound finds the IDs of its side, and no others');

-- Bounds by hand find the IDs of v6 and of v8 with a node ID whose time is from the first time to
-- before the second one.
CREATE FUNCTION wrong_by_hand(name text, version int, expected text) RETURNS TABLE (id uuid, a timestamptz, b timestamptz) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format(
		'SELECT ids.id, lows.moment, highs.moment
		 FROM ids, (SELECT moment, try_uuid(''public.%1$s_floor($1)'', moment) AS bound FROM moments) AS lows,
			  (SELECT moment, try_uuid(''public.%1$s_floor($1)'', moment) AS bound FROM moments) AS highs
		 WHERE lows.bound IS NOT NULL AND highs.bound IS NOT NULL AND lows.moment < highs.moment
			   AND ((public.uuid_extract_version(ids.id) = %2$s AND ids.id >= lows.bound AND ids.id < highs.bound) IS TRUE)
				   <> coalesce(public.%1$s_timestamp(ids.id) >= %3$s AND public.%1$s_timestamp(ids.id) < %4$s, false)',
		name, version, format(expected, 'lows.moment'), format(expected, 'highs.moment'));
END$$;
SELECT is_empty(format('SELECT * FROM wrong_by_hand(%L, %s, %L)', name, version, expected), name || ': bounds by hand find the IDs of the period')
FROM (VALUES ('uuidv6', 6, '%s'), ('uuidv8_node', 8, 'date_trunc(''milliseconds'', %s)')) AS kinds (name, version, expected);

CREATE TEMP TABLE sides AS
SELECT no, lower(period) AS a, upper(period) AS b,
	   CASE WHEN lower_inc(period) THEN '[' ELSE '(' END || CASE WHEN upper_inc(period) THEN ']' ELSE ')' END AS included
FROM periods WHERE NOT isempty(period);
CREATE FUNCTION by_sides() RETURNS text LANGUAGE sql AS $$
SELECT string_agg(format('SELECT i.no AS id_no, s.no AS period_no FROM sides AS s JOIN ids AS i ON i.id <@ tstzrange(s.a, s.b, %L) WHERE included = %1$L', included), ' UNION ALL ')
FROM unnest(ARRAY['[)', '[]', '(]', '()']) AS included$$;
SELECT unalike(plan_of(by_sides()), '%tstzrange%', 'the plan does not construct a range from the two times');
SELECT bag_eq(by_sides(), 'SELECT id_no, period_no FROM truth JOIN sides ON no = period_no WHERE within', 'two times find the pairs of the definition');
SELECT is_empty('SELECT * FROM sides AS s JOIN ids AS i ON i.id <@ tstzrange(s.b, s.a) WHERE s.a < s.b', 'nothing is within a period that ends before it begins');
SET LOCAL enable_seqscan = off;

-- if the period comes from a subquery, the plan has an index condition, and calls the
-- function as a filter
CREATE FUNCTION by_subquery() RETURNS text
RETURN 'SELECT found.no AS id_no, p.no AS period_no
		FROM periods AS p CROSS JOIN LATERAL (SELECT no FROM ids WHERE public.uuidv7_within(id, (SELECT p.period)) OFFSET 0) AS found';
SELECT alike(plan_of(by_subquery()), '%Index Cond: %Filter: uuidv7_within%', 'a period from a subquery uses the index');
SELECT bag_eq(by_subquery(), 'truth', 'a period from a subquery finds the pairs of the definition');
CREATE TEMP TABLE unordered AS SELECT id FROM ids;
CREATE INDEX ON unordered USING hash (id);
CREATE INDEX ON unordered USING brin (id uuid_bloom_ops);
SELECT unalike(plan_of($$SELECT id FROM unordered WHERE public.uuidv7_within(id, (SELECT '[2026-01-01,2026-01-02)'::tstzrange))$$), '%Cond%',
			   'a hash index and a bloom index are not used');

-- the rewrite copies an ID of at most 50 nodes: a list, coalesce() and its arguments
CREATE FUNCTION by_coalesce(count int) RETURNS text
RETURN format('SELECT id FROM ids WHERE coalesce(id%s) <@ $$[2026-01-01,2026-01-02)$$', repeat(', id', count - 1));
SELECT unalike(plan_of(by_coalesce(48)), '%<@%', 'an ID of 50 nodes is copied');
SELECT alike(plan_of(by_coalesce(49)), '%<@%', 'an ID of 51 nodes is not copied');

-- constants: each period as a literal, with and without NOT
CREATE FUNCTION counts() RETURNS TABLE (no bigint, within bigint, without bigint) LANGUAGE plpgsql AS $$
DECLARE
	p record;
BEGIN
	FOR p IN SELECT * FROM periods
	LOOP
		no := p.no;
		EXECUTE format('SELECT count(*) FROM ids WHERE id <@ %L::tstzrange', p.period) INTO within;
		EXECUTE format('SELECT count(*) FROM ids WHERE NOT id <@ %L::tstzrange', p.period) INTO without;
		RETURN NEXT;
	END LOOP;
END$$;
PREPARE true_counts AS
SELECT period_no::bigint AS no, count(*) FILTER (WHERE within) AS within, count(*) FILTER (WHERE NOT within) AS without
FROM truth GROUP BY period_no;

SELECT alike(plan_of($$SELECT count(*) FROM ids WHERE id <@ '[2026-01-01,2026-01-02)'$$), '%Index Cond%', 'a constant period uses the index');
SELECT set_eq('SELECT * FROM counts()', 'true_counts', 'scans of the index find the counts of the definition in each constant period');
SET LOCAL enable_seqscan = on;
SET LOCAL enable_indexscan = off;
SELECT unalike(plan_of($$SELECT count(*) FROM ids WHERE id <@ '[2026-01-01,2026-01-02)'$$), '%Index Cond%', 'a constant period does not need an index');
SELECT set_eq('SELECT * FROM counts()', 'true_counts', 'scans of the table find the counts of the definition in each constant period');

-- GROUP BY: a grouped condition is NULL in grouping sets that do not include it
SET LOCAL enable_indexscan = on;
CREATE TEMP TABLE hours AS
SELECT public.uuidv7_at('2026-03-01'::timestamptz + n * interval '1 hour') AS id, n < 3 AS early FROM generate_series(0, 47) AS n;
CREATE INDEX ON hours (id);
CREATE TEMP TABLE spans AS SELECT true AS early, '2026-03-01'::timestamptz AS a, '2026-03-02'::timestamptz AS b, '[2026-03-01,2026-03-02)'::tstzrange AS period;
SELECT bag_eq(query, result, name) FROM (VALUES
	($$SELECT NOT id <@ '[2026-03-01,2026-03-02)', count(*) FROM hours GROUP BY ROLLUP (id <@ '[2026-03-01,2026-03-02)')$$,
	$$VALUES (false, 24::bigint), (true, 24), (NULL, 48)$$, 'NOT of a grouped condition is NULL in the total'),
	($$SELECT 1 + (id <@ 'empty')::int AS one, 1 + (id <@ '(,1960-01-01)')::int AS other, count(*) FROM hours
	  GROUP BY ROLLUP ((id <@ 'empty')::int, (id <@ '(,1960-01-01)')::int)$$,
	$$VALUES (1, 1, 48::bigint), (1, NULL, 48), (NULL, NULL, 48)$$, 'expressions of conditions on two periods that contain nothing have two grouping columns'),
	($$SELECT within, count(*) FROM (SELECT id <@ '[2026-03-02,)' AS within FROM hours GROUP BY GROUPING SETS ((id), (public.uuid_is_v7(id)))) AS grouped GROUP BY within$$,
	$$VALUES (false, 24::bigint), (true, 24), (NULL, 1)$$, 'a condition is NULL in a set that groups by the version'),
	($$SELECT within, count(*) FROM (SELECT id <@ period AS within FROM hours, spans GROUP BY GROUPING SETS ((id, period::public.uuidv7_period), (id))) AS grouped GROUP BY within$$,
	$$VALUES (true, 24::bigint), (false, 24), (NULL, 48)$$, 'a condition is NULL in a set that does not group by its period in the domain of the operator'),
	($$SELECT within, count(*) FROM (SELECT id <@ tstzrange('2026-03-01', b) AS within FROM hours, spans
									GROUP BY GROUPING SETS ((id, b), (public.uuidv7_upper_bound(b, false)))) AS grouped GROUP BY within$$,
	$$VALUES (true, 24::bigint), (false, 24), (NULL, 1)$$, 'a condition is NULL in a set that groups by its bound')) AS cases (query, result, name);
SET LOCAL enable_seqscan = off;
SELECT alike(plan_of($$SELECT count(*) FROM hours WHERE id <@ '[2026-03-01,2026-03-02)' GROUP BY ROLLUP (id <@ '[2026-03-01,2026-03-01 12:00)')$$),
	'%Index Cond%', 'a grouped condition does not prevent the index scan of another one');
SELECT unalike(plan_of($$SELECT count(*) FROM hours WHERE id <@ '[2026-03-01,2026-03-02)' GROUP BY ROLLUP (public.uuidv7_timestamp(id), early)$$),
	'%<@%', 'a condition is rewritten if the query groups by something else');

-- GROUP BY without grouping sets: on PostgreSQL 18 and later, a grouped condition does not
-- prevent the pruning of partitions by another condition
SET LOCAL enable_seqscan = on;
CREATE TABLE halves (id uuid, early boolean, a timestamptz, b timestamptz, period tstzrange) PARTITION BY RANGE (id);
CREATE TABLE first_half PARTITION OF halves FOR VALUES FROM (MINVALUE) TO (public.uuidv7_floor('2026-03-02'));
CREATE TABLE second_half PARTITION OF halves FOR VALUES FROM (public.uuidv7_floor('2026-03-02')) TO (MAXVALUE);
INSERT INTO halves SELECT hours.id, hours.early, a, b, period FROM hours, spans UNION ALL SELECT id, false, NULL, NULL, NULL FROM hours;
CREATE TEMP TABLE groupings (expression, result) AS VALUES
	($$id <@ '[2026-03-01,2026-03-01 12:00)'$$, $$VALUES ('true', 24::bigint), ('false', 24)$$),
	('NOT period @> id', $$VALUES ('false', 24::bigint), (NULL, 24)$$),
	('tstzrange(a, b)', $$VALUES ('["2026-03-01 00:00:00+00","2026-03-02 00:00:00+00")', 24::bigint), ('(,)', 24)$$),
	('id >= public.uuidv7_floor(''2026-03-01'')', $$VALUES ('true', 48::bigint)$$);
CREATE FUNCTION by_grouping(expression text, more text = '') RETURNS text
RETURN format($$SELECT (%1$s)::text, count(*) FROM halves WHERE id <@ '[2026-03-01,2026-03-02)' GROUP BY %1$s %2$s$$, expression, more);
SELECT bag_eq(by_grouping(expression), result, 'a query can group by ' || expression) FROM groupings;
SELECT bag_eq(by_grouping('id <@ tstzrange(a, b)', 'HAVING NOT id <@ tstzrange(a, b) OR count(*) > 1 AND id <@ tstzrange(a, b)'),
	$$VALUES ('true', 48::bigint)$$, 'HAVING can have the grouped condition twice');
SELECT bag_eq($$SELECT id <@ tstzrange(a, b) AS one, tstzrange(a, b) @> id AS other, count(*) FROM halves GROUP BY id, tstzrange(a, b) HAVING id <@ '[2026-03-01 23:00,2026-03-02 01:00)'$$,
	$$VALUES (true, true, 1::bigint), (true, true, 1), (false, false, 1), (true, true, 1)$$, 'a query that groups by the parts of a condition has its results');
SELECT CASE WHEN current_setting('server_version_num')::int < 180000
			THEN skip('grouped conditions prevent pruning before PostgreSQL 18', 4)
			ELSE (SELECT string_agg(unalike(plan_of(by_grouping(expression)), '%second_half%', 'grouping by ' || expression || ' does not prevent pruning'), E'\n') FROM groupings) END;
SELECT unalike(plan_of($$SELECT CASE WHEN early THEN 1 END, count(*) FROM halves WHERE id <@ '[2026-03-01,2026-03-02)' GROUP BY ROLLUP (CASE WHEN early THEN 1 END)$$),
	'%second_half%', 'grouping by an expression without a period does not prevent pruning');

SELECT * FROM finish();
ROLLBACK;
