-- Version 8 with the time of v7 and a node ID (RFC 9562, 6.4), and its time functions.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
\pset format unaligned
\pset tuples_only

-- A generated value has the node ID of the setting or of the argument.
SET uuid9562.node_id = 4660;
SELECT public.uuidv8_node_id(public.uuidv8_node()), public.uuidv8_node_id(public.uuidv8_node(7));

-- A value for a given time has that time, to the millisecond, and the node ID.  The value
-- does not affect the generator.
SELECT t, public.uuidv8_node_timestamp(id), public.uuidv8_node_id(id), public.uuid_extract_version(id)
FROM (VALUES ('1970-01-01 00:00:00+00'::timestamptz, 65535), ('2222-02-22 19:22:22.123456+00', 7), ('10889-08-02 05:31:50.655999+00', 0)) AS a (t, node_id),
	 LATERAL public.uuidv8_node_at(t, node_id) AS id;
SELECT public.uuidv8_node_timestamp(public.uuidv8_node()) < '2222-02-22';

-- The smallest and greatest value of a millisecond, also of the first and the last
-- millisecond of the field.
SELECT t, public.uuidv8_node_floor(t), public.uuidv8_node_ceil(t)
FROM (VALUES ('1970-01-01 00:00:00+00'::timestamptz), ('2022-02-22 19:22:22.000999+00'), ('10889-08-02 05:31:50.655999+00')) AS a (t);
