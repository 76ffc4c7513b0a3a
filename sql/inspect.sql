-- Functions that read the fields of a UUID, for every variant and version.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';

-- RFC 9562, 4.1, table 1: the variant is in the top bits of byte 8
SELECT (public.uuid_inspect(id)).variant, string_agg(octet8, ' ') AS octet8, count(public.uuid_extract_version(id)) AS versions
FROM unnest('{0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f}'::text[]) AS octet8,
	 LATERAL (SELECT ('c232ab00-9414-11ec-' || octet8 || '3c8-9f6bdeced846')::uuid) AS made (id)
GROUP BY variant ORDER BY octet8;

-- RFC 9562, 4.2, table 2: the version is in the top bits of byte 6
SELECT string_agg(public.uuid_extract_version(('c232ab00-9414-' || octet6 || '1ec-b3c8-9f6bdeced846')::uuid)::text, ' ') AS versions
FROM unnest('{0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f}'::text[]) AS octet6;

-- uuid_inspect(): the same bytes with each version (no field of v2 is read), Nil and Max,
-- another variant, and the smallest and greatest clock sequence and node
SELECT inspected.*
FROM (SELECT n, overlay('1ec9414c-232a-6b00-b3c8-9f6bdeced846' PLACING n::text FROM 15)::uuid FROM generate_series(1, 8) AS n UNION ALL
	  VALUES (9, public.nil_uuid()), (10, public.max_uuid()),
			 (11, '1ec9414c-232a-6b00-c3c8-9f6bdeced846'), (12, '1ec9414c-232a-1b00-8000-000000000000'),
			 (13, '1ec9414c-232a-6b00-bfff-ffffffffffff')) AS ids (n, id),
	 LATERAL public.uuid_inspect(id) AS inspected ORDER BY n;

-- the first and the last timestamp of each version; the functions named after a version
-- return NULL for UUIDs of other versions
SELECT version, public.uuid_extract_timestamp(id), public.uuidv6_timestamp(id) AS v6,
	   public.uuidv7_timestamp(id) AS v7, public.uuidv7_timestamp_micros(id) AS v7_micros, public.uuidv8_timestamp(id) AS v8,
	   public.uuidv8_node_timestamp(id) AS v8_node
FROM (VALUES ('00000000-0000-0000-8000-000000000000'::uuid), ('ffffffff-ffff-0fff-bfff-ffffffffffff')) AS ends (least),
	 unnest('{1,2,4,6,7,8}'::text[]) AS version, LATERAL (SELECT overlay(least::text PLACING version FROM 15)::uuid) AS made (id)
UNION ALL
SELECT 'none', public.uuid_extract_timestamp(id), public.uuidv6_timestamp(id), public.uuidv7_timestamp(id),
	   public.uuidv7_timestamp_micros(id), public.uuidv8_timestamp(id), public.uuidv8_node_timestamp(id)
FROM (VALUES ('017f22e2-79b0-7cc3-d8c4-dc0c0c07398f'::uuid)) AS other_variant (id);

-- the ordinal: 47 bits of milliseconds, 12 bits of fraction, 4 bits of counter; no bit of the others
SELECT id, public.uuidv7_ordinal(id), to_hex(public.uuidv7_ordinal(id))
FROM unnest('{00000000-0000-7000-8000-000000000000, 00000000-0000-7000-83ff-ffffffffffff, 00000000-0000-7000-8400-000000000000,
	00000000-0000-7000-bfff-ffffffffffff, 00000000-0000-7001-8000-000000000000, 00000000-0001-7000-8000-000000000000,
	017f22e2-79b0-7cc3-98c4-dc0c0c07398f, 7fffffff-ffff-7fff-bfff-ffffffffffff}'::uuid[]) AS id;
SELECT public.uuidv7_timestamp('7fffffff-ffff-7fff-bfff-ffffffffffff');
SELECT public.uuidv7_ordinal(NULL);

-- the 12 bits after the milliseconds of v7 are a fraction of the millisecond
SELECT rand_a, public.uuidv7_timestamp_micros(id), public.uuidv7_timestamp(id)
FROM unnest('{000,001,004,005,74e,800,ffb,fff}'::text[]) AS rand_a,
	 LATERAL (SELECT ('017f22e2-79b0-7' || rand_a || '-98c4-dc0c0c07398f')::uuid) AS made (id);

-- node IDs of version 8, and NULL for another version
SELECT public.uuidv8_node_id(id)
FROM unnest('{01a1fd13-52f1-8f2c-9000-1fbde61cef35,
			  ffffffff-ffff-8fff-83ff-fbffffffffff,
			  01a1fd13-52f1-7f2c-9000-1fbde61cef35}'::uuid[]) AS id;
