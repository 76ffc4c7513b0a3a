-- Measure the CPU time and the planning time of queries for a period, in milliseconds.
SET TimeZone = 'UTC';

-- Create six tables with the same :rows rows, whose times are in one year.  Table orders has an
-- index on the ID and one on the time.  Tables checked and checked_more have an index on the ID, and
-- a CHECK constraint that allows only version 7, of one and of five terms.  Table plain has no index.
-- Tables days_by_id and days_by_time have no index, but a partition for each day.
SELECT date_trunc('day', now()) + interval '1 day' AS tomorrow \gset
CREATE TABLE orders (id uuid PRIMARY KEY, created_at timestamptz NOT NULL, amount numeric NOT NULL);
INSERT INTO orders
SELECT public.uuidv7_at(made), made, n % 100
FROM (SELECT n, :'tomorrow'::timestamptz - n * (interval '365 days' / :rows) AS made FROM generate_series(1, :rows) AS n) AS a;
CREATE INDEX ON orders (created_at);
CREATE TABLE checked (LIKE orders, PRIMARY KEY (id), CHECK (public.uuid_is_v7(id)));
CREATE TABLE checked_more (LIKE orders, PRIMARY KEY (id), CHECK (public.uuid_is_v7(id) AND id IS NOT NULL AND created_at IS NOT NULL AND amount >= 0 AND amount < 100));
CREATE TABLE plain (LIKE orders);
CREATE TABLE days_by_id (LIKE orders) PARTITION BY RANGE (id);
CREATE TABLE days_by_time (LIKE orders) PARTITION BY RANGE (created_at);
SELECT format('CREATE TABLE by_id_%s PARTITION OF days_by_id FOR VALUES FROM (%L) TO (%L)', n, public.uuidv7_floor(day), public.uuidv7_floor(day + interval '1 day')),
	   format('CREATE TABLE by_time_%s PARTITION OF days_by_time FOR VALUES FROM (%L) TO (%L)', n, day, day + interval '1 day')
FROM generate_series(1, 365) AS n, LATERAL (SELECT :'tomorrow'::timestamptz - n * interval '1 day' AS day) AS a \gexec
SELECT format('INSERT INTO %s SELECT * FROM orders', name) FROM unnest('{checked,checked_more,plain,days_by_id,days_by_time}'::text[]) AS name \gexec
CREATE TABLE sync_state AS SELECT now() - interval '1 day' AS last_run;
VACUUM ANALYZE;

SELECT date_trunc('day', now()) - interval '90 days' AS day, date_trunc('day', now()) - interval '89 days' AS next \gset
CREATE TABLE queries (measure text, side text, source text, condition text);
INSERT INTO queries VALUES
	('one day', 'bounds by hand', 'orders', format('id >= %L AND id < %L', public.uuidv7_floor(:'day'), public.uuidv7_floor(:'next'))),
	('one day', 'id <@ period', 'orders', format('id <@ %L', tstzrange(:'day', :'next'))),
	('one day', 'created_at with an index of its own', 'orders', format('created_at >= %L AND created_at < %L', :'day', :'next')),
	('one day', 'extracted timestamp', 'orders', format('public.uuidv7_timestamp(id) >= %L AND public.uuidv7_timestamp(id) < %L', :'day', :'next')),
	('300 days without an index', 'created_at', 'plain', $$created_at >= now() - interval '300 days'$$),
	('300 days without an index', 'id <@ period', 'plain', $$id <@ tstzrange(now() - interval '300 days', NULL)$$),
	('300 days without an index', 'id <@ period, a constant', 'plain', format('id <@ %L', tstzrange(now() - interval '300 days', NULL))),
	('300 days of 365 partitions', 'created_at', 'days_by_time', $$created_at >= now() - interval '300 days'$$),
	('300 days of 365 partitions', 'id <@ period', 'days_by_id', $$id <@ tstzrange(now() - interval '300 days', NULL)$$),
	('300 days of 365 partitions', 'id <@ period, a constant', 'days_by_id', format('id <@ %L', tstzrange(now() - interval '300 days', NULL))),
	('since the last run', 'created_at', 'orders', 'created_at >= (SELECT last_run FROM sync_state)'),
	('since the last run', 'id <@ period', 'orders', 'id <@ tstzrange((SELECT last_run FROM sync_state), NULL)');
INSERT INTO sides (measure, side, statement)
SELECT 'ms, ' || measure, side, format('SELECT sum(amount) FROM %s WHERE %s', source, condition) FROM queries;

-- Group the rows of 30 partitions by a period condition.  Join ten periods to a table of v4 and v7
-- IDs, which has an index only on the v7 IDs.
CREATE TABLE mixed AS SELECT id, amount FROM orders UNION ALL SELECT gen_random_uuid(), 0 FROM orders;
CREATE INDEX ON mixed (id) WHERE public.uuid_is_v7(id);
CREATE TABLE shifts AS SELECT tstzrange(start, start + interval '1 hour') AS period FROM generate_series(now() - interval '20 days', now() - interval '11 days', interval '1 day') AS start;
VACUUM ANALYZE mixed, shifts;
INSERT INTO sides (measure, side, statement)
SELECT 'ms, ' || measure, side, statement
FROM (VALUES ('30 of 365 partitions, grouped', 'bounds by hand', $$SELECT id >= public.uuidv7_floor(now() - interval '10 days'), sum(amount) FROM days_by_id WHERE id >= public.uuidv7_floor(now() - interval '30 days') GROUP BY 1$$),
			 ('30 of 365 partitions, grouped', 'id <@ period', $$SELECT id <@ tstzrange(now() - interval '10 days', NULL), sum(amount) FROM days_by_id WHERE id <@ tstzrange(now() - interval '30 days', NULL) GROUP BY 1$$),
			 ('ten periods, partial index on v7', 'bounds by hand', 'SELECT sum(amount) FROM shifts JOIN mixed ON public.uuid_is_v7(id) AND id >= public.uuidv7_floor(lower(period)) AND id < public.uuidv7_floor(upper(period))'),
			 ('ten periods, partial index on v7', 'id <@ period', $$SELECT sum(amount) FROM shifts JOIN mixed ON id <@ coalesce(period, 'empty')$$)) AS a (measure, side, statement);

CREATE TABLE bins (id uuid PRIMARY KEY);
ALTER TABLE bins ALTER id SET STATISTICS 10000;
INSERT INTO bins SELECT public.uuidv7_at('2025-01-01'::timestamptz + n * interval '1 minute') FROM generate_series(0, 100000) AS n;
VACUUM ANALYZE bins;
TRUNCATE queries;
INSERT INTO queries VALUES
	('one table, a constant', 'bounds by hand', 'orders', format('id >= %L AND id < %L', public.uuidv7_floor(:'day'), public.uuidv7_floor(:'next'))),
	('one table, a constant', 'id <@ period', 'orders', format('id <@ %L', tstzrange(:'day', :'next'))),
	('one table, now()', 'bounds by hand', 'orders', $$id >= public.uuidv7_floor(now() - interval '1 day') AND id < public.uuidv7_floor(now())$$),
	('one table, now()', 'id <@ period', 'orders', $$id <@ tstzrange(now() - interval '1 day', now())$$),
	('365 partitions, now()', 'bounds by hand', 'days_by_id', $$id >= public.uuidv7_floor(now() - interval '40 years')$$),
	('365 partitions, now()', 'id <@ period', 'days_by_id', $$id <@ tstzrange(now() - interval '40 years', NULL)$$);
INSERT INTO queries
SELECT format('%s periods', count), side, 'orders', string_agg(condition, ' AND ')
FROM unnest(ARRAY[100, 1000]) AS count, LATERAL generate_series(1, count) AS n,
	 LATERAL (VALUES ('bounds by hand', format($$id >= public.uuidv7_floor(now() - interval '%s hours') AND id < public.uuidv7_floor(now())$$, n)),
					 ('id <@ period', format($$id <@ tstzrange(now() - interval '%s hours', now())$$, n))) AS b (side, condition)
GROUP BY count, side ORDER BY count, side;
INSERT INTO queries
SELECT 'ten NOT over 10,000 bins', side, 'bins', string_agg(condition, ' AND ')
FROM generate_series(1, 10) AS n, LATERAL (SELECT '2025-02-01'::timestamptz + n * interval '1 day' AS day) AS a,
	 LATERAL (VALUES ('bounds by hand', format('NOT (id >= %L AND id < %L)', public.uuidv7_floor(day), public.uuidv7_floor(day + interval '1 day'))),
					 ('id <@ period', format('NOT (id <@ %L)', tstzrange(day, day + interval '1 day')))) AS b (side, condition)
GROUP BY side ORDER BY side;
INSERT INTO sides (measure, side, statement, planning)
SELECT 'ms, planning ' || measure, side, format('SELECT * FROM %s WHERE %s', source, condition), true FROM queries;

-- Plan periods joined by OR: in one table, beside CHECK constraints, and in 365 partitions, of which
-- each is read.  Planning for partitions takes long, so run it once.
TRUNCATE queries;
INSERT INTO queries
SELECT format('%s periods joined by OR, %s', count, source), side, source, string_agg(condition, ' OR ')
FROM unnest(ARRAY[20, 100, 400, 1000]) AS count, unnest(ARRAY['orders', 'checked', 'checked_more', 'days_by_id']) AS source,
	 LATERAL generate_series(1, count) AS n, LATERAL (SELECT now() - n * interval '360 days' / count AS time) AS a,
	 LATERAL (VALUES ('bounds by hand', format('id >= %L AND id < %L', public.uuidv7_floor(time), public.uuidv7_floor(time + interval '3 hours'))),
					 ('id <@ period', format('id <@ %L', tstzrange(time, time + interval '3 hours')))) AS b (side, condition)
GROUP BY count, source, side ORDER BY count, source, side;
INSERT INTO sides (measure, side, statement, planning, runs)
SELECT 'ms, planning ' || measure, side, format('SELECT * FROM %s WHERE %s', source, condition), true, CASE source WHEN 'days_by_id' THEN 1 ELSE 5 END FROM queries;
