-- UUIDs for a given time, and the argument types of period conditions.
-- test/pgtap/within.sql tests the results of period conditions.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
\pset format unaligned
\pset tuples_only

-- The smallest and greatest v7 of four milliseconds, and v6 of four microseconds: the first
-- and the last of the field, and two that follow each other.
SELECT t, public.uuidv7_floor(t), public.uuidv7_ceil(t)
FROM (VALUES ('1970-01-01 00:00:00+00'::timestamptz), ('2022-02-22 19:22:22.000999+00'), ('2022-02-22 19:22:22.001+00'), ('10889-08-02 05:31:50.655999+00')) AS a (t);
SELECT t, public.uuidv6_floor(t), public.uuidv6_ceil(t)
FROM (VALUES ('1582-10-15 00:00:00+00'::timestamptz), ('2022-02-22 19:22:22+00'), ('2022-02-22 19:22:22.000001+00'), ('5236-03-31 21:21:00.684697+00')) AS a (t);

-- A value for a given time has that time, to the microsecond.
SELECT t, public.uuidv7_timestamp_micros(id), public.uuid_extract_version(id)
FROM unnest('{1970-01-01 00:00:00+00,2022-02-22 19:22:22.123456+00,10889-08-02 05:31:50.655999+00}'::timestamptz[]) AS t, LATERAL public.uuidv7_at(t) AS id;
SELECT t, public.uuidv6_timestamp(id), public.uuid_extract_version(id)
FROM unnest('{1582-10-15 00:00:00+00,2022-02-22 19:22:22.123456+00,5236-03-31 21:21:00.684697+00}'::timestamptz[]) AS t, LATERAL public.uuidv6_at(t) AS id;

-- uuidv7_from() has the millisecond of its timestamp and the given bits at the end, also for the
-- first and last millisecond: no bits, one, the bits at both sides of the variant and of rand_a, all
-- 72, and a long text as bytes.
SELECT t, bits, public.uuidv7_from(t, bits)
FROM unnest('{1970-01-01 00:00:00+00,2022-02-22 19:22:22.123999+00,10889-08-02 05:31:50.655999+00}'::timestamptz[]) AS t,
	 unnest(ARRAY['', '\x01', '\x3fffffffffffffff', '\x4000000000000000', '\x8000000000000000', '\x010000000000000000', '\x800000000000000000',
				  '\xffffffffffffffffff', '123456789']::bytea[]) AS bits;

-- The bits can be read back, the timestamp is that of the millisecond, and UUIDs with bits of the
-- same length sort by the millisecond and then by the bits.
CREATE TEMP TABLE given AS
SELECT t, bits, public.uuidv7_from(t, bits) AS id
FROM (SELECT '2026-03-01'::timestamptz + n / 20 * interval '333 microseconds' AS t, substr(sha256(n::text::bytea), 1, 9) AS bits
	  FROM generate_series(1, 20000) AS n) AS rows;
SELECT count(*), count(DISTINCT id), bool_and(public.uuid_is_v7(id)) AS v7, bool_and(public.uuidv7_timestamp(id) = date_trunc('milliseconds', t)) AS same_time,
	   bool_and(right((B'00' || bits_of.a || bits_of.b)::text, 72) = right(bits_of.given::text, 72)) AS same_bits
FROM given, LATERAL (SELECT substring(all_bits FROM 53 FOR 12) AS a, substring(all_bits FROM 67) AS b, ('x' || encode(bits, 'hex'))::bit(72) AS given
					 FROM (SELECT ('x' || encode(uuid_send(id), 'hex'))::bit(128) AS all_bits) AS u) AS bits_of;
SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY id) AS by_id,
							 row_number() OVER (ORDER BY date_trunc('milliseconds', t), bits) AS by_time FROM given) AS numbered WHERE by_id <> by_time;
DROP TABLE given;

-- v6 has the MAC address of the setting, or a random node with the multicast bit; v7 has
-- no MAC address
SELECT set_config('uuid9562.mac_address', node, false), (public.uuid_inspect(public.uuidv6_at(now()))).node = '02:00:5e:10:00:01' AS set,
	   trunc((public.uuid_inspect(public.uuidv6_at(now()))).node)::text ~ '^.[13579bdf]' AS multicast,
	   right(public.uuidv7_at(now())::text, 12) = '02005e100001' AS in_v7
FROM unnest('{02:00:5e:10:00:01,""}'::text[]) AS node;

-- Values for a given time do not affect the generators, which continue at the current time.
SELECT public.uuidv7_at(t) > public.uuidv7(), public.uuidv6_at(t) > public.uuidv6() FROM (VALUES ('2222-02-22 19:22:22+00'::timestamptz)) AS a (t);

-- uuidv7_timestamp_from_text() returns the timestamp of the first 48 bits, whatever the version and
-- the variant are: of a bound that other libraries write with zeros, with the version alone, of
-- the v7 UUIDs around it, of the greatest bytes of the millisecond, and of the ends of the field.
SELECT id, public.uuidv7_timestamp_from_text(id) FROM unnest('{019ca6b1-dc00-0000-0000-000000000000,019ca6b1-dc00-7000-0000-000000000000,
	019ca6b1-dc00-7000-8000-000000000000,019ca6b1-dbff-7fff-bfff-ffffffffffff,019CA6B1DC00FFFFFFFFFFFFFFFFFFFF,
	00000000-0000-0000-0000-000000000000,ffffffff-ffff-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}'::text[]) AS id;

-- The operators accept a period as a literal, and domains over uuid and tstzrange.
CREATE DOMAIN order_id AS uuid;
CREATE DOMAIN business_day AS tstzrange;
SELECT id <@ '[2022-02-22,2022-02-23)' AS contained_by, '[2022-02-22,2022-02-23)' @> id AS contains,
	   id::order_id <@ '[2022-02-22,2022-02-23)'::business_day AS domain_contained_by, '[2022-02-22,2022-02-23)'::business_day @> id::order_id AS domain_contains
FROM (VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'::uuid)) AS ids (id);
DROP DOMAIN order_id, business_day;

-- Clients that ask for the types of parameters get those of the bounds, or the domain.
PREPARE by_bounds AS SELECT FROM pg_class WHERE '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'::uuid <@ tstzrange($1, $2);
PREPARE by_period AS SELECT FROM pg_class WHERE '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'::uuid <@ $1;
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
DEALLOCATE ALL;

-- A month whose bounds have zeros as version or variant gets an earlier and a later month.
CREATE TABLE visit (id uuid, n int) PARTITION BY RANGE (id);
CREATE TABLE visit_2026_03 PARTITION OF visit FOR VALUES FROM ('019ca6b1-dc00-0000-0000-000000000000') TO ('019d4657-0000-7000-0000-000000000000');
CREATE TABLE visit_2026_02 PARTITION OF visit FOR VALUES FROM (public.uuidv7_floor('2026-02-01')) TO ('019ca6b1-dc00-0000-0000-000000000000');
CREATE TABLE visit_2026_04 PARTITION OF visit FOR VALUES FROM (public.uuidv7_floor('2026-04-01')) TO (public.uuidv7_floor('2026-05-01'));
SELECT public.uuidv7_timestamp_from_text('019d4657-0000-7000-0000-000000000000') AS march_ends;
INSERT INTO visit SELECT id, n FROM generate_series(2, 4) AS n, LATERAL (VALUES
	(public.uuidv7_floor(make_timestamptz(2026, n, 1, 0, 0, 0))), (public.uuidv7_ceil(make_timestamptz(2026, n + 1, 1, 0, 0, 0) - interval '1 ms'))) AS ids (id);
SELECT tableoid::regclass, n, count(*) FROM visit GROUP BY tableoid, n ORDER BY n;
EXPLAIN (COSTS OFF) SELECT FROM visit WHERE id <@ '[2026-03-01,2026-04-01)';
DROP TABLE visit;

-- The extension does not change how PostgreSQL resolves its own operators: if one operand
-- is a tstzrange, PostgreSQL resolves an untyped literal or parameter as a tstzrange too.
SELECT tstzrange('2022-02-22', NULL) @> '[2022-02-23,2022-02-24)' AS contains,
	   '[2022-02-23,2022-02-24)' <@ tstzrange('2022-02-22', NULL) AS contained_by,
	   tstzrange('2022-02-22', NULL) @> '2022-02-23'::timestamptz AS contains_time,
	   '2022-02-23'::timestamptz <@ tstzrange('2022-02-22', NULL) AS time_contained_by;
PREPARE contains AS SELECT tstzrange('2022-02-22', NULL) @> $1;
PREPARE contained_by AS SELECT $1 <@ tstzrange('2022-02-22', NULL);
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
DEALLOCATE ALL;
