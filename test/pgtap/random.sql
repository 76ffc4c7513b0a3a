-- A million values of uuidv4() are distinct, and random in all but six bits.  Values of
-- uuidv7() with each method, UUIDs for a given time, and UUIDs with a node ID are random in
-- the documented bits.

BEGIN;
SELECT plan(19);

CREATE TEMP TABLE made AS SELECT public.uuidv4() AS id FROM generate_series(1, 1000000);
SELECT is(count(DISTINCT id), 1000000::bigint, 'a million values, all distinct') FROM made;
SELECT is(count(*), 0::bigint, 'every value has version 4 and the variant of the RFC')
FROM made WHERE public.uuid_extract_version(id) IS DISTINCT FROM 4;

-- in 20,000 values, a random bit is set 10,000 times, plus or minus 500 (7 sigma)
CREATE TEMP TABLE bits AS
SELECT bit, sum(get_bit(uuid_send(id), bit)) AS ones
FROM (SELECT id FROM made LIMIT 20000) AS sample, generate_series(0, 127) AS bit
GROUP BY bit;
-- get_bit() numbers the bits of a byte from the right, so the version has the bits 52 to
-- 55, and the variant the bits 70 and 71
SELECT is(array_agg(bit ORDER BY bit) FILTER (WHERE ones IN (0, 20000)), '{52,53,54,55,70,71}'::int[],
		  'version and variant are the fixed bits') FROM bits;
SELECT is(array_agg(bit ORDER BY bit) FILTER (WHERE ones NOT BETWEEN 9500 AND 10500 AND ones NOT IN (0, 20000)), NULL::int[],
		  'each of the 122 random bits is set half the time') FROM bits;

-- two random bits are equal in about half of the values; a bit and its copy would be equal
-- in all of them
CREATE TEMP TABLE vectors AS
SELECT bit, string_agg(get_bit(uuid_send(id), bit)::text, '' ORDER BY id)::varbit AS vector
FROM (SELECT id FROM made LIMIT 20000) AS sample, generate_series(0, 127) AS bit
WHERE bit <> ALL ('{52,53,54,55,70,71}')
GROUP BY bit;
SELECT is_empty(
	$$SELECT a.bit, b.bit FROM vectors AS a JOIN vectors AS b ON a.bit < b.bit
	  WHERE bit_count(a.vector # b.vector) NOT BETWEEN 9500 AND 10500$$,
	'no bit is a copy of another');

-- Test that the given bits, numbered from the left, are random in 20,000 values of an
-- expression, and that the last 32 bits are random in 200,000 values.
CREATE FUNCTION random_bits(name text, expression text, bits int4multirange) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	bad int[];
	distinct_ends bigint;
BEGIN
	EXECUTE format('CREATE TEMP TABLE given AS SELECT %s AS id FROM generate_series(1, 200000)', expression);

	SELECT array_agg(bit ORDER BY bit) INTO bad
	FROM (SELECT bit, sum(get_bit(uuid_send(id), (bit & ~7) + 7 - (bit & 7))) AS ones
		  FROM (SELECT id FROM given LIMIT 20000) AS sample, generate_series(0, 127) AS bit WHERE bit <@ bits GROUP BY bit) AS sums
	WHERE ones NOT BETWEEN 9500 AND 10500;
	RETURN NEXT is(bad, NULL::int[], format('%s: every bit of %s is set half the time', name, bits));

	-- among 200,000 random values of 32 bits, 4.7 pairs of equal values are expected
	SELECT count(DISTINCT substring(uuid_send(id) FROM 13)) INTO distinct_ends FROM given;
	RETURN NEXT ok(200000 - distinct_ends <= 20, name || ': at most 20 of 200,000 values repeat the last 32 bits of another');
	DROP TABLE given;
END$$;
SET LOCAL uuid9562.v7_method = 'fraction';
SELECT random_bits('fraction', 'public.uuidv7()', '{[70,128)}');
SET LOCAL uuid9562.v7_method = 'counter';
SELECT random_bits('counter', 'public.uuidv7()', '{[70,128)}');
SET LOCAL uuid9562.v7_method = 'random';
SELECT random_bits('random', 'public.uuidv7()', '{[96,128)}');

-- UUIDs for a given time, and UUIDs with a node ID; a random node has one bit that is not
-- random, and the 16 bits of a node ID are not random
SELECT random_bits('uuidv7_at', $$public.uuidv7_at('2026-01-01')$$, '{[66,128)}');
SELECT random_bits('uuidv6_at', $$public.uuidv6_at('2026-01-01')$$, '{[66,87),[88,128)}');
SELECT random_bits('uuidv8_node_at', $$public.uuidv8_node_at('2026-01-01', 1)$$, '{[66,70),[86,128)}');
SELECT random_bits('uuidv8_node', $$public.uuidv8_node(1)$$, '{[86,128)}');

SELECT * FROM finish();
ROLLBACK;
