-- The three methods of RFC 9562, 6.2, seen from SQL: how two values of one
-- moment differ.  A value of method counter first: its counter is seeded in
-- the 12 bits where the others keep the fraction, so their time stands ahead
-- of the clock for a while and the next values must step.

BEGIN;
SELECT plan(6);

-- The time (60 bits) and the tail (62 bits) of a UUID.
CREATE FUNCTION time_of(id uuid) RETURNS bigint LANGUAGE sql IMMUTABLE AS
$$SELECT ('x0' || substr(replace(id::text, '-', ''), 1, 12) || substr(id::text, 16, 3))::bit(64)::bigint$$;
CREATE FUNCTION tail_of(id uuid) RETURNS bigint LANGUAGE sql IMMUTABLE AS
$$SELECT ('x' || substr(replace(id::text, '-', ''), 17, 16))::bit(64)::bigint & 4611686018427387903$$;

SELECT is(to_hex(time_of('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')), '17f22e279b0cc3', 'the test reads the time');
SELECT is(to_hex(tail_of('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')), '18c4dc0c0c07398f', 'the test reads the tail');

CREATE FUNCTION pairs(method text) RETURNS TABLE (a uuid, b uuid) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..1000 LOOP
		PERFORM set_config('uuid9562.v7_method', 'counter', true), public.uuidv7();
		PERFORM set_config('uuid9562.v7_method', method, true);
		SELECT public.uuidv7(), public.uuidv7() INTO a, b;
		RETURN NEXT;
	END LOOP;
END
$$;

CREATE TEMP TABLE stepped AS
SELECT method, a, b, time_of(b) - time_of(a) AS time_step, tail_of(b) - tail_of(a) AS tail_step
FROM unnest('{fraction,counter,random}'::text[]) AS method, LATERAL pairs(method);

SELECT cmp_ok(count(*), '>', 10::bigint, 'fraction: the counter steps by one, and the 58 bits below are new')
FROM stepped
WHERE method = 'fraction' AND time_step = 0
  AND (tail_of(b) >> 58) = (tail_of(a) >> 58) + 1
  AND (tail_step & 288230376151711743) <> 0;
SELECT cmp_ok(count(*), '>', 10::bigint, 'counter: the 16 bits after the milliseconds step by one')
FROM stepped
WHERE method = 'counter'
  AND (time_of(b) << 4) + (tail_of(b) >> 58) = (time_of(a) << 4) + (tail_of(a) >> 58) + 1;
SELECT cmp_ok(count(*), '>', 10::bigint, 'random: the tail grows by 1 to 2^32')
FROM stepped
WHERE method = 'random' AND time_step = 0 AND tail_step BETWEEN 1 AND 4294967296;
SELECT is_empty(
	'SELECT * FROM stepped WHERE b <= a',
	'every method: greater, also after a change of method');

SELECT * FROM finish();
ROLLBACK;
