-- v1 as v6 and back, URNs and base32hex.

SELECT v1, public.uuidv1_to_v6(v1) AS v6, public.uuidv6_to_v1(public.uuidv1_to_v6(v1)) = v1 AS same
FROM unnest('{c232ab00-9414-11ec-b3c8-9f6bdeced846,
			  00000000-0000-1000-8000-000000000000,
			  ffffffff-ffff-1fff-bfff-ffffffffffff,
			  12345678-9abc-1def-8123-456789abcdef}'::uuid[]) AS v1;

-- a conversion keeps time, clock sequence and node
SELECT public.uuid_extract_timestamp(v1) = public.uuid_extract_timestamp(v6) AS same_time,
	   public.uuid_extract_clock_seq(v1) = public.uuid_extract_clock_seq(v6) AS same_clock_seq,
	   public.uuid_extract_node(v1) = public.uuid_extract_node(v6) AS same_node
FROM (SELECT public.uuidv1()) AS made (v1), LATERAL public.uuidv1_to_v6(v1) AS v6;

-- a URN is read in upper and lower case, and written in lower case
SELECT urn, public.uuid_from_urn(urn), public.uuid_to_urn(public.uuid_from_urn(urn))
FROM unnest('{urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6,
			  URN:UUID:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6,
			  Urn:Uuid:00000000-0000-0000-0000-000000000000}'::text[]) AS urn;

-- base32hex is read in upper and lower case, and written in lower case
SELECT id, public.uuid_to_base32hex(id), public.uuid_from_base32hex(upper(public.uuid_to_base32hex(id))) = id AS same
FROM unnest('{019535d9-3df7-79fb-b466-fa907fa17f9e,
			  00000000-0000-0000-0000-000000000000,
			  ffffffff-ffff-ffff-ffff-ffffffffffff}'::uuid[]) AS id;

-- it sorts as the UUID does under COLLATE "C"
SELECT count(*) FILTER (WHERE by_id = by_text) AS in_order, count(*)
FROM (SELECT row_number() OVER (ORDER BY id) AS by_id,
			 row_number() OVER (ORDER BY public.uuid_to_base32hex(id) COLLATE "C") AS by_text
	  FROM (SELECT md5(n::text)::uuid AS id FROM generate_series(1, 1000) AS n) AS ids) AS ranks;
