-- 300 of the last 365 days without an index, in one table and in a partition for
-- each day, and what has come since the last run, by index.  Run by scripts/bench;
-- prints its figures as CSV.
SET TimeZone = 'UTC';
SELECT date_trunc('day', now()) + interval '1 day' AS tomorrow,
	   (now() - interval '300 days')::text AS since \gset

CREATE TABLE readings (id uuid NOT NULL, created_at timestamptz NOT NULL, amount integer NOT NULL);
INSERT INTO readings
SELECT public.uuidv7_at(made), made, n % 100
FROM (SELECT n, now() - interval '364 days' + n * (interval '364 days' / :rows) AS made
	  FROM generate_series(0, :rows - 1) AS n) AS a;
CREATE TABLE readings_by_id (LIKE readings) PARTITION BY RANGE (id);
CREATE TABLE readings_by_time (LIKE readings) PARTITION BY RANGE (created_at);
SELECT format('CREATE TABLE readings_by_id_%s PARTITION OF readings_by_id FOR VALUES FROM (%L) TO (%L)',
			  n, public.uuidv7_floor(day), public.uuidv7_floor(day + interval '1 day')),
	   format('CREATE TABLE readings_by_time_%s PARTITION OF readings_by_time FOR VALUES FROM (%L) TO (%L)',
			  n, day, day + interval '1 day')
FROM generate_series(1, 365) AS n, LATERAL (SELECT :'tomorrow'::timestamptz - n * interval '1 day' AS day) AS a \gexec
INSERT INTO readings_by_id SELECT * FROM readings;
INSERT INTO readings_by_time SELECT * FROM readings;
CREATE TABLE indexed_readings (LIKE readings, PRIMARY KEY (id));
INSERT INTO indexed_readings SELECT * FROM readings;
CREATE INDEX ON indexed_readings (created_at);
CREATE TABLE sync_state AS SELECT now() - interval '1 day' AS last_run;
VACUUM ANALYZE readings, readings_by_id, readings_by_time, indexed_readings, sync_state;

INSERT INTO sides
SELECT measure, side, format('SELECT sum(amount) FROM %s WHERE %s', source, condition), times
FROM (VALUES
	('300 days of one table, now()', 'id <@ period', 'readings', $$id <@ tstzrange(now() - interval '300 days', NULL)$$, 8),
	('300 days of one table, now()', 'created_at', 'readings', $$created_at >= now() - interval '300 days'$$, 8),
	('300 days of one table, now()', 'bounds by hand', 'readings', $$id >= public.uuidv7_floor(now() - interval '300 days')$$, 8),
	('300 days of one table, constant', 'id <@ period', 'readings', format('id <@ %L', '[' || :'since' || ',)'), 8),
	('300 days of one table, constant', 'created_at', 'readings', format('created_at >= %L', :'since'), 8),
	('300 days of one table, constant', 'created_at, now()', 'readings', $$created_at >= now() - interval '300 days'$$, 8),
	('300 days of 365 partitions, now()', 'id <@ period', 'readings_by_id', $$id <@ tstzrange(now() - interval '300 days', NULL)$$, 8),
	('300 days of 365 partitions, now()', 'created_at', 'readings_by_time', $$created_at >= now() - interval '300 days'$$, 8),
	('300 days of 365 partitions, now()', 'bounds by hand', 'readings_by_id', $$id >= public.uuidv7_floor(now() - interval '300 days')$$, 8),
	('300 days of 365 partitions, constant', 'id <@ period', 'readings_by_id', format('id <@ %L', '[' || :'since' || ',)'), 8),
	('300 days of 365 partitions, constant', 'created_at', 'readings_by_time', format('created_at >= %L', :'since'), 8),
	('300 days of 365 partitions, constant', 'created_at, now()', 'readings_by_time', $$created_at >= now() - interval '300 days'$$, 8),
	('since the last run, by index', 'id <@ period', 'indexed_readings', 'id <@ tstzrange((SELECT last_run FROM sync_state), NULL)', 20),
	('since the last run, by index', 'created_at', 'indexed_readings', 'created_at >= (SELECT last_run FROM sync_state)', 20)
	) AS a (measure, side, source, condition, times);
CALL measure(:rounds);

COPY (SELECT 'queries', measure, side, :rows, round, ms FROM timings) TO STDOUT CSV;
DROP TABLE readings, readings_by_id, readings_by_time, indexed_readings, sync_state;
