-- Functions that convert IDs and UUIDs of other systems to UUIDs.  doc/migrating.md names the systems.  The
-- functions depend only on their arguments, so a repeated migration returns the same UUIDs.  They need the
-- extension or managed/uuid9562.sql in the search path.  After a migration, drop them:
--
--	DROP FUNCTION uuid_from_id, uuid_from_number, id_number, ulid_floor, ulid_timestamp,
--		uuid_from_dotnet, uuid_from_java, uuid_from_mysql, uuid_from_ruby, uuid_contents;

-- Return the number that a text writes in the digits of an alphabet, or NULL if the text has another length
-- or other digits.
CREATE FUNCTION id_number(id text, digits text, length integer) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
	alphabet text := CASE digits
		WHEN 'hex' THEN '0123456789abcdef'
		WHEN 'base32hex' THEN '0123456789abcdefghijklmnopqrstuv'
		WHEN 'crockford' THEN '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
		WHEN 'base36' THEN '0123456789abcdefghijklmnopqrstuvwxyz'
		WHEN 'base62' THEN '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
		WHEN 'push' THEN '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz' END;
	radix bigint := length(alphabet);
	number numeric := 0;
	-- up to 10 digits at a time, since calculations with bigint are faster
	part bigint := 0;
	factor bigint := 1;
BEGIN
	IF length(id) <> length OR translate(id, alphabet, '') <> '' THEN
		RETURN NULL;
	END IF;
	FOR n IN 1 .. length LOOP
		part := part * radix + strpos(alphabet, substr(id, n, 1)) - 1;
		factor := factor * radix;
		IF n % 10 = 0 OR n = length THEN
			number := number * factor + part;
			part := 0;
			factor := 1;
		END IF;
	END LOOP;
	RETURN number;
END$$;

-- Return a v7 UUID for a number id = time * rest + others.  The time counts units since the epoch, which is
-- given in seconds since 1970.  Of the others, the UUID keeps the first and, if a generator counts there, the
-- last bits, together 72.  So the UUIDs sort like the numbers.
CREATE FUNCTION uuid_from_number(id numeric, rest numeric, epoch numeric DEFAULT 0, units_per_second integer DEFAULT 1000,
	last_bits integer DEFAULT 0) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
	ticks numeric := div(id, rest);
	others numeric := id - ticks * rest;
	first40 numeric := div(others * 1099511627776, rest);
	last32 bigint := CASE last_bits WHEN 0 THEN div(others * 4722366482869645213696, rest) - first40 * 4294967296 ELSE mod(others, 4294967296) END;
BEGIN
	RETURN uuidv7_from(to_timestamp(ticks / units_per_second + epoch),
		substr(int8send(first40::bigint), 4) || substr(int8send(last32), 5));
END$$;

-- Return the smallest ULID of a millisecond, and the time of a ULID.
CREATE FUNCTION ulid_floor(timestamptz) RETURNS uuid IMMUTABLE STRICT PARALLEL SAFE
RETURN overlay(uuidv7_floor($1)::text PLACING '0000-0' FROM 15)::uuid;

CREATE FUNCTION ulid_timestamp(uuid) RETURNS timestamptz IMMUTABLE STRICT PARALLEL SAFE
RETURN uuidv7_timestamp(overlay(overlay($1::text PLACING '7' FROM 15) PLACING '8' FROM 20)::uuid);

-- Return the UUID for an ID of another system, or NULL if the ID has another length or other digits.
CREATE FUNCTION uuid_from_id(id text, system text) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
	CASE system
		-- time, then bits that begin with a counter or are random
		WHEN 'twitter' THEN RETURN uuid_from_number(id::numeric, 4194304, 1288834974.657);
		WHEN 'discord' THEN RETURN uuid_from_number(id::numeric, 4194304, 1420070400);
		WHEN 'snowflake' THEN RETURN uuid_from_number(id::numeric, 4194304);
		WHEN 'instagram' THEN RETURN uuid_from_number(id::numeric, 8388608, 1314220021.721);
		WHEN 'mastodon' THEN RETURN uuid_from_number(id::numeric, 65536);
		WHEN 'simple-flakeid' THEN RETURN uuid_from_number(id::numeric, 4096, 1577836800);
		WHEN 'sonyflake-1' THEN RETURN uuid_from_number(id::numeric, 16777216, 1409529600, 100);
		WHEN 'sonyflake-2' THEN RETURN uuid_from_number(id::numeric, 16777216, 1735689600, 100);
		WHEN 'sonyflake-npm' THEN RETURN uuid_from_number(id::numeric, 16777216);
		WHEN 'nocobase' THEN RETURN uuid_from_number(id::numeric, 2097152, 1605024000, 1);
		WHEN 'uuid-int' THEN RETURN uuid_from_number(id::numeric, 2097152, -1, 1);	-- which writes the next second
		WHEN 'tsid-bigint' THEN RETURN uuid_from_number(id::numeric, 4194304, 1577836800);
		WHEN 'tsid' THEN RETURN uuid_from_number(id_number(id, 'crockford', 13), 4194304, 1577836800);
		WHEN 'objectid' THEN RETURN uuid_from_number(id_number(id, 'hex', 24), 2.0 ^ 64, 0, 1);
		WHEN 'xid' THEN RETURN uuid_from_number(id_number(id, 'base32hex', 20), 2.0 ^ 68, 0, 1);
		WHEN 'xid-js' THEN RETURN uuid_from_number(id_number(upper(id), 'crockford', 20), 2.0 ^ 68, 0, 1);
		WHEN 'cuid' THEN RETURN uuid_from_number(id_number(substr(id, 2), 'base36', 24), 36.0 ^ 16);
		WHEN 'firebase' THEN RETURN uuid_from_number(id_number(id, 'push', 20), 2.0 ^ 72);
		WHEN 'scru128' THEN RETURN uuid_from_number(id_number(id, 'base36', 25), 2.0 ^ 80);
		-- time, then random bits; monotonic generators add 1
		WHEN 'ulid' THEN RETURN uuid_from_number(id_number(upper(id), 'crockford', 26), 2.0 ^ 80, 0, 1000, 32);
		WHEN 'ksuid' THEN RETURN uuid_from_number(id_number(id, 'base62', 27), 2.0 ^ 128, 1400000000, 1, 32);
		-- seconds in 8 digits, then microseconds or milliseconds in 5 digits
		WHEN 'uniqid' THEN RETURN uuidv7_from(
			to_timestamp(id_number(left(id, 8), 'hex', 8) + id_number(substr(id, 9), 'hex', 5) / 1000000),
			decode('0' || substr(id, 9), 'hex'));
		WHEN 'appwrite' THEN RETURN uuidv7_from(
			to_timestamp(id_number(left(id, 8), 'hex', 8) + id_number(substr(id, 9, 5), 'hex', 5) / 1000),
			decode(substr(id, 13), 'hex'));
		-- seconds in the last 8 digits
		WHEN 'dbus' THEN RETURN uuidv7_from(to_timestamp(id_number(right(id, 8), 'hex', 8)), decode(left(id, 18), 'hex'));
		-- seconds in 8 digits; the last digit counts the characters before them
		WHEN 'short-unique-id' THEN RETURN uuidv7_from(
			to_timestamp(id_number(substr(id, 1 + id_number(right(id, 1), 'hex', 1)::integer, 8), 'hex', 8)),
			substr(sha256(convert_to(id, 'UTF8')), 1, 9));
		-- v1 whose variant overwrites bits 55 and 54 of the time, which are set from 1982 to 2038, instead of bits
		-- of the clock sequence
		WHEN 'uuid-1345' THEN RETURN uuidv1_to_v6(
			encode(set_bit(set_bit(set_bit(uuid_send(id::uuid), 62, 1), 70, 0), 71, 1), 'hex')::uuid);
		-- v6 with random bits instead of the variant
		WHEN 'uuid-with-v6' THEN RETURN encode(set_bit(set_bit(uuid_send(id::uuid), 70, 0), 71, 1), 'hex')::uuid;
		-- v6 and v1 that count milliseconds instead of 100 ns
		WHEN 'id128-v6' THEN RETURN uuid_from_number(
			id_number(replace(lower(id), '-', ''), 'hex', 32), 2.0 ^ 80, -12219292800);
		WHEN 'id128-v1' THEN RETURN uuid_from_number(
			id_number(replace(uuidv1_to_v6(id::uuid)::text, '-', ''), 'hex', 32), 2.0 ^ 80, -12219292800);
	END CASE;
END$$;

-- Return the UUID whose first three fields have reversed bytes, whose halves have reversed bytes, or whose
-- first three fields follow each other in reversed order.
CREATE FUNCTION uuid_from_dotnet(bytes bytea) RETURNS uuid IMMUTABLE STRICT PARALLEL SAFE
RETURN regexp_replace(encode(bytes, 'hex'), '^(..)(..)(..)(..)(..)(..)(..)(..)', '\4\3\2\1\6\5\8\7')::uuid;

CREATE FUNCTION uuid_from_java(bytes bytea) RETURNS uuid IMMUTABLE STRICT PARALLEL SAFE
RETURN regexp_replace(encode(bytes, 'hex'), '(..)(..)(..)(..)(..)(..)(..)(..)', '\8\7\6\5\4\3\2\1', 'g')::uuid;

CREATE FUNCTION uuid_from_mysql(bytes bytea) RETURNS uuid IMMUTABLE STRICT PARALLEL SAFE
RETURN regexp_replace(encode(bytes, 'hex'), '^(....)(....)(........)', '\3\2\1')::uuid;

-- Return the UUID that Ruby's bson has written as subtype 3 of Java.  It does not reverse the bytes if one of
-- them is 0a, a line feed.
CREATE FUNCTION uuid_from_ruby(bytes bytea) RETURNS uuid IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN position('\x0a'::bytea IN bytes) > 0 THEN encode(bytes, 'hex')::uuid ELSE uuid_from_java(bytes) END;

-- Return what a UUID says about itself, for the query that checks a conversion.
CREATE FUNCTION uuid_contents(id uuid, OUT variant text, OUT version integer, OUT "time" timestamptz)
IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
	SELECT variant, version, CASE
		WHEN version = 7 THEN uuidv7_timestamp(id)
		WHEN version IN (1, 6) THEN to_timestamp(id_number(left(v6, 12) || right(left(v6, 16), 3), 'hex', 15) / 10000000 - 12219292800) END
	FROM (SELECT CASE WHEN get_byte(uuid_send(id), 8) < 128 THEN 'ncs' WHEN get_byte(uuid_send(id), 8) < 192 THEN 'rfc9562'
			WHEN get_byte(uuid_send(id), 8) < 224 THEN 'microsoft' ELSE 'reserved' END AS variant) AS of_variant,
		LATERAL (SELECT CASE variant WHEN 'rfc9562' THEN get_byte(uuid_send(id), 6) >> 4 END AS version) AS of_version,
		LATERAL (SELECT encode(uuid_send(CASE version WHEN 1 THEN uuidv1_to_v6(id) ELSE id END), 'hex') AS v6) AS of_v6;
END;
