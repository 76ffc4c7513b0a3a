-- What it takes to plan a time query, beside one with bounds by hand: on one
-- table, and on 1,000 monthly partitions.  Run by scripts/bench; prints its
-- figures as CSV.
SET TimeZone = 'UTC';
SET client_min_messages = warning;

CREATE TABLE visits (id uuid PRIMARY KEY);
INSERT INTO visits SELECT public.uuidv7_at('2025-01-01'::timestamptz + n * interval '1 minute') FROM generate_series(0, 500000) AS n;
VACUUM ANALYZE visits;
CREATE TABLE months (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE month_%s PARTITION OF months FOR VALUES FROM (%L) TO (%L)', n,
			  public.uuidv7_floor('2000-01-01'::timestamptz + n * interval '1 month'),
			  public.uuidv7_floor('2000-01-01'::timestamptz + (n + 1) * interval '1 month'))
FROM generate_series(0, 999) AS n \gexec
INSERT INTO months SELECT public.uuidv7_at('2000-01-01'::timestamptz + n * interval '1 hour') FROM generate_series(0, 700000) AS n;
ANALYZE months;

CREATE TABLE sides (measure text, side text, query text, times int);
CREATE TABLE timings (measure text, side text, round int, ms float8);
INSERT INTO sides
SELECT format('%s, %s', size, kind), side, format('SELECT * FROM %I WHERE %s', source, condition), times
FROM (VALUES ('one table', 'visits', 20), ('1,000 partitions', 'months', 5)) AS a (size, source, times),
	 (VALUES ('constant', 'id <@ period', $$id <@ '[2025-03-01,2025-03-02)'$$),
			 ('constant', 'bounds by hand',
			  format('id >= %L AND id < %L', public.uuidv7_floor('2025-03-01'), public.uuidv7_floor('2025-03-02'))),
			 ('now()', 'id <@ period', $$id <@ tstzrange(now() - interval '1 day', now())$$),
			 ('now()', 'bounds by hand',
			  $$id >= public.uuidv7_floor(now() - interval '1 day') AND id < public.uuidv7_floor(now())$$)) AS b (kind, side, condition);

CREATE PROCEDURE measure_planning(rounds int) LANGUAGE plpgsql AS $$
DECLARE
	s record;
	plan json;
BEGIN
	-- round 0 warms the caches
	FOR round IN 0 .. rounds
	LOOP
		FOR s IN SELECT sides.* FROM generate_series(1, 20) AS turn JOIN sides ON turn <= times ORDER BY measure, turn, side
		LOOP
			EXECUTE 'EXPLAIN (SUMMARY, FORMAT JSON) ' || s.query INTO plan;
			IF round > 0 THEN
				INSERT INTO timings VALUES (s.measure, s.side, round, (plan -> 0 ->> 'Planning Time')::float8);
			END IF;
		END LOOP;
		COMMIT;
	END LOOP;
END$$;
CALL measure_planning(:rounds);

COPY (SELECT 'queries', 'planning, ' || measure, side, 1, round, ms FROM timings) TO STDOUT CSV;
DROP TABLE visits, months, sides, timings;
