# The extension is trusted: the owner of a database creates, uses and drops it
# without being a superuser; another role does not.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('trusted');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN');
$node->safe_psql('postgres', 'CREATE ROLE guest LOGIN');
$node->safe_psql('postgres', 'CREATE DATABASE shop OWNER owner');

sub sql_as
{
	my ($role, $sql) = @_;
	my ($status, $out, $err) =
	  $node->psql('shop', $sql, extra_params => [ '-U', $role ]);
	return ($status, $out, $err);
}

my ($status, $out, $err) = sql_as('guest', 'CREATE EXTENSION uuid9562');
isnt($status, 0, 'a role without CREATE on the database does not create it');
like($err, qr/permission denied to create extension/, 'and is told so');

($status, $out, $err) = sql_as('owner', 'CREATE EXTENSION uuid9562');
is($status, 0, 'the owner of the database creates it') or diag($err);

($status, $out, $err) = sql_as('owner', q{
	CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT public.uuidv7(), item text);
	INSERT INTO orders (item) VALUES ('tea'), ('milk');
	SET uuid9562.v7_method = counter;
	INSERT INTO orders (item) VALUES ('cup');
	GRANT INSERT ON orders TO guest;
	SELECT string_agg(item, ' ' ORDER BY id) FROM orders});
is($status, 0, 'the owner uses it as a default and sets its settings') or diag($err);
is($out, 'tea milk cup', 'ids are in row order');

($status, $out, $err) = sql_as('guest', q{INSERT INTO orders (item) VALUES ('pot')});
is($status, 0, 'whoever may insert gets ids') or diag($err);

($status, $out, $err) = sql_as('owner', 'DROP EXTENSION uuid9562');
isnt($status, 0, 'it is not dropped from under a default');
like($err, qr/depends on function (public\.)?uuidv7\(\)/, 'and the default is named');
($status, $out, $err) = sql_as('owner', 'DROP TABLE orders; DROP EXTENSION uuid9562; CREATE EXTENSION uuid9562');
is($status, 0, 'the owner drops it and creates it again') or diag($err);

# Its script runs as a superuser, in a schema that the owner fills: nothing
# there is taken for PostgreSQL's own.
($status, $out, $err) = sql_as('owner', q{
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
		LANGUAGE sql AS $$SELECT CASE WHEN trap.spring('format') THEN 'SELECT 1' END$$});
is($status, 0, 'the owner sets traps') or diag($err);
($status, $out, $err) = sql_as('owner', q{
	CREATE EXTENSION uuid9562 SCHEMA trap;
	SELECT count(*) FROM trap.sprung});
is($out, '0', 'its script calls nothing of the schema that it goes into') or diag($err);
is( $node->safe_psql('shop', q{
		SELECT count(*) FROM pg_proc AS p, unnest(p.proargtypes || ARRAY[p.prorettype]) AS type
		WHERE p.pronamespace = 'trap'::regnamespace AND p.prosrc LIKE 'uuid9562\_%'
		  AND type IN (SELECT oid FROM pg_type WHERE typnamespace = 'trap'::regnamespace AND typname <> 'uuidv7_period')}),
	'0', 'and takes no type from there');
is( $node->safe_psql('shop', q{SELECT typbasetype = 'pg_catalog.tstzrange'::regtype FROM pg_type WHERE typname = 'uuidv7_period'}),
	't', 'its domain included');

$node->stop;
done_testing();
