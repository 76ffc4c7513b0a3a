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

$node->stop;
done_testing();
