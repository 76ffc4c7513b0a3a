-- Bad input: each error with its SQLSTATE, and nothing returned.

-- conversion of another version
SELECT public.uuidv1_to_v6('919108f7-52d1-4320-9bac-f847db4148a8');
\echo :SQLSTATE
SELECT public.uuidv1_to_v6('1ec9414c-232a-6b00-b3c8-9f6bdeced846');
\echo :SQLSTATE
SELECT public.uuidv1_to_v6('c232ab00-9414-21ec-b3c8-9f6bdeced846');
\echo :SQLSTATE
SELECT public.uuidv1_to_v6('2489e9ad-2ee2-8e00-8ec9-32d5f69181c0');
\echo :SQLSTATE
SELECT public.uuidv6_to_v1('c232ab00-9414-21ec-b3c8-9f6bdeced846');
\echo :SQLSTATE
SELECT public.uuidv6_to_v1('c232ab00-9414-11ec-b3c8-9f6bdeced846');
\echo :SQLSTATE
SELECT public.uuidv6_to_v1('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
\echo :SQLSTATE
SELECT public.uuidv1_to_v6(public.nil_uuid());
\echo :SQLSTATE
SELECT public.uuidv6_to_v1(public.max_uuid());
\echo :SQLSTATE

-- custom fields below and above their range
SELECT public.uuidv8_custom(-1, 0, 0);
\echo :SQLSTATE
SELECT public.uuidv8_custom(281474976710656, 0, 0);
\echo :SQLSTATE
SELECT public.uuidv8_custom(0, -1, 0);
\echo :SQLSTATE
SELECT public.uuidv8_custom(0, 4096, 0);
\echo :SQLSTATE
SELECT public.uuidv8_custom(0, 0, -1);
\echo :SQLSTATE
SELECT public.uuidv8_custom(0, 0, 4611686018427387904);
\echo :SQLSTATE
SELECT public.uuidv8_custom(9223372036854775807, 2147483647, 9223372036854775807);
\echo :SQLSTATE

-- too few octets
SELECT public.uuidv8_custom('\x000102030405060708090a0b0c0d0e'::bytea);
\echo :SQLSTATE
SELECT public.uuidv8_custom(''::bytea);
\echo :SQLSTATE

-- hash algorithms and namespaces that do not exist
SELECT public.uuidv8_name(public.nil_uuid(), 'name', 'sha3');
\echo :SQLSTATE
SELECT public.uuidv8_name(public.nil_uuid(), 'name'::bytea, 'md5');
\echo :SQLSTATE
SELECT public.uuidv8_name(public.nil_uuid(), 'name', '');
\echo :SQLSTATE
SELECT public.uuid_namespace('mail');
\echo :SQLSTATE
SELECT public.uuid_namespace('');
\echo :SQLSTATE

-- URNs
SELECT public.uuid_from_urn('f81d4fae-7dec-11d0-a765-00a0c91e6bf6');
\echo :SQLSTATE
SELECT public.uuid_from_urn('');
\echo :SQLSTATE
SELECT public.uuid_from_urn('urn:uuid:');
\echo :SQLSTATE
SELECT public.uuid_from_urn('urn:isbn:f81d4fae-7dec-11d0-a765-00a0c91e6bf6');
\echo :SQLSTATE
SELECT public.uuid_from_urn('urn:uuid:f81d4fae7dec11d0a76500a0c91e6bf6');
\echo :SQLSTATE
SELECT public.uuid_from_urn('urn:uuid:{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}');
\echo :SQLSTATE
SELECT public.uuid_from_urn('urn:uuid:g81d4fae-7dec-11d0-a765-00a0c91e6bf6');
\echo :SQLSTATE
SELECT public.uuid_from_urn('urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6 ');
\echo :SQLSTATE
SELECT public.uuid_from_urn('urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf');
\echo :SQLSTATE

-- timestamps out of the field of version 7
SELECT public.uuidv7('-100 years');
\echo :SQLSTATE
SELECT public.uuidv7('9000 years');
\echo :SQLSTATE
SELECT public.uuidv7('300000 years');
\echo :SQLSTATE

-- timestamps out of the field: of a UUID of a given time
SELECT public.uuidv7_at('1969-12-31 23:59:59.999999+00');
\echo :SQLSTATE
SELECT public.uuidv7_at('10889-08-02 05:31:50.656+00');
\echo :SQLSTATE
SELECT public.uuidv7_at('infinity');
\echo :SQLSTATE
SELECT public.uuidv7_at('-infinity');
\echo :SQLSTATE
SELECT public.uuidv7_at('294276-12-31 23:59:59.999999+00');
\echo :SQLSTATE
SELECT public.uuidv6_at('1582-10-14 23:59:59.999999+00');
\echo :SQLSTATE
SELECT public.uuidv6_at('5236-03-31 21:21:00.684698+00');
\echo :SQLSTATE
SELECT public.uuidv6_at('infinity');
\echo :SQLSTATE
SELECT public.uuidv7_floor('1969-12-31 23:59:59.999999+00');
\echo :SQLSTATE
SELECT public.uuidv7_floor('-infinity');
\echo :SQLSTATE
SELECT public.uuidv7_ceil('10889-08-02 05:31:50.656+00');
\echo :SQLSTATE
SELECT public.uuidv7_ceil('infinity');
\echo :SQLSTATE
SELECT public.uuidv6_floor('4713-01-01 BC');
\echo :SQLSTATE
SELECT public.uuidv6_ceil('5236-04-01');
\echo :SQLSTATE

-- a bound that is no UUID
SELECT public.uuidv7_timestamp_from_text('2026-01-01');
\echo :SQLSTATE
SELECT public.uuidv6_timestamp_from_text('');
\echo :SQLSTATE

-- a period that is none, and one of another type
SELECT public.nil_uuid() <@ '2026-01-01';
\echo :SQLSTATE
SELECT public.nil_uuid() <@ tstzrange('2026-01-02', '2026-01-01');
\echo :SQLSTATE
\set VERBOSITY sqlstate
SELECT public.nil_uuid() <@ tsrange('2026-01-01', '2026-01-02');
SELECT public.nil_uuid() <@ '2026-01-01'::timestamptz;
\set VERBOSITY default

-- base32hex: too short, too long, no digit, padding, a bit after the 128th
SELECT public.uuid_from_base32hex('06ajbm9tutsvnd36va87v8bvj');
\echo :SQLSTATE
SELECT public.uuid_from_base32hex('06ajbm9tutsvnd36va87v8bvjo0');
\echo :SQLSTATE
SELECT public.uuid_from_base32hex('06ajbm9tutsvnd36va87v8bvjw');
\echo :SQLSTATE
SELECT public.uuid_from_base32hex('06ajbm9tutsvnd36va87v8bvjo======');
\echo :SQLSTATE
SELECT public.uuid_from_base32hex('06ajbm9tutsvnd36va87v8bvjp');
\echo :SQLSTATE

-- node ids
SELECT public.uuidv8_node();
\echo :SQLSTATE
SELECT public.uuidv8_node(-1);
\echo :SQLSTATE
SELECT public.uuidv8_node(65536);
\echo :SQLSTATE

-- ordered values: in a read-only transaction, as for nextval()
BEGIN READ ONLY;
SELECT public.uuidv7_ordered();
\echo :SQLSTATE
ROLLBACK;
BEGIN READ ONLY;
SELECT public.uuidv6_ordered();
\echo :SQLSTATE
ROLLBACK;
BEGIN READ ONLY;
SELECT public.uuidv8_node_ordered();
\echo :SQLSTATE
ROLLBACK;
SET uuid9562.node_id = 1;
BEGIN READ ONLY;
SELECT public.uuidv8_node_ordered();
\echo :SQLSTATE
ROLLBACK;
RESET uuid9562.node_id;
BEGIN READ ONLY;
SELECT public.uuid_generator_reset();
\echo :SQLSTATE
ROLLBACK;
BEGIN READ ONLY;
SELECT public.uuid_generator_advance('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
\echo :SQLSTATE
ROLLBACK;

-- UUIDs that no ordered generator can generate
SELECT public.uuid_generator_advance('c232ab00-9414-11ec-b3c8-9f6bdeced846');
\echo :SQLSTATE
SELECT public.uuid_generator_advance('919108f7-52d1-4320-9bac-f847db4148a8');
\echo :SQLSTATE
SELECT public.uuid_generator_advance('017f22e2-79b0-7cc3-18c4-dc0c0c07398f', force => true);
\echo :SQLSTATE
SELECT public.uuid_generator_advance(public.max_uuid(), force => true);
\echo :SQLSTATE
-- and UUIDs that are far ahead of the clock
\set VERBOSITY sqlstate
SELECT public.uuid_generator_advance('ffffffff-ffff-7fff-bfff-ffffffffffff');
SELECT public.uuid_generator_advance('ffffffff-ffff-6fff-bfff-ffffffffffff');
SELECT public.uuid_generator_advance('ffffffff-ffff-8fff-bfff-ffffffffffff');
\set VERBOSITY default

-- settings: a value, a name
SET uuid9562.node = 'zz';
\echo :SQLSTATE
SET uuid9562.node = '02:00:5e:10:00';
\echo :SQLSTATE
SET uuid9562.node = '02:00:5e:10:00:01:02:03';
\echo :SQLSTATE
SET uuid9562.node = ' ';
\echo :SQLSTATE
SET uuid9562.node = '02:00:5e:10:00:01 ';
\echo :SQLSTATE
SET uuid9562.node = '2:0:5e:10:0:1';
\echo :SQLSTATE
SHOW uuid9562.node;
SET uuid9562.node_id = 65536;
\echo :SQLSTATE
SET uuid9562.node_id = -2;
\echo :SQLSTATE
SET uuid9562.node_id = 'one';
\echo :SQLSTATE
SET uuid9562.v7_method = sequence;
\echo :SQLSTATE
SET uuid9562.v7_metod = counter;
\echo :SQLSTATE
