-- What it takes to plan a time query, beside one with bounds by hand: on one
-- table, on 1,000 monthly partitions, and with ten periods over 10,000 bins of a
-- histogram.  Run by scripts/bench; prints its figures as CSV.
SET TimeZone = 'UTC';

CREATE TABLE visits (id uuid PRIMARY KEY);
INSERT INTO visits SELECT public.uuidv7_at('2025-01-01'::timestamptz + n * interval '1 minute') FROM generate_series(0, 500000) AS n;
VACUUM ANALYZE visits;
CREATE TABLE bins (id uuid PRIMARY KEY);
ALTER TABLE bins ALTER id SET STATISTICS 10000;
INSERT INTO bins SELECT id FROM visits LIMIT 100000;
VACUUM ANALYZE bins;
CREATE TABLE months (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE month_%s PARTITION OF months FOR VALUES FROM (%L) TO (%L)', n,
			  public.uuidv7_floor('2000-01-01'::timestamptz + n * interval '1 month'),
			  public.uuidv7_floor('2000-01-01'::timestamptz + (n + 1) * interval '1 month'))
FROM generate_series(0, 999) AS n \gexec
INSERT INTO months SELECT public.uuidv7_at('2000-01-01'::timestamptz + n * interval '1 hour') FROM generate_series(0, 700000) AS n;
ANALYZE months;

INSERT INTO sides
SELECT 'planning, ' || measure, side, format('SELECT * FROM %s WHERE %s', source, condition), times
FROM (VALUES
	('one table, constant', 'id <@ period', 'visits', $$id <@ '[2025-03-01,2025-03-02)'$$, 20),
	('one table, constant', 'bounds by hand', 'visits',
	 format('id >= %L AND id < %L', public.uuidv7_floor('2025-03-01'), public.uuidv7_floor('2025-03-02')), 20),
	('one table, now()', 'id <@ period', 'visits', $$id <@ tstzrange(now() - interval '1 day', now())$$, 20),
	('one table, now()', 'bounds by hand', 'visits',
	 $$id >= public.uuidv7_floor(now() - interval '1 day') AND id < public.uuidv7_floor(now())$$, 20),
	('one of 1,000 partitions', 'id <@ period', 'months', $$id <@ '[2025-03-01,2025-03-02)'$$, 20),
	('one of 1,000 partitions', 'bounds by hand', 'months',
	 format('id >= %L AND id < %L', public.uuidv7_floor('2025-03-01'), public.uuidv7_floor('2025-03-02')), 20),
	('all of 1,000 partitions, constant', 'id <@ period', 'months', $$id <@ '[2000-01-01,2090-01-01)'$$, 5),
	('all of 1,000 partitions, constant', 'bounds by hand', 'months',
	 format('id >= %L AND id < %L', public.uuidv7_floor('2000-01-01'), public.uuidv7_floor('2090-01-01')), 5),
	('all of 1,000 partitions, now()', 'id <@ period', 'months', $$id <@ tstzrange(now() - interval '40 years', NULL)$$, 5),
	('all of 1,000 partitions, now()', 'bounds by hand', 'months', $$id >= public.uuidv7_floor(now() - interval '40 years')$$, 5)
	) AS a (measure, side, source, condition, times)
UNION ALL
SELECT 'planning, ten NOT over 10,000 bins', side, 'SELECT * FROM bins WHERE ' || string_agg(condition, ' AND '), 20
FROM generate_series(1, 10) AS n,
	 LATERAL (VALUES
		('id <@ period', format('NOT (id <@ %L)', format('[2025-02-%s,2025-02-%s)', n, n + 1))),
		('bounds by hand', format('NOT (id >= %L AND id < %L)', public.uuidv7_floor(format('2025-02-%s', n)::timestamptz),
								  public.uuidv7_floor(format('2025-02-%s', n + 1)::timestamptz)))) AS b (side, condition)
GROUP BY side;
CALL measure(:rounds, planning => true);

COPY (SELECT 'queries', measure, side, 1, round, ms FROM timings) TO STDOUT CSV;
DROP TABLE visits, bins, months;
