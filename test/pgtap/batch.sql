-- uuidv7_batch() returns the requested number of values.  Its values and those of uuidv7()
-- increase in the order in which they are generated.  A batch does not need more memory for
-- more values, and can be canceled.

BEGIN;
SELECT plan(24);

CREATE FUNCTION batch_is_good(a_method text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('uuid9562.v7_method', a_method, true);
	CREATE TEMP TABLE made (n bigserial, id uuid);
	INSERT INTO made (id) SELECT public.uuidv7();
	INSERT INTO made (id) SELECT public.uuidv7_batch(100000);
	INSERT INTO made (id) SELECT id FROM public.uuidv7_batch(100000) AS id;
	INSERT INTO made (id) SELECT public.uuidv7();
	RETURN NEXT is(count(*), 200002::bigint, a_method || ': batches have the requested number of values')
	FROM made WHERE public.uuidv7_timestamp(id) BETWEEN now() - interval '1 second' AND clock_timestamp() + interval '1 second';
	RETURN NEXT is(count(*), 0::bigint, a_method || ': every value is greater than the one before it')
	FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before FROM made) AS pairs WHERE id <= before;
	DROP TABLE made;
END
$$;
SELECT batch_is_good(method) FROM unnest(ARRAY['fraction', 'counter', 'random']) AS method;
SET LOCAL uuid9562.v7_method = fraction;

SELECT is(count(*), 0::bigint, 'values of uuidv7() that are generated during a batch are in order with those of the batch')
FROM (SELECT least(a, b) AS first, lag(greatest(a, b)) OVER (ORDER BY n) AS before
	  FROM (SELECT row_number() OVER () AS n, a, b
			FROM (SELECT public.uuidv7_batch(5000) AS a, public.uuidv7() AS b OFFSET 0) AS both_sides) AS numbered) AS pairs
WHERE first <= before;

SELECT is((SELECT count(*) FROM public.uuidv7_batch(n)), 0::bigint, format('no value for n of %s', coalesce(n::text, 'NULL')))
FROM unnest(ARRAY[0, -9223372036854775808, NULL]) AS n;
SELECT is((SELECT count(*) FROM (SELECT public.uuidv7_batch(9223372036854775807) LIMIT 1000) AS ids), 1000::bigint, 'LIMIT ends a batch');
SELECT is((SELECT count(DISTINCT id) FROM generate_series(1, 10) AS n, public.uuidv7_batch(n) AS id), 55::bigint,
		  'each row has a batch of its own');

-- Rows with the same n: without the support function, Memoize would repeat their values.
CREATE TEMP TABLE orders AS SELECT k, k % 3 + 1 AS n FROM generate_series(1, 300) AS k;
ANALYZE orders;
SELECT is((SELECT count(DISTINCT id) FROM orders, LATERAL public.uuidv7_batch(n) AS id), 600::bigint,
		  'each row has a batch of its own in FROM');
SELECT is((SELECT count(DISTINCT id) FROM orders, LATERAL (SELECT public.uuidv7_batch(n)) AS ids (id)), 600::bigint,
		  'each row has a batch of its own in a LATERAL subquery');
SELECT is((SELECT count(DISTINCT id) FROM orders, LATERAL (SELECT id FROM public.uuidv7_batch(n) AS id UNION SELECT public.uuidv7_batch(n + 1)) AS ids), 1500::bigint,
		  'each row has batches of its own in a UNION');
CREATE OPERATOR public.### (FUNCTION = public.uuidv7_batch, RIGHTARG = bigint);
SELECT is((SELECT count(*) FROM (SELECT OPERATOR(public.###) 5::bigint) AS ids), 5::bigint, 'an operator generates a batch');
SELECT is((SELECT count(DISTINCT id) FROM orders, LATERAL (SELECT OPERATOR(public.###) n::bigint) AS ids (id)), 600::bigint,
		  'each row has a batch of its own of an operator');

-- Measure the memory contexts of the executor, in which a set-returning function allocates.
-- A million leaked values would take at least 16 MB.
CREATE TEMP TABLE memory (contexts bigint, bytes numeric);
PREPARE measure AS
INSERT INTO memory
SELECT count(*) FILTER (WHERE name = 'SRF multi-call context'), sum(total_bytes)
FROM pg_backend_memory_contexts WHERE name IN ('ExecutorState', 'ExprContext', 'SRF multi-call context');
DECLARE ids CURSOR FOR SELECT public.uuidv7_batch(9223372036854775807);
MOVE 1000 IN ids;
EXECUTE measure;
MOVE 1000000 IN ids;
EXECUTE measure;
SELECT results_eq('SELECT contexts, bytes < (SELECT min(bytes) + 1000000 FROM memory) FROM memory', 'VALUES (1::bigint, true), (1, true)',
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
SELECT ok(is_cancelled('SELECT count(*) FROM (SELECT public.uuidv7_batch(1000000000000)) AS ids'), 'a batch can be canceled');
SELECT ok(is_cancelled('SELECT count(*) FROM public.uuidv7_batch(1000000000000)'), 'a batch in FROM can be canceled');
RESET statement_timeout;

CREATE FUNCTION rows_expected(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN (plan -> 0 -> 'Plan' ->> 'Plan Rows')::numeric;
END
$$;
SELECT is(rows_expected('SELECT public.uuidv7_batch(12345)'), 12345::numeric, 'the planner expects n rows');
SELECT is(rows_expected('SELECT * FROM public.uuidv7_batch(123 * 10)'), 1230::numeric, 'the planner evaluates n');
SELECT is(rows_expected('SELECT * FROM public.uuidv7_batch(-5)'), 1::numeric, 'the planner expects one row of an empty batch');
SELECT ok(rows_expected('SELECT * FROM public.uuidv7_batch((SELECT 5))') > 0, 'the planner expects rows if it does not know n');

SELECT * FROM finish();
ROLLBACK;
