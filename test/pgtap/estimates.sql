-- Row estimates of period conditions are within a factor of two of the actual rows, both
-- for periods of many histogram bins and for periods inside a single bin.
--
-- The results are the same in every run: ANALYZE reads whole tables, and random() has the
-- same seed.  The seed can be another number from -1 to 1.  To use seed 0.25, set
-- PGOPTIONS='-c test.seed=0.25'.

BEGIN;
SELECT plan(163);
SET LOCAL TimeZone = 'UTC';
SET LOCAL default_statistics_target = 100;
SET LOCAL max_parallel_workers_per_gather = 0;

-- Return an item of a query's plan.
CREATE FUNCTION planned(query text, VARIADIC item text[]) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE format('EXPLAIN (%s FORMAT JSON) %s', CASE WHEN item[1] = 'Planning' THEN 'MEMORY, SUMMARY OFF,' END, query) INTO plan;
	RETURN plan -> 0 #>> item;
END$$;
CREATE FUNCTION estimated_rows(query text) RETURNS numeric
RETURN planned(query, 'Plan', 'Plan Rows');

-- Compare the estimate of a condition on a table with the actual number of rows.
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

-- Analyze tables of at most 30,000 rows, all of which ANALYZE reads at statistics target 100.
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

-- Tables with values of the last 90 days.  Table steady has one value in every 270 seconds.
-- Table daily has three times as many values in one half of each day as in the other half.
-- Table mixed has as many v4 as v7.  Table gappy has NULL in a third of its rows.
CREATE TABLE steady AS
SELECT public.uuidv7_at(now() - (n - random()) * interval '270 seconds') AS id FROM generate_series(1, 28800) AS n;
CREATE TABLE half AS
SELECT public.uuidv7_at(now() - (n - random()) * interval '540 seconds') AS id FROM generate_series(1, 14400) AS n;
CREATE TABLE daily AS
SELECT id FROM steady WHERE extract(epoch FROM now() - public.uuidv7_timestamp(id))::int / 3600 % 24 < 12 OR random() < 0.33;
CREATE TABLE mixed AS
SELECT id FROM half UNION ALL SELECT random_v4() FROM half;
CREATE TABLE gappy AS
SELECT CASE WHEN random() < 0.67 THEN id END AS id FROM steady;
CREATE TABLE v6 AS
SELECT public.uuidv6_at(public.uuidv7_timestamp(id)) AS id FROM steady;
CREATE TABLE one_then_other AS
SELECT CASE WHEN id < public.uuidv7_floor(now() - interval '45 days') THEN id
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
CREATE INDEX ON parted (id);
CALL analyze_whole('steady', 'daily', 'mixed', 'gappy', 'v6', 'one_then_other', 'parted');

-- a bin of "steady" spans 22 hours, and a bin of "mixed" spans 44 hours
SELECT estimates(from_table, format('id <@ %L::tstzrange', tstzrange(now() - since, now() - till)))
FROM (VALUES ('steady'), ('mixed'), ('gappy'), ('parted'), ('daily')) AS tables (from_table),
	 (VALUES (interval '60 days', interval '30 days'), ('33 days', '28 days'), ('41 days', '40 days'),
			 ('10 days 6 hours', '10 days'), ('50 days 3 hours', '50 days')) AS periods (since, till);
SELECT estimates(from_table, format('id <@ %L::tstzrange', tstzrange(now() - interval '50 days 1 hours', now() - interval '50 days')))
FROM (VALUES ('steady'), ('mixed'), ('gappy'), ('parted')) AS tables (from_table);

-- PostgreSQL estimates a range of UUIDs as one row inside a histogram bin, and as a whole bin across a border.
CREATE TABLE of_100_rows AS
SELECT estimated_rows(format('SELECT FROM steady WHERE id >= %L AND id < %L', public.uuidv7_floor(first), public.uuidv7_floor(next))) AS by_hand,
	estimated_rows(format('SELECT FROM steady WHERE id <@ %L::tstzrange', tstzrange(first, next))) AS by_period
FROM generate_series(1, 80) AS n, LATERAL (SELECT now() - n * interval '25 hours' AS first, now() - n * interval '25 hours' + 100 * interval '270 seconds' AS next) AS bounds;
SELECT ok(bool_and(by_hand = 1 OR by_hand BETWEEN 280 AND 296) AND bool_or(by_hand = 1) AND bool_or(by_hand > 1), '100 rows between two UUIDs are estimated as 1 row or as a bin of 288 rows')
FROM of_100_rows;
SELECT ok(bool_and(by_period BETWEEN 80 AND 120), '100 rows of a period are estimated as 80 to 120 rows') FROM of_100_rows;

-- estimate periods with now(), with one unbounded side, and under NOT
SELECT estimates('steady', $$id <@ tstzrange(now() - interval '7 days', NULL)$$);
SELECT estimates('steady', $$id <@ tstzrange(now() - interval '1 day', now())$$);
SELECT estimates('steady', $$tstzrange(now() - interval '41 days', now() - interval '40 days 21 hours') @> id$$);
SELECT estimates('steady', $$id <@ tstzrange(NULL, now() - interval '89 days')$$);
SELECT estimates('parted', $$id <@ tstzrange(now() - interval '7 days', NULL)$$);
SELECT estimates('steady', format('id <@ %L::tstzrange', tstzrange(now() - interval '2 days', NULL)));
SELECT estimates('steady', format('id <@ %L::tstzrange', tstzrange(NULL, NULL)));
SELECT estimates('steady', format('NOT (id <@ %L::tstzrange)', tstzrange(now() - interval '2 days', NULL)));

-- estimate a period with another condition on the ID
SELECT estimates('steady', format('id <@ %L::tstzrange AND id > %L', tstzrange(now() - interval '60 days', now() - interval '50 days'),
								  public.uuidv7_floor(now() - interval '50 days 3 hours')));

-- estimate with the value of a parameter in a custom plan
PREPARE period_rows (tstzrange) AS SELECT FROM steady WHERE id <@ $1;
SELECT ok(estimated_rows(format('EXECUTE period_rows (%L)', tstzrange(now() - interval '20 days 3 hours', now() - interval '20 days')))
		  BETWEEN 20 AND 80, 'a parameter of a custom plan: 40 rows, within a factor of two');

-- estimate the newest v7 values of a column with several versions, and the rows of other
-- versions
SELECT estimates('mixed', $$id <@ tstzrange(now() - interval '1 day', NULL)$$);
SELECT estimates('mixed', $$id <@ tstzrange(now() - interval '14 hours', now())$$);
SELECT estimates('mixed', $$id <@ tstzrange(now() - interval '30 hours', now() + interval '1 day')$$);
SELECT estimates('mixed', 'NOT public.uuid_is_v7(id)');
SELECT estimates('mixed', $$NOT (id <@ '(,)')$$);
SELECT estimates('gappy', 'public.uuid_is_v7(id)');
SELECT cmp_ok(estimated_rows($$SELECT FROM v6 WHERE id <@ '[2026-01-01,)'$$), '<', 11::numeric, 'hardly any v7 rows are estimated in a column of v6');

-- estimate a column that changed from v7 to v8
SELECT estimates('one_then_other', $$id <@ tstzrange(now() - interval '51 days', now() - interval '50 days')$$);
SELECT estimates('one_then_other', 'NOT public.uuid_is_v7(id)');

-- estimate columns with few distinct values, and columns with some common values
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

-- estimate a column that has only common values, and so no histogram
CREATE TABLE five AS
SELECT public.uuidv7_floor(now() - n % 5 * interval '1 day') AS id FROM generate_series(1, 1000) AS n;
CALL analyze_whole('five');
SELECT ok(histogram_bounds IS NULL, 'five values have no histogram') FROM pg_stats WHERE tablename = 'five';
SELECT estimates('five', $$id <@ tstzrange(now() - interval '2 days 12 hours', NULL)$$);
SELECT estimates('five', 'public.uuid_is_v7(id)');

-- a comparison of another column of the table is estimated with the statistics of that column
CREATE TABLE two AS
SELECT id, public.uuidv7_at(public.uuidv7_timestamp(id) - interval '3 years') AS parent FROM steady;
CALL analyze_whole('two');
SELECT estimates('two', format('id <@ %L::tstzrange AND parent < %L', tstzrange(now() - interval '50 days 3 hours', now() - interval '50 days'),
							   public.uuidv7_floor(now() - interval '3 years' + interval '1 day')));

-- estimate a period that may be NULL
CREATE FUNCTION three_hours() RETURNS tstzrange STABLE LANGUAGE plpgsql
AS $$BEGIN RETURN tstzrange(now() - interval '50 days 3 hours', now() - interval '50 days'); END$$;
SELECT estimates('steady', 'id <@ three_hours()');
SELECT estimates('mixed', 'id <@ three_hours()');

-- for values newer than the statistics, PostgreSQL reads the last value from the index
SELECT ok(estimated_rows($$SELECT FROM steady WHERE id <@ tstzrange(now() + interval '1 hour', NULL)$$) < 11, 'few rows are estimated after the last value');
INSERT INTO steady SELECT public.uuidv7_at(now() + interval '2 hours' + n * interval '1 second') FROM generate_series(1, 288) AS n;
SELECT ok(estimated_rows($$SELECT FROM steady WHERE id <@ tstzrange(now() + interval '1 hour', NULL)$$) > 50, 'many rows are estimated after new values were inserted');

-- estimate a table that has grown since ANALYZE, by rows with the newest IDs
CREATE TABLE growing AS SELECT id FROM steady WHERE id < public.uuidv7_floor(now() - interval '20 days');
CREATE INDEX ON growing (id);
CALL analyze_whole('growing');
INSERT INTO growing SELECT id FROM steady WHERE id BETWEEN public.uuidv7_floor(now() - interval '20 days') AND public.uuidv7_floor(now());
SELECT estimates('growing', $$id <@ tstzrange(now() - interval '1 hour', NULL)$$);
SELECT estimates('growing', $$id <@ tstzrange(now() - interval '10 days', now() - interval '9 days')$$);
SELECT estimates('growing', $$id <@ tstzrange(now() - interval '20 days 2 hours', NULL)$$);
SELECT estimates('growing', $$id <@ tstzrange(now() - interval '41 days', now() - interval '40 days')$$);

-- estimate a table that has grown since ANALYZE, with both v7 and random UUIDs
CREATE TABLE growing_mixed AS SELECT id FROM mixed WHERE id < public.uuidv7_floor(now() - interval '20 days') OR id > public.uuidv7_floor(now());
CALL analyze_whole('growing_mixed');
INSERT INTO growing_mixed
SELECT unnest(ARRAY[id, random_v4()]) FROM mixed WHERE id BETWEEN public.uuidv7_floor(now() - interval '20 days') AND public.uuidv7_floor(now());
SELECT estimates('growing_mixed', format('id <@ %L::tstzrange', tstzrange(now() - since, NULL)))
FROM unnest(ARRAY['2 hours', '1 day', '10 days']::interval[]) AS since;

-- estimate a table without statistics, and a table with statistics of one row
CREATE TABLE unknown AS SELECT id FROM mixed;
SELECT estimates('unknown', 'public.uuid_is_v7(id)');
SELECT estimates('unknown', 'NOT public.uuid_is_v7(id)');
CREATE TABLE sparse AS SELECT public.uuidv7() AS id;
CALL analyze_whole('sparse');
INSERT INTO sparse SELECT id FROM mixed;
SELECT cmp_ok(estimated_rows('SELECT FROM sparse WHERE public.uuid_is_v7(id)'), '>', 50::numeric, 'statistics of one row: many v7 rows are estimated');
SELECT cmp_ok(estimated_rows('SELECT FROM sparse WHERE NOT public.uuid_is_v7(id)'), '>', 50::numeric, 'statistics of one row: many other rows are estimated');

-- estimate columns without v7, whose shares do not add up to 1 exactly
CREATE TABLE none AS SELECT random_v4() AS id, n FROM generate_series(1, 200) AS n;
CREATE FUNCTION v7_of_none(rows int) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
	UPDATE none SET id = CASE WHEN n > rows THEN NULL WHEN n % 3 = 0 THEN public.max_uuid() ELSE random_v4() END;
	ANALYZE none;
	RETURN estimated_rows('SELECT FROM none WHERE public.uuid_is_v7(id)');
END$$;
SELECT is(max(v7_of_none(rows)), 1::numeric, 'one v7 row is estimated in columns of other versions') FROM generate_series(1, 200) AS rows;

-- estimate a column of a domain with NULL in most rows, and a column with common values of
-- another version
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

-- estimate two periods joined by AND, bounds joined by OR, and a period with an equality
SELECT estimates('mixed', $$id <@ tstzrange(now() - interval '50 days', NULL) AND id <@ tstzrange(NULL, now() - interval '45 days')$$);
SELECT estimates('mixed', $$id <@ tstzrange(now() - interval '50 days', NULL) AND id <@ tstzrange(now() - interval '2 days', NULL)$$);
SELECT estimates('mixed', format('public.uuid_is_v7(id) AND (id < %L OR id > %L)', public.uuidv7_floor(now() - interval '60 days'), 'f0000000-0000-4000-8000-000000000000'::uuid));
SELECT estimates('customers', format('id <@ %L::tstzrange AND id = %L', '(,)', (SELECT id FROM customers ORDER BY id LIMIT 1)));

-- Estimate two, five and twenty periods joined by OR, each at twelve places.  They have six hours,
-- so most of them begin and end inside a bin.  In table daily, they are in the half with more values.
CREATE FUNCTION days(condition text, count int, place int) RETURNS text
RETURN (SELECT string_agg(format(condition, tstzrange(day, day + interval '6 hours')), ' OR ')
		FROM generate_series(1, count) AS n, LATERAL (SELECT now() - interval '9 hours' - (1 + (place * 7 + n * 4) % 88) * interval '1 day' AS day) AS days);
SELECT estimates('steady', days('id <@ %L', count, place)) FROM unnest(ARRAY[2, 5, 20]) AS count, generate_series(1, 12) AS place;

-- estimate periods inside OR at every depth, beside other conditions, in columns of
-- several versions and with NULL, in partitions, with now(), and with periods that may be NULL
SELECT estimates(from_table, days('id <@ %L', 3, 5)) FROM unnest(ARRAY['mixed', 'gappy', 'parted', 'daily', 'one_then_other']) AS from_table;
SELECT estimates('steady', format('id IS NOT NULL AND (id = public.nil_uuid() OR id IS NOT NULL AND (%s))', days('(id <@ %L AND id IS NOT NULL)', 3, 5)));
SELECT estimates('steady', $$id <@ tstzrange(now() - interval '2 hours', NULL) OR id <@ tstzrange(now() - interval '50 days 3 hours', now() - interval '50 days')$$);
SELECT estimates('steady', days('id <@ coalesce(%L, three_hours())', 3, 5) || ' OR id <@ three_hours()');
SELECT estimates('mixed', $$id IS NOT NULL AND (id <@ tstzrange(now() - interval '80 days', now() - interval '70 days') OR NOT public.uuid_is_v7(id))$$);
SELECT estimates('mixed', format($$id <@ '(,)' AND (%s)$$, days('id <@ %L', 3, 5)));
-- the rows of an OR are also estimated below IS TRUE and for a partial index
SELECT estimates('mixed', format('(%s) IS TRUE OR %s', days('id <@ %L', 3, 5), days('id <@ %L', 3, 6)));
CREATE INDEX mixed_v7 ON mixed (id) WHERE public.uuid_is_v7(id);
SELECT estimates('mixed', days('id <@ %L', 3, 5));
DROP INDEX mixed_v7;
-- in a column of few v7 IDs, nearly all of which are in the periods
CREATE TABLE few_v7 AS SELECT random_v4() AS id FROM generate_series(1, 19000) UNION ALL (SELECT id FROM steady ORDER BY id LIMIT 1000);
CREATE FUNCTION first_days() RETURNS tstzrange STABLE LANGUAGE plpgsql
AS $$BEGIN RETURN tstzrange(now() - interval '89 days', now() - interval '88 days'); END$$;
CALL analyze_whole('few_v7');
SELECT estimates('few_v7', 'id <@ first_days()');
SELECT estimates('few_v7', $$id <@ tstzrange(now() - interval '89 days', now() - interval '88 days') OR id = public.nil_uuid()$$);
SELECT estimates('few_v7', $$id <@ tstzrange(now() - interval '89 days', now() - interval '88 days 12 hours') OR id <@ tstzrange(now() - interval '88 days', now() - interval '87 days 12 hours')$$);
CREATE INDEX few_v7_of_v7 ON few_v7 (id) WHERE public.uuid_is_v7(id);
SELECT cmp_ok(planned($$SELECT FROM few_v7 WHERE id <@ tstzrange(now() - interval '89 days', now() - interval '88 days')$$, 'Plan', 'Plans', '0', 'Plan Rows'),
			  '>', 160::numeric, 'the rows of a partial index on v7 are estimated');
DROP INDEX few_v7_of_v7;

-- Estimate new rows after the last bin of a histogram, and new rows before the first bin.
-- The new rows are fewer than half of a bin.  ANALYZE samples 3,000 rows for ten bins.  The bins
-- at the other end of the histogram are ten times as long, or a tenth as long.
CREATE TABLE later AS
SELECT public.uuidv7_at(now() - (n + 9 * greatest(n - 1550, 0) - random()) * interval '270 seconds') AS id FROM generate_series(51, 3050) AS n;
CREATE TABLE earlier AS
SELECT public.uuidv7_at(now() - (n + 0.9 * greatest(1500 - n, 0) - random()) * interval '270 seconds') AS id, repeat('x', 500) AS filler
FROM generate_series(1, 3000) AS n;
ALTER TABLE later ALTER COLUMN id SET STATISTICS 10;
ALTER TABLE earlier ALTER COLUMN id SET STATISTICS 10, ALTER COLUMN filler SET STATISTICS 10;
CREATE INDEX ON later (id);
CREATE INDEX ON earlier (id);
CALL analyze_whole('later', 'earlier');
SELECT is(array_length(histogram_bounds::text::uuid[], 1), 11, tablename || ': ten bins')
FROM pg_stats WHERE tablename IN ('later', 'earlier') AND attname = 'id' ORDER BY tablename;
INSERT INTO later SELECT public.uuidv7_at(now() - (n - random()) * interval '270 seconds') FROM generate_series(1, 50) AS n;
INSERT INTO earlier SELECT public.uuidv7_at(now() - (n - random()) * interval '270 seconds'), repeat('x', 500) FROM generate_series(3001, 3040) AS n;
SELECT estimates('later', $$id <@ tstzrange(now() - 50 * interval '270 seconds', NULL)$$);
SELECT estimates('later', $$id <@ tstzrange(now() - 40 * interval '270 seconds', now() - 20 * interval '270 seconds')$$);
SELECT estimates('earlier', $$id <@ tstzrange(NULL, now() - 3000 * interval '270 seconds')$$);
SELECT estimates('earlier', $$id <@ tstzrange(now() - 3040 * interval '270 seconds', now() - 3000 * interval '270 seconds')$$);
SELECT estimates('earlier', $$id <@ tstzrange(now() - 3030 * interval '270 seconds', now() - 3015 * interval '270 seconds')$$);
SELECT cmp_ok(estimated_rows($$SELECT FROM earlier WHERE id <@ tstzrange(now() - interval '30 days', now() - interval '20 days')$$), '<', 11::numeric,
			  'hardly any rows are estimated before all values');

-- estimate a period after all existing values
SELECT cmp_ok(estimated_rows($$SELECT FROM steady WHERE id <@ tstzrange(now() + interval '1 day', NULL)$$), '<', 111::numeric,
			  'hardly any rows are estimated after all values');

-- a version check in one arm of an OR does not affect the estimate of the other arm
SELECT is(estimated_rows(format('SELECT FROM mixed WHERE (%1$s AND id = public.nil_uuid() OR id > public.nil_uuid()) AND %1$s', 'public.uuid_is_v7(id)')),
		  estimated_rows(format('SELECT FROM mixed WHERE %1$s AND (%1$s AND id = public.nil_uuid() OR id > public.nil_uuid())', 'public.uuid_is_v7(id)')),
		  'the order of two conditions on the version changes no estimate');

-- a condition that is written twice is estimated once, also if a view adds it
SELECT estimates('mixed', 'public.uuid_is_v7(id) AND public.uuid_is_v7(id) AND public.uuid_is_v7(id)');
SELECT estimates('mixed', $$id <@ tstzrange(now() - interval '60 days', NULL) AND id <@ tstzrange(now() - interval '50 days', NULL) AND id <@ tstzrange(now() - interval '40 days', NULL)$$);
CREATE VIEW mixed_since AS SELECT * FROM mixed WHERE id <@ tstzrange(now() - interval '60 days', NULL);
SELECT estimates('mixed_since', $$id <@ tstzrange(now() - interval '50 days', NULL)$$);

-- the estimated share of v7 among rows added since ANALYZE is its share in the statistics
CREATE TABLE mostly_v4 AS SELECT random_v4() AS id FROM generate_series(1, 19000) UNION ALL (SELECT id FROM steady ORDER BY id LIMIT 1000);
CALL analyze_whole('mostly_v4');
INSERT INTO mostly_v4 SELECT random_v4() FROM generate_series(1, 20000);
SELECT estimates('mostly_v4', 'NOT public.uuid_is_v7(id)');
SELECT cmp_ok(estimated_rows($$SELECT FROM mostly_v4 WHERE id <@ tstzrange(now() - interval '80 days', NULL)$$), '<', 3000::numeric,
			  'few v7 rows are estimated in a table that grew by v4');

-- Planning many conditions evaluates each bound a few times, however many conditions there
-- are: conditions of AND, of NOT, with a period that may be NULL, and of a view.
CREATE SEQUENCE evaluations;
CREATE FUNCTION since(days int) RETURNS timestamptz STABLE LANGUAGE plpgsql AS $$
BEGIN
	PERFORM nextval('evaluations');
	RETURN now() - days * interval '1 day';
END$$;
CREATE FUNCTION period_since(days int) RETURNS tstzrange STABLE LANGUAGE plpgsql AS $$BEGIN RETURN tstzrange(since(days), NULL); END$$;
CREATE FUNCTION many(condition text, count int) RETURNS text
RETURN (SELECT string_agg(format(condition, n), ' AND ') FROM generate_series(1, count) AS n);
CREATE FUNCTION evaluations_of(condition text, count int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	before bigint := nextval('evaluations');
BEGIN
	PERFORM estimated_rows('SELECT FROM steady WHERE ' || many(condition, count));
	RETURN nextval('evaluations') - before - 1;
END$$;
SELECT cmp_ok(evaluations_of(condition, 200), '<=', 8 * 200::bigint, '200 times ' || condition || ': planning evaluates a bound a few times')
FROM unnest(ARRAY['id <@ tstzrange(since(%s), NULL)', 'NOT id <@ tstzrange(since(%s), now())', 'id <@ period_since(%s)',
				  '(id <@ tstzrange(since(%s), NULL) OR now() IS NULL)', '(now() IS NULL OR id <@ tstzrange(since(%s), now()) OR id <@ tstzrange(now(), since(%1$s)))', '(id <@ tstzrange(since(%1$s), NULL)) IS NOT FALSE AND id <@ tstzrange(since(%1$s), NULL)']) AS condition;

-- Return how much memory planning needs.  Use the second plan, since planning for the first time also
-- loads caches.
CREATE FUNCTION planning_memory(query text) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
	PERFORM planned(query, 'Planning', 'Memory Used');
	RETURN planned(query, 'Planning', 'Memory Used');
END$$;

-- planning many conditions needs at most three times as much memory as their bounds do
CREATE FUNCTION memory_of(condition text) RETURNS numeric
RETURN planning_memory('SELECT FROM steady WHERE ' || many(condition, 1000));
SELECT CASE WHEN current_setting('server_version_num')::int < 170000
			THEN skip('EXPLAIN (MEMORY) requires PostgreSQL 17 or later', 2)
			ELSE (SELECT string_agg(cmp_ok(memory_of(condition), '<', 3 * memory_of(bounds), condition || ': planning needs little memory'), E'\n')
				  FROM (VALUES ('id <@ tstzrange(now() - %s * interval ''1 day'', now())', 'id >= public.uuidv7_floor(now() - %s * interval ''1 day'') AND id < public.uuidv7_floor(now())'),
							   ('id <@ period_since(%s)', 'id >= public.uuidv7_lower_bound(period_since(%1$s)) AND id <= public.uuidv7_upper_bound(period_since(%1$s))')) AS forms (condition, bounds)) END;

-- the planner frees the statistics of each partition
CREATE TABLE calendar (id uuid) PARTITION BY RANGE (id);
CREATE FUNCTION memory_with(bins int) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('default_statistics_target', bins::text, true);
	ANALYZE calendar;
	RETURN planning_memory($q$SELECT FROM calendar WHERE id <@ '[2026-01-01 12:00,2026-01-20 12:00)'$q$);
END$$;
DO $$
BEGIN
	FOR n IN 0 .. 19 LOOP
		EXECUTE format('CREATE TABLE calendar_%s PARTITION OF calendar FOR VALUES FROM (%L) TO (%L)', n,
					   public.uuidv7_floor('2026-01-01'::timestamptz + n * interval '1 day'),
					   public.uuidv7_floor('2026-01-02'::timestamptz + n * interval '1 day'));
	END LOOP;
END$$;
INSERT INTO calendar SELECT public.uuidv7_at('2026-01-01'::timestamptz + n * interval '1 minute') FROM generate_series(0, 28799) AS n;
SELECT CASE WHEN current_setting('server_version_num')::int < 170000
			THEN skip('EXPLAIN (MEMORY) requires PostgreSQL 17 or later')
			ELSE cmp_ok(memory_with(1000), '<', 1.5 * memory_with(10),
						'planning for 20 partitions does not keep the statistics of each partition in memory') END;

-- A superuser can add an operator to the family whose constants are no UUIDs.
CREATE FUNCTION is_less(uuid, text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1::text < $2; END';
CREATE OPERATOR < (LEFTARG = uuid, RIGHTARG = text, PROCEDURE = is_less);
ALTER OPERATOR FAMILY pg_catalog.uuid_ops USING btree ADD OPERATOR 1 < (uuid, text);
SELECT ok(with_text BETWEEN 0.45 * alone AND 0.55 * alone, format('a comparison with a text has PostgreSQL''s own estimate: %s of %s rows', with_text, alone))
FROM (SELECT estimated_rows(query || $$ AND id < 'x'::text$$) AS with_text, estimated_rows(query) AS alone
	  FROM (VALUES ($$SELECT FROM steady WHERE id <@ tstzrange(now() - interval '10 days', now())$$)) AS queries (query)) AS estimates;

SELECT * FROM finish();
ROLLBACK;
