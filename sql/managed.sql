-- Compare managed/uuid9562.sql with the extension: names, arguments, results, errors and
-- plans.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SET max_parallel_workers_per_gather = 0;
SET enable_bitmapscan = off;
\pset format unaligned
\pset tuples_only
-- Fill a schema with traps, which raise an error: functions, operators and types with the
-- names that managed/uuid9562.sql uses.  A function or operator of the traps has the same
-- arguments as PostgreSQL's, or one or two arguments of the types in "pairs".  With arguments
-- of "pairs", a trap can match a call like mod(bigint, integer) better than PostgreSQL's
-- function, even if pg_catalog is first in the search path.
SELECT current_database() AS database \gset
CREATE SCHEMA trap;
\set ECHO none
\getenv folder PG_ABS_SRCDIR
\set script :folder '/managed/uuid9562.sql'
\lo_import :script
\set object :LASTOID
CREATE TEMPORARY TABLE words AS
SELECT DISTINCT word[1] FROM regexp_matches(convert_from(lo_get(:object), 'UTF8'), '\w+|[-+*/<>=~!@#%^&|?]+', 'g') AS word;
\lo_unlink :object
CREATE TEMPORARY TABLE pairs AS
SELECT a, b FROM unnest('{int,bigint,numeric,text,interval,timestamptz,tstzrange}'::regtype[]) AS a,
				 unnest('{int,bigint,numeric,text,interval,timestamptz,tstzrange}'::regtype[]) AS b;
CREATE TEMPORARY TABLE functions AS
SELECT proname, pronargs, oidvectortypes(proargtypes) AS arguments FROM pg_proc JOIN words ON proname = word WHERE prokind = 'f';
CREATE TEMPORARY TABLE operators AS
SELECT oprname, NULLIF(oprleft, 0)::regtype AS a, oprright::regtype AS b FROM pg_operator JOIN words ON oprname = word
UNION SELECT oprname, a, b FROM pg_operator JOIN words ON oprname = word, pairs;
SELECT format('CREATE FUNCTION trap.%I(%s) RETURNS boolean LANGUAGE plpgsql AS %L', proname, arguments, 'BEGIN RAISE ''trap''; END')
FROM (SELECT proname, arguments FROM functions
	  UNION SELECT proname, a::text FROM functions, pairs WHERE pronargs = 1
	  UNION SELECT proname, concat_ws(', ', a, b) FROM functions, pairs WHERE pronargs = 2
	  UNION SELECT 'spring', concat_ws(', ', a, b) FROM operators) AS traps
WHERE arguments !~ '"any"|cstring|internal|record' \gexec
SELECT format('CREATE OPERATOR trap.%s (%s RIGHTARG = %s, FUNCTION = trap.spring)', oprname, 'LEFTARG = ' || a || ',', b)
FROM operators WHERE 'record'::regtype NOT IN (a, b) \gexec
SELECT format('CREATE DOMAIN trap.%I AS pg_catalog.%I CHECK (false)', typname, typname) FROM pg_type JOIN words ON typname = word
WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype IN ('b', 'r') \gexec
\set ECHO all

-- Run the file with the schema of the traps first in the search path, as a role that is not
-- a superuser but can create a schema.
CREATE ROLE regress_uuid9562_owner;
GRANT CREATE ON DATABASE :database TO regress_uuid9562_owner;
GRANT USAGE ON SCHEMA trap TO regress_uuid9562_owner;
SET ROLE regress_uuid9562_owner;
SET client_min_messages = warning;
SET search_path = trap, pg_catalog;
\set ECHO none
\i :script
\set ECHO all
RESET client_min_messages;
RESET ROLE;
RESET search_path;

-- no function of the file calls a trap; the three queries after EXECUTE call traps, to
-- show that the traps raise errors
PREPARE every_function (uuid, uuid, timestamptz, tstzrange) AS
SELECT uuid9562.uuidv7_timestamp_micros($1) AS micros, uuid9562.uuidv7_ordinal($1) AS ordinal, uuid9562.uuid_extract_timestamp($1) AS "timestamp",
	   uuid9562.uuidv6_to_v1($2) AS v1, uuid9562.uuidv1_to_v6(uuid9562.uuidv6_to_v1($2)) AS v6,
	   uuid9562.uuidv7_from($3, '\x0123456789abcdef01') AS "from", uuid9562.uuidv7_floor($3) AS floor, uuid9562.uuidv7_ceil($3) AS ceil, uuid9562.uuidv7_timestamp_micros(uuid9562.uuidv7_at($3)) AS at,
	   uuid9562.uuidv7_lower_bound($4) AS lowest, uuid9562.uuidv7_upper_bound($4) AS highest, uuid9562.uuidv7_within($1, $4) AS within,
	   $1 OPERATOR(uuid9562.<@) $4 AS contained, $4 OPERATOR(uuid9562.@>) $1 AS contains,
	   uuid9562.uuid_decode(uuid9562.uuid_encode($1, 'ulid'), 'ulid') AS ulid, uuid9562.uuid_decode(uuid9562.uuid_encode($1, 'base58'), 'base58') AS base58,
	   uuid9562.uuid_is_v7(uuid9562.uuidv7_next()) AS next, uuid9562.min($1) AS min, uuid9562.max($2) AS max;
SET search_path = trap, pg_catalog;
\x on
EXECUTE every_function ('01a2027b-dc23-7cc4-94d1-c5a6203e5be8', '1ec9414c-232a-6b00-b3c8-9f6bdeced846', '2026-03-01 12:34:56.789012',
						'(2026-01-01,2027-01-01]');
\x off
SELECT mod(1::bigint, 1) AS trap;
SELECT 1::numeric * 1 AS trap;
SELECT lower('[2026-01-01,2026-02-01)'::pg_catalog.tstzrange) AS trap;
RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA trap CASCADE;
RESET client_min_messages;

-- each function of the file exists in the extension with the same arguments, result,
-- volatility and parallel safety
SELECT p.oid::regprocedure, pg_get_function_arguments(p.oid) AS arguments
FROM pg_proc AS p
WHERE p.pronamespace = 'uuid9562'::regnamespace
	  AND NOT EXISTS (SELECT FROM pg_proc AS c
					  WHERE c.pronamespace = 'public'::regnamespace AND c.proname = p.proname AND c.prokind = p.prokind
							AND c.provolatile = p.provolatile AND c.proparallel = p.proparallel
							AND replace(pg_get_function_arguments(c.oid), 'public.', '') = replace(pg_get_function_arguments(p.oid), 'uuid9562.', '')
							AND pg_get_function_result(c.oid) = pg_get_function_result(p.oid));
SELECT count(*) FROM pg_proc WHERE pronamespace = 'uuid9562'::regnamespace;
-- each function of the file has the same comment as in the extension
SELECT p.oid::regprocedure, obj_description(p.oid, 'pg_proc')
FROM pg_proc AS p LEFT JOIN pg_proc AS c
	 ON c.pronamespace = 'public'::regnamespace AND c.proname = p.proname
		AND replace(pg_get_function_arguments(c.oid), 'public.', '') = replace(pg_get_function_arguments(p.oid), 'uuid9562.', '')
WHERE p.pronamespace = 'uuid9562'::regnamespace
	  AND obj_description(p.oid, 'pg_proc') IS DISTINCT FROM obj_description(c.oid, 'pg_proc');

-- 100,000 IDs: of every version and variant, near both ends of each field, and random IDs
CREATE TABLE ids AS
SELECT CASE n % 5
	   WHEN 0 THEN id
	   WHEN 1 THEN overlay(overlay(id::text PLACING '7' FROM 15) PLACING '8' FROM 20)::uuid
	   WHEN 2 THEN overlay(overlay(id::text PLACING substr('167', n % 3 + 1, 1) FROM 15) PLACING substr('89ab', n % 4 + 1, 1) FROM 20)::uuid
	   WHEN 3 THEN overlay(public.uuidv7_at('2026-01-01'::timestamptz + n * interval '1003 microseconds')::text
						   PLACING substr('47', n % 2 + 1, 1) FROM 15)::uuid
	   ELSE overlay(overlay(overlay(id::text PLACING substr('0f', n / 5 % 2 + 1, 1) || repeat(substr('0f', n / 5 % 2 + 1, 1), 7) FROM 1)
									PLACING substr('167', n % 3 + 1, 1) FROM 15) PLACING 'a' FROM 20)::uuid
	   END AS id, n
FROM (SELECT n, md5(n::text)::uuid AS id FROM generate_series(1, 100000) AS n) AS random;
-- Return each call whose results differ between the file and the extension, with one
-- argument row for which they differ.
CREATE FUNCTION different(calls text[], rows text = 'ids') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	call text;
BEGIN
	FOREACH call IN ARRAY calls LOOP
		RETURN QUERY EXECUTE format('SELECT %L || given FROM %s AS given WHERE uuid9562.%s IS DISTINCT FROM public.%3$s LIMIT 1', call, rows, call);
	END LOOP;
END$$;
SELECT different('{uuid_is_v7(id),uuid_extract_version(id),uuid_extract_timestamp(id),uuidv7_timestamp(id),uuidv7_timestamp_micros(id)}');
SELECT different('{uuidv7_ordinal(id)}', '(SELECT id FROM ids WHERE public.uuid_is_v7(id) AND id < $$80000000-0000-0000-0000-000000000000$$ OFFSET 0)');
SELECT different('{uuidv1_to_v6(id)}', '(SELECT id FROM ids WHERE public.uuid_extract_version(id) = 1 OFFSET 0)');
SELECT different('{uuidv6_to_v1(id)}', '(SELECT id FROM ids WHERE public.uuid_extract_version(id) = 6 OFFSET 0)');
SELECT different(ARRAY['uuid_encode(id, $$ulid$$)', 'uuid_decode(public.uuid_encode(id, $$ULID$$), $$ULID$$)',
	'uuid_decode(translate(lower(public.uuid_encode(id, $$ulid$$)), $$10$$, $$lo$$), $$Ulid$$)',
	'uuid_encode(id, $$base58$$)', 'uuid_decode(public.uuid_encode(id, $$base58$$), $$base58$$)',
	'uuid_decode(ltrim(public.uuid_encode(id, $$base58$$), $$1$$), $$base58$$)',
	'uuid_encode(id, $$base58flickr$$)', 'uuid_decode(public.uuid_encode(id, $$base58flickr$$), $$Base58Flickr$$)',
	'uuid_decode(ltrim(public.uuid_encode(id, $$base58flickr$$), $$1$$), $$base58flickr$$)'], '(SELECT id FROM ids LIMIT 10000)');
SELECT count(*) > 5000 AS many_ordinals FROM ids WHERE public.uuid_is_v7(id) AND id < '80000000-0000-0000-0000-000000000000';
SELECT public.uuid_extract_version(id) AS version, count(*) > 5000 AS many FROM ids WHERE public.uuid_extract_version(id) IN (1, 6) GROUP BY 1 ORDER BY 1;
SELECT uuid9562.min(id) = public.min(id) AS min, uuid9562.max(id) = public.max(id) AS max FROM ids;

-- 100,000 times: inside, at the ends of and outside the time field of version 7; 100,000
-- periods between these times, with every kind of bound
CREATE TABLE times AS
SELECT CASE n % 8
	   WHEN 0 THEN '-infinity'
	   WHEN 1 THEN 'infinity'
	   WHEN 2 THEN '1970-01-01 00:00+00'::timestamptz + (n % 5 - 2) * interval '1 microsecond'
	   WHEN 3 THEN '10889-08-02 05:31:50.655+00'::timestamptz + (n % 2003 - 1001) * interval '1 microsecond'
	   ELSE '1960-01-01'::timestamptz + (n::bigint * 7919 % 100000) * interval '29 days 7 hours 3.141592 seconds'
	   END AS at, n
FROM generate_series(1, 100000) AS n;
CREATE TABLE periods AS
SELECT CASE WHEN a.n % 97 = 0 THEN NULL WHEN a.n % 89 = 0 THEN 'empty'
	   ELSE tstzrange(CASE WHEN a.n % 11 > 0 THEN least(a.at, b.at) END, CASE WHEN a.n % 13 > 0 THEN greatest(a.at, b.at) END,
					  (ARRAY['[)', '(]', '[]', '()'])[a.n % 4 + 1]) END AS period, a.n
FROM times AS a JOIN times AS b ON b.n = a.n * 31 % 100000 + 1;
SELECT different('{uuidv7_lower_bound(period),uuidv7_upper_bound(period)}', 'periods');
SELECT count(*) FILTER (WHERE uuid9562.uuidv7_within(id, period) IS DISTINCT FROM public.uuidv7_within(id, period)) AS within,
	   count(*) FILTER (WHERE id OPERATOR(uuid9562.<@) period IS DISTINCT FROM public.uuidv7_within(id, period)) AS contained,
	   count(*) FILTER (WHERE period OPERATOR(uuid9562.@>) id IS DISTINCT FROM public.uuidv7_within(id, period)) AS contains,
	   count(*) FILTER (WHERE public.uuidv7_within(id, period)) > 20000 AS many
FROM (SELECT CASE WHEN n % 101 > 0 THEN id END AS id, n FROM ids) AS ids JOIN periods USING (n);
DELETE FROM times WHERE at < '1970-01-01' OR at >= '10889-08-02 05:31:50.656';
SELECT different(ARRAY['uuidv7_floor(at)', 'uuidv7_ceil(at)', 'uuidv7_from(at, substr(sha256(n::text::bytea), 1, n % 10))'], 'times');
SELECT at FROM times WHERE uuid9562.uuidv7_timestamp_micros(uuid9562.uuidv7_at(at)) <> at OR NOT public.uuid_is_v7(uuid9562.uuidv7_at(at));
SELECT count(*) > 50000 AS many FROM times;
DROP TABLE ids, times, periods;
DROP FUNCTION different(text[], text);

-- generated IDs are distinct, and have the current time
SELECT count(DISTINCT id) = 10000 AS distinct, bool_and(public.uuid_is_v7(id)) AS v7,
	   bool_and(public.uuidv7_timestamp(id) BETWEEN date_trunc('milliseconds', now()) AND clock_timestamp()) AS now
FROM (SELECT uuid9562.uuidv7_next() AS id FROM generate_series(1, 10000)) AS made;

-- return the calls whose errors differ between the file and the extension: none
CREATE FUNCTION error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'none';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', SQLSTATE, SQLERRM, detail, hint);
END$$;
SELECT call, error_of('SELECT uuid9562.' || call)
FROM unnest(ARRAY[
	$$uuidv7_from('2026-01-01', '\x00000000000000000000')$$, $$uuidv7_from('infinity', repeat('x', 100)::bytea)$$, $$uuidv7_from('infinity', '')$$,
	$$uuidv7_floor('1969-12-31 23:59:59.999999+00')$$, $$uuidv7_ceil('10889-08-02 05:31:50.656+00')$$, $$uuidv7_at('infinity')$$, $$uuidv7_floor('-infinity')$$,
	$$uuidv7_ordinal('1ec9414c-232a-6b00-b3c8-9f6bdeced846')$$, $$uuidv7_ordinal('017f22e2-79b0-7cc3-d8c4-dc0c0c07398f')$$,
	$$uuidv7_ordinal('80000000-0000-7000-8000-000000000000')$$, $$uuidv7_ordinal(public.max_uuid())$$,
	$$uuidv1_to_v6('919108f7-52d1-4320-9bac-f847db4148a8')$$, $$uuidv6_to_v1('00000000-0000-0000-0000-000000000000')$$,
	$$uuid_decode('YcVfxkQb6JRzqk5kF2tNLw', 'base58')$$, $$uuid_decode('zzzzzzzzzzzzzzzzzzzzzz', 'BASE58')$$, $$uuid_decode('0ChHh89KnUdBuAbxwb2MLg', 'base58')$$,
	$$uuid_decode('11ChHh89KnUdBuAbxwb2MLg', 'base58')$$, $$uuid_decode(' 2', 'base58')$$, $$uuid_decode('', 'base58')$$,
	$$uuid_decode('xBuEXKpA6iqZQK5Kf2TnkW', 'base58flickr')$$, $$uuid_decode('0bHGAXWWp4nyyPjqh9idcZ', 'base58flickr')$$,
	$$uuid_decode(' 2', 'base58flickr')$$, $$uuid_decode('', 'base58flickr')$$, $$uuid_decode('ZZZZZZZZZZZZZZZZZZZZZZ', 'base58flickr')$$,
	$$uuid_decode('8ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'ulid')$$, $$uuid_decode('01FWHE4YDGFK1SHH6W1G60EEC', 'ulid')$$, $$uuid_decode('01FWHE4YDGFK1SHH6W1G60EECF0', 'ulid')$$,
	$$uuid_decode('01FWHE4YDGFK1SHH6W1G60EECU', 'ulid')$$, $$uuid_decode('01FWHE4YDG-FK1SHH6W1G60EEC', 'ulid')$$, $$uuid_decode('', 'ulid')$$,
	$$uuid_decode(repeat('a' || chr(8364), 100), 'ulid')$$, $$uuid_decode(repeat(chr(233), 26), 'ulid')$$, $$uuid_decode(repeat(chr(8364), 22), 'base58')$$]) AS call
WHERE error_of('SELECT uuid9562.' || call) <> error_of('SELECT public.' || call) OR error_of('SELECT public.' || call) = 'none';
-- an unknown format has the same message, but other valid formats in its hint
SELECT call, error_of('SELECT uuid9562.' || call)
FROM unnest(ARRAY[$$uuid_encode(public.nil_uuid(), 'base64')$$, $$uuid_decode('1', '')$$, $$uuid_decode('1', 'base588')$$, $$uuid_decode('1', 'base58flickr2')$$, $$uuid_encode(public.nil_uuid(), repeat(chr(8364), 50))$$]) AS call
WHERE split_part(error_of('SELECT uuid9562.' || call), ' | ', 2) <> split_part(error_of('SELECT public.' || call), ' | ', 2)
	  OR error_of('SELECT uuid9562.' || call) !~ '^22023 .* Valid formats are "ulid", "base58", and "base58flickr"';
DROP FUNCTION error_of(text);

-- Plans of period conditions: with a constant, now(), parameters and a join.
CREATE SCHEMA shop;
SET search_path = shop, uuid9562;
CREATE TABLE event (id uuid PRIMARY KEY, n int);
-- an ID for each minute, for 69 days from 2026-01-01
INSERT INTO event SELECT uuidv7_floor('2026-01-01'::timestamptz + n * interval '1 minute'), n FROM generate_series(0, 99999) AS n;
ANALYZE event;
CREATE TABLE shift (name text, period tstzrange);
INSERT INTO shift VALUES ('day', '[2026-01-10 06:00,2026-01-10 18:00)'), ('none', NULL);
ANALYZE shift;
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ '[2026-01-10,2026-01-11)';
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange('2026-01-10', '2026-01-11');
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE '[2026-01-10,2026-01-11)' @> id;
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange(now() - interval '1 day', NULL);
PREPARE by_times (timestamptz, timestamptz) AS SELECT n FROM event WHERE id <@ tstzrange($1, $2);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE by_times ('2026-01-10', '2026-01-11');
RESET plan_cache_mode;
EXPLAIN (COSTS OFF) SELECT name, n FROM shift JOIN event ON id <@ period;
SELECT name, count(n) FROM shift LEFT JOIN event ON id <@ period GROUP BY name ORDER BY name;

-- partitions are pruned during planning for a constant period, and when execution starts
-- for a period with now()
CREATE TABLE visit (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE visit_%s PARTITION OF visit FOR VALUES FROM (%L) TO (%L)', n,
			  uuidv7_floor('2026-01-01'::timestamptz + n * interval '1 month'), uuidv7_floor('2026-02-01'::timestamptz + n * interval '1 month'))
FROM generate_series(0, 3) AS n \gexec
EXPLAIN (COSTS OFF) SELECT FROM visit WHERE id <@ '[2026-02-05,2026-02-06)';
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT FROM visit WHERE id <@ tstzrange('2026-03-05'::timestamptz + least(now() - now(), '0'), NULL);
RESET enable_seqscan;

-- Switch to the extension: recreate defaults and constraints with its functions, without
-- rewriting rows.
CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next() CHECK (uuid_is_v7(id)));
INSERT INTO orders DEFAULT VALUES;
SELECT pg_relation_filenode('orders') AS node \gset
RESET search_path;
BEGIN;
ALTER TABLE shop.orders ALTER id DROP DEFAULT, DROP CONSTRAINT orders_id_check;
SET LOCAL client_min_messages = warning;
DROP SCHEMA uuid9562 CASCADE;
CREATE SCHEMA uuid9562;
DROP EXTENSION uuid9562_changes, uuid9562;	-- of the other tests
CREATE EXTENSION uuid9562 SCHEMA uuid9562;
ALTER TABLE shop.orders ALTER id SET DEFAULT uuid9562.uuidv7_next(), ADD CHECK (uuid9562.uuid_is_v7(id)) NOT VALID;
COMMIT;
ALTER TABLE shop.orders VALIDATE CONSTRAINT orders_id_check;
INSERT INTO shop.orders DEFAULT VALUES;
SELECT count(*), pg_relation_filenode('shop.orders') = :node AS not_rewritten FROM shop.orders;
\pset tuples_only
\d shop.orders
SET client_min_messages = warning;
DROP SCHEMA shop, uuid9562 CASCADE;
CREATE EXTENSION uuid9562;
CREATE EXTENSION uuid9562_changes;
DROP OWNED BY regress_uuid9562_owner;
DROP ROLE regress_uuid9562_owner;
