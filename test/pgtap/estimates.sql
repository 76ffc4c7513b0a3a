-- Row estimates of "is within a period" on analysed tables: within a factor of
-- two of the truth, for periods of many histogram bins and inside a single one.
--
-- The same in every run: ANALYZE reads all of these tables, and what is random in
-- them comes from one seed.  Another seed is another sample:
-- PGOPTIONS='-c test.seed=0.25', a number from -1 to 1.

BEGIN;
SELECT plan(130);
SET LOCAL TimeZone = 'UTC';
SET LOCAL default_statistics_target = 100;
SET LOCAL max_parallel_workers_per_gather = 0;

CREATE FUNCTION estimated_rows(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END$$;

-- Compares the estimate of a condition on a table with the truth.
CREATE FUNCTION estimates(from_table text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT FROM %s WHERE %s', from_table, condition);
	estimated numeric := estimated_rows(query);
	actual numeric;
BEGIN
	EXECUTE 'SELECT count(*) FROM (' || query || ') AS rows' INTO actual;
	RETURN ok(actual >= 5 AND estimated BETWEEN actual / 2 AND actual * 2,
			  format('%s, %s: %s rows estimated, %s found', from_table, condition, estimated, actual));
END$$;

-- 30,000 rows at most: what ANALYZE reads for 100 bins.
CREATE PROCEDURE analyze_whole(VARIADIC tables regclass[]) LANGUAGE plpgsql AS $$
DECLARE
	each regclass;
	many boolean;
BEGIN
	FOREACH each IN ARRAY tables LOOP
		EXECUTE format('SELECT count(*) > 30000 FROM ONLY %s', each) INTO many;
		ASSERT NOT many, each || ' has more rows than ANALYZE reads';
		EXECUTE format('ANALYZE %s', each);
	END LOOP;
END$$;

CREATE FUNCTION random_v4() RETURNS uuid
RETURN overlay(overlay(md5(random()::text) PLACING '4' FROM 13) PLACING 'a' FROM 17)::uuid;

SELECT setseed(coalesce(nullif(current_setting('test.seed', true), ''), '0')::float8);

-- 90 days to now, a value in every 270 seconds; three times as dense in half of each
-- day; with as many random UUIDs beside them; with NULL in a third.
CREATE TABLE steady AS
SELECT public.uuidv7_at(now() - (n - random()) * interval '270 seconds') AS id FROM generate_series(1, 28800) AS n;
CREATE TABLE half AS
SELECT public.uuidv7_at(now() - (n - random()) * interval '540 seconds') AS id FROM generate_series(1, 14400) AS n;
CREATE TABLE quarter AS
SELECT public.uuidv7_at(now() - (n - random()) * interval '1080 seconds') AS id FROM generate_series(1, 7200) AS n;
CREATE TABLE daily AS
SELECT id FROM steady WHERE extract(epoch FROM now() - public.uuidv7_timestamp(id))::int / 3600 % 24 < 12 OR random() < 0.33;
CREATE TABLE mixed AS
SELECT id FROM half UNION ALL SELECT random_v4() FROM half;
CREATE TABLE gappy AS
SELECT CASE WHEN random() < 0.67 THEN id END AS id FROM steady;
CREATE TABLE v6 AS
SELECT public.uuidv6_at(public.uuidv7_timestamp(id)) AS id FROM steady;
CREATE TABLE v8 AS
SELECT public.uuidv8_node_at(public.uuidv7_timestamp(id), 1) AS id FROM steady;
CREATE TABLE v8_half AS
SELECT public.uuidv8_node_at(now() - (n - random()) * interval '540 seconds', 1) AS id FROM generate_series(1, 14400) AS n;
CREATE TABLE v8_quarter AS
SELECT public.uuidv8_node_at(now() - (n - random()) * interval '1080 seconds', 1) AS id FROM generate_series(1, 7200) AS n;
CREATE TABLE v8_mixed AS
SELECT id FROM v8_half UNION ALL SELECT random_v4() FROM v8_half;
CREATE TABLE two_kinds AS
SELECT id FROM half UNION ALL SELECT id FROM v8_half;
CREATE TABLE three_kinds AS
SELECT id FROM quarter UNION ALL SELECT id FROM v8_quarter UNION ALL SELECT random_v4() FROM half;
CREATE TABLE one_then_other AS
SELECT CASE WHEN id < public.uuidv7_floor(now() - interval '45 days') THEN id
			ELSE public.uuidv8_node_at(public.uuidv7_timestamp(id), 1) END AS id
FROM steady;
CREATE TABLE two_then_one AS
SELECT id FROM two_kinds WHERE public.uuid_is_v7(id) OR id < public.uuidv7_floor(now() - interval '30 days');
CREATE TABLE in_turn AS
SELECT CASE WHEN floor(extract(epoch FROM now() - public.uuidv7_timestamp(id)) / 86400 / 16)::int % 2 = 0 THEN id
			ELSE public.uuidv8_node_at(public.uuidv7_timestamp(id), 1) END AS id
FROM steady;
CREATE TABLE parted (id uuid) PARTITION BY RANGE (id);
CREATE TABLE parted_old PARTITION OF parted FOR VALUES FROM (MINVALUE) TO (public.uuidv7_floor(now() - interval '30 days'));
CREATE TABLE parted_new PARTITION OF parted FOR VALUES FROM (public.uuidv7_floor(now() - interval '30 days')) TO (MAXVALUE);
INSERT INTO parted SELECT id FROM steady;
CREATE INDEX ON steady (id);
CREATE INDEX ON daily (id);
CREATE INDEX ON mixed (id);
CREATE INDEX ON gappy (id);
CREATE INDEX ON v6 (id);
CREATE INDEX ON v8 (id);
CREATE INDEX ON parted (id);
CALL analyze_whole('steady', 'daily', 'mixed', 'gappy', 'v6', 'v8', 'v8_mixed', 'two_kinds', 'three_kinds', 'one_then_other', 'two_then_one', 'in_turn', 'parted');

-- a bin of steady is 22 hours, one of mixed twice that
SELECT estimates(from_table, format('id <@ %L::tstzrange', tstzrange(now() - since, now() - till)))
FROM (VALUES ('steady'), ('mixed'), ('gappy'), ('parted'), ('daily')) AS tables (from_table),
	 (VALUES (interval '60 days', interval '30 days'), ('33 days', '28 days'), ('41 days', '40 days'),
			 ('10 days 6 hours', '10 days'), ('50 days 3 hours', '50 days')) AS periods (since, till);
SELECT estimates(from_table, format('id <@ %L::tstzrange', tstzrange(now() - interval '50 days 1 hours', now() - interval '50 days')))
FROM (VALUES ('steady'), ('mixed'), ('gappy'), ('parted')) AS tables (from_table);

-- periods that are known when the query runs, and one unbounded side
SELECT estimates('steady', $$id <@ tstzrange(now() - interval '7 days', NULL)$$);
SELECT estimates('steady', $$id <@ tstzrange(now() - interval '1 day', now())$$);
SELECT estimates('steady', $$tstzrange(now() - interval '41 days', now() - interval '40 days 21 hours') @> id$$);
SELECT estimates('steady', $$id <@ tstzrange(NULL, now() - interval '89 days')$$);
SELECT estimates('parted', $$id <@ tstzrange(now() - interval '7 days', NULL)$$);
SELECT estimates('steady', format('id <@ %L::tstzrange', tstzrange(now() - interval '2 days', NULL)));
SELECT estimates('steady', format('id <@ %L::tstzrange', tstzrange(NULL, NULL)));
SELECT estimates('steady', format('NOT (id <@ %L::tstzrange)', tstzrange(now() - interval '2 days', NULL)));

-- v6, v8 with a node id, and with other conditions beside it
SELECT estimates('v6', format('public.uuidv6_within(id, %L)', tstzrange(now() - interval '50 days 3 hours', now() - interval '50 days')));
SELECT estimates('v8', format('public.uuidv8_node_within(id, %L)', tstzrange(now() - interval '50 days 3 hours', now() - interval '50 days')));
SELECT estimates('v8', 'public.uuidv8_node_within(id, tstzrange(now() - interval ''1 day'', NULL))');
SELECT estimates('steady', format('id <@ %L::tstzrange AND id > %L', tstzrange(now() - interval '60 days', now() - interval '50 days'),
								  public.uuidv7_floor(now() - interval '50 days 3 hours')));

-- a parameter of a custom plan
PREPARE period_rows (tstzrange) AS SELECT FROM steady WHERE id <@ $1;
SELECT ok(estimated_rows(format('EXECUTE period_rows (%L)', tstzrange(now() - interval '20 days 3 hours', now() - interval '20 days')))
		  BETWEEN 20 AND 80, 'a parameter of a custom plan: 40 rows, within a factor of two');

-- several periods at once
SELECT estimates(from_table, format('id <@ %L::tstzrange OR id <@ %L::tstzrange', tstzrange(now() - interval '50 days 3 hours', now() - interval '50 days'),
									tstzrange(now() - interval '20 days 2 hours', now() - interval '20 days')))
FROM (VALUES ('steady'), ('mixed')) AS tables (from_table);

-- the newest values of a column of several versions, and what is not of one
SELECT estimates('mixed', $$id <@ tstzrange(now() - interval '1 day', NULL)$$);
SELECT estimates('mixed', $$id <@ tstzrange(now() - interval '14 hours', now())$$);
SELECT estimates('mixed', $$id <@ tstzrange(now() - interval '30 hours', now() + interval '1 day')$$);
SELECT estimates('mixed', 'NOT public.uuid_is_v7(id)');
SELECT estimates('mixed', $$NOT (id <@ '(,)')$$);
SELECT estimates('gappy', 'public.uuid_is_v7(id)');
SELECT cmp_ok(estimated_rows('SELECT FROM steady WHERE public.uuid_is_v6(id)'), '<', 11::numeric, 'no v6 among v7');
SELECT cmp_ok(estimated_rows($$SELECT FROM v6 WHERE id <@ '[2026-01-01,)'$$), '<', 11::numeric, 'no v7 among v6');

-- v8 among others; two kinds side by side, and one after the other
SELECT estimates(from_table, format('public.uuidv8_node_within(id, %L)', tstzrange(now() - since, now() - till)))
FROM (VALUES ('v8_mixed'), ('two_kinds'), ('three_kinds')) AS tables (from_table),
	 (VALUES (interval '60 days', interval '30 days'), ('41 days', '40 days'), ('10 days 6 hours', '10 days'), ('1 day', '0'), ('14 hours', '0')) AS periods (since, till);
SELECT estimates(from_table, format('id <@ %L::tstzrange', tstzrange(now() - since, now() - till)))
FROM (VALUES ('two_kinds'), ('three_kinds')) AS tables (from_table),
	 (VALUES (interval '60 days', interval '30 days'), ('41 days', '40 days'), ('10 days 6 hours', '10 days'), ('1 day', '0'), ('14 hours', '0')) AS periods (since, till);
SELECT estimates('one_then_other', $$public.uuidv8_node_within(id, tstzrange(now() - interval '1 day', NULL))$$);
SELECT estimates('one_then_other', $$public.uuidv8_node_within(id, tstzrange(now() - interval '40 days', now() - interval '39 days'))$$);
SELECT estimates('one_then_other', $$id <@ tstzrange(now() - interval '51 days', now() - interval '50 days')$$);
SELECT estimates('one_then_other', 'public.uuid_is_v8(id)');
SELECT cmp_ok(estimated_rows($$SELECT FROM one_then_other WHERE id <@ tstzrange(now() - interval '20 days', NULL)$$), '<', 11::numeric,
			  'one_then_other: next to no v7 after the change');

SELECT estimates('two_then_one', $$id <@ tstzrange(now() - interval '1 day', NULL)$$);
SELECT estimates('two_then_one', $$id <@ tstzrange(now() - interval '10 days', now() - interval '9 days 18 hours')$$);
SELECT estimates('two_then_one', $$public.uuidv8_node_within(id, tstzrange(now() - interval '60 days', now() - interval '55 days'))$$);
SELECT cmp_ok(estimated_rows($$SELECT FROM two_then_one WHERE public.uuidv8_node_within(id, tstzrange(now() - interval '20 days', NULL))$$), '<', 83::numeric,
			  'two_then_one: few v8 since');
SELECT estimates('in_turn', $$id <@ tstzrange(now() - interval '1 day', NULL)$$);
SELECT estimates('in_turn', $$public.uuidv8_node_within(id, tstzrange(now() - interval '24 days', now() - interval '23 days'))$$);
SELECT cmp_ok(estimated_rows($$SELECT FROM in_turn WHERE id <@ tstzrange(now() - interval '25 days', now() - interval '23 days')$$), '<', 11::numeric,
			  'in_turn: next to no v7 in the turn of v8');

-- few values, each in many rows; some common ones among many rare ones
CREATE TABLE customers AS
SELECT public.uuidv7_floor(now() - n * interval '1 day') AS id FROM generate_series(1, 40) AS n, generate_series(1, 10 * n);
CREATE TABLE regulars AS
SELECT public.uuidv7_floor(now() - n * interval '1 day') AS id
FROM generate_series(1, 1000) AS n, generate_series(1, CASE WHEN n % 100 = 50 THEN 2000 ELSE 5 END);
CALL analyze_whole('customers', 'regulars');
SELECT estimates('customers', $$id <@ tstzrange(now() - interval '5 days 12 hours', NULL)$$);
SELECT estimates('customers', $$id <@ tstzrange(now() - interval '30 days 12 hours', now() - interval '20 days 12 hours')$$);
SELECT estimates('customers', format('id = %L AND id <@ %L::tstzrange', (SELECT id FROM customers ORDER BY id LIMIT 1), '(,)'));
SELECT estimates('regulars', $$id <@ tstzrange(now() - interval '260 days', now() - interval '240 days')$$);
SELECT estimates('regulars', $$id <@ tstzrange(now() - interval '240 days', now() - interval '160 days')$$);
SELECT estimates('regulars', 'public.uuid_is_v7(id)');

-- common values and no others: no histogram
CREATE TABLE five AS
SELECT public.uuidv7_floor(now() - n % 5 * interval '1 day') AS id FROM generate_series(1, 1000) AS n;
CALL analyze_whole('five');
SELECT ok(histogram_bounds IS NULL, 'five values have no histogram') FROM pg_stats WHERE tablename = 'five';
SELECT estimates('five', $$id <@ tstzrange(now() - interval '2 days 12 hours', NULL)$$);
SELECT estimates('five', 'public.uuid_is_v7(id)');

-- bounds of another column of the table are its own
CREATE TABLE two AS
SELECT id, public.uuidv7_at(public.uuidv7_timestamp(id) - interval '3 years') AS parent FROM steady;
CALL analyze_whole('two');
SELECT estimates('two', format('id <@ %L::tstzrange AND parent < %L', tstzrange(now() - interval '50 days 3 hours', now() - interval '50 days'),
							   public.uuidv7_floor(now() - interval '3 years' + interval '1 day')));

SELECT estimates('two', format('(id <@ %L::tstzrange AND parent IS NOT NULL) OR parent <@ %L::tstzrange',
							   tstzrange(now() - interval '50 days 3 hours', now() - interval '50 days'),
							   tstzrange(now() - interval '3 years 20 days 2 hours', now() - interval '3 years 20 days')));

-- a period that may be NULL
CREATE FUNCTION three_hours() RETURNS tstzrange STABLE LANGUAGE plpgsql
AS $$BEGIN RETURN tstzrange(now() - interval '50 days 3 hours', now() - interval '50 days'); END$$;
SELECT estimates('steady', 'id <@ three_hours()');
SELECT estimates('mixed', 'id <@ three_hours()');

-- values newer than the statistics: PostgreSQL looks at the end of the index
SELECT ok(estimated_rows($$SELECT FROM steady WHERE id <@ tstzrange(now() + interval '1 hour', NULL)$$) < 11, 'next to none in the next hours');
INSERT INTO steady SELECT public.uuidv7_at(now() + interval '2 hours' + n * interval '1 second') FROM generate_series(1, 288) AS n;
SELECT ok(estimated_rows($$SELECT FROM steady WHERE id <@ tstzrange(now() + interval '1 hour', NULL)$$) > 50, 'and many when they have come');

-- a table that has grown since it was analysed: the new rows are the newest
CREATE TABLE growing AS SELECT id FROM steady WHERE id < public.uuidv7_floor(now() - interval '20 days');
CREATE INDEX ON growing (id);
CALL analyze_whole('growing');
INSERT INTO growing SELECT id FROM steady WHERE id BETWEEN public.uuidv7_floor(now() - interval '20 days') AND public.uuidv7_floor(now());
SELECT estimates('growing', $$id <@ tstzrange(now() - interval '1 hour', NULL)$$);
SELECT estimates('growing', $$id <@ tstzrange(now() - interval '10 days', now() - interval '9 days')$$);
SELECT estimates('growing', $$id <@ tstzrange(now() - interval '20 days 2 hours', NULL)$$);
SELECT estimates('growing', $$id <@ tstzrange(now() - interval '41 days', now() - interval '40 days')$$);

CREATE TABLE growing_v8 AS SELECT id FROM v8 WHERE id < public.uuidv8_node_floor(now() - interval '20 days');
CREATE TABLE growing_kinds AS SELECT id FROM two_kinds WHERE id < public.uuidv7_floor(now() - interval '20 days');
CALL analyze_whole('growing_v8', 'growing_kinds');
INSERT INTO growing_v8 SELECT id FROM v8 WHERE id >= public.uuidv8_node_floor(now() - interval '20 days');
INSERT INTO growing_kinds SELECT id FROM two_kinds WHERE id >= public.uuidv7_floor(now() - interval '20 days');
SELECT estimates(from_table, format('public.uuidv8_node_within(id, %L)', tstzrange(now() - since, now() - till)))
FROM (VALUES ('growing_v8'), ('growing_kinds')) AS tables (from_table),
	 (VALUES (interval '1 hour', interval '0'), ('10 days', '9 days'), ('41 days', '40 days')) AS periods (since, till);

-- few values of v8
CREATE TABLE v8_customers AS
SELECT public.uuidv8_node_floor(now() - n * interval '1 day') AS id FROM generate_series(1, 40) AS n, generate_series(1, 10 * n);
CALL analyze_whole('v8_customers');
SELECT estimates('v8_customers', $$public.uuidv8_node_within(id, tstzrange(now() - interval '30 days 12 hours', now() - interval '20 days 12 hours'))$$);

-- nothing known: no statistics, or next to none
CREATE TABLE unknown AS SELECT id FROM mixed;
SELECT estimates('unknown', 'public.uuid_is_v7(id)');
SELECT estimates('unknown', 'NOT public.uuid_is_v7(id)');
CREATE TABLE sparse AS SELECT public.uuidv7() AS id;
CALL analyze_whole('sparse');
INSERT INTO sparse SELECT id FROM mixed;
SELECT cmp_ok(estimated_rows('SELECT FROM sparse WHERE public.uuid_is_v7(id)'), '>', 50::numeric, 'next to nothing known: many v7');
SELECT cmp_ok(estimated_rows('SELECT FROM sparse WHERE NOT public.uuid_is_v7(id)'), '>', 50::numeric, 'next to nothing known: many others');

-- NULL in most rows; common values of another version; a domain
CREATE DOMAIN key AS uuid;
CREATE TABLE nully AS SELECT CASE WHEN random() < 0.1 THEN id END::key AS id FROM mixed;
CREATE TABLE shared AS
SELECT CASE WHEN n % 4 = 0 THEN '919108f7-52d1-4320-9bac-f847db4148a8' WHEN n % 4 = 1 THEN '01000000-0000-4000-8000-000000000000' ELSE id END AS id
FROM (SELECT id, row_number() OVER () AS n FROM steady) AS numbered;
CALL analyze_whole('nully', 'shared');
SELECT estimates('nully', 'public.uuid_is_v7(id)');
SELECT estimates('nully', $$id <@ tstzrange(now() - interval '50 days', now() - interval '45 days')$$);
SELECT estimates('shared', 'public.uuid_is_v7(id)');
SELECT estimates('shared', 'NOT public.uuid_is_v7(id)');
SELECT estimates('shared', $$id <@ tstzrange(now() - interval '50 days', now() - interval '45 days')$$);
SELECT estimates('shared', $$id <@ tstzrange(NULL, now() - interval '45 days')$$);

-- two periods that both must hold, bounds in OR, an equality
SELECT estimates('mixed', $$id <@ tstzrange(now() - interval '50 days', NULL) AND id <@ tstzrange(NULL, now() - interval '45 days')$$);
SELECT estimates('mixed', $$id <@ tstzrange(now() - interval '50 days', NULL) AND id <@ tstzrange(now() - interval '2 days', NULL)$$);
SELECT estimates('mixed', format('public.uuid_is_v7(id) AND (id < %L OR id > %L)', public.uuidv7_floor(now() - interval '60 days'), 'f0000000-0000-4000-8000-000000000000'::uuid));
SELECT estimates('customers', format('id <@ %L::tstzrange AND id = %L', '(,)', (SELECT id FROM customers ORDER BY id LIMIT 1)));

-- and outside the values there are: hardly any
SELECT cmp_ok(estimated_rows($$SELECT FROM steady WHERE id <@ tstzrange(now() + interval '1 day', NULL)$$), '<', 111::numeric,
			  'tomorrow: next to none');

SELECT * FROM finish();
ROLLBACK;
