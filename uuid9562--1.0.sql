/* uuid9562--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION uuid9562" to load this file. \quit

-- In PostgreSQL 17 and 18 a plain uuidv4(), uuidv7(), uuid_extract_version()
-- or uuid_extract_timestamp() means PostgreSQL's own, also here, where a COMMENT
-- would go to it.  So these five get their comment under another name first.

-- Generation

CREATE FUNCTION uuidv1() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv1'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv1() IS
'new version 1 UUID: 100 ns since 1582-10-15, random clock sequence and node (RFC 9562, 5.1)';

CREATE FUNCTION uuidv3(namespace uuid, name text) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv3_text'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv3(uuid, text) IS
'version 3 UUID: MD5 of the namespace and the name in UTF-8 (RFC 9562, 5.3)';

CREATE FUNCTION uuidv3(namespace uuid, name bytea) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv3_bytea'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv3(uuid, bytea) IS
'version 3 UUID: MD5 of the namespace and the octets of the name (RFC 9562, 5.3)';

CREATE FUNCTION uuid9562_uuidv4() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv4'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid9562_uuidv4() IS
'new version 4 UUID: 122 random bits (RFC 9562, 5.4)';
ALTER FUNCTION uuid9562_uuidv4() RENAME TO uuidv4;

CREATE FUNCTION uuidv5(namespace uuid, name text) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv5_text'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv5(uuid, text) IS
'version 5 UUID: SHA-1 of the namespace and the name in UTF-8 (RFC 9562, 5.5)';

CREATE FUNCTION uuidv5(namespace uuid, name bytea) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv5_bytea'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv5(uuid, bytea) IS
'version 5 UUID: SHA-1 of the namespace and the octets of the name (RFC 9562, 5.5)';

CREATE FUNCTION uuidv6() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6() IS
'new version 6 UUID: version 1 with its time in sort order (RFC 9562, 5.6)';

CREATE FUNCTION uuid9562_uuidv7() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid9562_uuidv7() IS
'new version 7 UUID: milliseconds since 1970, greater than the one before it in the session (RFC 9562, 5.7)';
ALTER FUNCTION uuid9562_uuidv7() RENAME TO uuidv7;

CREATE FUNCTION uuid9562_uuidv7(shift interval) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_shift'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid9562_uuidv7(interval) IS
'new version 7 UUID with its timestamp shifted by the interval (RFC 9562, 5.7)';
ALTER FUNCTION uuid9562_uuidv7(interval) RENAME TO uuidv7;

CREATE FUNCTION uuidv7_batch_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_batch_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_batch_support(internal) IS
'planner support of uuidv7_batch (RFC 9562, 5.7)';

CREATE FUNCTION uuidv7_batch(n bigint) RETURNS SETOF uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_batch'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE SUPPORT uuidv7_batch_support;
COMMENT ON FUNCTION uuidv7_batch(bigint) IS
'n new version 7 UUIDs, in order (RFC 9562, 5.7)';

CREATE FUNCTION uuidv8() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8() IS
'new version 8 UUID: 10 ns since 1970, then random bits (RFC 9562, B.1)';

CREATE FUNCTION uuidv8_name(namespace uuid, name text, algorithm text DEFAULT 'sha256') RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_name_text'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_name(uuid, text, text) IS
'version 8 UUID: SHA-2 hash of the namespace and the name in UTF-8 (RFC 9562, B.2)';

CREATE FUNCTION uuidv8_name(namespace uuid, name bytea, algorithm text DEFAULT 'sha256') RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_name_bytea'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_name(uuid, bytea, text) IS
'version 8 UUID: SHA-2 hash of the namespace and the octets of the name (RFC 9562, B.2)';

CREATE FUNCTION uuidv8_custom(custom_a bigint, custom_b integer, custom_c bigint) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_custom_fields'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_custom(bigint, integer, bigint) IS
'version 8 UUID of the given 48, 12 and 62 bits (RFC 9562, 5.8)';

CREATE FUNCTION uuidv8_custom(octets bytea) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_custom_octets'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_custom(bytea) IS
'version 8 UUID of the first 16 given octets, with version and variant set over them (RFC 9562, 5.8)';

CREATE FUNCTION uuidv8_node() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node() IS
'new version 8 UUID: the time of version 7 and the node id of uuid9562.node_id (RFC 9562, 6.4)';

CREATE FUNCTION uuidv8_node(node_id integer) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_arg'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node(integer) IS
'new version 8 UUID: the time of version 7 and the given node id, 0 to 65535 (RFC 9562, 6.4)';

-- Inspection

CREATE FUNCTION uuid9562_uuid_extract_version(uuid) RETURNS smallint
AS 'MODULE_PATHNAME', 'uuid9562_uuid_extract_version'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuid9562_uuid_extract_version(uuid) IS
'version of a UUID, NULL if its variant is not that of RFC 9562 (RFC 9562, 4.2)';
ALTER FUNCTION uuid9562_uuid_extract_version(uuid) RENAME TO uuid_extract_version;

CREATE FUNCTION uuid9562_uuid_extract_timestamp(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuid_extract_timestamp'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuid9562_uuid_extract_timestamp(uuid) IS
'timestamp of a version 1, 6 or 7 UUID, NULL for any other (RFC 9562, 5.1, 5.6, 5.7)';
ALTER FUNCTION uuid9562_uuid_extract_timestamp(uuid) RENAME TO uuid_extract_timestamp;

CREATE FUNCTION uuid_extract_variant(uuid) RETURNS text
AS 'MODULE_PATHNAME', 'uuid9562_uuid_extract_variant'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuid_extract_variant(uuid) IS
'variant of a UUID: ncs, rfc9562, microsoft or reserved (RFC 9562, 4.1)';

CREATE FUNCTION uuid_extract_clock_seq(uuid) RETURNS integer
AS 'MODULE_PATHNAME', 'uuid9562_uuid_extract_clock_seq'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuid_extract_clock_seq(uuid) IS
'clock sequence of a version 1 or 6 UUID, NULL for any other (RFC 9562, 5.1, 5.6)';

CREATE FUNCTION uuid_extract_node(uuid) RETURNS macaddr
AS 'MODULE_PATHNAME', 'uuid9562_uuid_extract_node'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuid_extract_node(uuid) IS
'node of a version 1 or 6 UUID, NULL for any other (RFC 9562, 5.1, 5.6)';

CREATE FUNCTION uuidv1_timestamp(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv1_timestamp'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv1_timestamp(uuid) IS
'timestamp of a version 1 UUID, NULL for any other (RFC 9562, 5.1)';

CREATE FUNCTION uuidv6_timestamp(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_timestamp'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_timestamp(uuid) IS
'timestamp of a version 6 UUID, NULL for any other (RFC 9562, 5.6)';

CREATE FUNCTION uuidv7_timestamp(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_timestamp'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_timestamp(uuid) IS
'timestamp of a version 7 UUID to the millisecond, NULL for any other version (RFC 9562, 5.7)';

CREATE FUNCTION uuidv7_timestamp_micros(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_timestamp_micros'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_timestamp_micros(uuid) IS
'timestamp of a version 7 UUID made by method 3, to the microsecond, NULL for any other version (RFC 9562, 6.2)';

CREATE FUNCTION uuidv8_timestamp(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_timestamp'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_timestamp(uuid) IS
'timestamp of a version 8 UUID read as made by uuidv8(), NULL for any other version (RFC 9562, B.1)';

CREATE FUNCTION uuidv8_node_id(uuid) RETURNS integer
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_id'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_id(uuid) IS
'node id of a version 8 UUID read as made by uuidv8_node(), NULL for any other version (RFC 9562, 6.4)';

CREATE FUNCTION uuidv8_node_timestamp(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_timestamp'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_timestamp(uuid) IS
'timestamp of a version 8 UUID read as made by uuidv8_node(), to the millisecond, NULL for any other version (RFC 9562, 6.4)';

CREATE FUNCTION uuidv8_node_timestamp_micros(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_timestamp_micros'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_timestamp_micros(uuid) IS
'timestamp of a version 8 UUID read as made by uuidv8_node(), to the microsecond, NULL for any other version (RFC 9562, 6.2, 6.4)';

CREATE FUNCTION uuid_inspect(uuid, OUT variant text, OUT version smallint,
							 OUT "timestamp" timestamptz, OUT clock_seq integer, OUT node macaddr)
AS 'MODULE_PATHNAME', 'uuid9562_uuid_inspect'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuid_inspect(uuid) IS
'all that a UUID says of itself, in one row (RFC 9562, 4 and 5)';

-- Conversion and constants

CREATE FUNCTION uuidv1_to_v6(uuid) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv1_to_v6'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv1_to_v6(uuid) IS
'version 6 UUID with the time, clock sequence and node of a version 1 UUID (RFC 9562, 5.6)';

CREATE FUNCTION uuidv6_to_v1(uuid) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_to_v1'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_to_v1(uuid) IS
'version 1 UUID with the time, clock sequence and node of a version 6 UUID (RFC 9562, 5.6)';

CREATE FUNCTION uuid_to_urn(uuid) RETURNS text
AS 'MODULE_PATHNAME', 'uuid9562_uuid_to_urn'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid_to_urn(uuid) IS
'UUID as a URN, urn:uuid:... (RFC 9562, 4)';

CREATE FUNCTION uuid_from_urn(urn text) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuid_from_urn'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid_from_urn(text) IS
'UUID of a URN, urn:uuid:... (RFC 9562, 4)';

CREATE FUNCTION nil_uuid() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_nil_uuid'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION nil_uuid() IS
'the Nil UUID, all bits zero (RFC 9562, 5.9)';

CREATE FUNCTION max_uuid() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_max_uuid'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION max_uuid() IS
'the Max UUID, all bits one (RFC 9562, 5.10)';

CREATE FUNCTION uuid_namespace(name text) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuid_namespace'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid_namespace(text) IS
'namespace id of dns, url, oid or x500 (RFC 9562, 6.6)';

-- Time

CREATE FUNCTION uuidv6_at(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_at'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_at(timestamptz) IS
'new version 6 UUID of that time, random clock sequence and node (RFC 9562, 5.6)';

CREATE FUNCTION uuidv7_at(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_at'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_at(timestamptz) IS
'new version 7 UUID of that time to the microsecond, then random bits (RFC 9562, 5.7)';

CREATE FUNCTION uuidv8_node_at(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_at'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_at(timestamptz) IS
'new version 8 UUID of that time and the node id of uuid9562.node_id, then random bits (RFC 9562, 6.4)';

CREATE FUNCTION uuidv8_node_at(timestamptz, node_id integer) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_at_arg'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_at(timestamptz, integer) IS
'new version 8 UUID of that time and the given node id, 0 to 65535, then random bits (RFC 9562, 6.4)';

CREATE FUNCTION uuidv6_floor(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_floor'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_floor(timestamptz) IS
'least version 6 UUID of that microsecond (RFC 9562, 5.6)';

CREATE FUNCTION uuidv7_floor(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_floor'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_floor(timestamptz) IS
'least version 7 UUID of that millisecond (RFC 9562, 5.7)';

CREATE FUNCTION uuidv8_node_floor(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_floor'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_floor(timestamptz) IS
'least version 8 UUID of that millisecond in the layout of uuidv8_node() (RFC 9562, 6.4)';

CREATE FUNCTION uuidv6_ceil(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_ceil'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_ceil(timestamptz) IS
'greatest version 6 UUID of that microsecond (RFC 9562, 5.6)';

CREATE FUNCTION uuidv7_ceil(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_ceil'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_ceil(timestamptz) IS
'greatest version 7 UUID of that millisecond (RFC 9562, 5.7)';

CREATE FUNCTION uuidv8_node_ceil(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_ceil'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_ceil(timestamptz) IS
'greatest version 8 UUID of that millisecond in the layout of uuidv8_node() (RFC 9562, 6.4)';

CREATE FUNCTION uuidv6_timestamp_from_text(text) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_timestamp_from_text'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_timestamp_from_text(text) IS
'timestamp of a version 6 UUID in its text form, NULL for any other version (RFC 9562, 5.6)';

CREATE FUNCTION uuidv7_timestamp_from_text(text) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_timestamp_from_text'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_timestamp_from_text(text) IS
'timestamp of a version 7 UUID in its text form, NULL for any other version (RFC 9562, 5.7)';

CREATE FUNCTION uuidv8_node_timestamp_from_text(text) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_timestamp_from_text'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_timestamp_from_text(text) IS
'timestamp of a version 8 UUID in its text form, read as made by uuidv8_node(), NULL for any other version (RFC 9562, 6.4)';

-- What the planner makes of a period: a version, and two bounds.

CREATE FUNCTION uuid_is_v6_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'uuid9562_uuid_is_v6_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid_is_v6_support(internal) IS
'planner support of uuid_is_v6 (RFC 9562, 5.6)';

CREATE FUNCTION uuid_is_v7_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'uuid9562_uuid_is_v7_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid_is_v7_support(internal) IS
'planner support of uuid_is_v7 (RFC 9562, 5.7)';

CREATE FUNCTION uuid_is_v8_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'uuid9562_uuid_is_v8_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid_is_v8_support(internal) IS
'planner support of uuid_is_v8 (RFC 9562, 5.8)';

-- dearer than a comparison with a bound, so that bounds are compared first
CREATE FUNCTION uuid_is_v6(uuid) RETURNS boolean
AS 'MODULE_PATHNAME', 'uuid9562_uuid_is_v6'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2 SUPPORT uuid_is_v6_support;
COMMENT ON FUNCTION uuid_is_v6(uuid) IS
'is it a version 6 UUID (RFC 9562, 5.6)';

CREATE FUNCTION uuid_is_v7(uuid) RETURNS boolean
AS 'MODULE_PATHNAME', 'uuid9562_uuid_is_v7'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2 SUPPORT uuid_is_v7_support;
COMMENT ON FUNCTION uuid_is_v7(uuid) IS
'is it a version 7 UUID (RFC 9562, 5.7)';

CREATE FUNCTION uuid_is_v8(uuid) RETURNS boolean
AS 'MODULE_PATHNAME', 'uuid9562_uuid_is_v8'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2 SUPPORT uuid_is_v8_support;
COMMENT ON FUNCTION uuid_is_v8(uuid) IS
'is it a version 8 UUID (RFC 9562, 5.8)';

CREATE FUNCTION uuidv6_lowest(period tstzrange) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_lowest'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_lowest(tstzrange) IS
'least version 6 UUID that the period can hold, the last one when it holds none (RFC 9562, 5.6)';

CREATE FUNCTION uuidv6_highest(period tstzrange) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_highest'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_highest(tstzrange) IS
'greatest version 6 UUID that the period can hold, the first one when it holds none (RFC 9562, 5.6)';

CREATE FUNCTION uuidv7_lowest(period tstzrange) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_lowest'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_lowest(tstzrange) IS
'least version 7 UUID that the period can hold, the last one when it holds none (RFC 9562, 5.7)';

CREATE FUNCTION uuidv7_highest(period tstzrange) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_highest'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_highest(tstzrange) IS
'greatest version 7 UUID that the period can hold, the first one when it holds none (RFC 9562, 5.7)';

CREATE FUNCTION uuidv8_node_lowest(period tstzrange) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_lowest'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_lowest(tstzrange) IS
'least UUID of uuidv8_node() that the period can hold, the last one when it holds none (RFC 9562, 6.4)';

CREATE FUNCTION uuidv8_node_highest(period tstzrange) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_highest'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_highest(tstzrange) IS
'greatest UUID of uuidv8_node() that the period can hold, the first one when it holds none (RFC 9562, 6.4)';

-- Within a period

CREATE FUNCTION uuidv6_within_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_within_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_within_support(internal) IS
'planner support of uuidv6_within (RFC 9562, 5.6)';

CREATE FUNCTION uuidv6_within(id uuid, period tstzrange) RETURNS boolean
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_within'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT uuidv6_within_support;
COMMENT ON FUNCTION uuidv6_within(uuid, tstzrange) IS
'is it a version 6 UUID whose timestamp lies in the period (RFC 9562, 5.6)';

CREATE FUNCTION uuidv7_within_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_within_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_within_support(internal) IS
'planner support of uuidv7_within and the operators <@ and @> (RFC 9562, 5.7)';

CREATE FUNCTION uuidv7_within(id uuid, period tstzrange) RETURNS boolean
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_within'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT uuidv7_within_support;
COMMENT ON FUNCTION uuidv7_within(uuid, tstzrange) IS
'is it a version 7 UUID whose timestamp lies in the period (RFC 9562, 5.7)';

CREATE FUNCTION uuidv8_node_within_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_within_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_within_support(internal) IS
'planner support of uuidv8_node_within (RFC 9562, 6.4)';

CREATE FUNCTION uuidv8_node_within(id uuid, period tstzrange) RETURNS boolean
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_within'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT uuidv8_node_within_support;
COMMENT ON FUNCTION uuidv8_node_within(uuid, tstzrange) IS
'is it a version 8 UUID whose timestamp, read as made by uuidv8_node(), lies in the period (RFC 9562, 6.4)';

-- An operator on tstzrange itself would be the best match for a tstzrange and
-- a literal, and take period @> '[2026-01-01,2026-02-01)' from PostgreSQL's
-- own operator.  On a domain over it, it is the best match for a uuid only.
CREATE DOMAIN uuidv7_period AS tstzrange;
COMMENT ON DOMAIN uuidv7_period IS
'tstzrange as the operators of version 7 UUIDs take it (RFC 9562, 5.7)';

CREATE FUNCTION uuidv7_contained_by_period(id uuid, period uuidv7_period) RETURNS boolean
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_contained_by_period'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT uuidv7_within_support;
COMMENT ON FUNCTION uuidv7_contained_by_period(uuid, uuidv7_period) IS
'implementation of the operator <@ for version 7 UUIDs (RFC 9562, 5.7)';

CREATE FUNCTION period_contains_uuidv7(period uuidv7_period, id uuid) RETURNS boolean
AS 'MODULE_PATHNAME', 'uuid9562_period_contains_uuidv7'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT uuidv7_within_support;
COMMENT ON FUNCTION period_contains_uuidv7(uuidv7_period, uuid) IS
'implementation of the operator @> for version 7 UUIDs (RFC 9562, 5.7)';

CREATE OPERATOR <@ (
	LEFTARG = uuid,
	RIGHTARG = uuidv7_period,
	FUNCTION = uuidv7_contained_by_period,
	COMMUTATOR = @>,
	RESTRICT = contsel,
	JOIN = contjoinsel
);
COMMENT ON OPERATOR <@ (uuid, uuidv7_period) IS
'is it a version 7 UUID whose timestamp lies in the period (RFC 9562, 5.7)';

CREATE OPERATOR @> (
	LEFTARG = uuidv7_period,
	RIGHTARG = uuid,
	FUNCTION = period_contains_uuidv7,
	COMMUTATOR = <@,
	RESTRICT = contsel,
	JOIN = contjoinsel
);
COMMENT ON OPERATOR @> (uuidv7_period, uuid) IS
'does the period hold the timestamp of the version 7 UUID (RFC 9562, 5.7)';

-- Generators

CREATE FUNCTION uuid_generator_stats(OUT scope text, OUT generator text, OUT version smallint, OUT method text,
									 OUT last_timestamp timestamptz, OUT generated bigint, OUT clock_backwards bigint,
									 OUT ran_ahead bigint, OUT mark_writes bigint, OUT damaged_marks bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'uuid9562_uuid_generator_stats'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuid_generator_stats() IS
'what each time-based generator of the session and of the instance has done (RFC 9562, 6.2 and 6.3)';

CREATE FUNCTION uuid_generator_reset() RETURNS void
AS 'MODULE_PATHNAME', 'uuid9562_uuid_generator_reset'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION uuid_generator_reset() IS
'let the instance''s generators begin at the clock again, and give up their order with what they made before (RFC 9562, 6.3)';
REVOKE EXECUTE ON FUNCTION uuid_generator_reset() FROM PUBLIC;
