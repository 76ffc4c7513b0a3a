# The extension is trusted: a database owner who is not a superuser can create, use and
# drop it.  A role without the CREATE privilege on the database cannot create it.  The
# extension can be in any schema.
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

# The install script runs as a superuser, in a schema with objects of the owner.
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

# --- any schema -----------------------------------------------------------------

sub sql { return $node->safe_psql('postgres', @_) }

sql(q{
	CREATE SCHEMA ids;
	CREATE SCHEMA "Other Ids";
	CREATE EXTENSION uuid9562 SCHEMA "Other Ids";
	CREATE TABLE orders (n bigint GENERATED ALWAYS AS IDENTITY, id uuid PRIMARY KEY DEFAULT "Other Ids".uuidv7());
	CREATE TABLE visits (id uuid PRIMARY KEY);
	CREATE VIEW january AS SELECT *, "Other Ids".uuidv7_timestamp(id) AS created FROM visits WHERE id OPERATOR("Other Ids".<@) '[2026-01-01,2026-02-01)';
	INSERT INTO orders DEFAULT VALUES;
	INSERT INTO visits SELECT "Other Ids".uuidv7_at('2026-01-01'::timestamptz + n * interval '1 hour') FROM generate_series(0, 999) AS n});

sub is_whole_in
{
	my ($schema) = @_;
	my $plan = sql("SET enable_seqscan = off; SET enable_bitmapscan = off;
		EXPLAIN (COSTS OFF) SELECT FROM visits WHERE id OPERATOR($schema.<@) tstzrange(now(), now() + interval '1 day')");

	like($plan, qr/Index Cond: .*\Q$schema\E\.uuidv7_\w+.*\Q$schema\E\.uuidv7_\w+.*Filter: \Q$schema\E\.uuid_is_v7\(id\)/s,
		"$schema: the planner finds the bounds of a period");
	is(sql(q{SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'orders'::regclass}), "$schema.uuidv7()",
		"$schema: the default has the name of the schema");
	is(sql(qq{SELECT $schema.uuidv8_name($schema.uuid_namespace('dns'), 'www.example.com')}), '5c146b14-3c52-8afd-938a-375d0df1fbf6',
		"$schema: functions with defaults work");
	is(sql('SELECT count(created) FROM january'), '744', "$schema: a view has its rows");
	is(sql('INSERT INTO orders DEFAULT VALUES; SELECT count(*) = max(n) FROM orders'), 't', "$schema: a default generates ids");
}

is_whole_in('"Other Ids"');
is( sql(q{SELECT count(*) FROM pg_depend AS d JOIN pg_extension AS e ON d.refobjid = e.oid AND d.deptype = 'e',
			  pg_identify_object(d.classid, d.objid, 0) AS o WHERE e.extname = 'uuid9562' AND o.schema NOT IN ('"Other Ids"', 'uuid9562_changes')}),
	'0', 'every object is in the schema of the extension, or in that of its tables');

$node->stop;
done_testing();
