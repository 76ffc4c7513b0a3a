-- Version 4: a million distinct values, random in every bit but six.  Version 7,
-- each method: random where it says so, and no two alike.

BEGIN;
SELECT plan(11);

CREATE TEMP TABLE made AS SELECT public.uuidv4() AS id FROM generate_series(1, 1000000);
SELECT is(count(DISTINCT id), 1000000::bigint, 'a million values, all distinct') FROM made;
SELECT is(count(*), 0::bigint, 'every value has version 4 and the variant of the RFC')
FROM made WHERE public.uuid_extract_version(id) IS DISTINCT FROM 4 OR public.uuid_extract_variant(id) <> 'rfc9562';

-- 20,000 values: a fair bit is set 10,000 times, give or take 500 (7 sigma)
CREATE TEMP TABLE bits AS
SELECT bit, sum(get_bit(uuid_send(id), bit)) AS ones
FROM (SELECT id FROM made LIMIT 20000) AS sample, generate_series(0, 127) AS bit
GROUP BY bit;
-- get_bit counts the bits of an octet from the right
SELECT is(array_agg(bit ORDER BY bit) FILTER (WHERE ones IN (0, 20000)), '{52,53,54,55,70,71}'::int[],
		  'version and variant are the fixed bits') FROM bits;
SELECT is(array_agg(bit ORDER BY bit) FILTER (WHERE ones NOT BETWEEN 9500 AND 10500 AND ones NOT IN (0, 20000)), NULL::int[],
		  'every other bit is set half the time') FROM bits;

-- no bit is a copy of another: each pair of bits agrees half the time
CREATE TEMP TABLE vectors AS
SELECT bit, string_agg(get_bit(uuid_send(id), bit)::text, '' ORDER BY id)::varbit AS vector
FROM (SELECT id FROM made LIMIT 20000) AS sample, generate_series(0, 127) AS bit
WHERE bit <> ALL ('{52,53,54,55,70,71}')
GROUP BY bit;
SELECT is_empty(
	$$SELECT a.bit, b.bit FROM vectors AS a JOIN vectors AS b ON a.bit < b.bit
	  WHERE length(replace((a.vector # b.vector)::text, '0', '')) NOT BETWEEN 9500 AND 10500$$,
	'no bit is a copy of another');

-- version 7: from that bit on
CREATE FUNCTION random_bits(method text, first int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	bad int[];
	distinct_ends bigint;
BEGIN
	PERFORM set_config('uuid9562.v7_method', method, true);
	CREATE TEMP TABLE v7 AS SELECT public.uuidv7() AS id FROM generate_series(1, 200000);

	SELECT array_agg(bit ORDER BY bit) INTO bad
	FROM (SELECT bit, sum(get_bit(uuid_send(id), (bit & ~7) + 7 - (bit & 7))) AS ones
		  FROM (SELECT id FROM v7 LIMIT 20000) AS sample, generate_series(first, 127) AS bit GROUP BY bit) AS bits
	WHERE ones NOT BETWEEN 9500 AND 10500;
	RETURN NEXT is(bad, NULL::int[], method || ': every bit from bit ' || first || ' on is set half the time');

	-- 200,000 values of 32 bits: 4.7 pairs of the same are expected
	SELECT count(DISTINCT substring(uuid_send(id) FROM 13)) INTO distinct_ends FROM v7;
	RETURN NEXT ok(200000 - distinct_ends <= 20, method || ': the last 32 bits of 200,000 values collide as often as chance has it');
	DROP TABLE v7;
END$$;
SELECT random_bits('fraction', 70);
SELECT random_bits('counter', 70);
SELECT random_bits('random', 96);

SELECT * FROM finish();
ROLLBACK;
