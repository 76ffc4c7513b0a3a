-- Version 8 of the caller's bits (RFC 9562, 5.8).

-- least and greatest value of each field
SELECT custom_a, custom_b, custom_c, public.uuidv8_custom(custom_a, custom_b, custom_c)
FROM (VALUES (0::bigint, 0, 0::bigint),
			 (281474976710655, 0, 0),
			 (0, 4095, 0),
			 (0, 0, 4611686018427387903),
			 (281474976710655, 4095, 4611686018427387903),
			 (1, 1, 1)) AS fields (custom_a, custom_b, custom_c);

-- 16 octets or more; the first 16 count
SELECT public.uuidv8_custom('\x00000000000000000000000000000000'::bytea);
SELECT public.uuidv8_custom('\xffffffffffffffffffffffffffffffff'::bytea);
SELECT public.uuidv8_custom('\x000102030405060708090a0b0c0d0e0f1011'::bytea);

-- the same bits give the same UUID
SELECT public.uuidv8_custom(1, 2, 3) = public.uuidv8_custom(1, 2, 3) AS same;

-- a node id comes back from the UUID that carries it
SELECT node_id, public.uuidv8_node_id(public.uuidv8_node(node_id)) = node_id AS same,
	   public.uuid_extract_version(public.uuidv8_node(node_id)) AS version
FROM unnest('{0,1,255,256,65535}'::int[]) AS node_id;

-- its time is v7's
SELECT public.uuidv7_timestamp(v7) BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp() AS now
FROM (SELECT overlay(public.uuidv8_node(1)::text PLACING '7' FROM 15)::uuid) AS made (v7);
