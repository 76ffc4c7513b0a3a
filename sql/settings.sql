-- The settings, and what they change.

SELECT public.nil_uuid();	-- the library is loaded by the first call

SELECT name, setting, vartype, context, min_val, max_val, enumvals, boot_val
FROM pg_settings WHERE name LIKE 'uuid9562.%' ORDER BY name COLLATE "C";

-- the node of v1 and v6: random in each UUID, and marked as no MAC address
SELECT count(DISTINCT node),
	   bool_and(get_byte(decode(replace(node::text, ':', ''), 'hex'), 0) & 1 = 1) AS multicast
FROM (SELECT public.uuid_extract_node(public.uuidv1()) FROM generate_series(1, 1000)
	  UNION ALL
	  SELECT public.uuid_extract_node(public.uuidv6()) FROM generate_series(1, 1000)) AS made (node);

-- or as set, in the forms that PostgreSQL's manual gives for macaddr
SET uuid9562.node = '02:00:5e:10:00:01';
SELECT public.uuid_extract_node(public.uuidv1()), public.uuid_extract_node(public.uuidv6());
SET uuid9562.node = '02-00-5E-10-00-02';
SELECT public.uuid_extract_node(public.uuidv1()), public.uuid_extract_node(public.uuidv6());
SET uuid9562.node = '00005e100003';
SHOW uuid9562.node;
SELECT public.uuid_extract_node(public.uuidv1()), public.uuid_extract_node(public.uuidv6());
SELECT form, set_config('uuid9562.node', form, false) IS NOT NULL AS set, public.uuid_extract_node(public.uuidv6())
FROM unnest('{08:00:2b:01:02:03,08-00-2b-01-02-04,08002b:010205,08002b-010206,0800.2b01.0207,0800-2b01-0208,08002B010209}'::text[]) AS form;
-- the clock sequence stays random
SELECT count(DISTINCT public.uuid_extract_clock_seq(public.uuidv6())) > 500 AS random FROM generate_series(1, 1000);
SET uuid9562.node = '';
SELECT public.uuid_extract_node(public.uuidv1()) <> '00:00:5e:10:00:03' AS random;

-- a setting is gone with its transaction
BEGIN;
SET LOCAL uuid9562.node = '02:00:5e:10:00:01';
SELECT public.uuid_extract_node(public.uuidv6());
ROLLBACK;
SELECT public.uuid_extract_node(public.uuidv6()) <> '02:00:5e:10:00:01' AS random;

-- node id
SET uuid9562.node_id = 65535;
SELECT public.uuidv8_node_id(public.uuidv8_node());
SET uuid9562.node_id = 0;
SELECT public.uuidv8_node_id(public.uuidv8_node());
RESET uuid9562.node_id;

-- method of v7: with counter, the 16 bits after the milliseconds count by one
SET uuid9562.v7_method = counter;
SELECT bool_and(step = 1) FILTER (WHERE same_ms) AS counts_by_one, count(*) FILTER (WHERE same_ms) > 50 AS often
FROM (SELECT counter - lag(counter) OVER by_id AS step, ms = lag(ms) OVER by_id AS same_ms
	  FROM (SELECT id, substr(id::text, 1, 13) AS ms,
				   ('x' || substr(id::text, 16, 3))::bit(12)::int * 16 +
				   (('x' || substr(id::text, 20, 2))::bit(8)::int & 63) / 4 AS counter
			FROM (SELECT public.uuidv7() FROM generate_series(1, 100)) AS made (id)) AS read
	  WINDOW by_id AS (ORDER BY id)) AS steps;

-- every method gives version 7
SET uuid9562.v7_method = random;
SELECT public.uuid_extract_version(public.uuidv7());
SET uuid9562.v7_method = fraction;
SELECT public.uuid_extract_version(public.uuidv7());
RESET uuid9562.v7_method;
SHOW uuid9562.v7_method;

-- how far ordered values may be ahead of the clock is for the whole server
SHOW uuid9562.max_ahead;
SET uuid9562.max_ahead = 5;
\echo :SQLSTATE

-- whether values are ordered across sessions is no setting
SET uuid9562.monotonic_scope = instance;
\echo :SQLSTATE
