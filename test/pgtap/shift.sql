-- uuidv7(interval): the timestamp is the current time plus the interval, and values with
-- the same interval increase.

BEGIN;
SELECT plan(18);

CREATE FUNCTION is_shifted(shift interval, zone text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
	time timestamptz;
BEGIN
	PERFORM set_config('TimeZone', zone, true);
	began := clock_timestamp();
	time := public.uuidv7_timestamp_micros(public.uuidv7(shift));
	RETURN ok(time BETWEEN began + shift - interval '1 microsecond' AND clock_timestamp() + shift,
			  format('uuidv7(''%s'') in %s is the time of the clock plus the interval', shift, zone));
END
$$;
SELECT is_shifted(shift, zone)
FROM unnest('{335 microseconds,-1 hour,6 months,1 year 2 mons 3 days 04:05:06.789,8000 years,-50 years}'::interval[]) AS shift,
	 unnest('{UTC,Europe/Berlin}'::text[]) AS zone;

-- shift by an interval that is not a whole number of ticks or milliseconds
CREATE FUNCTION keeps_order(shift interval, method text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('uuid9562.v7_method', method, true);
	RETURN is(count(*), 0::bigint, format('uuidv7(''%s''), method %s: strictly increasing', shift, method))
	FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous
		  FROM (SELECT n, public.uuidv7(shift) FROM generate_series(1, 100000) AS n) AS made (n, id)) AS pairs
	WHERE id <= previous;
END
$$;
SELECT keeps_order('-333.333333 s', method) FROM unnest('{fraction,counter,random}'::text[]) AS method;

-- With method counter, a 16-bit counter follows the milliseconds.  A shift by less than a
-- millisecond does not affect the counter: the next value has the next count.
SET LOCAL uuid9562.v7_method = counter;
CREATE FUNCTION counter_of(id uuid) RETURNS int LANGUAGE sql IMMUTABLE AS
$$SELECT ('x' || substr(id::text, 16, 3))::bit(12)::int * 16 + (('x' || substr(id::text, 20, 2))::bit(8)::int & 63) / 4$$;
SELECT cmp_ok(count(*), '>', 50::bigint, 'counter: a shift is by whole milliseconds')
FROM (SELECT public.uuidv7(), public.uuidv7('999 microseconds') FROM generate_series(1, 100)) AS made (a, b)
WHERE public.uuidv7_timestamp(a) = public.uuidv7_timestamp(b) AND counter_of(b) = counter_of(a) + 1;

SELECT throws_ok(format('SELECT public.uuidv7(%L)', shift),	-- PostgreSQL 15 and 16 have no infinite intervals
	CASE WHEN current_setting('server_version_num')::int < 170000 THEN '22007' ELSE '22008' END,
	CASE WHEN current_setting('server_version_num')::int >= 170000 THEN format('timestamp out of range for UUID version 7: "%s"', shift) END,
	format('a shift of %s is an error', shift))
FROM (VALUES ('infinity'), ('-infinity')) AS a (shift);

SELECT * FROM finish();
ROLLBACK;
