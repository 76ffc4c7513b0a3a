# The extension can be in any schema, and can move to another schema.  After the move,
# defaults and views that use the extension still work.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('schema');
$node->init;
$node->append_conf('postgresql.conf', "timezone = 'UTC'");
$node->start;

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
sql('ALTER EXTENSION uuid9562 SET SCHEMA ids');
is_whole_in('ids');
is( sql(q{SELECT count(*) FROM pg_depend AS d JOIN pg_extension AS e ON d.refobjid = e.oid AND d.deptype = 'e',
			  pg_identify_object(d.classid, d.objid, 0) AS o WHERE e.extname = 'uuid9562' AND o.schema <> 'ids'}),
	'0', 'every object is in the schema of the extension');

$node->stop;
done_testing();
