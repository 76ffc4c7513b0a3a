-- The time in a new value is the clock's, as fine as the field holds it.
BEGIN;
SELECT plan(10);

-- The 60-bit time of a UUID, whatever its version.
CREATE FUNCTION time_of(id uuid) RETURNS bigint LANGUAGE sql IMMUTABLE AS
$$SELECT ('x0' || substr(replace(id::text, '-', ''), 1, 12) || substr(id::text, 16, 3))::bit(64)::bigint$$;
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
SELECT is(count(*) FILTER (WHERE made_at NOT BETWEEN began - interval '1 microsecond' AND ended + interval '1 microsecond'),
		  0::bigint, call || ': the timestamp is that of the call, to the microsecond')
FROM times GROUP BY call ORDER BY call;

-- and finer than that
SELECT cmp_ok(count(DISTINCT time_of(public.uuidv1_to_v6(v1)) % 10), '>', 5::bigint, 'uuidv1() has the clock''s 100 ns') FROM made;
SELECT cmp_ok(count(DISTINCT time_of(v6) % 10), '>', 5::bigint, 'uuidv6() has the clock''s 100 ns') FROM made;
SELECT cmp_ok(count(DISTINCT time_of(v7) % 4096), '>', 100::bigint, 'uuidv7() has the clock''s 4096ths of a millisecond') FROM made;
SELECT cmp_ok(count(DISTINCT time_of(v8) % 100), '>', 50::bigint, 'uuidv8() has the clock''s 10 ns') FROM made;
SELECT cmp_ok(count(DISTINCT time_of(v8_node) % 4096), '>', 100::bigint, 'uuidv8_node() has the clock''s 4096ths of a millisecond') FROM made;

SELECT * FROM finish();
ROLLBACK;
