-- All test vectors in appendices A and B of RFC 9562, some examples in its other sections,
-- and vectors of two drafts of the RFC.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';

SELECT vector, result
FROM (SELECT public.uuid_namespace('dns')) AS a (dns), LATERAL (VALUES
	('A.1, version 1', public.uuid_inspect('C232AB00-9414-11EC-B3C8-9F6BDECED846')::text),
	('its clock_seq', to_hex((public.uuid_inspect('C232AB00-9414-11EC-B3C8-9F6BDECED846')).clock_seq)),
	('A.2, version 3', public.uuidv3(dns, 'www.example.com')::text),
	('A.3, version 4', public.uuid_inspect('919108f7-52d1-4320-9bac-f847db4148a8')::text),
	('its random octets, as version 8', public.uuidv8_custom('\x919108f752d133205bacf847db4148a8')::text),
	('A.4, version 5', public.uuidv5(dns, 'www.example.com')::text),
	('A.5, version 6', public.uuid_inspect('1EC9414C-232A-6B00-B3C8-9F6BDECED846')::text),
	('from that of A.1', public.uuidv1_to_v6('C232AB00-9414-11EC-B3C8-9F6BDECED846')::text),
	('and back', public.uuidv6_to_v1('1EC9414C-232A-6B00-B3C8-9F6BDECED846')::text),
	('A.6, version 7', public.uuid_inspect('017F22E2-79B0-7CC3-98C4-DC0C0C07398F')::text),
	('B.1, version 8 with a time', public.uuidv8_timestamp('2489E9AD-2EE2-8E00-8EC9-32D5F69181C0')::text),
	('its fields', public.uuidv8_custom('\x2489e9ad2ee20e000ec932d5f69181c0')::text),
	('B.2, version 8 from SHA-256', public.uuidv8_name(dns, 'www.example.com', 'sha256')::text),
	('its octets', public.uuidv8_custom(sha256(uuid_send(dns) || 'www.example.com'::bytea))::text),
	('its fields as erratum 7929 corrects them', public.uuidv8_custom('\x5c146b143c520afd138a375d0df1fbf6')::text),
	-- 2023-01-01 12:34:56.1234567 has the fraction 0x74e
	('6.2 method 3', public.uuidv7_timestamp_micros((lpad(to_hex(1672576496123), 12, '0') || '774e8000000000000000')::uuid)::text),
	('draft 04, B.3', public.uuidv8_custom('\x320c3d4dcc00075b0ec932d5f69181c0')::text),
	('draft 12, B.2: the hash space id before namespace and name',
	 public.uuidv8_name('3fb32780-953c-4464-9cfd-e85dbbe9843d', uuid_send(dns) || 'www.example.com'::bytea)::text),
	('4, a URN', public.uuid_encode('F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6', 'urn')),
	('and back', public.uuid_decode('urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6', 'urn')::text),
	('5.9, Nil', public.nil_uuid()::text),
	('5.10, Max', public.max_uuid()::text)) AS b (vector, result);
SELECT name AS "6.6, namespace", public.uuid_namespace(name) FROM unnest('{dns,url,oid,x500}'::text[]) AS name;
