-- In one session, 100,000 values of each generator have its version and the time of the
-- clock, and each is greater than the one before it.  Version 1 does not sort by time, so its
-- values are converted to version 6 first.

BEGIN;
SELECT plan(21);

CREATE FUNCTION values_are_in_order(call text, method text, version int, time_of text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
	label text := call || ', method ' || method || ': ';
BEGIN
	PERFORM set_config('uuid9562.v7_method', method, true);
	EXECUTE format('CREATE TEMP TABLE made AS SELECT n, id, public.%s(id) AS time FROM (SELECT n, public.%s AS id FROM generate_series(1, 100000) AS n OFFSET 0) AS a',
				   time_of, call);
	RETURN NEXT is(count(*), 0::bigint, label || 'every value has version ' || version || ' and the variant of the RFC')
	FROM made WHERE public.uuid_extract_version(id) IS DISTINCT FROM version;
	RETURN NEXT is(count(*), 0::bigint, label || 'every value is greater than the one before it')
	FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous
		  FROM (SELECT n, CASE WHEN version = 1 THEN public.uuidv1_to_v6(id) ELSE id END AS id FROM made) AS sortable) AS pairs
	WHERE id <= previous;
	RETURN NEXT is(count(*), 0::bigint, label || 'every timestamp is the time of the server''s clock')
	FROM made WHERE (time BETWEEN began - interval '1 millisecond' AND clock_timestamp() + interval '1 second') IS NOT TRUE;
	DROP TABLE made;
END
$$;
SELECT values_are_in_order(call, method, version, time_of)
FROM (VALUES
	('uuidv1()', 'fraction', 1, 'uuid_extract_timestamp'),
	('uuidv6()', 'fraction', 6, 'uuidv6_timestamp'),
	('uuidv7()', 'fraction', 7, 'uuidv7_timestamp'),
	('uuidv7()', 'counter', 7, 'uuidv7_timestamp'),
	('uuidv7()', 'random', 7, 'uuidv7_timestamp'),
	('uuidv8()', 'fraction', 8, 'uuidv8_timestamp'),
	('uuidv8_node(42)', 'fraction', 8, 'uuidv8_node_timestamp')) AS generators (call, method, version, time_of);

SELECT * FROM finish();
ROLLBACK;
