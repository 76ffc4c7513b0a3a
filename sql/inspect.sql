-- What a UUID says of itself, for every variant and version.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';

-- RFC 9562, 4.1, table 1: the variant is in the top bits of octet 8
SELECT octet8, public.uuid_extract_variant(id), public.uuid_extract_version(id)
FROM unnest('{0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f}'::text[]) AS octet8,
	 LATERAL (SELECT ('c232ab00-9414-11ec-' || octet8 || '3c8-9f6bdeced846')::uuid) AS made (id);

-- 4.2, table 2: the version is in the top bits of octet 6
SELECT octet6, public.uuid_extract_version(id)
FROM unnest('{0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f}'::text[]) AS octet6,
	 LATERAL (SELECT ('c232ab00-9414-' || octet6 || '1ec-b3c8-9f6bdeced846')::uuid) AS made (id);

-- every field of the same octets in each version; v2 has no timestamp here
SELECT inspected.*
FROM generate_series(1, 8) AS version,
	 LATERAL public.uuid_inspect(('1ec9414c-232a-' || version || 'b00-b3c8-9f6bdeced846')::uuid) AS inspected;

-- Nil, Max, and another variant: no version, and nothing that hangs on one
SELECT inspected.*
FROM unnest('{00000000-0000-0000-0000-000000000000,
			  ffffffff-ffff-ffff-ffff-ffffffffffff,
			  1ec9414c-232a-6b00-c3c8-9f6bdeced846}'::uuid[]) AS id,
	 LATERAL public.uuid_inspect(id) AS inspected;

-- each timestamp function answers for its own version only
SELECT version,
	   public.uuid_extract_timestamp(id),
	   public.uuidv1_timestamp(id), public.uuidv6_timestamp(id),
	   public.uuidv7_timestamp(id), public.uuidv8_timestamp(id)
FROM (VALUES (1, 'c232ab00-9414-11ec-b3c8-9f6bdeced846'::uuid),
			 (2, 'c232ab00-9414-21ec-b3c8-9f6bdeced846'),
			 (4, '919108f7-52d1-4320-9bac-f847db4148a8'),
			 (6, '1ec9414c-232a-6b00-b3c8-9f6bdeced846'),
			 (7, '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'),
			 (8, '2489e9ad-2ee2-8e00-8ec9-32d5f69181c0'),
			 (NULL, '017f22e2-79b0-7cc3-d8c4-dc0c0c07398f')) AS vectors (version, id);

-- both ends of each time field
SELECT public.uuidv1_timestamp('00000000-0000-1000-8000-000000000000') AS first,
	   public.uuidv1_timestamp('ffffffff-ffff-1fff-8000-000000000000') AS last;
SELECT public.uuidv6_timestamp('00000000-0000-6000-8000-000000000000') AS first,
	   public.uuidv6_timestamp('ffffffff-ffff-6fff-8000-000000000000') AS last;
SELECT public.uuidv7_timestamp('00000000-0000-7000-8000-000000000000') AS first,
	   public.uuidv7_timestamp('ffffffff-ffff-7fff-8000-000000000000') AS last;
SELECT public.uuidv8_timestamp('00000000-0000-8000-8000-000000000000') AS first,
	   public.uuidv8_timestamp('ffffffff-ffff-8fff-8000-000000000000') AS last;

-- the 12 bits after v7's milliseconds, as a fraction of one
SELECT rand_a, public.uuidv7_timestamp_micros(id), public.uuidv7_timestamp(id)
FROM unnest('{000,001,004,005,74e,800,ffb,fff}'::text[]) AS rand_a,
	 LATERAL (SELECT ('017f22e2-79b0-7' || rand_a || '-98c4-dc0c0c07398f')::uuid) AS made (id);
SELECT public.uuidv7_timestamp_micros('2489e9ad-2ee2-8e00-8ec9-32d5f69181c0');

-- clock sequence and node, least and greatest
SELECT public.uuid_extract_clock_seq(id), public.uuid_extract_node(id)
FROM unnest('{00000000-0000-1000-8000-000000000000,
			  ffffffff-ffff-1fff-bfff-ffffffffffff,
			  00000000-0000-6000-8000-000000000000,
			  ffffffff-ffff-6fff-bfff-ffffffffffff,
			  ffffffff-ffff-7fff-bfff-ffffffffffff}'::uuid[]) AS id;

-- the node id of version 8
SELECT public.uuidv8_node_id(id)
FROM unnest('{01a1fd13-52f1-8f2c-9000-1fbde61cef35,
			  00000000-0000-8000-8000-000000000000,
			  ffffffff-ffff-8fff-bfff-ffffffffffff,
			  ffffffff-ffff-8fff-83ff-fbffffffffff,
			  01a1fd13-52f1-7f2c-9000-1fbde61cef35}'::uuid[]) AS id;
