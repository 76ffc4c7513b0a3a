-- The settings and their effect.
\pset format unaligned
\pset tuples_only
SELECT public.nil_uuid();	-- loads the library

SELECT name, setting, vartype, context, min_val, max_val, enumvals, boot_val
FROM pg_settings WHERE name LIKE 'uuid9562.%' ORDER BY name COLLATE "C";

-- by default, the node of v1 and v6 is random in each UUID, with the multicast bit
SELECT count(DISTINCT node),
	   bool_and(get_byte(decode(replace(node::text, ':', ''), 'hex'), 0) & 1 = 1) AS multicast
FROM (SELECT (public.uuid_inspect(unnest(ARRAY[public.uuidv1(), public.uuidv6()]))).node FROM generate_series(1, 1000)) AS made (node);

-- the node is the MAC address of the setting, in upper or lower case
SELECT form, set_config('uuid9562.mac_address', form, false) AS setting, (public.uuid_inspect(public.uuidv1())).node AS v1, (public.uuid_inspect(public.uuidv6())).node AS v6
FROM unnest('{08:00:2b:01:02:03,08:00:2B:01:02:09}'::text[]) AS form;

-- the clock sequence stays random with a MAC address
SELECT count(DISTINCT (public.uuid_inspect(public.uuidv6())).clock_seq) > 500 AS random FROM generate_series(1, 1000);
-- SET LOCAL ends with the transaction
BEGIN;
SET LOCAL uuid9562.mac_address = '';
SELECT (public.uuid_inspect(public.uuidv1())).node <> '08:00:2b:01:02:09' AS random;
ROLLBACK;
SELECT (public.uuid_inspect(public.uuidv6())).node = '08:00:2b:01:02:09' AS as_set;

-- the smallest and the greatest node ID
SELECT node_id, set_config('uuid9562.node_id', node_id, false) IS NOT NULL AS set, public.uuidv8_node_id(public.uuidv8_node())
FROM unnest('{0,65535}'::text[]) AS node_id;
