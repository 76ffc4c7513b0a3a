# The extensions are trusted: a database owner who is not a superuser can create, use and
# drop them.  A role without the CREATE privilege on the database cannot create them.  The
# extensions can be in any schema.  uuid9562 has nothing of uuid9562_changes.
use ServerTest;

my $node = new_server('extension', "timezone = 'UTC'");
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN; CREATE ROLE guest LOGIN');
$node->safe_psql('postgres', 'CREATE DATABASE shop OWNER owner');

sub works
{
	my ($name, $role, $sql, $expected) = @_;
	my ($status, $out, $err) = $node->psql('shop', $sql, extra_params => [ '-U', $role ]);

	is("$status $out", '0 ' . ($expected // ''), $name) or diag($err);
	return;
}

sub is_refused
{
	my ($name, $role, $sql, $error) = @_;
	my ($status, $out, $err) = $node->psql('shop', $sql, extra_params => [ '-U', $role ]);

	like($err, $error, $name);
	return;
}

is_refused('a role without CREATE on the database cannot create the extension', 'guest', 'CREATE EXTENSION uuid9562', qr/permission denied to create extension/);
works('the owner of the database creates the extension', 'owner', 'CREATE EXTENSION uuid9562');
works('it has at most 71 functions and aggregates, and nothing of uuid9562_changes', 'owner', q{
	SELECT count(*) <= 71 AND count(*) > 60, count(*) FILTER (WHERE proname LIKE 'changes%') FROM pg_proc WHERE pronamespace = 'public'::regnamespace;
	SELECT count(*) FROM pg_namespace WHERE nspname NOT IN ('public', 'information_schema') AND nspname NOT LIKE 'pg\_%';
	SELECT count(*) FROM pg_class WHERE relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'pg_toast'::regnamespace);
	SELECT count(*) FROM pg_policy}, "t|0\n0\n0\n0");
is_refused('tables cannot be tracked', 'owner', q{SELECT changes_track('t')}, qr/ERROR:  function changes_track\(unknown\) does not exist/);
works('the owner uses uuidv7() as a default, and sets a setting', 'owner', q{
	CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT public.uuidv7(), item text);
	INSERT INTO orders (item) VALUES ('tea'), ('milk');
	SET uuid9562.v7_method = counter;
	INSERT INTO orders (item) VALUES ('cup');
	GRANT INSERT ON orders TO guest;
	SELECT string_agg(item, ' ' ORDER BY id) FROM orders}, 'tea milk cup');
works('a role that may insert gets IDs from the default', 'guest', q{INSERT INTO orders (item) VALUES ('pot')});
is_refused('the extension cannot be dropped while a default uses it', 'owner', 'DROP EXTENSION uuid9562', qr/depends on function (public\.)?uuidv7\(\)/);
works('the owner drops the extension and creates it again', 'owner', 'DROP TABLE orders; DROP EXTENSION uuid9562; CREATE EXTENSION uuid9562');

# --- uuid9562_changes -----------------------------------------------------------

# PostgreSQL 15 and 16 need the library in shared_preload_libraries.
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'uuid9562'");
$node->restart;
is_refused('a role without CREATE on the database cannot create uuid9562_changes', 'guest', 'CREATE EXTENSION uuid9562_changes', qr/permission denied to create extension/);
works('uuid9562_changes requires uuid9562', 'owner', 'DROP EXTENSION uuid9562');
is_refused('which is not created without CASCADE', 'owner', 'CREATE EXTENSION uuid9562_changes', qr/required extension "uuid9562" is not installed/);
works('the owner creates both, tracks a table and reads its changes', 'owner', q{
	SET client_min_messages = warning;
	CREATE EXTENSION uuid9562_changes CASCADE;
	CREATE TABLE customer (id int PRIMARY KEY);
	SELECT changes_track('customer'), public.uuid_is_v7(public.uuidv7_next());
	BEGIN;
	SELECT change_type FROM changes_read('r', NULL::customer);
	SELECT changes_done('r') IS NOT NULL;
	COMMIT;
	INSERT INTO customer VALUES (1);
	SELECT change_type, data FROM changes_read('r', NULL::customer)}, "|t\nreset\nt\nupsert|(1)");
is_refused('uuid9562 cannot be dropped while uuid9562_changes exists', 'owner', 'DROP EXTENSION uuid9562', qr/extension uuid9562_changes depends on extension uuid9562/);
is_refused('uuid9562_changes cannot be dropped while a table is tracked', 'owner', 'DROP EXTENSION uuid9562_changes',
	qr/trigger uuid9562_changes_\d+ on table (public\.)?customer depends on function uuid9562_changes\.log_trigger\(\)/);
works('after changes_untrack() it is dropped', 'owner', q{
	BEGIN;
	SELECT changes_untrack(source) FROM changes_tables;
	DROP EXTENSION uuid9562_changes;
	INSERT INTO customer VALUES (2);
	ROLLBACK}, '');
works('or with CASCADE, which drops the triggers, so that writes work', 'owner', q{
	SET client_min_messages = warning;
	DROP EXTENSION uuid9562_changes CASCADE;
	INSERT INTO customer VALUES (3);
	UPDATE customer SET id = 4 WHERE id = 3;
	TRUNCATE customer;
	SELECT count(*) FROM pg_trigger;
	SELECT to_regnamespace('uuid9562_changes') IS NULL}, "0\nt");
works('the table can be tracked again', 'owner', q{
	CREATE EXTENSION uuid9562_changes;
	SELECT changes_track('customer');
	SELECT change_type FROM changes_read('r', NULL::customer);
	SET client_min_messages = warning;
	DROP TABLE customer;
	DROP EXTENSION uuid9562_changes}, "\nreset");

# --- install scripts ------------------------------------------------------------

# The install scripts run as a superuser, in schemas with objects of the owner.
works('the install script calls no function of its target schema', 'owner', q{
	DROP EXTENSION uuid9562;
	CREATE SCHEMA trap;
	CREATE TABLE trap.sprung (what text);
	CREATE FUNCTION trap.spring(what text) RETURNS boolean LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO trap.sprung VALUES (what); RETURN true; END$$;
	CREATE DOMAIN trap.uuid AS pg_catalog.uuid CHECK (trap.spring('uuid'));
	CREATE DOMAIN trap.text AS pg_catalog.text CHECK (trap.spring('text'));
	CREATE DOMAIN trap.tstzrange AS pg_catalog.tstzrange CHECK (trap.spring('tstzrange'));
	CREATE DOMAIN trap.timestamptz AS pg_catalog.timestamptz CHECK (trap.spring('timestamptz'));
	CREATE FUNCTION trap.format(pg_catalog.text, name, pg_catalog.text, pg_catalog.text) RETURNS pg_catalog.text
		LANGUAGE sql AS $$SELECT CASE WHEN trap.spring('format') THEN 'SELECT 1' END$$;
	CREATE EXTENSION uuid9562 SCHEMA trap;
	SELECT count(*) FROM trap.sprung}, '0');
works('the install script uses no type of its target schema', 'owner', q{
	SELECT count(*) FROM pg_proc AS p, unnest(p.proargtypes || ARRAY[p.prorettype]) AS type
	WHERE p.pronamespace = 'trap'::regnamespace AND p.prosrc LIKE 'uuid9562\_%'
	  AND type IN (SELECT oid FROM pg_type WHERE typnamespace = 'trap'::regnamespace AND typname <> 'uuidv7_period')
	UNION ALL SELECT count(*) FROM pg_type WHERE typname = 'uuidv7_period' AND typbasetype <> 'pg_catalog.tstzrange'::regtype}, "0\n0");

# The install script of uuid9562_changes runs with its target schema and that of uuid9562 in the search path.
# In both schemas, the owner creates functions and operators that fit calls of the script better than
# those of PostgreSQL.  The target schema also has functions with the names of those of uuid9562, and with
# those of the script for other types.
my $script = slurp_file($node->config_data('--sharedir') . '/extension/uuid9562_changes--1.0.sql');
my $words = join ' ', sort keys %{ { map { $_ => 1 } $script =~ /\w+|[-+*\/<>=~!@#%^&|?]+/g } };
works('the owner creates functions and operators in both schemas', 'owner', q{
	CREATE SCHEMA target;
	CREATE FUNCTION target.spring() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE ''trap''; END';
	DO $do$
	DECLARE
		types regtype[] := '{name,text,oid,regclass,regrole,uuid,integer,timestamptz,interval,oid[]}';
		plant record;
	BEGIN
		FOR plant IN
			WITH word AS (SELECT regexp_split_to_table($words$WORDS$words$, ' ') AS word),
				 list AS (SELECT 1 AS length, a::text AS types FROM unnest(types) AS a
						  UNION ALL SELECT 2, a || ', ' || b FROM unnest(types) AS a, unnest(types) AS b
						  UNION ALL SELECT 3, a || ', text, ' || b FROM unnest(types) AS a, unnest(types) AS b)
			SELECT DISTINCT schema, proname AS name, list.types FROM word JOIN pg_proc ON proname = word JOIN list ON length = pronargs, (VALUES ('trap'), ('target')) AS s (schema)
			WHERE prokind = 'f' AND pronamespace = 'pg_catalog'::regnamespace
			UNION ALL SELECT 'target', name, '' FROM unnest('{uuidv7_ordered,uuidv7_horizon,uuid_generator_stats}'::text[]) AS name
			UNION ALL SELECT 'target', name, list.types FROM unnest('{uuidv7_floor,uuidv7_timestamp}'::text[]) AS name, list WHERE length = 1
			UNION ALL SELECT schema, 'spring', list.types FROM list, (VALUES ('trap'), ('target')) AS s (schema) WHERE length = 2
			UNION ALL SELECT DISTINCT schema, oprname, format('LEFTARG = %s, RIGHTARG = %s, FUNCTION = %s.spring', a, b, schema)
			FROM word JOIN pg_operator ON oprname = word, unnest(types) AS a, unnest(types) AS b, (VALUES ('trap'), ('target')) AS s (schema)
		LOOP
			IF plant.types LIKE '%FUNCTION%' THEN
				EXECUTE format('CREATE OPERATOR %s.%s (%s)', plant.schema, plant.name, plant.types);
			ELSE
				EXECUTE format('CREATE FUNCTION %s.%I(%s) RETURNS boolean LANGUAGE plpgsql AS %L', plant.schema, plant.name, plant.types, 'BEGIN RAISE ''trap''; END');
			END IF;
		END LOOP;
	END$do$;
	SELECT count(*) > 1000 FROM pg_proc WHERE proowner = 'owner'::regrole} =~ s/WORDS/$words/r, 't');
works('the install script of uuid9562_changes calls none of them', 'owner', 'CREATE EXTENSION uuid9562_changes SCHEMA target');
my $captured = q{
	SET search_path = pg_catalog;
	WITH planted AS (SELECT 'pg_proc'::regclass AS class, oid FROM pg_proc WHERE proowner = 'owner'::regrole
					 UNION ALL SELECT 'pg_operator'::regclass, oid FROM pg_operator WHERE oprowner = 'owner'::regrole
					 UNION ALL SELECT 'pg_type'::regclass, oid FROM pg_type WHERE typowner = 'owner'::regrole)
	SELECT pg_describe_object(classid, objid, objsubid) || ' uses ' || pg_describe_object(refclassid, refobjid, refobjsubid)
	FROM pg_depend WHERE (refclassid, refobjid) IN (SELECT * FROM planted) AND (classid, objid) NOT IN (SELECT * FROM planted) AND classid <> 'pg_constraint'::regclass};
is($node->safe_psql('shop', $captured), '', 'nor does a view, policy, default or function depend on them');
is($node->safe_psql('shop', q{
	SET search_path = target, trap, pg_catalog;
	CREATE TABLE public.item (id int PRIMARY KEY, name pg_catalog.text);
	SELECT target.changes_track('public.item');
	BEGIN;
	SELECT change_type FROM target.changes_read('r', NULL::public.item);
	SELECT target.changes_done('r') IS NOT NULL;
	COMMIT;
	INSERT INTO public.item VALUES (1, 'a');
	BEGIN;
	SELECT change_type, data FROM target.changes_read('r', NULL::public.item);
	SELECT waits_for, entries_waiting FROM target.changes_readers;
	SELECT target.changes_done('r') IS NOT NULL;
	COMMIT;
	SELECT target.changes_purge('public.item', '-1 min');
	SELECT source, problem FROM target.changes_tables;
	SELECT target.changes_reset('public.item') IS NOT NULL;
	SELECT target.changes_forget('r', 'public.item') IS NOT NULL;
	SELECT target.changes_untrack('public.item') IS NOT NULL}), "\nreset\nt\nupsert|(1,a)\nconfirmation|1\nt\n1\npublic.item|\nt\nt\nt", 'and no call of a function does');
$node->safe_psql('shop', q{SET search_path = target, trap; CREATE VIEW public.careless AS SELECT pg_has_role(oid::regrole, 'USAGE'::text) AS may FROM pg_roles});
like($node->safe_psql('shop', $captured), qr/^rule _RETURN on view public.careless uses function target.pg_has_role\(regrole,text\)$/, 'a careless view would');

# --- any schema -----------------------------------------------------------------

sub sql { return $node->safe_psql('postgres', @_) }

sql(q{
	CREATE SCHEMA ids;
	CREATE SCHEMA "Other Ids";
	CREATE SCHEMA "Other Changes";
	CREATE EXTENSION uuid9562 SCHEMA "Other Ids";
	CREATE EXTENSION uuid9562_changes SCHEMA "Other Changes";
	CREATE TABLE orders (n bigint GENERATED ALWAYS AS IDENTITY, id uuid PRIMARY KEY DEFAULT "Other Ids".uuidv7());
	CREATE TABLE visits (id uuid PRIMARY KEY);
	CREATE VIEW january AS SELECT *, "Other Ids".uuidv7_timestamp(id) AS created FROM visits WHERE id OPERATOR("Other Ids".<@) '[2026-01-01,2026-02-01)';
	INSERT INTO orders DEFAULT VALUES;
	INSERT INTO visits SELECT "Other Ids".uuidv7_at('2026-01-01'::timestamptz + n * interval '1 hour') FROM generate_series(0, 999) AS n});

my $plan = sql(q{SET enable_seqscan = off; SET enable_bitmapscan = off;
	EXPLAIN (COSTS OFF) SELECT FROM visits WHERE id OPERATOR("Other Ids".<@) tstzrange(now(), now() + interval '1 day')});
like($plan, qr/Index Cond: .*"Other Ids"\.uuidv7_\w+.*"Other Ids"\.uuidv7_\w+.*Filter: "Other Ids"\.uuid_is_v7\(id\)/s, 'the planner finds the bounds of a period');
is(sql(q{SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'orders'::regclass}), '"Other Ids".uuidv7()', 'the default has the name of the schema');
is(sql(q{SELECT "Other Ids".uuidv8_name("Other Ids".uuid_namespace('dns'), 'www.example.com')}), '5c146b14-3c52-8afd-938a-375d0df1fbf6', 'functions with defaults work');
is(sql('SELECT count(created) FROM january'), '744', 'a view has its rows');
is(sql('INSERT INTO orders DEFAULT VALUES; SELECT count(*) = max(n) FROM orders'), 't', 'a default generates ids');
is( sql(q{SELECT DISTINCT e.extname, o.schema FROM pg_depend AS d JOIN pg_extension AS e ON d.refobjid = e.oid AND d.deptype = 'e',
			  pg_identify_object(d.classid, d.objid, 0) AS o WHERE e.extname LIKE 'uuid9562%' AND o.schema IS NOT NULL ORDER BY 1, 2}),
	qq{uuid9562|"Other Ids"\nuuid9562_changes|"Other Changes"\nuuid9562_changes|uuid9562_changes}, 'every object is in the schema of its extension, or in that of the tables of uuid9562_changes');
is(sql(q{SELECT "Other Changes".changes_track('orders'); BEGIN; SELECT change_type FROM "Other Changes".changes_read('r', NULL::orders); SELECT "Other Changes".changes_done('r') IS NOT NULL; COMMIT;
	INSERT INTO orders DEFAULT VALUES; SELECT change_type, (data).n > 1 FROM "Other Changes".changes_read('r', NULL::orders); SELECT waits_for FROM "Other Changes".changes_readers}),
	"\nreset\nt\nupsert|t\nconfirmation", 'changes are read in schemas that are not in the search path');

$node->stop;
done_testing();
