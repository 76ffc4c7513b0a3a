-- Properties that every object of the extension has.

BEGIN;
SELECT plan(9);

-- The objects of the extension, without the row types of its tables and views, and their arrays, which
-- only some versions of PostgreSQL list.
CREATE TEMP VIEW members AS
SELECT d.classid, d.objid, p.*
FROM pg_extension AS e
	 JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
	 LEFT JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	 LEFT JOIN pg_type AS t ON d.classid = 'pg_type'::regclass AND d.objid = t.oid
	 LEFT JOIN pg_type AS element ON element.oid = t.typelem
WHERE e.extname = 'uuid9562' AND coalesce(element.typtype, t.typtype, 'b') <> 'c';

SELECT is_empty(
	$$SELECT oid::regprocedure FROM members
	  WHERE prokind = 'f' AND probin IS NOT NULL AND proisstrict = (proname ~ '_(after|position)$' OR (proname ~ '_(lower|upper)_bound$' AND pronargs = 2))$$,
	'every C function is strict, except those that return the bound for a time, and those of positions');
SELECT set_eq(
	$$SELECT proname::text FROM members WHERE NOT has_function_privilege('public', oid, 'EXECUTE')$$,
	$$VALUES ('uuid_generator_reset'), ('uuid_generator_advance'), ('uuidv7_encrypt'), ('uuidv7_decrypt'),
			 ('changes_log_rows'), ('changes_delete')$$,
	'everybody may call every function except those that reset or advance generators, use keys or write logs');
SELECT is_empty(
	$$SELECT pg_describe_object(classid, objid, 0) FROM members
	  WHERE obj_description(objid, classid::regclass::name) IS NULL AND objid <> to_regtype('uuidv7_period[]')$$,
	'every object has a comment');
SELECT is_empty(
	$$SELECT oid::regprocedure FROM members
	  WHERE prokind = 'f' AND probin IS NOT NULL AND prosrc !~ ('^uuid9562_' || replace(proname, 'uuidv7_next', 'uuidv7') || '(_[a-z]+)?$')$$,
	'every C function has the name of its SQL function, with the prefix uuid9562_');
SELECT results_eq(
	$$SELECT pg_type.oid::regtype::text FROM pg_type JOIN members ON classid = 'pg_type'::regclass AND objid = pg_type.oid WHERE typcategory <> 'A'$$,
	$$VALUES ('uuidv7_period')$$,
	'the extension has no type of its own, except a domain');
SELECT set_eq(
	$$SELECT proname::text, proparallel::text FROM members
	  WHERE proparallel <> CASE WHEN proname ~ '^changes_' AND proname <> 'changes_position_fields' THEN 'u' ELSE 's' END$$,
	$$VALUES ('uuidv7_ordered', 'r'), ('uuidv7_guard_trigger', 'r'),
			 ('uuidv7_horizon', 'r'), ('uuidv7_position', 'r'), ('uuidv7_after', 'r'),
			 ('uuid_replay_target', 'r'), ('uuid_has_replayed', 'r'),
			 ('uuid_generator_stats', 'r'),
			 ('uuid_generator_advance', 'u'), ('uuid_generator_reset', 'u'),
			 ('uuidv7_encrypt', 'r'), ('uuidv7_decrypt', 'r')$$,
	'every function is parallel safe, except those that use the ordered generator, keys or logs');

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
