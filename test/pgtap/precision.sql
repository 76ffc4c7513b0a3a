-- The time in a new value is the clock's, to the microsecond.  test/t/clock.pl
-- has the digits below, under a clock that stands still.
BEGIN;
SELECT plan(5);

CREATE FUNCTION v7_of(id uuid) RETURNS uuid LANGUAGE sql IMMUTABLE AS
$$SELECT overlay(id::text PLACING '7' FROM 15)::uuid$$;

CREATE TEMP TABLE made AS
SELECT clock_timestamp() AS began, public.uuidv1() AS v1, public.uuidv6() AS v6, public.uuidv7() AS v7,
	   public.uuidv8() AS v8, public.uuidv8_node(1) AS v8_node, clock_timestamp() AS ended
FROM generate_series(1, 1000);

-- between the readings before and after it, which are cut to the microsecond
CREATE TEMP VIEW times AS
SELECT began, ended, call, made_at
FROM made,
	 LATERAL (VALUES ('uuidv1()', public.uuidv1_timestamp(v1)),
					 ('uuidv6()', public.uuidv6_timestamp(v6)),
					 ('uuidv7()', public.uuidv7_timestamp_micros(v7)),
					 ('uuidv8()', public.uuidv8_timestamp(v8)),
					 ('uuidv8_node(1)', public.uuidv7_timestamp_micros(v7_of(v8_node)))) AS read (call, made_at);
SELECT is(count(*) FILTER (WHERE made_at IS NULL OR made_at NOT BETWEEN began - interval '1 microsecond' AND ended + interval '1 microsecond'),
		  0::bigint, call || ': the timestamp is that of the call, to the microsecond')
FROM times GROUP BY call ORDER BY call;

SELECT * FROM finish();
ROLLBACK;
