-- Public IDs: base58, and the errors of encryption that need no key file.

-- base58 is a number of 22 digits
SELECT id, public.uuid_to_base58(id), public.uuid_from_base58(public.uuid_to_base58(id)) = id AS same
FROM unnest('{00000000-0000-0000-0000-000000000000,
			  00000000-0000-0000-0000-000000000039,
			  00000000-0000-0000-0000-00000000003a,
			  01a2027b-d9c0-771c-9de0-6b9bb85af70d,
			  acc73dab-7dd9-46b8-87a5-8553c1e38c18,
			  ffffffff-ffff-ffff-ffff-ffffffffffff}'::uuid[]) AS id;

-- base58 sorts as the UUID does under COLLATE "C"
SELECT count(*) FILTER (WHERE by_id = by_text) AS in_order, count(*)
FROM (SELECT row_number() OVER (ORDER BY id) AS by_id,
			 row_number() OVER (ORDER BY public.uuid_to_base58(id) COLLATE "C") AS by_text
	  FROM (SELECT md5(n::text)::uuid AS id FROM generate_series(1, 1000) AS n) AS ids) AS ranks;

-- base58 is case-sensitive
SELECT public.uuid_from_base58('1ChHh89KnUdBuAbxwb2MLg') <> public.uuid_from_base58('1chHh89KnUdBuAbxwb2MLg') AS differ;

-- a stored value
CREATE TEMP TABLE stored AS SELECT '1ChHh89KnUdBuAbxwb2MLg'::text AS base58;
SELECT public.uuid_from_base58(base58) FROM stored;

-- too short, too long, nothing, with a character that is not in the alphabet, too large
SELECT public.uuid_from_base58('1ChHh89KnUdBuAbxwb2ML');
\echo :SQLSTATE
SELECT public.uuid_from_base58('11ChHh89KnUdBuAbxwb2MLg');
\echo :SQLSTATE
SELECT public.uuid_from_base58('');
\echo :SQLSTATE
SELECT public.uuid_from_base58('0ChHh89KnUdBuAbxwb2MLg');
\echo :SQLSTATE
SELECT public.uuid_from_base58(' 1ChHh89KnUdBuAbxwb2ML');
\echo :SQLSTATE
SELECT public.uuid_from_base58('1ChHh89KnUdBuAbxwb2MLl');
\echo :SQLSTATE
SELECT public.uuid_from_base58('YcVfxkQb6JRzqk5kF2tNLw');
\echo :SQLSTATE
SELECT public.uuid_from_base58('zzzzzzzzzzzzzzzzzzzzzz');
\echo :SQLSTATE

-- encryption takes version 7 only, and does not show the ID
SELECT public.uuidv7_encrypt('1ec9414c-232a-6b00-b3c8-9f6bdeced846', 'orders');
\echo :SQLSTATE
SELECT public.uuidv7_encrypt('919108f7-52d1-4320-9bac-f847db4148a8', 'orders');
\echo :SQLSTATE
SELECT public.uuidv7_encrypt('017f22e2-79b0-7cc3-08c4-dc0c0c07398f', 'orders');
\echo :SQLSTATE
SELECT public.uuidv7_encrypt(public.max_uuid(), 'orders');
\echo :SQLSTATE

-- decryption takes version 4 only
SELECT public.uuidv7_decrypt('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 'orders');
\echo :SQLSTATE
SELECT public.uuidv7_decrypt('919108f7-52d1-4320-0bac-f847db4148a8', 'orders');
\echo :SQLSTATE
SELECT public.uuidv7_decrypt(public.nil_uuid(), 'orders');
\echo :SQLSTATE

-- key_file can be set only in the configuration file
SET uuid9562.key_file = '/tmp/keys';
\echo :SQLSTATE
SELECT set_config('uuid9562.key_file', '/tmp/keys', true);
\echo :SQLSTATE
