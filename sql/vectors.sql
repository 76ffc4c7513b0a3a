-- Every test vector of RFC 9562, appendices A and B, and of the drafts before
-- it, out of SQL.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';

-- A.1, version 1
SELECT * FROM public.uuid_inspect('C232AB00-9414-11EC-B3C8-9F6BDECED846');
SELECT to_hex(public.uuid_extract_clock_seq('C232AB00-9414-11EC-B3C8-9F6BDECED846')) AS clock_seq;

-- A.2, version 3
SELECT public.uuidv3(public.uuid_namespace('dns'), 'www.example.com');

-- A.3, version 4: the random octets of the example, with version and variant
-- set over them; SQL reaches it as version 8 of the same octets
SELECT * FROM public.uuid_inspect('919108f7-52d1-4320-9bac-f847db4148a8');
SELECT public.uuidv8_custom('\x919108f752d133205bacf847db4148a8'::bytea);

-- A.4, version 5
SELECT public.uuidv5(public.uuid_namespace('dns'), 'www.example.com');

-- A.5, version 6: the moment, clock sequence and node of A.1
SELECT * FROM public.uuid_inspect('1EC9414C-232A-6B00-B3C8-9F6BDECED846');
SELECT public.uuidv1_to_v6('C232AB00-9414-11EC-B3C8-9F6BDECED846');
SELECT public.uuidv6_to_v1('1EC9414C-232A-6B00-B3C8-9F6BDECED846');

-- A.6, version 7
SELECT * FROM public.uuid_inspect('017F22E2-79B0-7CC3-98C4-DC0C0C07398F');
SELECT public.uuidv7_timestamp('017F22E2-79B0-7CC3-98C4-DC0C0C07398F');

-- B.1, version 8 with a time
SELECT public.uuidv8_timestamp('2489E9AD-2EE2-8E00-8EC9-32D5F69181C0');
SELECT public.uuidv8_custom(x'2489e9ad2ee2'::bigint, x'e00'::int, x'0ec932d5f69181c0'::bigint);

-- B.2, version 8 from SHA-256
SELECT public.uuidv8_name(public.uuid_namespace('dns'), 'www.example.com', 'sha256');
SELECT public.uuidv8_custom(sha256(uuid_send(public.uuid_namespace('dns')) || 'www.example.com'::bytea));
-- its fields as erratum 7929 corrects them: custom_c is 0b01, 0x38a375d0df1fbf6
SELECT public.uuidv8_custom(x'5c146b143c52'::bigint, x'afd'::int, x'138a375d0df1fbf6'::bigint);

-- 6.2 method 3: 2023-01-01 12:34:56.1234567 has the fraction 0x74e
SELECT public.uuidv7_timestamp_micros(
	(lpad(to_hex(1672576496123), 12, '0') || '774e8000000000000000')::uuid);

-- draft 04, B.3: 32-bit seconds since 2020, 16-bit fraction, 58 random bits,
-- 8-bit node, 8-bit sequence
SELECT public.uuidv8_custom(x'320c3d4dcc00'::bigint, x'75b'::int, x'0ec932d5f69181c0'::bigint);

-- draft 12, B.2: the hash space id before namespace and name
SELECT public.uuidv8_name('3fb32780-953c-4464-9cfd-e85dbbe9843d',
						  uuid_send(public.uuid_namespace('dns')) || 'www.example.com'::bytea);

-- 4, figure 4, and 5.9, 5.10, 6.6
SELECT public.uuid_to_urn('F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6');
SELECT public.uuid_from_urn('urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6');
SELECT public.nil_uuid(), public.max_uuid();
SELECT name, public.uuid_namespace(name) FROM unnest('{dns,url,oid,x500}'::text[]) AS name;
