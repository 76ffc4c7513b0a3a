-- uuidv7(interval): the timestamp moves as timestamptz + interval moves it,
-- and values of one shift keep their order.

BEGIN;
SELECT plan(32);

-- Within a second of the clock plus the interval, in the session's time zone.
CREATE FUNCTION is_shifted(shift interval, zone text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
	made uuid;
	ended timestamptz;
BEGIN
	PERFORM set_config('TimeZone', zone, true);
	began := clock_timestamp() + shift - interval '1 second';
	made := public.uuidv7(shift);
	ended := clock_timestamp() + shift + interval '1 second';
	RETURN ok(public.uuidv7_timestamp(made) BETWEEN began AND ended
			  AND public.uuid_extract_version(made) = 7,
			  format('uuidv7(''%s'') in %s has its timestamp there', shift, zone));
END
$$;
SELECT is_shifted(shift, zone)
FROM unnest('{0,1 hour,-1 hour,1 day,-30 days,6 months,-6 months,1 year 2 mons 3 days 04:05:06.789,8000 years,-50 years}'::interval[]) AS shift,
	 unnest('{UTC,Europe/Berlin}'::text[]) AS zone;

-- A shift by microseconds, read with the fraction.
SELECT ok(bool_and(public.uuidv7_timestamp_micros(shifted) - public.uuidv7_timestamp_micros(unshifted)
				   BETWEEN interval '333 microseconds' AND interval '1 second'),
		  'a shift by microseconds moves the fraction')
FROM (SELECT public.uuidv7(), public.uuidv7('335 microseconds') FROM generate_series(1, 1000)) AS made (unshifted, shifted);

-- Order, for shifts that are no whole number of ticks or milliseconds.
CREATE FUNCTION keeps_order(shift interval, method text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	bad bigint;
BEGIN
	PERFORM set_config('uuid9562.v7_method', method, true);
	SELECT count(*) INTO bad
	FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous
		  FROM (SELECT n, public.uuidv7(shift) FROM generate_series(1, 100000) AS n) AS made (n, id)) AS pairs
	WHERE id <= previous;
	RETURN is(bad, 0::bigint, format('uuidv7(''%s''), method %s: strictly increasing', shift, method));
END
$$;
SELECT keeps_order(shift, method)
FROM unnest('{1 hour,-333.333333 s,1 microsecond}'::interval[]) AS shift,
	 unnest('{fraction,counter,random}'::text[]) AS method;

-- With method counter the 16 bits after the milliseconds are no time: a shift
-- by less than a millisecond leaves them the next of the row.
SET LOCAL uuid9562.v7_method = counter;
CREATE FUNCTION counter_of(id uuid) RETURNS int LANGUAGE sql IMMUTABLE AS
$$SELECT ('x' || substr(id::text, 16, 3))::bit(12)::int * 16 + (('x' || substr(id::text, 20, 2))::bit(8)::int & 63) / 4$$;
SELECT cmp_ok(count(*), '>', 50::bigint, 'counter: a shift is by whole milliseconds')
FROM (SELECT public.uuidv7(), public.uuidv7('999 microseconds') FROM generate_series(1, 100)) AS made (a, b)
WHERE public.uuidv7_timestamp(a) = public.uuidv7_timestamp(b) AND counter_of(b) = counter_of(a) + 1;
SET LOCAL uuid9562.v7_method = fraction;

-- An infinite interval: PostgreSQL 17 and later have it.
SELECT CASE WHEN current_setting('server_version_num')::int < 170000
	THEN throws_ok($$SELECT public.uuidv7('infinity')$$, '22007',
				   'invalid input syntax for type interval: "infinity"', 'infinity is no interval')
	ELSE throws_ok($$SELECT public.uuidv7('infinity')$$, '22008',
				   'interval out of range for UUID version 7', 'infinity is refused')
	END;

SELECT * FROM finish();
ROLLBACK;
