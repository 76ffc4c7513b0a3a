# Two servers that write to each other by logical replication, with v7 keys and
# with keys that carry a node id.  ROWS (50000) of each kind are inserted on each.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = $ENV{ROWS} || 50000;
my $batch = 500;
my $here = PostgreSQL::Test::Cluster->new('here');
my $there = PostgreSQL::Test::Cluster->new('there');
my @servers = ($here, $there);

die "ROWS must be a multiple of $batch" if $rows % $batch;
plan skip_all => 'two-way logical replication needs PostgreSQL 16' if $here->pg_version < 16;

# as the manual shows it: one schema, a node id for each server
foreach my $server (@servers)
{
	$server->init(allows_streaming => 'logical');
	$server->append_conf('postgresql.conf', "cluster_name = '" . $server->name . "'\nmax_wal_size = 4GB\nsynchronous_commit = off\n");
	$server->start;
	$server->safe_psql('postgres', q{
		CREATE EXTENSION uuid9562;
		CREATE TABLE event (id uuid PRIMARY KEY DEFAULT public.uuidv7(), server text);
		CREATE TABLE part (id uuid PRIMARY KEY DEFAULT public.uuidv8_node() CHECK (public.uuid_is_v8(id)), server text);
		CREATE PUBLICATION everything FOR TABLE event, part;
		SELECT format('ALTER SYSTEM SET uuid9562.node_id = %s',
					  ('x' || left(encode(sha256(convert_to(current_setting('cluster_name'), 'UTF8')), 'hex'), 4))::bit(16)::int)
		\gexec
		SELECT pg_reload_conf()});
}
foreach my $pair ([ $here, $there ], [ $there, $here ])
{
	my ($from, $to) = @$pair;
	$to->safe_psql('postgres', "CREATE SUBSCRIPTION from_the_other CONNECTION '" . $from->connstr
		  . " dbname=postgres' PUBLICATION everything WITH (origin = none, copy_data = false, slot_name = to_" . $to->name . ')');
}

my @writers = map { [ $_->name, $_->background_psql('postgres') ] } @servers;
foreach my $writer (@writers)
{
	my ($name, $psql) = @$writer;
	my $batches = $rows / $batch;
	$psql->{stdin} .= qq{DO \$\$BEGIN FOR i IN 1 .. $batches LOOP
		INSERT INTO event (server) SELECT '$name' FROM generate_series(1, $batch);
		INSERT INTO part (server) SELECT '$name' FROM generate_series(1, $batch); COMMIT; END LOOP; END\$\$;\n};
	$psql->{run}->pump_nb;
}
# each waits as long as it is inserting
foreach my $writer (@writers)
{
	$writer->[1]->query_safe('SELECT 1');
	$writer->[1]->quit;
}

# all is there, or something went wrong
$_->poll_query_until('postgres', "SELECT (SELECT count(*) FROM event) + (SELECT count(*) FROM part) >= 4 * $rows
	OR (SELECT sum(apply_error_count) FROM pg_stat_subscription_stats) > 0") foreach @servers;
foreach my $server (@servers)
{
	my $name = $server->name;
	is($server->safe_psql('postgres', 'SELECT (SELECT count(*) FROM event), (SELECT count(*) FROM part)'),
		2 * $rows . '|' . 2 * $rows, "$name: all rows of both");
	is($server->safe_psql('postgres', 'SELECT sum(apply_error_count) FROM pg_stat_subscription_stats'), '0', "$name: no error");
	unlike(slurp_file($server->logfile), qr/duplicate key|conflict/i, "$name: no conflict");
}
foreach my $table (qw(event part))
{
	my $all = "SELECT count(DISTINCT id), md5(string_agg(id::text || server, ' ' ORDER BY id)) FROM $table";
	is($here->safe_psql('postgres', $all), $there->safe_psql('postgres', $all), "$table: the same rows on both");
}
is($here->safe_psql('postgres', q{SELECT count(DISTINCT (server, public.uuidv8_node_id(id))), count(DISTINCT public.uuidv8_node_id(id)) FROM part}),
	'2|2', 'each part tells where it was made');
is($there->safe_psql('postgres', q{SELECT public.uuidv8_node_id(public.uuidv8_node()) = (SELECT DISTINCT public.uuidv8_node_id(id) FROM part WHERE server = 'there')}),
	't', 'by the node id of that server');
foreach my $server (@servers)
{
	is($server->safe_psql('postgres', q{SELECT count(*) FROM event WHERE id <@ tstzrange(now() - interval '1 day', NULL)
			UNION ALL SELECT count(*) FROM part WHERE public.uuidv8_node_within(id, tstzrange(now() - interval '1 day', NULL))}),
		2 * $rows . "\n" . 2 * $rows, $server->name . ': a period holds the rows of both');
	$server->stop;
}

done_testing();
