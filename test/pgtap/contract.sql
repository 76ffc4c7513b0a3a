-- Properties that every object of the extension has.

BEGIN;
SELECT plan(6);

CREATE TEMP VIEW members AS
SELECT d.classid, d.objid, p.*
FROM pg_extension AS e
	 JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
	 LEFT JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
WHERE e.extname = 'uuid9562';

SELECT is_empty(
	$$SELECT oid::regprocedure FROM members
	  WHERE prokind = 'f' AND proisstrict = (proname ~ '_(after|position)$' OR (proname ~ '_(lower|upper)_bound$' AND pronargs = 2))$$,
	'every function is strict, except those that return the bound for a time, and those of positions');
SELECT set_eq(
	$$SELECT proname::text FROM members WHERE NOT has_function_privilege('public', oid, 'EXECUTE')$$,
	$$VALUES ('uuid_generator_reset'), ('uuid_generator_advance'), ('uuidv7_encrypt'), ('uuidv7_decrypt')$$,
	'everybody may call every function except those that reset or advance generators or use keys');
SELECT is_empty(
	$$SELECT pg_describe_object(classid, objid, 0) FROM members
	  WHERE obj_description(objid, classid::regclass::name) IS NULL AND objid <> to_regtype('uuidv7_period[]')$$,
	'every object has a comment');
SELECT is_empty(
	$$SELECT oid::regprocedure FROM members
	  WHERE prokind = 'f' AND prosrc !~ ('^uuid9562_' || replace(proname, 'uuidv7_next', 'uuidv7') || '(_[a-z]+)?$')$$,
	'every C function has the name of its SQL function, with the prefix uuid9562_');
SELECT results_eq(
	$$SELECT pg_type.oid::regtype::text FROM pg_type JOIN members ON classid = 'pg_type'::regclass AND objid = pg_type.oid WHERE typcategory <> 'A'$$,
	$$VALUES ('uuidv7_period')$$,
	'the extension has no type of its own, except a domain');
SELECT is_empty(
	$$SELECT DISTINCT oid::regprocedure FROM members
	  WHERE proparallel = 's' AND proname ~ '_(ordered|horizon|target|stats|reset|advance|encrypt|decrypt)$'$$,
	'no function that uses ordered generators or keys is parallel safe');

SELECT * FROM finish();
ROLLBACK;
