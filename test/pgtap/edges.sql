-- Call every function of the extension that a query can call, with every combination of edge
-- values of its arguments' types.  Each call must return a value, or raise an error with a
-- SQLSTATE that the manual lists.

BEGIN;
SELECT plan(6);

SELECT is(count(*), 0::bigint, 'uuid_least() and uuid_greatest() are LEAST and GREATEST')
FROM unnest(ARRAY[public.nil_uuid(), public.uuidv7(), gen_random_uuid(), public.max_uuid()]) AS a,
	 unnest(ARRAY[public.nil_uuid(), public.uuidv7(), gen_random_uuid(), public.max_uuid()]) AS b
WHERE public.uuid_least(a, b) IS DISTINCT FROM least(a, b) OR public.uuid_greatest(a, b) IS DISTINCT FROM greatest(a, b);

CREATE TABLE edge_tracked (id int PRIMARY KEY, name text);
CREATE TABLE edge_other (id int PRIMARY KEY);

-- edge values as SQL text, since PostgreSQL before 17 cannot read infinite intervals
CREATE TEMP TABLE edges (type regtype, value text);
INSERT INTO edges
SELECT type, value
FROM (VALUES
	('uuid'::regtype, ARRAY[
		'NULL', '''00000000-0000-0000-0000-000000000000''', '''ffffffff-ffff-ffff-ffff-ffffffffffff''',
		'''c232ab00-9414-11ec-b3c8-9f6bdeced846''', '''000003e8-cbb9-21ea-b201-00045a86c8a1''',
		'''5df41881-3aed-3515-88a7-2f4a814cf09e''', '''919108f7-52d1-4320-9bac-f847db4148a8''',
		'''2ed6657d-e927-568b-95e1-2665a8aea6a2''', '''1ec9414c-232a-6b00-b3c8-9f6bdeced846''',
		'''017f22e2-79b0-7cc3-98c4-dc0c0c07398f''', '''2489e9ad-2ee2-8e00-8ec9-32d5f69181c0''',
		'''ffffffff-ffff-1fff-bfff-ffffffffffff''', '''00000000-0000-1000-8000-000000000000''',
		'''ffffffff-ffff-6fff-bfff-ffffffffffff''', '''00000000-0000-6000-8000-000000000000''',
		'''ffffffff-ffff-7fff-bfff-ffffffffffff''', '''00000000-0000-7000-8000-000000000000''',
		'''ffffffff-ffff-8fff-bfff-ffffffffffff''', '''017f22e2-79b0-7cc3-18c4-dc0c0c07398f''',
		'''017f22e2-79b0-7cc3-c8c4-dc0c0c07398f''', '''017f22e2-79b0-7cc3-e8c4-dc0c0c07398f''',
		'''017f22e2-79b0-0cc3-98c4-dc0c0c07398f''', '''017f22e2-79b0-fcc3-98c4-dc0c0c07398f''']),
	('text', ARRAY[
		'NULL', '''''', '''dns''', '''url''', '''DNS ''', '''sha256''', '''SHA512''', '''md5''', 'repeat(''x'', 100000)',
		'''017f22e2-79b0-7cc3-98c4-dc0c0c07398f''', '''urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398f''',
		'''URN:UUID:017F22E2-79B0-7CC3-98C4-DC0C0C07398F''', '''urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398''',
		'''{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}''', '''urn:uuid:''', 'chr(1)', 'chr(233) || chr(128512)', '''%s%n''']),
	('bytea', ARRAY[
		'NULL', '''''', 'decode(repeat(''00'', 15), ''hex'')', 'decode(repeat(''ff'', 16), ''hex'')',
		'decode(repeat(''a5'', 17), ''hex'')', 'decode(repeat(''00'', 100000), ''hex'')']),
	('boolean', ARRAY['NULL', 'false', 'true']),
	('integer', ARRAY['NULL', '0', '-1', '1', '4095', '4096', '65535', '65536', '2147483647', '-2147483648']),
	('bigint', ARRAY[
		'NULL', '0', '-1', '1', '3', '281474976710655', '281474976710656', '4611686018427387903',
		'4611686018427387904', '-9223372036854775808']),
	('timestamptz', ARRAY[
		'NULL', '''-infinity''', '''infinity''', '''4713-01-01 00:00:00+00 BC''', '''294276-12-31 23:59:59.999999+00''',
		'''epoch''', '''1970-01-01 00:00:00+00''::timestamptz - interval ''1 microsecond''', '''1582-10-15 00:00+00''',
		'''1582-10-14 23:59:59.999999+00''', '''2000-01-01 00:00+00''', '''5236-03-31 21:21:00.684697+00''',
		'''5236-03-31 21:21:00.684698+00''', '''10889-08-02 05:31:50.655+00''', '''10889-08-02 05:31:50.656+00''', 'now()']),
	('interval', ARRAY[
		'NULL', '''0''', '''1 microsecond''', '''-1 microsecond''', '''178000000 years''', '''-178000000 years''',
		'''2147483647 days''', '''-2147483648 months''', '''1 month -1 day''', '''2562047788:00:54.775807''']),
	('tstzrange', ARRAY[
		'NULL', '''empty''', '''(,)''', '''[2026-01-01,2026-01-01]''', '''(2026-01-01,2026-01-01)''', '''[-infinity,infinity]''',
		'''(infinity,)''', '''(,-infinity)''', '''[4713-01-01 BC,294276-12-31]''', '''[epoch,)''', '''[,epoch)''',
		'''[10889-08-02,)''', '''(,1582-10-15)''']),
	('text[]', ARRAY['NULL', '''{}''', '''{insert,NULL}''', '''{insert}''', '''{select}''']),
	('regclass', ARRAY['NULL', '0', '4294967295', '''edge_tracked''', '''edge_other''', '''edge_other_pkey''', '''pg_class''']),
	('anyelement', ARRAY['NULL', '1', '''x''::text', 'NULL::edge_tracked', 'NULL::edge_other', 'ROW(1, ''x'')', '''{}''::int[]']),
	('oid', ARRAY['NULL', '0', '4294967295', '''edge_tracked''::regclass'])) AS a (type, choices), unnest(choices) AS value;
INSERT INTO edges SELECT 'interval', value FROM (VALUES ('''infinity'''), ('''-infinity''')) AS a (value)
WHERE current_setting('server_version_num')::int >= 170000;

CREATE TEMP TABLE calls (function text, call text, state text);
CREATE FUNCTION call_them() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	f record;
	combination text;
	state text;
BEGIN
	FOR f IN
		SELECT p.proname, p.pronargs - p.pronargdefaults AS required, p.oid::regprocedure AS name, p.pronamespace::regnamespace AS namespace,
			   ARRAY(SELECT CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
					 FROM unnest(p.proargtypes) WITH ORDINALITY AS a (type, place) JOIN pg_type AS t ON t.oid = a.type ORDER BY place) AS types
		FROM pg_depend AS d JOIN pg_extension AS e ON d.refobjid = e.oid AND d.deptype = 'e'
			 JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
		WHERE e.extname IN ('uuid9562', 'uuid9562_changes') AND NOT 'internal'::regtype = ANY (p.proargtypes) AND p.prorettype <> 'trigger'::regtype
			  AND p.prokind = 'f'
		-- call the ordered functions first, since a horizon requires an ordered value, and
		-- changes_read() after changes_track() and before changes_done(); at the end call
		-- uuid_generator_advance(), which advances generators to the last time of their
		-- field, and then uuid_generator_reset()
		ORDER BY p.proname !~ '_ordered$',
			array_position(ARRAY['changes_track', 'changes_read', 'changes_entries', 'changes_purge', 'changes_done', 'changes_untrack', 'uuid_generator_advance', 'uuid_generator_reset'],
						   p.proname::text) NULLS FIRST
	LOOP
		FOR combination IN
			SELECT concat_ws(', ', 'CAST(' || a.value || ' AS ' || a.type || ')',
							 CASE b.type WHEN 'anyelement'::regtype THEN b.value ELSE 'CAST(' || b.value || ' AS ' || b.type || ')' END,
							 'CAST(' || c.value || ' AS ' || c.type || ')', 'CAST(' || d.value || ' AS ' || d.type || ')')
			FROM (SELECT 1) AS one
				 LEFT JOIN edges AS a ON a.type = f.types[1]
				 LEFT JOIN edges AS b ON b.type = f.types[2]
				 LEFT JOIN edges AS c ON c.type = f.types[3]
				 LEFT JOIN edges AS d ON d.type = f.types[4] AND f.required >= 4
		LOOP
			state := '00000';
			BEGIN
				EXECUTE format('SELECT %I.%I(%s) LIMIT 3', f.namespace::text, f.proname, combination);
			EXCEPTION WHEN OTHERS THEN
				state := SQLSTATE;
			END;
			INSERT INTO calls VALUES (f.name, combination, state);
		END LOOP;
	END LOOP;
END
$$;
SELECT call_them();

SELECT cmp_ok(count(*), '>', 8000::bigint, 'there are thousands of calls') FROM calls;
SELECT is((SELECT count(DISTINCT function) FROM calls),
	(SELECT count(*) FROM pg_depend AS d JOIN pg_extension AS e ON d.refobjid = e.oid AND d.deptype = 'e'
		  JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	 WHERE e.extname IN ('uuid9562', 'uuid9562_changes') AND NOT 'internal'::regtype = ANY (p.proargtypes) AND p.prorettype <> 'trigger'::regtype
			  AND p.prokind = 'f'), 'every function is called');
-- 22008: time out of range; 22003: argument out of range; 22004, 22023 and 22P02: invalid
-- input; 42601: empty name; 42704: no key or reader; 42804, 42809, 42P01, 42P08: wrong table;
-- 55000: no node ID, no shared memory, no ordered value yet, or table not tracked
SELECT is_empty(
	$$SELECT function, call, state FROM calls
	  WHERE state NOT IN ('00000', '22008', '22003', '22004', '22023', '22P02', '42601', '42704', '42804', '42809', '42P01', '42P08', '55000')$$,
	'each call returns a value or an error that the manual lists');
SELECT is_empty(
	$$SELECT function FROM calls GROUP BY function
	  HAVING bool_and(state <> '00000')
		 -- no node ID; no value here is a position; this transaction has created the table
		 AND function NOT IN ('uuidv8_node()', 'changes_done(text,text)', 'changes_read(text,anyelement,integer,text,interval)')
		 AND (current_setting('server_version_num')::int >= 170000 OR function !~ '(^uuid9562_changes[.]|^changes_|_ordered|_horizon|_after|_position|_target|_stats|_reset)')$$,
	'every function returns a value for some arguments');
SELECT is_empty(
	$$SELECT function, call, state FROM calls
	  WHERE state <> '00000' AND (SELECT proleakproof FROM pg_proc WHERE oid = function::regprocedure)$$,
	'a leakproof function raises no error');

SELECT * FROM finish();
ROLLBACK;
