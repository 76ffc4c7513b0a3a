-- Time queries on the primary key against their alternatives.  Run by
-- scripts/bench; rows and rounds are psql variables.
\set ON_ERROR_STOP 1
\set QUIET 1
\pset tuples_only 1
\pset format unaligned
SET TimeZone = 'UTC';
SET client_min_messages = warning;

-- A year of orders with their ids, and one day of it.
CREATE TABLE orders (id uuid PRIMARY KEY, customer integer NOT NULL, amount numeric NOT NULL);
\echo :rows orders in a year ...
INSERT INTO orders
SELECT public.uuidv7_at('2025-01-01'::timestamptz + n * (interval '365 days' / :rows)), n % 1000, n % 100
FROM generate_series(0, :rows - 1) AS n;
VACUUM ANALYZE orders;
-- the same, and known to be of version 7
CREATE TABLE checked_orders (LIKE orders INCLUDING ALL, CHECK (public.uuid_is_v7(id)));
INSERT INTO checked_orders SELECT * FROM orders;
VACUUM ANALYZE checked_orders;
-- 1,000 months, in partitions
CREATE TABLE months (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE month_%s PARTITION OF months FOR VALUES FROM (%L) TO (%L)', n,
			  public.uuidv7_floor('2000-01-01'::timestamptz + n * interval '1 month'),
			  public.uuidv7_floor('2000-01-01'::timestamptz + (n + 1) * interval '1 month'))
FROM generate_series(0, 999) AS n \gexec
INSERT INTO months SELECT public.uuidv7_at('2000-01-01'::timestamptz + n * interval '1 hour') FROM generate_series(0, 700000) AS n;
ANALYZE months;

-- Milliseconds that a query takes, planned and run; or is planned in.
CREATE FUNCTION run_time(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
BEGIN
	EXECUTE query;
	RETURN extract(epoch FROM clock_timestamp() - began) * 1000;
END$$;
CREATE FUNCTION planning_time(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (SUMMARY, FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 ->> 'Planning Time';
END$$;

-- What is measured.  The sides of a measure take turns, each up to so many
-- times in a round.
CREATE TABLE sides (measure text, side text, timer regproc, query text, times int);
CREATE TABLE timings (measure text, side text, ms float8);
INSERT INTO sides
SELECT format('one day, %s', what), side, 'run_time', format(query, condition), times
FROM (VALUES ('count(*)', 'SELECT count(*) FROM orders WHERE %s'),
			 ('sum of a column', 'SELECT sum(amount) FROM orders WHERE %s'),
			 ('rows as text', 'COPY (SELECT * FROM orders WHERE %s) TO ''/dev/null''')) AS a (what, query),
	 (VALUES ('id <@ period', $$id <@ '[2025-03-01,2025-03-02)'$$, 10),
			 ('bounds by hand', format('id >= %L AND id < %L', public.uuidv7_floor('2025-03-01'), public.uuidv7_floor('2025-03-02')), 10),
			 ('bounds by hand and the version',
			  format('id >= %L AND id < %L AND public.uuid_extract_version(id) = 7', public.uuidv7_floor('2025-03-01'), public.uuidv7_floor('2025-03-02')), 10),
			 ('extracted timestamp', $$public.uuidv7_timestamp(id) >= '2025-03-01' AND public.uuidv7_timestamp(id) < '2025-03-02'$$, 1)) AS b (side, condition, times);
INSERT INTO sides
SELECT replace(measure, 'one day', 'one day, with CHECK'), side, timer, replace(query, 'orders', 'checked_orders'), times
FROM sides WHERE side IN ('id <@ period', 'bounds by hand');
INSERT INTO sides
VALUES ('planning, one table', 'id <@ period', 'planning_time', $$SELECT * FROM orders WHERE id <@ '[2025-03-01,2025-03-02)'$$, 20),
	   ('planning, one table', 'bounds by hand', 'planning_time',
		format('SELECT * FROM orders WHERE id >= %L AND id < %L', public.uuidv7_floor('2025-03-01'), public.uuidv7_floor('2025-03-02')), 20),
	   ('planning, one table, now()', 'id <@ period', 'planning_time', $$SELECT * FROM orders WHERE id <@ tstzrange(now() - interval '1 day', now())$$, 20),
	   ('planning, one table, now()', 'bounds by hand', 'planning_time',
		$$SELECT * FROM orders WHERE id >= public.uuidv7_floor(now() - interval '1 day') AND id < public.uuidv7_floor(now())$$, 20),
	   ('planning, 1,000 partitions', 'id <@ period', 'planning_time', $$SELECT * FROM months WHERE id <@ '[2025-03-01,2025-03-02)'$$, 5),
	   ('planning, 1,000 partitions', 'bounds by hand', 'planning_time',
		format('SELECT * FROM months WHERE id >= %L AND id < %L', public.uuidv7_floor('2025-03-01'), public.uuidv7_floor('2025-03-02')), 5),
	   ('planning, 1,000 partitions, now()', 'id <@ period', 'planning_time', $$SELECT * FROM months WHERE id <@ tstzrange(now() - interval '1 day', now())$$, 5),
	   ('planning, 1,000 partitions, now()', 'bounds by hand', 'planning_time',
		$$SELECT * FROM months WHERE id >= public.uuidv7_floor(now() - interval '1 day') AND id < public.uuidv7_floor(now())$$, 5);

CREATE PROCEDURE measure(rounds int) LANGUAGE plpgsql AS $$
DECLARE
	s record;
	ms float8;
BEGIN
	FOR round IN 0 .. rounds
	LOOP
		FOR s IN SELECT sides.* FROM generate_series(1, 20) AS turn JOIN sides ON turn <= times ORDER BY measure, turn, side
		LOOP
			EXECUTE format('SELECT %s($1)', s.timer) INTO ms USING s.query;
			-- the first round warms the caches
			IF round > 0 THEN
				INSERT INTO timings VALUES (s.measure, s.side, ms);
			END IF;
		END LOOP;
		COMMIT;
	END LOOP;
END$$;
\echo measuring ...
SET jit = off;
SET max_parallel_workers_per_gather = 0;
CALL measure(:rounds);

\echo
\echo '| measure | how | median ms | least | most | times the bounds by hand |'
\echo '| --- | --- | ---: | ---: | ---: | ---: |'
CREATE VIEW medians AS
SELECT measure, side, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS median, min(ms) AS least, max(ms) AS most
FROM timings GROUP BY measure, side;
SELECT format('| %s | %s | %s | %s | %s | %s |', m.measure, m.side, m.median::numeric(12,3), m.least::numeric(12,3), m.most::numeric(12,3),
			  (m.median / h.median)::numeric(12,2))
FROM medians AS m JOIN medians AS h ON h.measure = m.measure AND h.side = 'bounds by hand'
ORDER BY m.measure, m.side = 'extracted timestamp', m.median;

-- Rows as text are left out: making text of them costs the same on all sides.
\echo
\echo '| bar | measured | |'
\echo '| --- | ---: | --- |'
WITH wide AS (
	SELECT measure,
		   measure ~ '^one day.*(count|sum)' AS is_query,
		   max(median) FILTER (WHERE side = 'id <@ period') AS ours,
		   max(median) FILTER (WHERE side = 'bounds by hand') AS hand,
		   max(median) FILTER (WHERE side = 'extracted timestamp') AS extracted
	FROM medians GROUP BY measure
), bars (no, bar, measured, unit, met) AS (
	SELECT 1, measure || ': at most 1.1 times the bounds by hand', ours / hand, '', ours / hand <= 1.1 FROM wide WHERE is_query
	UNION ALL
	SELECT 3, measure || ': at least 100 times faster than the extracted timestamp', extracted / ours, '', extracted / ours >= 100 FROM wide WHERE is_query AND extracted IS NOT NULL
	UNION ALL
	SELECT 4, measure || ': less than 0.1 ms more than the bounds by hand', ours - hand, ' ms', ours - hand < 0.1 FROM wide WHERE measure LIKE 'planning, one table%'
	UNION ALL
	SELECT 5, measure || ': at most 1.2 times the bounds by hand', ours / hand, '', ours / hand <= 1.2 FROM wide WHERE measure LIKE 'planning, 1,000%'
)
SELECT format('| %s | %s%s | %s |', bar, measured::numeric(12,3), unit, CASE WHEN met THEN 'met' ELSE 'fallen short' END) FROM bars ORDER BY no, bar;
