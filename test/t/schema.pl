# Any schema holds the extension, and it moves between schemas with its
# defaults.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('schema');
$node->init;
$node->start;

$node->safe_psql('postgres', q{
	CREATE SCHEMA ids;
	CREATE SCHEMA "Other Ids";
	CREATE EXTENSION uuid9562 SCHEMA ids;
	CREATE TABLE orders (n bigint GENERATED ALWAYS AS IDENTITY, id uuid PRIMARY KEY DEFAULT ids.uuidv7());
	CREATE VIEW times AS SELECT n, ids.uuidv7_timestamp(id) AS created FROM orders;
	CREATE TABLE visits (id uuid PRIMARY KEY);
	CREATE VIEW january AS SELECT * FROM visits WHERE id OPERATOR(ids.<@) '[2026-01-01,2026-02-01)';
	INSERT INTO orders DEFAULT VALUES;
	INSERT INTO visits SELECT ids.uuidv7_at('2026-01-01 00:00+00'::timestamptz + n * interval '1 hour') FROM generate_series(0, 999) AS n});

# The plan of a query, with scans of indexes where there is a way to use one.
sub plan
{
	my ($query) = @_;
	return $node->safe_psql('postgres', "SET TimeZone = 'UTC'; SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN (COSTS OFF) $query");
}

like(plan(q{SELECT FROM visits WHERE id OPERATOR(ids.<@) tstzrange(now(), now() + interval '1 day')}),
	qr/Index Cond: .*ids\.uuidv7_lower_bound.*ids\.uuidv7_upper_bound.*Filter: ids\.uuid_is_v7\(id\)/s,
	'the planner finds the bounds of a period in that schema');

is( $node->safe_psql('postgres', q{SELECT ids.uuidv1_to_v6('C232AB00-9414-11EC-B3C8-9F6BDECED846')}),
	'1ec9414c-232a-6b00-b3c8-9f6bdeced846',
	'its functions are called by the schema it is in');
is( $node->safe_psql('postgres', q{
		SELECT (SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace)
			   + (SELECT count(*) FROM pg_operator WHERE oprnamespace = 'public'::regnamespace)
			   + (SELECT count(*) FROM pg_type WHERE typname = 'uuidv7_period' AND typnamespace = 'public'::regnamespace)}),
	'0', 'and nothing of it is in public');

$node->safe_psql('postgres', q{ALTER EXTENSION uuid9562 SET SCHEMA "Other Ids"});
$node->safe_psql('postgres', 'INSERT INTO orders DEFAULT VALUES');
is( $node->safe_psql('postgres', 'SELECT string_agg(n::text, $$ $$ ORDER BY id) FROM orders'),
	'1 2', 'a default works on after a move');
is( $node->safe_psql('postgres', q{SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'orders'::regclass}),
	'"Other Ids".uuidv7()', 'and names the new schema');
is( $node->safe_psql('postgres', 'SELECT count(created) FROM times'), '2', 'a view works on after a move');
is( $node->safe_psql('postgres', q{SELECT "Other Ids".uuidv8_name("Other Ids".uuid_namespace('dns'), 'www.example.com')}),
	'5c146b14-3c52-8afd-938a-375d0df1fbf6', 'and so do functions with defaults');

like(plan(q{SELECT FROM visits WHERE id OPERATOR("Other Ids".<@) tstzrange(now(), now() + interval '1 day')}),
	qr/Index Cond: .*"Other Ids"\.uuidv7_lower_bound.*"Other Ids"\.uuidv7_upper_bound.*Filter: "Other Ids"\.uuid_is_v7\(id\)/s,
	'the planner finds the bounds of a period in the new schema');
like(plan('SELECT FROM january'), qr/Index Cond: .*019b76da-a800-7000-8000-000000000000.*019c167f-cbff-7fff-bfff-ffffffffffff/,
	'and so for a view');
is($node->safe_psql('postgres', q{SET TimeZone = 'UTC'; SELECT count(*) FROM january}), '744', 'which has its rows');

my ($status, $out, $err) = $node->psql('postgres', 'SELECT ids.uuidv7()');
like($err, qr/function ids\.uuidv7\(\) does not exist/, 'nothing is left in the old schema');

$node->stop;
done_testing();
