-- uuidv7_batch: so many values, in order, also with those made meanwhile; no
-- more than asked for, in no more memory, and not against the user's will.

BEGIN;
SELECT plan(30);

CREATE FUNCTION rows_expected(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN (plan -> 0 -> 'Plan' ->> 'Plan Rows')::numeric;
END
$$;

-- a batch, numbered in the order it comes in
CREATE FUNCTION batch_is_good(a_method text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
	bad bigint;
BEGIN
	PERFORM set_config('uuid9562.v7_method', a_method, true);
	CREATE TEMP TABLE made (n bigserial, id uuid);
	INSERT INTO made (id) SELECT public.uuidv7();
	INSERT INTO made (id) SELECT public.uuidv7_batch(200000);
	INSERT INTO made (id) SELECT id FROM public.uuidv7_batch(200000) AS id;
	INSERT INTO made (id) SELECT public.uuidv7();
	RETURN NEXT is(count(*), 400002::bigint, a_method || ': as many as asked for') FROM made;
	RETURN NEXT is(count(*), 0::bigint, a_method || ': each is greater than the one before it')
	FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before FROM made) AS pairs WHERE id <= before;
	RETURN NEXT is(count(*), 0::bigint, a_method || ': all of version 7')
	FROM made WHERE public.uuid_extract_version(id) IS DISTINCT FROM 7;
	RETURN NEXT is(count(*), 0::bigint, a_method || ': all with the time they were made at')
	FROM made WHERE public.uuidv7_timestamp(id) NOT BETWEEN began - interval '1 second' AND clock_timestamp() + interval '1 second';
	RETURN NEXT cmp_ok(count(DISTINCT right(id::text, 8)), '>', 399000::bigint, a_method || ': random bits differ') FROM made;
	DROP TABLE made;
END
$$;
SELECT batch_is_good(method) FROM unnest(ARRAY['fraction', 'counter', 'random']) AS method;
SET LOCAL uuid9562.v7_method = fraction;

SELECT is(count(*), 0::bigint, 'those of uuidv7() made meanwhile stand in order between them')
FROM (SELECT id, lag(id) OVER () AS before
	  FROM (SELECT n, which, id
			FROM (SELECT row_number() OVER () AS n, a, b
				  FROM (SELECT public.uuidv7_batch(5000) AS a, public.uuidv7() AS b OFFSET 0) AS both_sides) AS numbered,
				 LATERAL (VALUES (1, least(a, b)), (2, greatest(a, b))) AS v (which, id)
			ORDER BY n, which) AS ordered) AS pairs
WHERE id <= before;

SELECT is((SELECT count(*) FROM public.uuidv7_batch(n)), 0::bigint, format('none for n of %s', coalesce(n::text, 'NULL')))
FROM unnest(ARRAY[0, -1, -9223372036854775808, NULL]) AS n;
SELECT is((SELECT count(*) FROM public.uuidv7_batch(1)), 1::bigint, 'one for n of 1');
SELECT is((SELECT count(*) FROM (SELECT public.uuidv7_batch(9223372036854775807) LIMIT 1000) AS ids), 1000::bigint,
		  'a LIMIT ends it');
SELECT is((SELECT count(*) FROM generate_series(1, 10) AS n, public.uuidv7_batch(n)), 55::bigint,
		  'a batch for each row');
SELECT is((SELECT count(DISTINCT id) FROM generate_series(1, 10) AS n, public.uuidv7_batch(n) AS id), 55::bigint,
		  'and none of their values twice');

-- Memory: no more after a million than after a thousand.
CREATE TEMP TABLE memory (octets numeric);
CREATE TEMP VIEW memory_now AS
SELECT sum(total_bytes) AS octets FROM pg_backend_memory_contexts WHERE name <> 'CacheMemoryContext';
DECLARE ids CURSOR FOR SELECT public.uuidv7_batch(9223372036854775807);
MOVE 1000 IN ids;
INSERT INTO memory SELECT octets FROM memory_now;
MOVE 1000000 IN ids;
SELECT cmp_ok((SELECT octets FROM memory_now), '<', (SELECT octets + 100000 FROM memory),
			  'a million values take no more memory than a thousand');
CLOSE ids;

CREATE FUNCTION is_cancelled(query text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN false;
EXCEPTION WHEN query_canceled THEN
	RETURN true;
END
$$;
SET LOCAL statement_timeout = '200ms';
SELECT ok(is_cancelled('SELECT count(*) FROM (SELECT public.uuidv7_batch(1000000000000)) AS ids'), 'it can be cancelled');
SELECT ok(is_cancelled('SELECT count(*) FROM public.uuidv7_batch(1000000000000)'), 'also in FROM');
RESET statement_timeout;

SELECT is(rows_expected('SELECT public.uuidv7_batch(12345)'), 12345::numeric, 'the planner expects n rows');
SELECT is(rows_expected('SELECT * FROM public.uuidv7_batch(123 * 10)'), 1230::numeric, 'also of an expression');
SELECT is(rows_expected('SELECT * FROM public.uuidv7_batch(-5)'), 1::numeric, 'at least one, as always');

SELECT * FROM finish();
ROLLBACK;
