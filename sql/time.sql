-- UUIDs for a given time, and conditions on periods.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
\pset null NULL

-- The smallest and greatest v7 of a millisecond, and v6 of a microsecond: for two in a
-- row, and at both ends of each field.
SELECT t, public.uuidv7_floor(t), public.uuidv7_ceil(t)
FROM (VALUES ('1970-01-01 00:00:00+00'::timestamptz), ('2022-02-22 19:22:22.000999+00'), ('2022-02-22 19:22:22.001+00'), ('10889-08-02 05:31:50.655999+00')) AS a (t);
SELECT t, public.uuidv6_floor(t), public.uuidv6_ceil(t)
FROM (VALUES ('1582-10-15 00:00:00+00'::timestamptz), ('2022-02-22 19:22:22+00'), ('2022-02-22 19:22:22.000001+00'), ('5236-03-31 21:21:00.684697+00')) AS a (t);

-- A value for a given time has that time to the microsecond, and random bits.
SELECT public.uuidv7_timestamp_micros(id) AS v7, public.uuid_extract_version(id) AS version, public.uuid_extract_variant(id) AS variant
FROM unnest('{1970-01-01 00:00:00+00,2022-02-22 19:22:22.123456+00,10889-08-02 05:31:50.655999+00}'::timestamptz[]) AS t, LATERAL public.uuidv7_at(t) AS id;
SELECT public.uuidv6_timestamp(id) AS v6, public.uuid_extract_version(id) AS version, public.uuid_extract_variant(id) AS variant
FROM unnest('{1582-10-15 00:00:00+00,2022-02-22 19:22:22.123456+00,5236-03-31 21:21:00.684697+00}'::timestamptz[]) AS t, LATERAL public.uuidv6_at(t) AS id;
SELECT public.uuidv7_at(t) <> public.uuidv7_at(t) AS v7, public.uuidv6_at(t) <> public.uuidv6_at(t) AS v6
FROM (VALUES ('2022-02-22 19:22:22+00'::timestamptz)) AS a (t);

-- v6 has the node of the setting; a random one has the multicast bit
SELECT set_config('uuid9562.mac_address', node, false) AS node, public.uuid_extract_node(public.uuidv6_at(now())) = '02:00:5e:10:00:01' AS set,
	   trunc(public.uuid_extract_node(public.uuidv6_at(now())))::text ~ '^.[13579bdf]' AS multicast,
	   right(public.uuidv7_at(now())::text, 12) = '02005e100001' AS in_v7
FROM unnest('{02:00:5e:10:00:01,""}'::text[]) AS node;

-- These values do not affect the generators, which continue at the current time.
SELECT public.uuidv7_at('2222-02-22 19:22:22+00') > public.uuidv7() AS v7, public.uuidv6_at('2222-02-22 19:22:22+00') > public.uuidv6() AS v6;

-- Bounds of a period: v7 to the millisecond, v6 to the microsecond.
SELECT period, public.uuidv7_lower_bound(period), public.uuidv7_upper_bound(period)
FROM (VALUES ('[2022-02-22 19:22:22, 2022-02-22 19:22:23)'::tstzrange),
			 ('(2022-02-22 19:22:22, 2022-02-22 19:22:23]'),
			 ('[2022-02-22 19:22:22.0005, 2022-02-22 19:22:23.0005)'),
			 ('(2022-02-22 19:22:21.999999, 2022-02-22 19:22:23.001)'),
			 ('[2022-02-22 19:22:22.0001, 2022-02-22 19:22:22.0009]'),
			 ('[2022-02-22 19:22:22,)'),
			 ('(,2022-02-22 19:22:22)'),
			 ('[-infinity,infinity]'), ('[infinity,)'), ('(,-infinity]'),
			 ('[1582-01-01,1969-12-31 23:59:59.999999]'), ('[1582-01-01,1970-01-01]'),
			 ('[10889-08-02 05:31:50.655,infinity)'), ('[10889-08-02 05:31:50.656,infinity)'),
			 ('empty')) AS a (period);
SELECT period, public.uuidv6_lower_bound(period), public.uuidv6_upper_bound(period)
FROM (VALUES ('[2022-02-22 19:22:22, 2022-02-22 19:22:23)'::tstzrange),
			 ('(2022-02-22 19:22:22, 2022-02-22 19:22:23]'),
			 ('(2022-02-22 19:22:22, 2022-02-22 19:22:22.000001)'),
			 ('(,)'), ('[1000-01-01,1582-10-15)'), ('[1000-01-01,1582-10-15]'),
			 ('[5236-03-31 21:21:00.684697,)'), ('[5236-03-31 21:21:00.684698,)')) AS a (period);

-- Inclusive and exclusive bounds.  For one row PostgreSQL calls the functions, and for
-- two rows the planner rewrites them.
CREATE TEMP TABLE instant AS SELECT public.uuidv7_floor('2022-02-22 19:22:22.001+00') AS id;
CREATE TEMP TABLE periods (bounds, period) AS
VALUES ('[', '[2022-02-22 19:22:22.001,)'::tstzrange), ('(', '(2022-02-22 19:22:22.001,)'),
	   (']', '(,2022-02-22 19:22:22.001]'), (')', '(,2022-02-22 19:22:22.001)'),
	   ('[ .0005', '[2022-02-22 19:22:22.0005,)'), ('[ .001001', '[2022-02-22 19:22:22.001001,)'),
	   (') .001001', '(,2022-02-22 19:22:22.001001)'),
	   ('inside the millisecond', '[2022-02-22 19:22:22.0011,2022-02-22 19:22:22.0019]'),
	   ('unbounded', '(,)'), ('infinite', '[-infinity,infinity]'), ('empty', 'empty'), ('NULL', NULL);
SELECT bounds, called.*, public.uuidv7_within(id, period) AS rewritten, id <@ period AS contained_by, period @> id AS contains
FROM (SELECT bounds AS name, public.uuidv7_within(id, period) AS called, id <@ period AS contained_by, period @> id AS contains
	  FROM (SELECT * FROM instant, periods OFFSET 0) AS one_row OFFSET 0) AS called, instant, periods WHERE name = bounds;
DROP TABLE instant, periods;

-- No other version is within a period, even if its bytes are between the bounds.  NULL
-- gives NULL.
SELECT public.uuid_extract_version(id) AS version, public.uuid_is_v6(id) AS v6, public.uuid_is_v7(id) AS v7,
	   id >= public.uuidv7_lower_bound(period) AND id <= public.uuidv7_upper_bound(period) AS between,
	   id <@ period AS contained, NOT (id <@ period) AS "not", public.uuidv6_within(id, period)
FROM (VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'::uuid), ('017f22e2-79b0-4cc3-98c4-dc0c0c07398f'), ('017f22e2-79b0-6cc3-98c4-dc0c0c07398f'),
			 ('017f22e2-79b0-8cc3-98c4-dc0c0c07398f'), ('017f22e2-79b0-7cc3-18c4-dc0c0c07398f'), ('017f22e2-79b0-7cc3-d8c4-dc0c0c07398f'),
			 ('1ec9414c-232a-6b00-b3c8-9f6bdeced846'), (public.nil_uuid()), (public.max_uuid()), (NULL)) AS ids (id),
	 (VALUES ('[2022-02-22, 2022-02-23)'::tstzrange)) AS a (period);

-- The timestamp of a bound in text form.
SELECT public.uuidv7_timestamp_from_text(public.uuidv7_floor('2026-01-01')::text) AS v7,
	   public.uuidv7_timestamp_from_text(public.uuidv6_floor('2026-01-01')::text) AS "v6 as v7",
	   public.uuidv6_timestamp_from_text(public.uuidv6_floor('2026-01-01')::text) AS v6,
	   public.uuidv6_timestamp_from_text(public.uuidv7_floor('2026-01-01')::text) AS "v7 as v6";

-- A period as a literal, and domains over uuid and tstzrange.
CREATE DOMAIN order_id AS uuid;
CREATE DOMAIN business_day AS tstzrange;
SELECT id <@ '[2022-02-22,2022-02-23)' AS contained_by, '[2022-02-22,2022-02-23)' @> id AS contains,
	   id::order_id <@ '[2022-02-22,2022-02-23)'::business_day AS domain_contained_by, '[2022-02-22,2022-02-23)'::business_day @> id::order_id AS domain_contains
FROM (VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'::uuid)) AS ids (id);
DROP DOMAIN order_id, business_day;

-- The extension does not change how PostgreSQL resolves its own operators: with a
-- tstzrange, a literal or a parameter is a tstzrange as well.
SELECT tstzrange('2022-02-22', NULL) @> '[2022-02-23,2022-02-24)' AS contains,
	   '[2022-02-23,2022-02-24)' <@ tstzrange('2022-02-22', NULL) AS contained_by,
	   tstzrange('2022-02-22', NULL) @> '2022-02-23'::timestamptz AS contains_time,
	   '2022-02-23'::timestamptz <@ tstzrange('2022-02-22', NULL) AS time_contained_by;
PREPARE contains AS SELECT tstzrange('2022-02-22', NULL) @> $1;
PREPARE contained_by AS SELECT $1 <@ tstzrange('2022-02-22', NULL);
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
DEALLOCATE ALL;
