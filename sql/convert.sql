-- Conversion between v1 and v6, and to and from URNs, base32hex and base58; custom fields
-- of version 8 (RFC 9562, 5.8).
\pset format unaligned
\pset tuples_only

SELECT v1, public.uuidv1_to_v6(v1) AS v6, public.uuidv6_to_v1(public.uuidv1_to_v6(v1)) = v1 AS same
FROM unnest('{00000000-0000-1000-8000-000000000000,
			  ffffffff-ffff-1fff-bfff-ffffffffffff,
			  12345678-9abc-1def-8123-456789abcdef}'::uuid[]) AS v1;

-- URNs and base32hex are accepted in upper and lower case, and returned in lower case
SELECT urn, public.uuid_to_urn(public.uuid_from_urn(urn))
FROM unnest('{urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6,
			  URN:UUID:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6}'::text[]) AS urn;
SELECT public.uuid_to_base32hex(id), public.uuid_from_base32hex(upper(public.uuid_to_base32hex(id))) = id AS same
FROM (VALUES ('019535d9-3df7-79fb-b466-fa907fa17f9e'::uuid)) AS ids (id);

-- read base58 from a table, where short texts have a varlena header of one byte
CREATE TEMP TABLE stored AS
SELECT id, public.uuid_to_base58(id) AS base58
FROM unnest('{00000000-0000-0000-0000-000000000000,
			  01a2027b-d9c0-771c-9de0-6b9bb85af70d,
			  ffffffff-ffff-ffff-ffff-ffffffffffff}'::uuid[]) AS id;
SELECT id, base58, public.uuid_from_base58(base58) = id AS same FROM stored;

-- all custom fields zero, and each with its greatest value
SELECT custom_a, custom_b, custom_c, public.uuidv8_custom(custom_a, custom_b, custom_c)
FROM (VALUES (0::bigint, 0, 0::bigint), (281474976710655, 0, 0), (0, 4095, 0), (0, 0, 4611686018427387903)) AS fields (custom_a, custom_b, custom_c);

-- with more than 16 bytes, only the first 16 are used
SELECT public.uuidv8_custom(bytes)
FROM unnest('{\\xffffffffffffffffffffffffffffffff,\\x000102030405060708090a0b0c0d0e0f1011}'::bytea[]) AS bytes;
