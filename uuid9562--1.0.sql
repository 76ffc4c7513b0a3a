/* uuid9562--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION uuid9562" to load this file. \quit

-- PostgreSQL 17, 18 and 20 added their own versions of seven functions and aggregates
-- below. An unqualified name can refer to PostgreSQL's version, so the script creates and
-- comments on these seven under temporary names, and then renames them.

-- ------------------------------------------------------------------------
-- Generation
-- ------------------------------------------------------------------------

CREATE FUNCTION uuidv1() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv1'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv1() IS 'generate UUID version 1';

CREATE FUNCTION uuidv3(namespace uuid, name text) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv3_text'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv3(uuid, text) IS 'generate UUID version 3: MD5 of namespace and name in UTF-8';

CREATE FUNCTION uuidv3(namespace uuid, name bytea) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv3_bytea'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv3(uuid, bytea) IS 'generate UUID version 3: MD5 of namespace and the bytes of the name';

CREATE FUNCTION uuid9562_uuidv4() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv4'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid9562_uuidv4() IS 'generate UUID version 4';
ALTER FUNCTION uuid9562_uuidv4() RENAME TO uuidv4;

CREATE FUNCTION uuidv5(namespace uuid, name text) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv5_text'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv5(uuid, text) IS 'generate UUID version 5: SHA-1 of namespace and name in UTF-8';

CREATE FUNCTION uuidv5(namespace uuid, name bytea) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv5_bytea'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv5(uuid, bytea) IS 'generate UUID version 5: SHA-1 of namespace and the bytes of the name';

CREATE FUNCTION uuidv6() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6() IS 'generate UUID version 6';

CREATE FUNCTION uuid9562_uuidv7() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid9562_uuidv7() IS 'generate UUID version 7';
ALTER FUNCTION uuid9562_uuidv7() RENAME TO uuidv7;

CREATE FUNCTION uuid9562_uuidv7(shift interval) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_shift'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid9562_uuidv7(interval) IS 'generate UUID version 7 with a timestamp shifted by specified interval';
ALTER FUNCTION uuid9562_uuidv7(interval) RENAME TO uuidv7;

-- PostgreSQL 18 and later have their own uuidv7() but no uuidv7_next(). So a column default
-- with uuidv7_next() cannot call PostgreSQL's function by mistake.
CREATE FUNCTION uuidv7_next() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_next() IS 'generate UUID version 7; same as uuidv7(), for column defaults';

CREATE FUNCTION uuidv8() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8() IS 'generate UUID version 8 with a timestamp in 10-ns units';

CREATE FUNCTION uuidv8_name(namespace uuid, name text, algorithm text DEFAULT 'sha256') RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_name_text'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_name(uuid, text, text) IS 'generate UUID version 8: SHA-2 of namespace and name in UTF-8';

CREATE FUNCTION uuidv8_name(namespace uuid, name bytea, algorithm text DEFAULT 'sha256') RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_name_bytea'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_name(uuid, bytea, text) IS 'generate UUID version 8: SHA-2 of namespace and the bytes of the name';

CREATE FUNCTION uuidv8_custom(octets bytea) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_custom'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_custom(bytea) IS 'build UUID version 8 from the first 16 bytes of the argument';

CREATE FUNCTION uuidv8_node() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node() IS 'generate UUID version 8 with a timestamp and the node ID of this server';

CREATE FUNCTION uuidv8_node(node_id integer) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_arg'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node(integer) IS 'generate UUID version 8 with a timestamp and a node ID';

-- ------------------------------------------------------------------------
-- Inspection
-- ------------------------------------------------------------------------

CREATE FUNCTION uuid9562_uuid_extract_version(uuid) RETURNS smallint
AS 'MODULE_PATHNAME', 'uuid9562_uuid_extract_version'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuid9562_uuid_extract_version(uuid) IS 'extract version from RFC 9562 UUID';
ALTER FUNCTION uuid9562_uuid_extract_version(uuid) RENAME TO uuid_extract_version;

CREATE FUNCTION uuid9562_uuid_extract_timestamp(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuid_extract_timestamp'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuid9562_uuid_extract_timestamp(uuid) IS 'extract timestamp from UUID of version 1, 6 or 7';
ALTER FUNCTION uuid9562_uuid_extract_timestamp(uuid) RENAME TO uuid_extract_timestamp;

CREATE FUNCTION uuidv6_timestamp(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_timestamp'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_timestamp(uuid) IS 'timestamp of UUID version 6';

CREATE FUNCTION uuidv7_timestamp(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_timestamp'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_timestamp(uuid) IS 'timestamp of UUID version 7, to the millisecond';

CREATE FUNCTION uuidv7_timestamp_micros(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_timestamp_micros'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_timestamp_micros(uuid) IS 'timestamp of UUID version 7, to the microsecond';

CREATE FUNCTION uuidv7_ordinal(uuid) RETURNS bigint
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_ordinal'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_ordinal(uuid) IS 'bigint in the order of uuidv7_ordered() values';

CREATE FUNCTION uuidv8_timestamp(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_timestamp'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_timestamp(uuid) IS 'timestamp of UUID generated by uuidv8()';

CREATE FUNCTION uuidv8_node_id(uuid) RETURNS integer
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_id'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_id(uuid) IS 'node ID of UUID generated by uuidv8_node()';

CREATE FUNCTION uuidv8_node_timestamp(uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_timestamp'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_timestamp(uuid) IS 'timestamp of UUID generated by uuidv8_node(), to the millisecond';

CREATE FUNCTION uuid_inspect(uuid, OUT variant text, OUT version smallint,
							 OUT "timestamp" timestamptz, OUT clock_seq integer, OUT node macaddr)
AS 'MODULE_PATHNAME', 'uuid9562_uuid_inspect'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuid_inspect(uuid) IS 'fields of a UUID as a row';

CREATE FUNCTION uuidv7_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_support(internal) IS 'planner support for uuid_is_v7, uuidv7_within, <@ and @>';

-- With COST 2, the planner puts comparisons, which have cost 1, before this function.
CREATE FUNCTION uuid_is_v7(uuid) RETURNS boolean
AS 'MODULE_PATHNAME', 'uuid9562_uuid_is_v7'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 2 SUPPORT uuidv7_support;
COMMENT ON FUNCTION uuid_is_v7(uuid) IS 'is the UUID of version 7?';

-- ------------------------------------------------------------------------
-- Conversion and constants
-- ------------------------------------------------------------------------

CREATE FUNCTION uuidv1_to_v6(uuid) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv1_to_v6'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv1_to_v6(uuid) IS 'convert UUID version 1 to version 6';

CREATE FUNCTION uuidv6_to_v1(uuid) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_to_v1'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_to_v1(uuid) IS 'convert UUID version 6 to version 1';

CREATE FUNCTION uuid_encode(id uuid, format text) RETURNS text
AS 'MODULE_PATHNAME', 'uuid9562_uuid_encode'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid_encode(uuid, text) IS 'convert UUID to text in a format';

CREATE FUNCTION uuid_decode(encoded text, format text) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuid_decode'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid_decode(text, text) IS 'convert text in a format to UUID';

CREATE FUNCTION uuid_to_typeid(id uuid, prefix text) RETURNS text
AS 'MODULE_PATHNAME', 'uuid9562_uuid_to_typeid'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid_to_typeid(uuid, text) IS 'convert UUID to TypeID';

CREATE FUNCTION uuid_from_typeid(typeid text, prefix text) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuid_from_typeid'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid_from_typeid(text, text) IS 'convert TypeID with a prefix to UUID';

CREATE FUNCTION nil_uuid() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_nil_uuid'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION nil_uuid() IS 'nil UUID, all bits zero';

CREATE FUNCTION max_uuid() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_max_uuid'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION max_uuid() IS 'max UUID, all bits one';

CREATE FUNCTION uuid_namespace(name text) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuid_namespace'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid_namespace(text) IS 'namespace UUID of a well-known name: dns, url, oid or x500';

CREATE FUNCTION uuid_least(uuid, uuid) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuid_least'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuid_least(uuid, uuid) IS 'smaller of two UUIDs';

CREATE FUNCTION uuid_greatest(uuid, uuid) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuid_greatest'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuid_greatest(uuid, uuid) IS 'greater of two UUIDs';

CREATE AGGREGATE uuid9562_min(uuid) (
	SFUNC = uuid_least,
	STYPE = uuid,
	COMBINEFUNC = uuid_least,
	SORTOP = OPERATOR(pg_catalog.<),
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE uuid9562_min(uuid) IS 'minimum value of all uuid input values';
ALTER AGGREGATE uuid9562_min(uuid) RENAME TO min;

CREATE AGGREGATE uuid9562_max(uuid) (
	SFUNC = uuid_greatest,
	STYPE = uuid,
	COMBINEFUNC = uuid_greatest,
	SORTOP = OPERATOR(pg_catalog.>),
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE uuid9562_max(uuid) IS 'maximum value of all uuid input values';
ALTER AGGREGATE uuid9562_max(uuid) RENAME TO max;

-- ------------------------------------------------------------------------
-- Public IDs
-- ------------------------------------------------------------------------

-- These functions are PARALLEL RESTRICTED because the key file can change: a parallel
-- worker could load a different key than its leader.
CREATE FUNCTION uuidv7_encrypt(id uuid, key_name text) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_encrypt'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuidv7_encrypt(uuid, text) IS 'encrypt UUID version 7 as version 4';
REVOKE EXECUTE ON FUNCTION uuidv7_encrypt(uuid, text) FROM PUBLIC;

CREATE FUNCTION uuidv7_decrypt(public_id uuid, key_name text) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_decrypt'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuidv7_decrypt(uuid, text) IS 'decrypt UUID version 4 to version 7';
REVOKE EXECUTE ON FUNCTION uuidv7_decrypt(uuid, text) FROM PUBLIC;

-- ------------------------------------------------------------------------
-- Time
-- ------------------------------------------------------------------------

CREATE FUNCTION uuidv6_at(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_at'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_at(timestamptz) IS 'generate UUID version 6 for a timestamp';

CREATE FUNCTION uuidv7_at(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_at'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_at(timestamptz) IS 'generate UUID version 7 for a timestamp';

CREATE FUNCTION uuidv7_from(timestamptz, bits bytea) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_from'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_from(timestamptz, bytea) IS 'build UUID version 7 from a timestamp and up to 72 bits';

CREATE FUNCTION uuidv8_node_at(timestamptz, node_id integer) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_at'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_at(timestamptz, integer) IS 'generate UUID version 8 for a timestamp, with a node ID';

CREATE FUNCTION uuidv6_floor(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_floor'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_floor(timestamptz) IS 'smallest UUID version 6 of the timestamp''s microsecond';

CREATE FUNCTION uuidv6_ceil(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_ceil'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_ceil(timestamptz) IS 'greatest UUID version 6 of the timestamp''s microsecond';

CREATE FUNCTION uuidv7_floor(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_floor'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_floor(timestamptz) IS 'smallest UUID version 7 of the timestamp''s millisecond';

CREATE FUNCTION uuidv7_ceil(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_ceil'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_ceil(timestamptz) IS 'greatest UUID version 7 of the timestamp''s millisecond';

CREATE FUNCTION uuidv8_node_floor(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_floor'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_floor(timestamptz) IS 'smallest uuidv8_node() UUID of the timestamp''s millisecond';

CREATE FUNCTION uuidv8_node_ceil(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_ceil'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_ceil(timestamptz) IS 'greatest uuidv8_node() UUID of the timestamp''s millisecond';

CREATE FUNCTION uuidv7_timestamp_from_text(text) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_timestamp_from_text'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_timestamp_from_text(text) IS 'timestamp of the first 48 bits of a UUID in text form';

-- ------------------------------------------------------------------------
-- Periods
--
-- If possible, the planner rewrites id <@ period to uuid_is_v7(id) AND id >= lower bound AND
-- id <= upper bound. PostgreSQL can use the comparisons with the bounds for index scans and
-- partition pruning.
-- ------------------------------------------------------------------------

CREATE FUNCTION uuidv7_lower_bound(period tstzrange) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_lower_bound_tstzrange'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_lower_bound(tstzrange) IS 'smallest UUID version 7 in the period, or the greatest of all if the period has none';

CREATE FUNCTION uuidv7_upper_bound(period tstzrange) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_upper_bound_tstzrange'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_upper_bound(tstzrange) IS 'greatest UUID version 7 in the period, or the smallest of all if the period has none';

CREATE FUNCTION uuidv7_lower_bound(bound timestamptz, inclusive boolean) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_lower_bound_timestamptz'
LANGUAGE C IMMUTABLE CALLED ON NULL INPUT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_lower_bound(timestamptz, boolean) IS 'smallest UUID version 7 of a period with this lower bound';

CREATE FUNCTION uuidv7_upper_bound(bound timestamptz, inclusive boolean) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_upper_bound_timestamptz'
LANGUAGE C IMMUTABLE CALLED ON NULL INPUT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_upper_bound(timestamptz, boolean) IS 'greatest UUID version 7 of a period with this upper bound';

CREATE FUNCTION uuidv7_within(id uuid, period tstzrange) RETURNS boolean
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_within'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT uuidv7_support;
COMMENT ON FUNCTION uuidv7_within(uuid, tstzrange) IS 'does the period contain the timestamp of the version 7 UUID?';

-- The operators <@ and @> below take a domain. If they took tstzrange, PostgreSQL would
-- resolve period @> '[2026-01-01,2026-02-01)' to the operator below instead of its own.
-- With the domain, PostgreSQL chooses the operator below only if the other argument has
-- type uuid.
CREATE DOMAIN uuidv7_period AS tstzrange;
COMMENT ON DOMAIN uuidv7_period IS 'tstzrange argument of the version 7 UUID operators';

CREATE FUNCTION uuidv7_contained_by_period(id uuid, period uuidv7_period) RETURNS boolean
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_contained_by_period'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT uuidv7_support;
COMMENT ON FUNCTION uuidv7_contained_by_period(uuid, uuidv7_period) IS 'implementation of <@ operator';

CREATE FUNCTION period_contains_uuidv7(period uuidv7_period, id uuid) RETURNS boolean
AS 'MODULE_PATHNAME', 'uuid9562_period_contains_uuidv7'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT uuidv7_support;
COMMENT ON FUNCTION period_contains_uuidv7(uuidv7_period, uuid) IS 'implementation of @> operator';

CREATE OPERATOR <@ (
	LEFTARG = uuid,
	RIGHTARG = uuidv7_period,
	FUNCTION = uuidv7_contained_by_period,
	COMMUTATOR = @>,
	RESTRICT = contsel,
	JOIN = contjoinsel
);
COMMENT ON OPERATOR <@ (uuid, uuidv7_period) IS 'is contained by';

CREATE OPERATOR @> (
	LEFTARG = uuidv7_period,
	RIGHTARG = uuid,
	FUNCTION = period_contains_uuidv7,
	COMMUTATOR = <@,
	RESTRICT = contsel,
	JOIN = contjoinsel
);
COMMENT ON OPERATOR @> (uuidv7_period, uuid) IS 'contains';

-- ------------------------------------------------------------------------
-- Ordered UUIDs and incremental reads
--
-- The values of uuidv7_ordered() increase across all sessions of the
-- server, even after a crash, a restart or a promotion of a standby.
-- ------------------------------------------------------------------------

CREATE FUNCTION uuidv7_ordered() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_ordered'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuidv7_ordered() IS 'generate UUID version 7, greater than all earlier values of all sessions';

CREATE FUNCTION uuidv7_guard_trigger() RETURNS trigger
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_guard_trigger'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuidv7_guard_trigger() IS 'trigger that refuses IDs that the transaction has not generated';

CREATE FUNCTION uuidv7_horizon() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_horizon'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuidv7_horizon() IS 'ID below which no further uuidv7_ordered() values can become visible';

CREATE FUNCTION uuidv7_position(id uuid, reader_position text) RETURNS text
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_position'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100;
COMMENT ON FUNCTION uuidv7_position(uuid, text) IS 'new position of a reader that has started after its position and has read all rows up to and including an ID';

CREATE FUNCTION uuidv7_after(reader_position text) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_after'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 100;
COMMENT ON FUNCTION uuidv7_after(text) IS 'ID after which a reader with a position continues on this server';

CREATE FUNCTION uuid_replay_target(OUT target text, OUT lsn pg_lsn) RETURNS record
AS 'MODULE_PATHNAME', 'uuid9562_uuid_replay_target'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuid_replay_target() IS 'replay target; after a standby has replayed it, the standby shows all rows below the horizon';

CREATE FUNCTION uuid_has_replayed(target text) RETURNS boolean
AS 'MODULE_PATHNAME', 'uuid9562_uuid_has_replayed'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuid_has_replayed(text) IS 'does the history of this server contain a replay target?';

-- ------------------------------------------------------------------------
-- Administration
-- ------------------------------------------------------------------------

CREATE FUNCTION uuid_generator_stats(OUT last_timestamp timestamptz, OUT generated bigint,
									 OUT ahead_of_clock bigint, OUT mark_writes bigint,
									 OUT held_since timestamptz, OUT held_by_pid integer, OUT held_by_prepared xid)
RETURNS record
AS 'MODULE_PATHNAME', 'uuid9562_uuid_generator_stats'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuid_generator_stats() IS 'statistics of the ordered UUID generator, and the transaction that holds back the horizon';

CREATE FUNCTION uuid_generator_advance(id uuid, force boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME', 'uuid9562_uuid_generator_advance'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION uuid_generator_advance(uuid, boolean) IS 'make the ordered generator continue after a UUID version 7';
REVOKE EXECUTE ON FUNCTION uuid_generator_advance(uuid, boolean) FROM PUBLIC;

CREATE FUNCTION uuid_generator_reset() RETURNS void
AS 'MODULE_PATHNAME', 'uuid9562_uuid_generator_reset'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION uuid_generator_reset() IS 'restart the ordered generator at the current time; new values can be smaller than earlier ones';
REVOKE EXECUTE ON FUNCTION uuid_generator_reset() FROM PUBLIC;
