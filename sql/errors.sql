-- Errors for invalid arguments and settings, with SQLSTATE, detail and hint.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
CREATE FUNCTION error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'none';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', SQLSTATE, SQLERRM, 'DETAIL: ' || nullif(detail, ''), 'HINT: ' || nullif(hint, ''));
END$$;
\pset format unaligned
\pset tuples_only

SELECT call, error_of('SELECT public.' || call) FROM unnest(ARRAY[
	-- conversion of a UUID of another version
	$$uuidv1_to_v6('919108f7-52d1-4320-9bac-f847db4148a8')$$,
	$$uuidv1_to_v6('1ec9414c-232a-6b00-b3c8-9f6bdeced846')$$,
	$$uuidv1_to_v6('00000000-0000-0000-0000-000000000000')$$,
	$$uuidv6_to_v1('c232ab00-9414-11ec-b3c8-9f6bdeced846')$$,
	$$uuidv6_to_v1('ffffffff-ffff-ffff-ffff-ffffffffffff')$$,
	-- too few bytes
	$$uuidv8_custom('\x000102030405060708090a0b0c0d0e')$$,
	-- hash algorithms and namespaces that do not exist
	$$uuidv8_name(public.nil_uuid(), 'name', 'sha3')$$, $$uuidv8_name(public.nil_uuid(), 'name'::bytea, '')$$, $$uuid_namespace('mail')$$,
	-- ordinals of UUIDs of other versions and variants, and of the first millisecond without one
	$$uuidv7_ordinal('1ec9414c-232a-6b00-b3c8-9f6bdeced846')$$, $$uuidv7_ordinal('017f22e2-79b0-7cc3-d8c4-dc0c0c07398f')$$,
	$$uuidv7_ordinal('80000000-0000-7000-8000-000000000000')$$, $$uuidv7_ordinal(public.max_uuid())$$,
	-- text in no valid form, and too large numbers
	$$uuid_decode('f81d4fae-7dec-11d0-a765-00a0c91e6bf6', 'urn')$$, $$uuid_decode('', 'urn')$$,
	$$uuid_decode('urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6 ', 'urn')$$,
	$$uuid_decode('V0EKVBJTTG8T19R502GCI7JBUP', 'base32hex')$$, $$uuid_decode('V0EKVBJTTG8T19R502GCI7JBUO=====', 'BASE32HEX')$$, $$uuid_decode('', 'base32hex')$$,
	$$uuid_decode('8ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'ulid')$$, $$uuid_decode('01FWHE4YDGFK1SHH6W1G60EEC', 'ulid')$$,
	$$uuid_decode('01FWHE4YDGFK1SHH6W1G60EECU', 'ulid')$$, $$uuid_decode('', 'ulid')$$,
	$$uuid_decode('YcVfxkQb6JRzqk5kF2tNLw', 'base58')$$, $$uuid_decode('11ChHh89KnUdBuAbxwb2MLg', 'base58')$$,
	$$uuid_decode('0ChHh89KnUdBuAbxwb2MLg', 'base58')$$, $$uuid_decode(' ChHh89KnUdBuAbxwb2MLg', 'base58')$$, $$uuid_decode('', 'base58')$$,
	$$uuid_decode('xBuEXKpA6iqZQK5Kf2TnkW', 'base58flickr')$$, $$uuid_decode('0bHGAXWWp4nyyPjqh9idcZ', 'base58flickr')$$, $$uuid_decode('', 'base58flickr')$$,
	$$uuid_decode('7n42DGM5Tflk9n8mt7Fhc8', 'base62')$$, $$uuid_decode('02p5oQZo-Tv0zeY5yG21K3', 'base62')$$, $$uuid_decode('', 'base62')$$,
	$$uuid_decode('-B1Prn3sEdCnZQCgyR5r9h', 'base64url')$$, $$uuid_decode('+B1Prn3sEdCnZQCgyR5r9g', 'base64url')$$, $$uuid_decode('', 'base64url')$$,
	-- a long text, of which a message shows 100 bytes
	$$uuid_decode(repeat('1234567890', 20), 'base58')$$,
	-- formats that do not exist
	$$uuid_encode(public.nil_uuid(), 'base64')$$, $$uuid_encode(public.nil_uuid(), '')$$, $$uuid_decode('1', 'base588')$$, $$uuid_decode('1', repeat('base58', 20))$$,
	-- TypeIDs of any prefix: an invalid prefix, no "_", upper case, an invalid suffix
	$$uuid_decode('Order_01fwhe4ydgfk1shh6w1g60eecf', 'typeid')$$, $$uuid_decode('order_81fwhe4ydgfk1shh6w1g60eecf', 'typeid')$$,
	$$uuid_decode('order01fwhe4ydgfk1shh6w1g60eecf', 'typeid')$$, $$uuid_decode('_01fwhe4ydgfk1shh6w1g60eecf', 'typeid')$$,
	$$uuid_decode('01FWHE4YDGFK1SHH6W1G60EECF', 'typeid')$$, $$uuid_decode('', 'typeid')$$,
	-- TypeIDs: prefixes that are not valid, another prefix, and text in no valid form
	$$uuid_to_typeid(public.nil_uuid(), '_')$$, $$uuid_to_typeid(public.nil_uuid(), 'order_')$$, $$uuid_to_typeid(public.nil_uuid(), '_order')$$,
	$$uuid_to_typeid(public.nil_uuid(), 'Order')$$, $$uuid_to_typeid(public.nil_uuid(), 'order1')$$, $$uuid_to_typeid(public.nil_uuid(), repeat('z', 64))$$,
	$$uuid_from_typeid('order_01fwhe4ydgfk1shh6w1g60eecf', 'order_')$$,
	$$uuid_from_typeid('user_01fwhe4ydgfk1shh6w1g60eecf', 'order')$$, $$uuid_from_typeid('owner_01fwhe4ydgfk1shh6w1g60eecf', 'order')$$,
	$$uuid_from_typeid('01fwhe4ydgfk1shh6w1g60eecf', 'order')$$,
	$$uuid_from_typeid('order_01fwhe4ydgfk1shh6w1g60eecf', '')$$, $$uuid_from_typeid('orders_01fwhe4ydgfk1shh6w1g60eecf', 'order')$$,
	$$uuid_from_typeid('order_01FWHE4YDGFK1SHH6W1G60EECF', 'order')$$, $$uuid_from_typeid('order01fwhe4ydgfk1shh6w1g60eecf', 'order')$$,
	$$uuid_from_typeid('order_81fwhe4ydgfk1shh6w1g60eecf', 'order')$$, $$uuid_from_typeid('', '')$$,
	-- encryption of UUIDs other than v7, which the error does not show; decryption of others than v4
	$$uuidv7_encrypt('1ec9414c-232a-6b00-b3c8-9f6bdeced846', 'orders')$$, $$uuidv7_encrypt('919108f7-52d1-4320-9bac-f847db4148a8', 'orders')$$,
	$$uuidv7_encrypt('017f22e2-79b0-7cc3-08c4-dc0c0c07398f', 'orders')$$, $$uuidv7_encrypt('ffffffff-ffff-ffff-ffff-ffffffffffff', 'orders')$$,
	$$uuidv7_decrypt('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', 'orders')$$, $$uuidv7_decrypt('919108f7-52d1-4320-0bac-f847db4148a8', 'orders')$$,
	$$uuidv7_decrypt('00000000-0000-0000-0000-000000000000', 'orders')$$,
	-- too many bits, which is checked before the timestamp
	$$uuidv7_from('2026-01-01', '\x00000000000000000000')$$, $$uuidv7_from('infinity', repeat('x', 100)::bytea)$$,
	-- timestamps out of range
	$$uuidv7_from('1969-12-31 23:59:59.999999+00', '')$$, $$uuidv7_from('10889-08-02 05:31:50.656+00', '')$$, $$uuidv7_from('infinity', '')$$,
	$$uuidv7('300000 years')$$,
	$$uuidv7_at('1969-12-31 23:59:59.999999+00')$$, $$uuidv7_at('10889-08-02 05:31:50.656+00')$$, $$uuidv7_at('infinity')$$, $$uuidv7_at('-infinity')$$,
	$$uuidv6_at('1582-10-14 23:59:59.999999+00')$$, $$uuidv6_at('5236-03-31 21:21:00.684698+00')$$,
	$$uuidv7_floor('1969-12-31 23:59:59.999999+00')$$, $$uuidv7_ceil('10889-08-02 05:31:50.656+00')$$,
	$$uuidv6_floor('4713-01-01 BC')$$, $$uuidv6_ceil('5236-04-01')$$,
	$$uuidv8_node_at('1969-12-31 23:59:59.999999+00', 1)$$, $$uuidv8_node_floor('infinity')$$, $$uuidv8_node_ceil('10889-08-02 05:31:50.656+00')$$,
	-- invalid text instead of a UUID
	$$uuidv7_timestamp_from_text('2026-01-01')$$, $$uuidv7_timestamp_from_text('')$$,
	-- missing node IDs, and node IDs out of range
	'uuidv8_node()', 'uuidv8_node(-1)', 'uuidv8_node(65536)',
	'uuidv8_node_at(now(), 65536)', 'uuidv8_node_at(now(), -1)',
	-- UUIDs that the ordered generator cannot generate
	$$uuid_generator_advance('1ec9414c-232a-6b00-b3c8-9f6bdeced846')$$, $$uuid_generator_advance('919108f7-52d1-4320-9bac-f847db4148a8')$$,
	$$uuid_generator_advance('017f22e2-79b0-7cc3-18c4-dc0c0c07398f', true)$$, $$uuid_generator_advance('ffffffff-ffff-ffff-ffff-ffffffffffff', true)$$]) AS call;
-- shifted timestamps out of range; the timestamp in the message differs in each run, so
-- replace it
SELECT call, regexp_replace(error_of('SELECT public.' || call), '"\d{4,5}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*\+00"', '"<timestamp>"')
FROM unnest(ARRAY[$$uuidv7('-100 years')$$, $$uuidv7('9000 years')$$]) AS call;

-- invalid periods, and arguments of other types; show only the SQLSTATE of the latter,
-- since the hint differs between versions of PostgreSQL
SELECT period, error_of('SELECT public.nil_uuid() <@ ' || period) FROM unnest(ARRAY[$$'2026-01-01'$$, $$tstzrange('2026-01-02', '2026-01-01')$$]) AS period;
SELECT period, left(error_of('SELECT public.nil_uuid() <@ ' || period), 5)
FROM unnest(ARRAY[$$tsrange('2026-01-01', '2026-01-02')$$, $$'2026-01-01'::timestamptz$$]) AS period;

-- settings: invalid values, an invalid name, and settings that a session cannot change
SELECT setting, error_of('SET uuid9562.' || setting) FROM unnest(ARRAY[
	$$mac_address = 'zz'$$, $$mac_address = '02:00:5e:10:00'$$, $$mac_address = '02:00:5e:10:00:01:02:03'$$, $$mac_address = ' '$$, $$mac_address = '2:0:5e:10:0:1'$$,
	'node_id = 65536', 'node_id = -2', $$node_id = 'one'$$, 'v7_method = sequence', 'v7_metod = counter',
	'max_ahead = 5', $$key_file = '/tmp/keys'$$]) AS setting;
SHOW uuid9562.mac_address;

-- functions that return a row, declared with another result type
CREATE FUNCTION inspect_as_integer(uuid) RETURNS integer LANGUAGE c STRICT AS '$libdir/uuid9562', 'uuid9562_uuid_inspect';
SELECT error_of('SELECT inspect_as_integer(public.nil_uuid())');
DROP FUNCTION inspect_as_integer;
DROP FUNCTION error_of(text);
