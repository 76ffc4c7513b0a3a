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
-- parsed when they are created, and PL/pgSQL functions set their own path.
--
-- As an extension, the script runs in a schema where others may have created operators and
-- functions.  PostgreSQL prefers its own operator only if the operands have exactly the types
-- that it takes.  So SQL functions cast operands to these types, and DO blocks write pg_catalog
-- before function names.  Four functions and aggregates that later versions of PostgreSQL also
-- have are created under temporary names, so that no statement refers to those of PostgreSQL.

BEGIN;

CREATE SCHEMA uuid9562;
GRANT USAGE ON SCHEMA uuid9562 TO PUBLIC;
COMMENT ON SCHEMA uuid9562 IS 'the part of the extension uuid9562 1.0 that needs no C';

SET LOCAL search_path = uuid9562, pg_catalog, pg_temp;

-- Inspection.  The planner can inline these functions, since each body is one expression.
-- They are not STRICT, since that can prevent inlining, but return NULL for NULL anyway.

CREATE FUNCTION uuid_is_v7(uuid) RETURNS boolean
IMMUTABLE PARALLEL SAFE
RETURN get_byte(uuid_send($1), 6) >> 4 = 7 AND get_byte(uuid_send($1), 8) >> 6 = 2;
COMMENT ON FUNCTION uuid_is_v7(uuid) IS 'is the UUID of version 7?';

CREATE FUNCTION uuid9562_uuid_extract_version(uuid) RETURNS smallint
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN get_byte(uuid_send($1), 8) >> 6 = 2 THEN get_byte(uuid_send($1), 6) >> 4 END;
COMMENT ON FUNCTION uuid9562_uuid_extract_version(uuid) IS 'extract version from RFC 9562 UUID';

-- In the text of a v7 UUID, left($1::text, 8) and substr($1::text, 10, 4) are the 12
-- hexadecimal digits of the milliseconds since 1970-01-01.  This number is split into hours
-- and milliseconds, since the product of a large number and an interval is rounded.
-- AT TIME ZONE 'UTC' makes the result independent of the session's time zone.
CREATE FUNCTION uuidv7_timestamp(uuid) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN uuid_is_v7($1) THEN
	(timestamp 'epoch'
	 + (('x' || left($1::text, 8) || substr($1::text, 10, 4))::bit(48)::bigint / 3600000)::double precision * interval '1 hour'
	 + (('x' || left($1::text, 8) || substr($1::text, 10, 4))::bit(48)::bigint % 3600000::bigint)::double precision * interval '1 millisecond')
	AT TIME ZONE 'UTC' END;
COMMENT ON FUNCTION uuidv7_timestamp(uuid) IS 'timestamp of UUID version 7, to the millisecond';

CREATE FUNCTION uuidv7_timestamp_micros(uuid) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN (uuidv7_timestamp($1) AT TIME ZONE 'UTC'
		+ (((('x' || substr($1::text, 16, 3))::bit(12)::integer + 1) * 1000 - 1) / 4096)::double precision * interval '1 microsecond')
	   AT TIME ZONE 'UTC';
COMMENT ON FUNCTION uuidv7_timestamp_micros(uuid) IS 'timestamp of UUID version 7, to the microsecond';

-- (milliseconds << 16) | (12 bits of fraction << 4) | (4 bits of counter)
CREATE FUNCTION uuidv7_ordinal(uuid) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	bytes bytea := uuid_send($1);
BEGIN
	IF get_byte(bytes, 6) >> 4 <> 7 OR get_byte(bytes, 8) >> 6 <> 2 THEN
		RAISE invalid_parameter_value USING
			MESSAGE = 'UUID ' || $1::text || ' has no ordinal',
			DETAIL = 'Only version 7 UUIDs have an ordinal.',
			HINT = 'Test the ID with uuid_is_v7() first.';
	ELSIF get_byte(bytes, 0) > 127 THEN
		RAISE numeric_value_out_of_range USING
			MESSAGE = 'ordinal of UUID ' || $1::text || ' is out of range for type bigint',
			DETAIL = 'UUIDs have ordinals until the year 6429.';
	END IF;
	RETURN ('x' || left($1::text, 8) || substr($1::text, 10, 4) || substr($1::text, 16, 3)
			|| to_hex(get_byte(bytes, 8) >> 2 & 15))::bit(64)::bigint;
END$body$;
COMMENT ON FUNCTION uuidv7_ordinal(uuid) IS 'bigint in the order of uuidv7_ordered() values';

-- The time of v1 and v6 is in units of 100 ns since 1582-10-15.
CREATE FUNCTION uuid9562_uuid_extract_timestamp(uuid) RETURNS timestamptz
IMMUTABLE PARALLEL SAFE
RETURN CASE uuid9562_uuid_extract_version($1)
	WHEN 1 THEN
		(timestamp '1582-10-15'
		 + (('x' || substr($1::text, 16, 3) || substr($1::text, 10, 4) || left($1::text, 8))::bit(60)::bigint / 36000000000)::double precision * interval '1 hour'
		 + (('x' || substr($1::text, 16, 3) || substr($1::text, 10, 4) || left($1::text, 8))::bit(60)::bigint % 36000000000 / 10)::double precision
		   * interval '1 microsecond') AT TIME ZONE 'UTC'
	WHEN 6 THEN
		(timestamp '1582-10-15'
		 + (('x' || left($1::text, 8) || substr($1::text, 10, 4) || substr($1::text, 16, 3))::bit(60)::bigint / 36000000000)::double precision * interval '1 hour'
		 + (('x' || left($1::text, 8) || substr($1::text, 10, 4) || substr($1::text, 16, 3))::bit(60)::bigint % 36000000000 / 10)::double precision
		   * interval '1 microsecond') AT TIME ZONE 'UTC'
	WHEN 7 THEN uuidv7_timestamp($1) END;
COMMENT ON FUNCTION uuid9562_uuid_extract_timestamp(uuid) IS 'extract timestamp from UUID of version 1, 6 or 7';

ALTER FUNCTION uuid9562_uuid_extract_version(uuid) RENAME TO uuid_extract_version;
ALTER FUNCTION uuid9562_uuid_extract_timestamp(uuid) RENAME TO uuid_extract_timestamp;

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
		EXECUTE pg_catalog.format($format$
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
			DETAIL = 'Only version %1$s UUIDs can be converted to version %2$s.';
	END IF;
	RETURN (%3$s || right(hex, 16))::uuid;
END$body$;
COMMENT ON FUNCTION uuidv%1$s_to_v%2$s(uuid) IS 'convert UUID version %1$s to version %2$s'
$format$, given, wanted, layout);
	END LOOP;
END$do$;

-- UUIDs for a timestamp: a UUID with random bits, one with given bits, the smallest UUID, and the
-- greatest UUID

DO $do$
DECLARE
	name text;
	volatility text;
	more text;
	rest text;
	comment text;
BEGIN
	FOR name, volatility, more, rest, comment IN VALUES
		('at', 'VOLATILE', '', $$lpad(to_hex(mod(micros, 1000) * 4096 / 1000), 3, '0') || right(translate(gen_random_uuid()::text, '-', ''), 16)$$,
		 'generate UUID version 7 for a timestamp'),
		('from', 'IMMUTABLE', ', bits bytea', $$lpad(to_hex(substring(number FROM 7 FOR 12)::int), 3, '0')
		|| to_hex((B'10' || substring(number FROM 19))::bit(64)::bigint)$$,
		 'build UUID version 7 from a timestamp and up to 72 bits'),
		('floor', 'IMMUTABLE', '', $$'0008000000000000000'$$,
		 'smallest UUID version 7 of the timestamp''s millisecond'),
		('ceil', 'IMMUTABLE', '', $$'fffbfffffffffffffff'$$,
		 'greatest UUID version 7 of the timestamp''s millisecond')
	LOOP
		EXECUTE pg_catalog.format($format$
CREATE FUNCTION uuidv7_%1$s(timestamptz%5$s) RETURNS uuid
LANGUAGE plpgsql %2$s STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	micros bigint;%6$s
	IF $1 < '1970-01-01 00:00+00' OR $1 > '10889-08-02 05:31:50.655999+00' THEN
		RAISE datetime_field_overflow USING
			MESSAGE = 'timestamp out of range for UUID version 7: "' || $1 || '"',
			DETAIL = 'UUID version 7 supports timestamps from 1970-01-01 to approximately year 10889.';
	END IF;
	micros := extract(epoch FROM $1) * 1000000;
	RETURN (lpad(to_hex(micros / 1000), 12, '0') || '7' || %3$s)::uuid;
END$body$;
COMMENT ON FUNCTION uuidv7_%1$s(timestamptz%5$s) IS %4$L
$format$, name, volatility, rest, comment, more, CASE more WHEN '' THEN '
BEGIN' ELSE $$
	number bit(80);
BEGIN
	IF octet_length(bits) > 9 THEN
		RAISE invalid_parameter_value USING
			MESSAGE = 'bytea value too long for UUID: ' || octet_length(bits) || ' bytes',
			DETAIL = 'uuidv7_from() accepts at most 9 bytes.';
	END IF;
	number := ('x' || lpad(encode(bits, 'hex'), 20, '0'))::bit(80);$$ END);
	END LOOP;
END$do$;

-- Generation.  On PostgreSQL 18 and later, uuidv7_next() calls PostgreSQL's uuidv7().
-- Before PostgreSQL 18, values of the same millisecond are in random order.

DO $do$
BEGIN
	IF pg_catalog.current_setting('server_version_num')::integer >= 180000 THEN
		CREATE FUNCTION uuidv7_next() RETURNS uuid
		VOLATILE PARALLEL SAFE
		RETURN pg_catalog.uuidv7();
	ELSE
		CREATE FUNCTION uuidv7_next() RETURNS uuid
		VOLATILE PARALLEL SAFE
		RETURN (lpad(to_hex(floor(extract(epoch FROM clock_timestamp()) * 1000::numeric)::bigint), 12, '0')
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
		 'smallest UUID version 7 in the period, or the greatest of all if the period has none'),
		('upper_bound', 'last', '7fffbfffffffffffffff', '00000000000070008000000000000000',
		 'greatest UUID version 7 in the period, or the smallest of all if the period has none')
	LOOP
		EXECUTE pg_catalog.format($format$
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

-- Text forms.  The type numeric holds all 128 bits of a UUID.  A message shows at most 100
-- bytes of a text.

CREATE FUNCTION uuid_encode(id uuid, format text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	alphabet text := CASE lower(left(format, 13) COLLATE "C")
					 WHEN 'ulid' THEN '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
					 WHEN 'base58' THEN '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
					 WHEN 'base58flickr' THEN '123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ' END;
	hex text := translate(id::text, '-', '');
	number numeric := 0;
	result text := '';
	shown text := left(format, 100);
BEGIN
	IF alphabet IS NULL THEN
		WHILE octet_length(shown) > 100 LOOP
			shown := left(shown, -1);
		END LOOP;
		RAISE invalid_parameter_value USING
			MESSAGE = 'unrecognized UUID format: "' || shown || '"',
			HINT = 'Valid formats are "ulid", "base58", and "base58flickr". Others require the C extension.';
	END IF;
	FOR word IN 0 .. 3 LOOP
		number := number * 4294967296 + ('x' || substr(hex, word * 8 + 1, 8))::bit(32)::bigint;
	END LOOP;
	FOR place IN 1 .. CASE length(alphabet) WHEN 32 THEN 26 ELSE 22 END LOOP
		result := substr(alphabet, mod(number, length(alphabet))::integer + 1, 1) || result;
		number := div(number, length(alphabet));
	END LOOP;
	RETURN result;
END$body$;
COMMENT ON FUNCTION uuid_encode(uuid, text) IS 'convert UUID to text in a format';

CREATE FUNCTION uuid_decode(encoded text, format text) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
	form text := lower(left(format, 13) COLLATE "C");
	given text COLLATE "C" := left(encoded, 27);
	shown text := left(encoded, 100);
	alphabet text;
	flickr text := '123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ';
	digits text COLLATE "C";
	is_valid boolean;
	reason text;
	number numeric := 0;
	hex text := '';
BEGIN
	IF form = 'ulid' THEN
		alphabet := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
		digits := translate(upper(given), 'ILO', '110');
		is_valid := length(given) = 26 AND digits < '8';
		reason := 'A ULID consists of 26 digits or ASCII letters other than "U"; the greatest is "7ZZZZZZZZZZZZZZZZZZZZZZZZZ".';
	ELSIF form IN ('base58', 'base58flickr') THEN
		alphabet := '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
		digits := lpad(given, 22, '1');
		IF form = 'base58flickr' THEN
			digits := translate(digits, flickr, alphabet);
		END IF;
		is_valid := length(given) BETWEEN 1 AND 22 AND digits <= 'YcVfxkQb6JRzqk5kF2tNLv';
		reason := 'A UUID in ' || form || ' consists of at most 22 digits or ASCII letters other than "0", "I", "O", and "l"; '
				  'the greatest is "' || CASE form WHEN 'base58' THEN 'YcVfxkQb6JRzqk5kF2tNLv' ELSE 'xBuEXKpA6iqZQK5Kf2TnkV' END || '".';
	ELSE
		shown := left(format, 100);
	END IF;
	IF is_valid AND translate(digits, alphabet, '') = '' THEN
		FOR place IN 1 .. length(digits) LOOP
			number := number * length(alphabet) + strpos(alphabet, substr(digits, place, 1)) - 1;
		END LOOP;
		FOR word IN 0 .. 3 LOOP
			hex := lpad(to_hex(mod(number, 4294967296)::bigint), 8, '0') || hex;
			number := div(number, 4294967296);
		END LOOP;
		RETURN hex::uuid;
	END IF;
	WHILE octet_length(shown) > 100 LOOP
		shown := left(shown, -1);
	END LOOP;
	IF alphabet IS NULL THEN
		RAISE invalid_parameter_value USING
			MESSAGE = 'unrecognized UUID format: "' || shown || '"',
			HINT = 'Valid formats are "ulid", "base58", and "base58flickr". Others require the C extension.';
	END IF;
	RAISE invalid_text_representation USING
		MESSAGE = 'invalid input syntax for ' || form || '-encoded UUID: "' || shown || '"',
		DETAIL = reason;
END$body$;
COMMENT ON FUNCTION uuid_decode(text, text) IS 'convert text in a format to UUID';

COMMIT;
