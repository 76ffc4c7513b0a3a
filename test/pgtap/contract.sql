-- The contract: every function of the extension, its signature and its marks,
-- and the operators.

BEGIN;
SELECT plan(14);

CREATE TEMP VIEW all_members AS
SELECT p.*
FROM pg_extension AS e
	 JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
	 JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
WHERE e.extname = 'uuid9562';

CREATE TEMP VIEW members AS SELECT * FROM all_members WHERE prokind = 'f';

-- name, arguments, result, volatility, leakproof
CREATE TEMP TABLE contract (name text, arguments text, result text, volatility "char", leakproof boolean);
INSERT INTO contract VALUES
	('uuidv1', '', 'uuid', 'v', false),
	('uuidv3', 'namespace uuid, name text', 'uuid', 'i', false),
	('uuidv3', 'namespace uuid, name bytea', 'uuid', 'i', false),
	('uuidv4', '', 'uuid', 'v', false),
	('uuidv5', 'namespace uuid, name text', 'uuid', 'i', false),
	('uuidv5', 'namespace uuid, name bytea', 'uuid', 'i', false),
	('uuidv6', '', 'uuid', 'v', false),
	('uuidv7', '', 'uuid', 'v', false),
	('uuid_to_base32hex', 'uuid', 'text', 'i', true),
	('uuid_from_base32hex', 'base32hex text', 'uuid', 'i', false),
	('uuid_least', 'uuid, uuid', 'uuid', 'i', true),
	('uuid_greatest', 'uuid, uuid', 'uuid', 'i', true),
	('uuidv7_next', '', 'uuid', 'v', false),
	('uuidv7', 'shift interval', 'uuid', 'v', false),
	('uuidv7_batch', 'n bigint', 'SETOF uuid', 'v', false),
	('uuidv7_batch_support', 'internal', 'internal', 'i', false),
	('uuidv8', '', 'uuid', 'v', false),
	('uuidv8_name', 'namespace uuid, name text, algorithm text DEFAULT ''sha256''::text', 'uuid', 'i', false),
	('uuidv8_name', 'namespace uuid, name bytea, algorithm text DEFAULT ''sha256''::text', 'uuid', 'i', false),
	('uuidv8_custom', 'custom_a bigint, custom_b integer, custom_c bigint', 'uuid', 'i', false),
	('uuidv8_custom', 'octets bytea', 'uuid', 'i', false),
	('uuidv8_node', '', 'uuid', 'v', false),
	('uuidv8_node', 'node_id integer', 'uuid', 'v', false),
	('uuidv8_node_id', 'uuid', 'integer', 'i', true),
	('uuidv8_node_timestamp', 'uuid', 'timestamp with time zone', 'i', true),
	('uuidv8_node_timestamp_micros', 'uuid', 'timestamp with time zone', 'i', true),
	('uuidv8_node_at', 'timestamp with time zone', 'uuid', 'v', false),
	('uuidv8_node_at', 'timestamp with time zone, node_id integer', 'uuid', 'v', false),
	('uuidv8_node_floor', 'timestamp with time zone', 'uuid', 'i', false),
	('uuidv8_node_ceil', 'timestamp with time zone', 'uuid', 'i', false),
	('uuidv8_node_timestamp_from_text', 'text', 'timestamp with time zone', 'i', false),
	('uuidv8_node_within', 'id uuid, period tstzrange', 'boolean', 'i', true),
	('uuidv8_node_lower_bound', 'period tstzrange', 'uuid', 'i', true),
	('uuidv8_node_upper_bound', 'period tstzrange', 'uuid', 'i', true),
	('uuidv8_node_lower_bound', 'bound timestamp with time zone, inclusive boolean', 'uuid', 'i', true),
	('uuidv8_node_upper_bound', 'bound timestamp with time zone, inclusive boolean', 'uuid', 'i', true),
	('uuid_is_v8', 'uuid', 'boolean', 'i', true),
	('uuidv8_node_within_support', 'internal', 'internal', 'i', false),
	('uuid_is_v8_support', 'internal', 'internal', 'i', false),
	('uuid_extract_version', 'uuid', 'smallint', 'i', true),
	('uuid_extract_timestamp', 'uuid', 'timestamp with time zone', 'i', true),
	('uuid_extract_variant', 'uuid', 'text', 'i', true),
	('uuid_extract_clock_seq', 'uuid', 'integer', 'i', true),
	('uuid_extract_node', 'uuid', 'macaddr', 'i', true),
	('uuidv1_timestamp', 'uuid', 'timestamp with time zone', 'i', true),
	('uuidv6_timestamp', 'uuid', 'timestamp with time zone', 'i', true),
	('uuidv7_timestamp', 'uuid', 'timestamp with time zone', 'i', true),
	('uuidv7_timestamp_micros', 'uuid', 'timestamp with time zone', 'i', true),
	('uuidv8_timestamp', 'uuid', 'timestamp with time zone', 'i', true),
	('uuid_inspect',
	 'uuid, OUT variant text, OUT version smallint, OUT "timestamp" timestamp with time zone, OUT clock_seq integer, OUT node macaddr',
	 'record', 'i', true),
	('uuidv1_to_v6', 'uuid', 'uuid', 'i', false),
	('uuidv6_to_v1', 'uuid', 'uuid', 'i', false),
	('uuid_to_urn', 'uuid', 'text', 'i', false),
	('uuid_from_urn', 'urn text', 'uuid', 'i', false),
	('nil_uuid', '', 'uuid', 'i', false),
	('max_uuid', '', 'uuid', 'i', false),
	('uuid_namespace', 'name text', 'uuid', 'i', false),
	('uuid_generator_stats',
	 'OUT scope text, OUT generator text, OUT version smallint, OUT method text, OUT last_timestamp timestamp with time zone, OUT generated bigint, OUT clock_backwards bigint, OUT ran_ahead bigint, OUT mark_writes bigint, OUT damaged_marks bigint, OUT held_since timestamp with time zone, OUT held_by integer',
	 'SETOF record', 'v', false),
	('uuid_generator_reset', '', 'void', 'v', false),
	('uuid_generator_advance', 'id uuid', 'void', 'v', false),
	('uuidv6_horizon', '', 'uuid', 's', false),
	('uuidv7_horizon', '', 'uuid', 's', false),
	('uuidv8_node_horizon', '', 'uuid', 's', false),
	('uuidv6_at', 'timestamp with time zone', 'uuid', 'v', false),
	('uuidv6_floor', 'timestamp with time zone', 'uuid', 'i', false),
	('uuidv6_ceil', 'timestamp with time zone', 'uuid', 'i', false),
	('uuidv6_timestamp_from_text', 'text', 'timestamp with time zone', 'i', false),
	('uuidv6_within', 'id uuid, period tstzrange', 'boolean', 'i', true),
	('uuidv6_lower_bound', 'period tstzrange', 'uuid', 'i', true),
	('uuidv6_upper_bound', 'period tstzrange', 'uuid', 'i', true),
	('uuidv6_lower_bound', 'bound timestamp with time zone, inclusive boolean', 'uuid', 'i', true),
	('uuidv6_upper_bound', 'bound timestamp with time zone, inclusive boolean', 'uuid', 'i', true),
	('uuid_is_v6', 'uuid', 'boolean', 'i', true),
	('uuidv7_at', 'timestamp with time zone', 'uuid', 'v', false),
	('uuidv7_floor', 'timestamp with time zone', 'uuid', 'i', false),
	('uuidv7_ceil', 'timestamp with time zone', 'uuid', 'i', false),
	('uuidv7_timestamp_from_text', 'text', 'timestamp with time zone', 'i', false),
	('uuidv7_within', 'id uuid, period tstzrange', 'boolean', 'i', true),
	('uuidv7_contained_by_period', 'id uuid, period uuidv7_period', 'boolean', 'i', true),
	('period_contains_uuidv7', 'period uuidv7_period, id uuid', 'boolean', 'i', true),
	('uuidv7_lower_bound', 'period tstzrange', 'uuid', 'i', true),
	('uuidv7_upper_bound', 'period tstzrange', 'uuid', 'i', true),
	('uuidv7_lower_bound', 'bound timestamp with time zone, inclusive boolean', 'uuid', 'i', true),
	('uuidv7_upper_bound', 'bound timestamp with time zone, inclusive boolean', 'uuid', 'i', true),
	('uuid_is_v7', 'uuid', 'boolean', 'i', true),
	('uuidv6_within_support', 'internal', 'internal', 'i', false),
	('uuidv7_within_support', 'internal', 'internal', 'i', false),
	('uuid_is_v6_support', 'internal', 'internal', 'i', false),
	('uuid_is_v7_support', 'internal', 'internal', 'i', false);

SELECT set_eq(
	$$SELECT proname::text, pg_get_function_arguments(oid), pg_get_function_result(oid), provolatile, proleakproof
	  FROM members$$,
	'SELECT * FROM contract',
	'the functions are those of the contract, with their volatility and leakproof marks');

SELECT is_empty(
	$$SELECT oid::regprocedure FROM members
	  WHERE proisstrict = (proname ~ '_(lower|upper)_bound$' AND pronargs = 2)$$,
	'every function is strict, except the bounds of one side');
SELECT set_eq(
	$$SELECT proname::text, proparallel FROM members WHERE proparallel <> 's'$$,
	$$VALUES ('uuid_generator_stats', 'r'::"char"), ('uuidv6_horizon', 'r'), ('uuidv7_horizon', 'r'), ('uuidv8_node_horizon', 'r'),
		('uuid_generator_reset', 'u'), ('uuid_generator_advance', 'u')$$,
	'every function is parallel safe but those that look at the generators of a session or know what it was told, or reset or advance them');
SELECT set_eq(
	$$SELECT p.oid::regprocedure::text, aggtransfn::regproc::text, aggcombinefn::regproc::text, aggsortop::regoperator::text,
			 proparallel
	  FROM all_members AS p JOIN pg_aggregate AS a ON a.aggfnoid = p.oid$$,
	$$VALUES ((CASE WHEN to_regprocedure('pg_catalog.min(uuid)') IS NULL THEN '' ELSE 'public.' END) || 'min(uuid)',
			  'uuid_least', 'uuid_least', '<(uuid,uuid)', 's'::"char"),
			 ((CASE WHEN to_regprocedure('pg_catalog.max(uuid)') IS NULL THEN '' ELSE 'public.' END) || 'max(uuid)',
			  'uuid_greatest', 'uuid_greatest', '>(uuid,uuid)', 's')$$,
	'the aggregates are min and max, in parallel too, and by an index');
SELECT set_eq(
	$$SELECT proname::text FROM members WHERE NOT has_function_privilege('public', oid, 'EXECUTE')$$,
	$$VALUES ('uuid_generator_reset'), ('uuid_generator_advance')$$,
	'everybody may call every function but those that change an order');
SELECT is_empty(
	$$SELECT oid::regprocedure FROM all_members WHERE obj_description(oid, 'pg_proc') IS NULL$$,
	'every function and aggregate has a comment');
SELECT is_empty(
	$$SELECT oid::regprocedure FROM members WHERE prosrc !~ ('^uuid9562_' || replace(proname, 'uuidv7_next', 'uuidv7') || '(_[a-z]+)?$')$$,
	'every C function has the name of its SQL function behind uuid9562_');
SELECT set_eq(
	$$SELECT d.classid::regclass::text, pg_describe_object(d.classid, d.objid, 0)
	  FROM pg_extension AS e
		   JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
	  WHERE e.extname = 'uuid9562' AND d.classid <> 'pg_proc'::regclass
		AND d.objid <> to_regtype('uuidv7_period[]')	-- a member since PostgreSQL 17
	$$,
	$$VALUES ('pg_type', 'type uuidv7_period'),
			 ('pg_operator', 'operator <@(uuid,uuidv7_period)'),
			 ('pg_operator', 'operator @>(uuidv7_period,uuid)')$$,
	'besides functions the extension holds two operators and their domain');
SELECT set_eq(
	$$SELECT o.oprname::text, o.oprcode::text, c.oprname::text AS commutator, o.oprnegate::int,
			 o.oprrest::text, o.oprjoin::text, o.oprcanmerge, o.oprcanhash
	  FROM pg_operator AS o JOIN pg_operator AS c ON c.oid = o.oprcom
	  WHERE 'uuidv7_period'::regtype IN (o.oprleft, o.oprright)$$,
	$$VALUES ('<@', 'uuidv7_contained_by_period', '@>', 0, 'contsel', 'contjoinsel', false, false),
			 ('@>', 'period_contains_uuidv7', '<@', 0, 'contsel', 'contjoinsel', false, false)$$,
	'each operator is the commutator of the other');
SELECT set_eq(
	'SELECT proname::text, prosupport::text FROM members WHERE prosupport <> 0',
	$$VALUES ('period_contains_uuidv7', 'uuidv7_within_support'), ('uuid_is_v6', 'uuid_is_v6_support'),
			 ('uuid_is_v7', 'uuid_is_v7_support'), ('uuidv6_within', 'uuidv6_within_support'),
			 ('uuid_is_v8', 'uuid_is_v8_support'), ('uuidv8_node_within', 'uuidv8_node_within_support'),
			 ('uuidv7_batch', 'uuidv7_batch_support'),
			 ('uuidv7_contained_by_period', 'uuidv7_within_support'), ('uuidv7_within', 'uuidv7_within_support')$$,
	'the planner is told of the conditions on a period, and of the rows of a batch');
SELECT set_eq(
	'SELECT proname::text FROM members WHERE procost > 1',
	$$VALUES ('uuid_is_v6'), ('uuid_is_v7'), ('uuid_is_v8')$$,
	'bounds are compared before the version is asked for');
SELECT is_empty(
	$$SELECT oid::regoperator FROM pg_operator
	  WHERE 'uuidv7_period'::regtype IN (oprleft, oprright) AND obj_description(oid, 'pg_operator') IS NULL$$,
	'every operator has a comment');
SELECT results_eq(
	$$SELECT trusted, relocatable, superuser FROM pg_available_extension_versions
	  WHERE name = 'uuid9562' AND installed$$,
	'VALUES (true, true, true)',
	'the extension is trusted and relocatable');
SELECT is(installed_version, default_version, 'the default version is the one installed')
FROM pg_available_extensions WHERE name = 'uuid9562';

SELECT * FROM finish();
ROLLBACK;
