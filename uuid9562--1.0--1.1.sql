/* uuid9562--1.0--1.1.sql */

-- complain if script is sourced in psql, rather than via CREATE or ALTER EXTENSION
\echo Use "ALTER EXTENSION uuid9562 UPDATE TO '1.1'" to load this file. \quit

-- Generation

CREATE FUNCTION uuidv7_next() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_next() IS
'uuidv7() under a name that no PostgreSQL has, for defaults (RFC 9562, 5.7)';

-- Conversion

CREATE FUNCTION uuid_to_base32hex(uuid) RETURNS text
AS 'MODULE_PATHNAME', 'uuid9562_uuid_to_base32hex'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuid_to_base32hex(uuid) IS
'UUID in 26 characters of base32hex, which sort as the UUID does (RFC 9562, 4; RFC 4648, 7)';

CREATE FUNCTION uuid_from_base32hex(base32hex text) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuid_from_base32hex'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid_from_base32hex(text) IS
'UUID of 26 characters of base32hex in upper or lower case (RFC 9562, 4; RFC 4648, 7)';

-- min and max, which PostgreSQL has itself from 20 on: there a plain name means
-- PostgreSQL's, as pg_catalog is searched first, also in this script; hence the
-- temporary names.

CREATE FUNCTION uuid_least(uuid, uuid) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuid_least'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuid_least(uuid, uuid) IS
'lesser of two UUIDs, for min (RFC 9562, 6.11)';

CREATE FUNCTION uuid_greatest(uuid, uuid) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuid_greatest'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuid_greatest(uuid, uuid) IS
'greater of two UUIDs, for max (RFC 9562, 6.11)';

CREATE AGGREGATE uuid9562_min(uuid) (
	SFUNC = uuid_least,
	STYPE = uuid,
	COMBINEFUNC = uuid_least,
	SORTOP = OPERATOR(pg_catalog.<),
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE uuid9562_min(uuid) IS
'least UUID of all input values (RFC 9562, 6.11)';
ALTER AGGREGATE uuid9562_min(uuid) RENAME TO min;

CREATE AGGREGATE uuid9562_max(uuid) (
	SFUNC = uuid_greatest,
	STYPE = uuid,
	COMBINEFUNC = uuid_greatest,
	SORTOP = OPERATOR(pg_catalog.>),
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE uuid9562_max(uuid) IS
'greatest UUID of all input values (RFC 9562, 6.11)';
ALTER AGGREGATE uuid9562_max(uuid) RENAME TO max;

-- Time

COMMENT ON FUNCTION uuidv6_timestamp_from_text(text) IS
'time at which a UUID in its text form stands in the order of version 6 (RFC 9562, 5.6)';
COMMENT ON FUNCTION uuidv7_timestamp_from_text(text) IS
'time at which a UUID in its text form stands in the order of version 7 (RFC 9562, 5.7)';
COMMENT ON FUNCTION uuidv8_node_timestamp_from_text(text) IS
'time at which a UUID in its text form stands in the order of uuidv8_node() (RFC 9562, 6.4)';

-- The bounds of tstzrange(a, b), each of one side: what the planner makes of it.

CREATE FUNCTION uuidv6_lowest_from(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_lowest_from'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_lowest_from(timestamptz) IS
'least version 6 UUID at the time or later (RFC 9562, 5.6)';

CREATE FUNCTION uuidv6_lowest_after(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_lowest_after'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_lowest_after(timestamptz) IS
'least version 6 UUID after the time (RFC 9562, 5.6)';

CREATE FUNCTION uuidv6_highest_until(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_highest_until'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_highest_until(timestamptz) IS
'greatest version 6 UUID at the time or earlier (RFC 9562, 5.6)';

CREATE FUNCTION uuidv6_highest_before(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_highest_before'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv6_highest_before(timestamptz) IS
'greatest version 6 UUID before the time (RFC 9562, 5.6)';

CREATE FUNCTION uuidv7_lowest_from(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_lowest_from'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_lowest_from(timestamptz) IS
'least version 7 UUID at the time or later (RFC 9562, 5.7)';

CREATE FUNCTION uuidv7_lowest_after(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_lowest_after'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_lowest_after(timestamptz) IS
'least version 7 UUID after the time (RFC 9562, 5.7)';

CREATE FUNCTION uuidv7_highest_until(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_highest_until'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_highest_until(timestamptz) IS
'greatest version 7 UUID at the time or earlier (RFC 9562, 5.7)';

CREATE FUNCTION uuidv7_highest_before(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_highest_before'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_highest_before(timestamptz) IS
'greatest version 7 UUID before the time (RFC 9562, 5.7)';

CREATE FUNCTION uuidv8_node_lowest_from(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_lowest_from'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_lowest_from(timestamptz) IS
'least UUID of uuidv8_node() at the time or later (RFC 9562, 6.4)';

CREATE FUNCTION uuidv8_node_lowest_after(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_lowest_after'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_lowest_after(timestamptz) IS
'least UUID of uuidv8_node() after the time (RFC 9562, 6.4)';

CREATE FUNCTION uuidv8_node_highest_until(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_highest_until'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_highest_until(timestamptz) IS
'greatest UUID of uuidv8_node() at the time or earlier (RFC 9562, 6.4)';

CREATE FUNCTION uuidv8_node_highest_before(timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_highest_before'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION uuidv8_node_highest_before(timestamptz) IS
'greatest UUID of uuidv8_node() before the time (RFC 9562, 6.4)';

-- Administration

CREATE FUNCTION uuid_generator_advance(id uuid) RETURNS void
AS 'MODULE_PATHNAME', 'uuid9562_uuid_generator_advance'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION uuid_generator_advance(uuid) IS
'let the generator of such values, of the session or the instance, go on after this one (RFC 9562, 6.3)';
REVOKE EXECUTE ON FUNCTION uuid_generator_advance(uuid) FROM PUBLIC;

-- OUT columns can be added to no function that exists.
DROP FUNCTION uuid_generator_stats();
CREATE FUNCTION uuid_generator_stats(OUT scope text, OUT generator text, OUT version smallint, OUT method text,
									 OUT last_timestamp timestamptz, OUT generated bigint, OUT clock_backwards bigint,
									 OUT ran_ahead bigint, OUT mark_writes bigint, OUT damaged_marks bigint,
									 OUT held_since timestamptz, OUT held_by integer)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'uuid9562_uuid_generator_stats'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuid_generator_stats() IS
'what each time-based generator of the session and of the instance has done, and who holds its horizon (RFC 9562, 6.2 and 6.3)';

-- Reading on

CREATE FUNCTION uuidv6_horizon() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv6_horizon'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuidv6_horizon() IS
'whatever uuidv6() made below it, in instance scope, and will ever be committed, the snapshot of the statement already sees (RFC 9562, 6.3)';

CREATE FUNCTION uuidv7_horizon() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv7_horizon'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuidv7_horizon() IS
'whatever uuidv7() made below it, in instance scope, and will ever be committed, the snapshot of the statement already sees (RFC 9562, 6.3)';

CREATE FUNCTION uuidv8_node_horizon() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid9562_uuidv8_node_horizon'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION uuidv8_node_horizon() IS
'whatever uuidv8_node() made below it, in instance scope, and will ever be committed, the snapshot of the statement already sees (RFC 9562, 6.3)';
