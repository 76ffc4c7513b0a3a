-- Version 8 with the time of v7 and a node ID (RFC 9562, 6.4), and its time functions.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
\pset null NULL

-- A new value has the current time and the node ID, from the setting or the argument.
SET uuid9562.node_id = 4660;
SELECT public.uuidv8_node_id(id) AS set, public.uuidv8_node_id(public.uuidv8_node(7)) AS given,
	   public.uuidv8_node_timestamp_micros(id) BETWEEN now() AND clock_timestamp() AS now
FROM (SELECT public.uuidv8_node() AS id OFFSET 0) AS made;

-- A value for a given time has that time to the microsecond, the node ID, and random
-- bits.
SELECT public.uuidv8_node_timestamp_micros(id) AS micros, public.uuidv8_node_timestamp(id) AS millis, public.uuidv8_node_id(id) AS node_id,
	   public.uuid_extract_version(id) AS version, public.uuid_extract_variant(id) AS variant
FROM (VALUES (public.uuidv8_node_at('2022-02-22 19:22:22.123456+00')),
			 (public.uuidv8_node_at('1970-01-01 00:00:00+00', 65535)),
			 (public.uuidv8_node_at('10889-08-02 05:31:50.655999+00', 0))) AS made (id);
SELECT public.uuidv8_node_at(t) <> public.uuidv8_node_at(t) AS random, public.uuidv8_node_at('2222-02-22 19:22:22+00') > public.uuidv8_node() AS no_generator_knows
FROM (VALUES ('2022-02-22 19:22:22+00'::timestamptz)) AS a (t);

-- the bytes of the v7 example (A.6) with version 8: 2022-02-22 14:22:22-05
SELECT public.uuidv8_node_timestamp(id) AS v8, public.uuidv8_node_timestamp_micros(id) AS v8_micros,
	   public.uuidv8_node_timestamp_from_text(id::text) AS from_text
FROM (VALUES ('017f22e2-79b0-8cc3-98c4-dc0c0c07398f'::uuid), ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')) AS ids (id);

-- The smallest and greatest value of a millisecond, also at both ends of the field.
SELECT public.uuidv8_node_floor(t), public.uuidv8_node_ceil(t)
FROM (VALUES ('1970-01-01 00:00:00+00'::timestamptz), ('2022-02-22 19:22:22.000999+00'), ('10889-08-02 05:31:50.655999+00')) AS a (t);

-- The bounds of a period.
SELECT period, public.uuidv8_node_lower_bound(period), public.uuidv8_node_upper_bound(period)
FROM (VALUES ('[2022-02-22 19:22:22, 2022-02-22 19:22:23)'::tstzrange),
			 ('(2022-02-22 19:22:22, 2022-02-22 19:22:23]'),
			 ('[2022-02-22 19:22:22.0001, 2022-02-22 19:22:22.0009]'),
			 ('(,)'), ('[1582-01-01,1969-12-31 23:59:59.999999]')) AS a (period);

-- Only v8 is within a period, even if the bytes of another version are between the
-- bounds.
SELECT public.uuid_extract_version(id) AS version, public.uuid_is_v8(id), public.uuidv8_node_within(id, '[2022-02-22, 2022-02-23)')
FROM (VALUES ('017f22e2-79b0-8cc3-98c4-dc0c0c07398f'::uuid), ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'),
			 ('017f22e2-79b0-8cc3-18c4-dc0c0c07398f'), ('2489e9ad-2ee2-8e00-8ec9-32d5f69181c0')) AS ids (id);

-- Plans: the index, partitions pruned during planning and during execution, a CHECK.
SET max_parallel_workers_per_gather = 0;
SET enable_bitmapscan = off;
CREATE TABLE event (id uuid PRIMARY KEY, n int) PARTITION BY RANGE (id);
CREATE TABLE event_2026_01 PARTITION OF event FOR VALUES FROM (public.uuidv8_node_floor('2026-01-01')) TO (public.uuidv8_node_floor('2026-02-01'));
CREATE TABLE event_2026_02 PARTITION OF event FOR VALUES FROM (public.uuidv8_node_floor('2026-02-01')) TO (public.uuidv8_node_floor('2026-04-01'));
INSERT INTO event SELECT public.uuidv8_node_at('2026-01-01'::timestamptz + n * interval '1 minute', n % 3), n FROM generate_series(0, 99999) AS n;
INSERT INTO event SELECT overlay(id::text PLACING '4' FROM 15)::uuid, n FROM event WHERE n % 100 = 50;
VACUUM ANALYZE event;
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE public.uuidv8_node_within(id, '[2026-01-10,2026-01-11)');
SELECT count(*), count(DISTINCT public.uuidv8_node_id(id)) AS nodes FROM event WHERE public.uuidv8_node_within(id, '[2026-01-10,2026-01-11)');
PREPARE by_period (tstzrange) AS SELECT count(*) FROM event WHERE public.uuidv8_node_within(id, $1);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE by_period ('[2026-02-10,2026-02-11)');
EXECUTE by_period ('[2026-02-10,2026-02-11)');
EXECUTE by_period (NULL);
DELETE FROM event WHERE NOT public.uuid_is_v8(id);
ALTER TABLE event ADD CHECK (public.uuid_is_v8(id));
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE public.uuidv8_node_within(id, '[2026-01-10,2026-01-11)');
DROP TABLE event;
