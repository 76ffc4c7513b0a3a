-- The part of uuid9562 that needs no C, for PostgreSQL 15 and later on servers that do not
-- allow C extensions.
--
--	psql --set ON_ERROR_STOP=1 --file uuid9562.sql
--
-- Run this script as a role with the CREATE privilege on the database.  Each function has
-- the same name, arguments, results and errors as a function of the C extension.  So a
-- database can switch to the C extension later; see doc/hosted.md.
--
-- Neither this script nor its functions use the caller's search path: SQL functions are
-- parsed when they are created, and PL/pgSQL functions set their own path.  The schema can
-- be renamed, since no function refers to it by name.

BEGIN;

CREATE SCHEMA uuid9562;
GRANT USAGE ON SCHEMA uuid9562 TO PUBLIC;
COMMENT ON SCHEMA uuid9562 IS 'the part of the extension uuid9562 1.2 that needs no C';

SET LOCAL search_path = uuid9562, pg_catalog, pg_temp;

-- Inspection.  The planner can inline these functions, since each body is one expression.
-- They are not STRICT, since that can prevent inlining, but return NULL for NULL anyway.

CREATE FUNCTION uuid_is_v7(uuid) RETURNS boolean
IMMUTABLE PARALLEL SAFE
RETURN get_byte(uuid_send($1), 6) >> 4 = 7 AND get_byte(uuid_send($1), 8) >> 6 = 2;
COMMENT ON FUNCTION uuid_is_v7(uuid) IS 'is UUID version 7?';

CREATE FUNCTION uuid_extract_variant(uuid) RETURNS text
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN get_byte(uuid_send($1), 8) < 128 THEN 'ncs'
			WHEN get_byte(uuid_send($1), 8) < 192 THEN 'rfc9562'
			WHEN get_byte(uuid_send($1), 8) < 224 THEN 'microsoft'
			WHEN $1 IS NOT NULL THEN 'reserved' END;
COMMENT ON FUNCTION uuid_extract_variant(uuid) IS 'extract variant from UUID';

CREATE FUNCTION uuid_extract_version(uuid) RETURNS smallint
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN get_byte(uuid_send($1), 8) >> 6 = 2 THEN get_byte(uuid_send($1), 6) >> 4 END;
COMMENT ON FUNCTION uuid_extract_version(uuid) IS 'extract version from RFC 9562 UUID';

-- In the text of a v7 UUID, left($1::text, 8) and substr($1::text, 10, 4) are the 12
-- hexadecimal digits of the milliseconds since 1970-01-01.  This number is split into hours
-- and milliseconds, since the product of a large number and an interval is rounded.
-- AT TIME ZONE 'UTC' makes the result independent of the session's time zone.
CREATE FUNCTION uuidv7_timestamp(uuid) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN uuid_is_v7($1) THEN
	(timestamp 'epoch'
	 + ('x' || left($1::text, 8) || substr($1::text, 10, 4))::bit(48)::bigint / 3600000 * interval '1 hour'
	 + ('x' || left($1::text, 8) || substr($1::text, 10, 4))::bit(48)::bigint % 3600000 * interval '1 millisecond')
	AT TIME ZONE 'UTC' END;
COMMENT ON FUNCTION uuidv7_timestamp(uuid) IS 'timestamp of UUID version 7, to the millisecond';

CREATE FUNCTION uuidv7_timestamp_micros(uuid) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN (uuidv7_timestamp($1) AT TIME ZONE 'UTC'
		+ ((('x' || substr($1::text, 16, 3))::bit(12)::integer + 1) * 1000 - 1) / 4096 * interval '1 microsecond')
	   AT TIME ZONE 'UTC';
COMMENT ON FUNCTION uuidv7_timestamp_micros(uuid) IS 'timestamp of UUID version 7, to the microsecond';

-- The time of v1 and v6 is in units of 100 ns since 1582-10-15.
CREATE FUNCTION uuid_extract_timestamp(uuid) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN CASE uuid_extract_version($1)
	WHEN 1 THEN
		(timestamp '1582-10-15'
		 + ('x' || substr($1::text, 16, 3) || substr($1::text, 10, 4) || left($1::text, 8))::bit(60)::bigint / 36000000000 * interval '1 hour'
		 + ('x' || substr($1::text, 16, 3) || substr($1::text, 10, 4) || left($1::text, 8))::bit(60)::bigint % 36000000000 / 10
		   * interval '1 microsecond') AT TIME ZONE 'UTC'
	WHEN 6 THEN
		(timestamp '1582-10-15'
		 + ('x' || left($1::text, 8) || substr($1::text, 10, 4) || substr($1::text, 16, 3))::bit(60)::bigint / 36000000000 * interval '1 hour'
		 + ('x' || left($1::text, 8) || substr($1::text, 10, 4) || substr($1::text, 16, 3))::bit(60)::bigint % 36000000000 / 10
		   * interval '1 microsecond') AT TIME ZONE 'UTC'
	WHEN 7 THEN uuidv7_timestamp($1) END;
COMMENT ON FUNCTION uuid_extract_timestamp(uuid) IS 'extract timestamp from UUID of version 1, 6 or 7';

CREATE FUNCTION uuid_extract_clock_seq(uuid) RETURNS integer
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN uuid_extract_version($1) IN (1, 6)
	THEN (get_byte(uuid_send($1), 8) & 63) << 8 | get_byte(uuid_send($1), 9) END;
COMMENT ON FUNCTION uuid_extract_clock_seq(uuid) IS 'extract clock sequence from UUID of version 1 or 6';

CREATE FUNCTION uuid_extract_node(uuid) RETURNS macaddr
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN uuid_extract_version($1) IN (1, 6) THEN right($1::text, 12)::macaddr END;
COMMENT ON FUNCTION uuid_extract_node(uuid) IS 'extract node from UUID of version 1 or 6';

-- Conversion

DO $do$
DECLARE
	given int;
	wanted int;
	layout text;
BEGIN
	FOR given, wanted, layout IN VALUES
		(1, 6, $$substr(hex, 14, 3) || substr(hex, 9, 4) || left(hex, 5) || '6' || substr(hex, 6, 3)$$),
		(6, 1, $$substr(hex, 8, 5) || substr(hex, 14, 3) || substr(hex, 4, 4) || '1' || left(hex, 3)$$)
	LOOP
		EXECUTE format($format$
CREATE FUNCTION uuidv%1$s_to_v%2$s(uuid) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	hex text := translate($1::text, '-', '');
BEGIN
	IF substr(hex, 17, 1) NOT IN ('8', '9', 'a', 'b') THEN
		RAISE invalid_parameter_value USING
			MESSAGE = 'cannot convert UUID to version %2$s',
			DETAIL = 'Only UUIDs of the RFC 9562 variant have a version.';
	ELSIF substr(hex, 13, 1) <> '%1$s' THEN
		RAISE invalid_parameter_value USING
			MESSAGE = 'cannot convert version ' || ('x' || substr(hex, 13, 1))::bit(4)::int || ' UUID to version %2$s',
			HINT = 'Only version %1$s UUIDs can be converted to version %2$s.';
	END IF;
	RETURN (%3$s || right(hex, 16))::uuid;
END$body$;
COMMENT ON FUNCTION uuidv%1$s_to_v%2$s(uuid) IS 'convert UUID version %1$s to version %2$s'
$format$, given, wanted, layout);
	END LOOP;
END$do$;

-- UUIDs for a timestamp: a UUID with random bits, the smallest UUID, and the greatest UUID

DO $do$
DECLARE
	name text;
	volatility text;
	rest text;
	comment text;
BEGIN
	FOR name, volatility, rest, comment IN VALUES
		('at', 'VOLATILE', $$lpad(to_hex(mod(micros, 1000) * 4096 / 1000), 3, '0') || right(translate(gen_random_uuid()::text, '-', ''), 16)$$,
		 'generate UUID version 7 for a timestamp'),
		('floor', 'IMMUTABLE', $$'0008000000000000000'$$,
		 'smallest UUID version 7 of the timestamp''s millisecond'),
		('ceil', 'IMMUTABLE', $$'fffbfffffffffffffff'$$,
		 'greatest UUID version 7 of the timestamp''s millisecond')
	LOOP
		EXECUTE format($format$
CREATE FUNCTION uuidv7_%1$s(timestamptz) RETURNS uuid
LANGUAGE plpgsql %2$s STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	micros bigint;
BEGIN
	IF $1 < '1970-01-01 00:00+00' OR $1 > '10889-08-02 05:31:50.655999+00' THEN
		RAISE datetime_field_overflow USING
			MESSAGE = 'timestamp out of range for UUID version 7: "' || $1 || '"',
			DETAIL = 'UUID version 7 supports timestamps from 1970-01-01 to approximately year 10889.';
	END IF;
	micros := extract(epoch FROM $1) * 1000000;
	RETURN (lpad(to_hex(micros / 1000), 12, '0') || '7' || %3$s)::uuid;
END$body$;
COMMENT ON FUNCTION uuidv7_%1$s(timestamptz) IS %4$L
$format$, name, volatility, rest, comment);
	END LOOP;
END$do$;

-- Generation.  On PostgreSQL 18 and later, uuidv7_next() calls PostgreSQL's uuidv7().
-- Before PostgreSQL 18, values of the same millisecond are in random order.

DO $do$
BEGIN
	IF current_setting('server_version_num')::int >= 180000 THEN
		CREATE FUNCTION uuidv7_next() RETURNS uuid
		VOLATILE PARALLEL SAFE
		RETURN pg_catalog.uuidv7();
	ELSE
		CREATE FUNCTION uuidv7_next() RETURNS uuid
		VOLATILE PARALLEL SAFE
		RETURN (lpad(to_hex(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
				|| '7' || right(translate(gen_random_uuid()::text, '-', ''), 19))::uuid;
	END IF;
	COMMENT ON FUNCTION uuidv7_next() IS 'generate UUID version 7; same as uuidv7(), for column defaults';
END$do$;

-- The smallest and the greatest v7 UUID in a period.  Timestamps are whole microseconds, so
-- an exclusive bound becomes inclusive by adding a microsecond to a lower bound, or by
-- subtracting one from an upper bound.  If no v7 UUID is in the period, the lower bound is
-- the greatest v7 UUID and the upper bound is the smallest.

DO $do$
DECLARE
	name text;
	which text;
	rest text;
	none text;
	comment text;
BEGIN
	FOR name, which, rest, none, comment IN VALUES
		('lower_bound', 'first', '70008000000000000000', 'ffffffffffff7fffbfffffffffffffff',
		 'smallest UUID version 7 in the period, or the greatest one if the period has none'),
		('upper_bound', 'last', '7fffbfffffffffffffff', '00000000000070008000000000000000',
		 'greatest UUID version 7 in the period, or the smallest one if the period has none')
	LOOP
		EXECUTE format($format$
CREATE FUNCTION uuidv7_%1$s(period tstzrange) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	-- milliseconds since 1970-01-01; greatest() and least() ignore the NULL of an unbounded side
	first numeric := greatest(0, ceil((extract(epoch FROM lower(period)) * 1000000 + (NOT lower_inc(period))::int) / 1000));
	last numeric := least(281474976710655, floor((extract(epoch FROM upper(period)) * 1000000 - (NOT upper_inc(period))::int) / 1000));
BEGIN
	RETURN CASE WHEN isempty(period) OR first > last THEN '%4$s'
		   ELSE (lpad(to_hex(%2$s::bigint), 12, '0') || '%3$s')::uuid END;
END$body$;
COMMENT ON FUNCTION uuidv7_%1$s(tstzrange) IS %5$L
$format$, name, which, rest, none, comment);
	END LOOP;
END$do$;

-- Period conditions.  The planner can inline these functions, and then use an index for
-- the comparisons.

CREATE FUNCTION uuidv7_within(id uuid, period tstzrange) RETURNS boolean
IMMUTABLE PARALLEL SAFE
RETURN (uuid_is_v7(id) OR period IS NULL) AND id >= uuidv7_lower_bound(period) AND id <= uuidv7_upper_bound(period);
COMMENT ON FUNCTION uuidv7_within(uuid, tstzrange) IS 'does the period contain the timestamp of the version 7 UUID?';

CREATE DOMAIN uuidv7_period AS tstzrange;
COMMENT ON DOMAIN uuidv7_period IS 'tstzrange argument of the version 7 UUID operators';

CREATE FUNCTION uuidv7_contained_by_period(id uuid, period uuidv7_period) RETURNS boolean
IMMUTABLE PARALLEL SAFE
RETURN (uuid_is_v7(id) OR period IS NULL) AND id >= uuidv7_lower_bound(period) AND id <= uuidv7_upper_bound(period);
COMMENT ON FUNCTION uuidv7_contained_by_period(uuid, uuidv7_period) IS 'implementation of <@ operator';

CREATE FUNCTION period_contains_uuidv7(period uuidv7_period, id uuid) RETURNS boolean
IMMUTABLE PARALLEL SAFE
RETURN (uuid_is_v7(id) OR period IS NULL) AND id >= uuidv7_lower_bound(period) AND id <= uuidv7_upper_bound(period);
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

-- The aggregates min(uuid) and max(uuid), which PostgreSQL lacks before version 20

CREATE FUNCTION uuid_least(uuid, uuid) RETURNS uuid
IMMUTABLE STRICT PARALLEL SAFE
RETURN least($1, $2);
COMMENT ON FUNCTION uuid_least(uuid, uuid) IS 'smaller of two UUIDs';

CREATE FUNCTION uuid_greatest(uuid, uuid) RETURNS uuid
IMMUTABLE STRICT PARALLEL SAFE
RETURN greatest($1, $2);
COMMENT ON FUNCTION uuid_greatest(uuid, uuid) IS 'larger of two UUIDs';

CREATE AGGREGATE min(uuid) (
	SFUNC = uuid_least,
	STYPE = uuid,
	COMBINEFUNC = uuid_least,
	SORTOP = OPERATOR(pg_catalog.<),
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE min(uuid) IS 'minimum value of all uuid input values';

CREATE AGGREGATE max(uuid) (
	SFUNC = uuid_greatest,
	STYPE = uuid,
	COMBINEFUNC = uuid_greatest,
	SORTOP = OPERATOR(pg_catalog.>),
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE max(uuid) IS 'maximum value of all uuid input values';

-- base58.  The type numeric holds all 128 bits of a UUID.

CREATE FUNCTION uuid_to_base58(uuid) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	alphabet text := '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
	hex text := translate($1::text, '-', '');
	number numeric := 0;
	base58 text := '';
BEGIN
	FOR word IN 0 .. 3 LOOP
		number := number * 4294967296 + ('x' || substr(hex, word * 8 + 1, 8))::bit(32)::bigint;
	END LOOP;
	FOR place IN 1 .. 22 LOOP
		base58 := substr(alphabet, mod(number, 58)::integer + 1, 1) || base58;
		number := div(number, 58);
	END LOOP;
	RETURN base58;
END$body$;
COMMENT ON FUNCTION uuid_to_base58(uuid) IS 'convert UUID to base58';

CREATE FUNCTION uuid_from_base58(base58 text) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	alphabet text := '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
	digits text COLLATE "C" := base58;
	number numeric := 0;
	hex text := '';
	reason text;
BEGIN
	IF octet_length(digits) <> 22 THEN
		reason := 'A base58-encoded UUID consists of 22 ASCII characters.';
	ELSIF translate(digits, alphabet, '') <> '' THEN
		reason := 'Valid characters are digits and ASCII letters other than "0", "I", "O" and "l".';
	ELSIF digits > 'YcVfxkQb6JRzqk5kF2tNLv' THEN
		reason := 'The greatest base58-encoded UUID is "YcVfxkQb6JRzqk5kF2tNLv".';
	END IF;
	IF reason IS NOT NULL THEN
		RAISE invalid_text_representation USING
			MESSAGE = 'invalid input syntax for base58-encoded UUID: "' || digits || '"',
			DETAIL = reason;
	END IF;
	FOR place IN 1 .. 22 LOOP
		number := number * 58 + strpos(alphabet, substr(digits, place, 1)) - 1;
	END LOOP;
	FOR word IN 0 .. 3 LOOP
		hex := lpad(to_hex(mod(number, 4294967296)::bigint), 8, '0') || hex;
		number := div(number, 4294967296);
	END LOOP;
	RETURN hex::uuid;
END$body$;
COMMENT ON FUNCTION uuid_from_base58(text) IS 'convert base58 to UUID';

COMMIT;
