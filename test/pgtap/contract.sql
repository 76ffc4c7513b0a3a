-- Properties that every object of both extensions has.

BEGIN;
SELECT plan(10);

-- The objects of the extensions, without the row types of its tables and views, and their arrays, which
-- only some versions of PostgreSQL list.
CREATE TEMP VIEW members AS
SELECT d.classid, d.objid, p.*
FROM pg_extension AS e
	 JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
	 LEFT JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	 LEFT JOIN pg_type AS t ON d.classid = 'pg_type'::regclass AND d.objid = t.oid
	 LEFT JOIN pg_type AS element ON element.oid = t.typelem
WHERE e.extname IN ('uuid9562', 'uuid9562_changes') AND coalesce(element.typtype, t.typtype, 'b') <> 'c';

SELECT set_eq(
	$$SELECT proname::text, pronargs::int FROM members WHERE prokind = 'f' AND NOT proisstrict$$,
	$$VALUES ('uuidv7_lower_bound', 2), ('uuidv7_upper_bound', 2), ('uuidv7_after', 1), ('uuidv7_position', 2),
			 ('changes_track', 4), ('changes_read', 5), ('changes_done', 2), ('changes_entries', 1), ('changes_purge', 3), ('entries_after', 2)$$,
	'every function is strict, except these');
SELECT set_eq(
	$$SELECT proname::text FROM members WHERE NOT has_function_privilege('public', oid, 'EXECUTE')$$,
	$$VALUES ('uuid_generator_reset'), ('uuid_generator_advance'), ('uuidv7_encrypt'), ('uuidv7_decrypt')$$,
	'everybody may call every function except those that reset or advance generators, or use keys');
SELECT is_empty(
	$$SELECT pg_describe_object(classid, objid, 0) FROM members
	  WHERE obj_description(objid, classid::regclass::name) IS NULL AND objid <> to_regtype('uuidv7_period[]')$$,
	'every object has a comment');
SELECT is_empty(
	$$SELECT oid::regprocedure FROM members
	  WHERE prokind = 'f' AND probin IS NOT NULL AND pronamespace <> 'uuid9562_changes'::regnamespace
			AND prosrc !~ ('^uuid9562_' || replace(proname, 'uuidv7_next', 'uuidv7') || '(_[a-z]+)?$')$$,
	'every C function has the name of its SQL function, with the prefix uuid9562_');
SELECT set_eq(
	$$SELECT here.proname::text, there.proname::text AS original
	  FROM members AS here JOIN members AS there USING (prosrc, provolatile, proparallel, proisstrict)
	  WHERE here.pronamespace = 'uuid9562_changes'::regnamespace AND there.pronamespace <> here.pronamespace
			AND pg_get_function_arguments(here.oid) = pg_get_function_arguments(there.oid) AND pg_get_function_result(here.oid) = pg_get_function_result(there.oid)
			AND obj_description(here.oid, 'pg_proc') = there.proname || '() of uuid9562'$$,
	$$VALUES ('horizon', 'uuidv7_horizon'), ('id_timestamp', 'uuidv7_timestamp'), ('generator_stats', 'uuid_generator_stats')$$,
	'the functions of uuid9562 that uuid9562_changes declares again are the same');
SELECT results_eq(
	$$SELECT pg_type.oid::regtype::text FROM pg_type JOIN members ON classid = 'pg_type'::regclass AND objid = pg_type.oid WHERE typcategory <> 'A'$$,
	$$VALUES ('uuidv7_period')$$,
	'the extensions have no type of their own, except a domain');
SELECT set_eq(
	$$SELECT concat(provolatile, proparallel), proname::text FROM members WHERE concat(provolatile, proparallel) NOT IN ('is', '')$$,
	$$SELECT kind, name
	  FROM (VALUES
		('vs', 'uuidv1 uuidv4 uuidv6 uuidv6_at uuidv7 uuidv7_at uuidv7_next uuidv8 uuidv8_node uuidv8_node_at'),
		('vr', 'uuidv7_ordered uuidv7_guard_trigger uuid_replay_target uuid_has_replayed uuid_generator_stats generator_stats'),
		('sr', 'uuidv7_horizon uuidv7_position uuidv7_after uuidv7_encrypt uuidv7_decrypt horizon'),
		('vu', 'uuid_generator_advance uuid_generator_reset guard_trigger log_trigger forget_table table_info entries_after '
			   'changes_done changes_entries changes_forget changes_purge changes_read changes_reset changes_track changes_untrack changes_wait')
	  ) AS kinds (kind, names), string_to_table(names, ' ') AS name$$,
	'every function is immutable and parallel safe, except these');

SELECT set_eq(
	$$SELECT proname::text, prosupport::regproc::text FROM members WHERE prosupport <> 0$$,
	$$VALUES ('uuid_is_v7', 'uuidv7_support'), ('uuidv7_within', 'uuidv7_support'),
			 ('uuidv7_contained_by_period', 'uuidv7_support'),
			 ('period_contains_uuidv7', 'uuidv7_support')$$,
	'these functions have planner support');
SELECT set_eq(
	$$SELECT o.oprname::text, o.oprcode::text, commutator.oprname::text AS commutator
	  FROM pg_operator AS o JOIN members ON classid = 'pg_operator'::regclass AND objid = o.oid
		   JOIN pg_operator AS commutator ON commutator.oid = o.oprcom$$,
	$$VALUES ('<@', 'uuidv7_contained_by_period', '@>'), ('@>', 'period_contains_uuidv7', '<@')$$,
	'the operators call functions that also check the version');
SELECT is(
	ARRAY[uuidv7_lower_bound('2026-01-01', true), uuidv7_upper_bound('2026-01-01', true)],
	ARRAY[uuidv7_floor('2026-01-01'), uuidv7_ceil('2026-01-01')],
	'the inclusive bounds of a timestamp are its first and last UUID');

SELECT * FROM finish();
ROLLBACK;
