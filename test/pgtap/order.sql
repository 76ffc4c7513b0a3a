-- A million values of every time-based generator in one session: version and
-- variant right, strictly increasing, at the time of the server's clock.

BEGIN;
SELECT plan(35);

-- The generators, the version of their values, and how to sort v1: by time.
CREATE TEMP TABLE generators (call text, method text, version int, time_of text);
INSERT INTO generators VALUES
	('public.uuidv1()', 'fraction', 1, 'public.uuidv1_timestamp(id)'),
	('public.uuidv6()', 'fraction', 6, 'public.uuidv6_timestamp(id)'),
	('public.uuidv7()', 'fraction', 7, 'public.uuidv7_timestamp(id)'),
	('public.uuidv7()', 'counter', 7, 'public.uuidv7_timestamp(id)'),
	('public.uuidv7()', 'random', 7, 'public.uuidv7_timestamp(id)'),
	('public.uuidv8()', 'fraction', 8, 'public.uuidv8_timestamp(id)'),
	('public.uuidv8_node(42)', 'fraction', 8,
	 'public.uuidv7_timestamp(overlay(id::text PLACING ''7'' FROM 15)::uuid)');

CREATE FUNCTION million_values(call text, method text, wanted int, time_of text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
	ended timestamptz;
	label text := call || ', method ' || method || ': ';
	bad bigint;
BEGIN
	PERFORM set_config('uuid9562.v7_method', method, true);
	CREATE TEMP TABLE made (n bigint, id uuid);
	began := clock_timestamp();
	EXECUTE format('INSERT INTO made SELECT n, %s FROM generate_series(1, 1000000) AS n', call);
	ended := clock_timestamp();

	SELECT count(*) INTO bad FROM made
	WHERE public.uuid_extract_version(id) IS DISTINCT FROM wanted
	   OR public.uuid_extract_variant(id) <> 'rfc9562';
	RETURN NEXT is(bad, 0::bigint, label || 'every value has version ' || wanted || ' and the variant of the RFC');

	EXECUTE format($q$
		SELECT count(*) FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous
							  FROM (SELECT n, %s AS id FROM made) AS sortable) AS pairs
		WHERE id <= previous$q$, CASE WHEN wanted = 1 THEN 'public.uuidv1_to_v6(id)' ELSE 'id' END)
	INTO bad;
	RETURN NEXT is(bad, 0::bigint, label || 'every value is greater than the one before it');

	SELECT count(DISTINCT id) INTO bad FROM made;
	RETURN NEXT is(bad, 1000000::bigint, label || 'no value comes twice');

	EXECUTE format('SELECT count(*) FROM made WHERE %1$s IS NULL OR %1$s NOT BETWEEN $1 AND $2', time_of)
	INTO bad USING began - interval '1 second', ended + interval '1 second';
	RETURN NEXT is(bad, 0::bigint, label || 'every timestamp is within a second of the server''s clock');

	EXECUTE format('SELECT count(*) FROM (SELECT %1$s AS t, lag(%1$s) OVER (ORDER BY n) AS previous FROM made) AS pairs WHERE t < previous', time_of)
	INTO bad;
	RETURN NEXT is(bad, 0::bigint, label || 'no timestamp is earlier than the one before it');
	DROP TABLE made;
END
$$;

SELECT million_values(call, method, version, time_of) FROM generators;

SELECT * FROM finish();
ROLLBACK;
