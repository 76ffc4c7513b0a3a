-- Measure function calls, in nanoseconds a call.  For each function, one statement makes
-- ten calls for each of 20,000 rows, and another statement has NULL in the place of each
-- call.  The difference of their CPU times is the time of the calls.  In most measures, the
-- first function is a baseline: a C function that does the minimum work.
CREATE TABLE numbers AS
SELECT n, clock_timestamp() AS time, public.uuidv1() AS v1, public.uuidv6() AS v6, public.uuidv7() AS v7,
	   public.uuidv8() AS v8, gen_random_uuid() AS v4, uuid_send(gen_random_uuid()) AS block,
	   gen_random_uuid()::text AS uuid, 'urn:uuid:' || gen_random_uuid() AS urn, '05VI5OJPM1UC7664RG60O1PPHS'::text AS base32hex,
	   '01FWHE4YDGFK1SHH6W1G60EECF'::text AS ulid, '1BihbxwwQ4NZZpKRH9JDCz'::text AS base58, '02p5oQZoHTv0zeY5yG21K3'::text AS base62,
	   'AX8i4nmwfMOYxNwMDAc5jw'::text AS base64url, 'order_01fwhe4ydgfk1shh6w1g60eecf'::text AS typeid
FROM generate_series(1, 20000) AS n;
VACUUM ANALYZE numbers;

-- The longest position, of a reader that has visited eight branches
CREATE TABLE place (position text);
DO $$
DECLARE
	longest text;
BEGIN
	FOR i IN 1 .. 8
	LOOP
		PERFORM public.uuid_generator_reset(), public.uuidv7_ordered();
		longest := public.uuidv7_position(public.uuidv7_horizon(), longest);
	END LOOP;
	INSERT INTO place VALUES (longest);
EXCEPTION WHEN undefined_function THEN
	RAISE NOTICE 'this commit has no positions';
END$$;

INSERT INTO sides (measure, side, statement, less, scale, setting)
SELECT 'ns a call, ' || measure, side, format(ten, rtrim(repeat(call || ', ', 10), ', ')), format(ten, rtrim(repeat('NULL::uuid, ', 10), ', ')), 5, setting
FROM (VALUES ('EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF) SELECT %s FROM numbers')) AS a (ten),
	 (VALUES
	('generated at the time', 'floor: allocate, read the clock', 'floor.clock()', NULL),
	('generated at the time', 'uuidv7()', 'public.uuidv7()', NULL),
	('generated at the time', 'uuidv7(), method counter', 'public.uuidv7()', 'uuid9562.v7_method=counter'),
	('generated at the time', 'uuidv7(), method random', 'public.uuidv7()', 'uuid9562.v7_method=random'),
	('generated at the time', 'uuidv7_ordered()', 'public.uuidv7_ordered()', NULL),
	('generated at the time', 'uuidv7(interval)', $$public.uuidv7('1 hour')$$, NULL),
	('generated at the time', 'uuidv6()', 'public.uuidv6()', NULL),
	('generated at the time', 'uuidv8()', 'public.uuidv8()', NULL),
	('generated at the time', 'uuidv1()', 'public.uuidv1()', NULL),
	('generated at the time', 'uuidv8_node(1)', 'public.uuidv8_node(1)', NULL),
	('generated at the time', 'PostgreSQL''s uuidv7()', 'pg_catalog.uuidv7()', NULL),
	('generated at the time', 'pg_uuidv7: uuid_generate_v7()', 'uuidv7.uuid_generate_v7()', NULL),
	('generated at the time', 'TimescaleDB: generate_uuidv7()', 'timescaledb.generate_uuidv7()', NULL),
	('generated at the time', 'uuid-ossp: uuid_generate_v1()', '"uuid-ossp".uuid_generate_v1()', NULL),
	('random', 'floor: allocate', 'floor.allocate()', NULL),
	('random', 'uuidv4()', 'public.uuidv4()', NULL),
	('random', 'PostgreSQL''s gen_random_uuid()', 'pg_catalog.gen_random_uuid()', NULL),
	('random', 'uuid-ossp: uuid_generate_v4()', '"uuid-ossp".uuid_generate_v4()', NULL),
	('converted', 'floor: copy 16 bytes', 'floor.copy(v1)', NULL),
	('converted', 'uuidv1_to_v6(v1)', 'public.uuidv1_to_v6(v1)', NULL),
	('converted', 'uuidv7_at(time)', 'public.uuidv7_at(time)', NULL),
	('converted', 'uuidv7_floor(time)', 'public.uuidv7_floor(time)', NULL),
	('converted', 'uuidv5(v7, name)', $$public.uuidv5(v7, 'www.example.com')$$, NULL),
	('converted', 'uuidv8_name(v7, name)', $$public.uuidv8_name(v7, 'www.example.com')$$, NULL),
	('converted', 'uuid-ossp: uuid_generate_v5(v7, name)', $$"uuid-ossp".uuid_generate_v5(v7, 'www.example.com')$$, NULL),
	('to text', 'PostgreSQL''s cast to text', 'v7::text', NULL),
	('to text', 'urn', $$public.uuid_encode(v7, 'urn')$$, NULL),
	('to text', 'base32hex', $$public.uuid_encode(v7, 'base32hex')$$, NULL),
	('to text', 'ulid', $$public.uuid_encode(v7, 'ulid')$$, NULL),
	('to text', 'base58', $$public.uuid_encode(v7, 'base58')$$, NULL),
	('to text', 'base62', $$public.uuid_encode(v7, 'base62')$$, NULL),
	('to text', 'base64url', $$public.uuid_encode(v7, 'base64url')$$, NULL),
	('to text', 'TypeID', $$public.uuid_to_typeid(v7, 'order')$$, NULL),
	('from text', 'PostgreSQL''s cast to uuid', 'uuid::uuid', NULL),
	('from text', 'urn', $$public.uuid_decode(urn, 'urn')$$, NULL),
	('from text', 'base32hex', $$public.uuid_decode(base32hex, 'base32hex')$$, NULL),
	('from text', 'ulid', $$public.uuid_decode(ulid, 'ulid')$$, NULL),
	('from text', 'base58', $$public.uuid_decode(base58, 'base58')$$, NULL),
	('from text', 'base62', $$public.uuid_decode(base62, 'base62')$$, NULL),
	('from text', 'base64url', $$public.uuid_decode(base64url, 'base64url')$$, NULL),
	('from text', 'TypeID', $$public.uuid_from_typeid(typeid, 'order')$$, NULL),
	('of incremental reads', 'uuidv7_ordered()', 'public.uuidv7_ordered()', NULL),
	('of incremental reads', 'uuidv7_horizon(), in one statement', 'public.uuidv7_horizon()', NULL),
	('of incremental reads', 'uuidv7_after(position)', 'public.uuidv7_after((SELECT position FROM place))', NULL),
	('of incremental reads', 'uuidv7_position(v7, position)', 'public.uuidv7_position(v7, (SELECT position FROM place))', NULL),
	('of public IDs', 'uuidv7()', 'public.uuidv7()', NULL),
	('of public IDs', 'uuidv7_encrypt(v7, key)', $$public.uuidv7_encrypt(v7, 'orders')$$, NULL),
	('of public IDs', 'uuidv7_decrypt(v4, key)', $$public.uuidv7_decrypt(v4, 'orders')$$, NULL),
	('of public IDs', 'pgcrypto: a block of AES-256', $$pgcrypto.encrypt(block, '\x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'aes-ecb/pad:none')$$, NULL),
	('of public IDs', 'uuid47: 48 of the 122 bits', $$uuid47.uuid_to_uuid47_with_key(v4, '\x000102030405060708090a0b0c0d0e0f')$$, NULL),
	('read', 'floor: read 8 bytes', 'floor.read(v7)', NULL),
	('read', 'uuid_extract_version(v7)', 'public.uuid_extract_version(v7)', NULL),
	('read', 'uuidv7_timestamp(v7)', 'public.uuidv7_timestamp(v7)', NULL),
	('read', 'uuid_is_v7(v7)', 'public.uuid_is_v7(v7)', NULL),
	('read', 'PostgreSQL''s uuid_extract_timestamp(v7)', 'pg_catalog.uuid_extract_timestamp(v7)', NULL),
	('read', 'pg_uuidv7: uuid_v7_to_timestamptz(v7)', 'uuidv7.uuid_v7_to_timestamptz(v7)', NULL)
	) AS b (measure, side, call, setting);
