# Where ordered values and horizons are refused: during recovery, in read-only
# transactions and in parallel workers.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use Test::More;
use Ordered;

my $server = Ordered->new('refused', "wal_level = logical\nmax_worker_processes = 8\nmax_parallel_workers = 4\n", allows_streaming => 1)
  or plan skip_all => World::REASON;
my $node = $server->node;
my @kinds = qw(uuidv6 uuidv7 uuidv8_node);
my $before = $server->sql('SELECT public.uuidv6_ordered(), public.uuidv8_node_ordered()', 'SELECT public.uuidv7_ordered()') =~ s/.*\n//r;

# The errors of a call, with SQLSTATE.
sub errors
{
	my ($of, $sql) = @_;
	my ($status, $out, $err) = $of->psql('postgres', "\\set VERBOSITY verbose\n$sql", on_error_stop => 0);

	return $err =~ s/^psql:.*?: //mgr;
}

# --- read-only transactions -------------------------------------------------------

foreach my $function ((map { "${_}_ordered()" } @kinds), 'uuid_generator_reset()', "uuid_generator_advance('$before')")
{
	my ($name) = $function =~ /^(\w+)/;

	like(errors($node, "BEGIN READ ONLY; SELECT public.$function"), qr/^ERROR:  25006: cannot execute $name\(\) in a read-only transaction\n/,
		"$name() is an error in a read-only transaction");
}
like($server->sql('BEGIN READ ONLY; SELECT public.uuidv7_horizon()'), qr/^[0-9a-f-]{36}$/, 'uuidv7_horizon() works in a read-only transaction');
my $session = $server->stay;
$session->query('BEGIN; SET LOCAL transaction_read_only = on; SELECT public.uuidv7_ordered(); ROLLBACK');
like($session->{stderr}, qr/cannot execute uuidv7_ordered\(\) in a read-only transaction/, 'so is a value in a session that has generated before');
$session->{stderr} = '';
cmp_ok($session->query_safe('SELECT public.uuidv7_ordered()') =~ s/\s//gr, 'gt', $before, 'the session generates again afterwards');
$session->quit;

# --- recovery ---------------------------------------------------------------------

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$server->turn('normal', $standby);
$server->start($standby);
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
foreach my $kind (@kinds)
{
	# one of these two is true of each transaction during recovery
	like(errors($standby, "SELECT public.${kind}_ordered()"), qr/^ERROR:  25006: cannot execute ${kind}_ordered\(\) (in a read-only transaction|during recovery)\n/,
		"${kind}_ordered() is an error during recovery");
	like(errors($standby, "SELECT public.${kind}_horizon()"), qr/^ERROR:  25006: cannot execute ${kind}_horizon\(\) during recovery\n.*HINT: /s,
		"${kind}_horizon() is an error during recovery");
}
foreach my $function ('uuid_generator_reset()', "uuid_generator_advance('$before')", 'uuid_replay_target()')
{
	like(errors($standby, "SELECT public.$function"), qr/^ERROR:  25006: cannot execute \w+\(\) (in a read-only transaction|during recovery)/, "$function is an error during recovery");
}
is($standby->safe_psql('postgres', 'SELECT public.uuidv7() IS NOT NULL, public.uuidv6() IS NOT NULL, public.uuidv8_node() IS NOT NULL, count(*) FROM public.uuid_generator_stats()'),
	't|t|t|3', 'session generators and the statistics work during recovery');

# The snapshot of a logical slot is not marked as one of recovery.
my $slot;
SKIP:
{
	skip 'PostgreSQL 15 has no logical slots on a standby', 2 if $node->pg_version < 16;
	$slot = $standby->background_psql('postgres', on_error_stop => 0, extra_params => [ '-d', $standby->connstr('postgres') . ' replication=database' ]);
	Ordered::send_to($slot, q{BEGIN ISOLATION LEVEL REPEATABLE READ; CREATE_REPLICATION_SLOT s TEMPORARY LOGICAL pgoutput (SNAPSHOT 'use')} =~ s/; /;\n/r);
	for (1 .. 300)
	{
		$server->sql('SELECT pg_log_standby_snapshot()');
		last if $standby->safe_psql('postgres', 'SELECT count(confirmed_flush_lsn) FROM pg_replication_slots') eq '1';
		select undef, undef, undef, 0.1;
	}
	$slot->query('SELECT 1');
	$slot->{stderr} = '';
	$slot->query('SELECT public.uuidv7_horizon()');
	like($slot->{stderr}, qr/cannot execute uuidv7_horizon\(\) during recovery/, 'the snapshot of a logical slot has no horizon during recovery');
	$slot->query("ROLLBACK;\nBEGIN");
	$slot->{stderr} = '';
	$slot->query('SELECT public.uuidv7_ordered()');
	like($slot->{stderr}, qr/cannot execute uuidv7_ordered\(\)/, 'a connection for logical replication cannot generate during recovery');
	$slot->quit;
}
my $last = $server->sql('SELECT public.uuidv7_ordered()');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
$node->stop('immediate');
$server->turn('by -3600', $standby);
$standby->promote;
cmp_ok($standby->safe_psql('postgres', 'SELECT public.uuidv7_ordered()'), 'gt', $last, 'after all of them a promoted standby continues after the primary');
like($standby->safe_psql('postgres', 'SELECT public.uuidv7_horizon()'), qr/^[0-9a-f-]{36}$/, 'it has a horizon');
unlike(PostgreSQL::Test::Utils::slurp_file($standby->logfile), qr/PANIC|TRAP/, 'nothing crashed');
$standby->stop;
$server->start;

# --- parallel workers ---------------------------------------------------------------

$server->sql(q{
	CREATE TABLE many AS SELECT n FROM generate_series(1, 20000) AS n;
	ANALYZE many;
	CREATE FUNCTION inlined() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS 'SELECT public.uuidv7_ordered()';
	CREATE FUNCTION called() RETURNS uuid LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS 'BEGIN RETURN public.uuidv7_ordered(); END';
	CREATE FUNCTION caught() RETURNS uuid LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS
	'BEGIN RETURN public.uuidv7_ordered(); EXCEPTION WHEN invalid_transaction_state THEN RETURN NULL; END';
	CREATE FUNCTION horizon() RETURNS uuid LANGUAGE plpgsql STABLE PARALLEL SAFE AS 'BEGIN RETURN public.uuidv7_horizon(); END';
	CREATE FUNCTION indexed(integer) RETURNS uuid LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN public.uuidv7_ordered(); END'});
my $parallel = q{SET max_parallel_workers_per_gather = 2; SET max_parallel_maintenance_workers = 2; SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off};
my $value = $server->value;
my %wrapper = (
	'SELECT inlined() FROM many' => 'ordered', 'SELECT called() FROM many' => 'ordered', 'SELECT horizon() FROM many' => 'horizon',
	'ALTER TABLE many SET (parallel_workers = 2); CREATE INDEX ON many (indexed(n))' => 'ordered');
foreach my $statement (sort keys %wrapper)
{
	my $error = qr/ERROR:  25000: cannot execute uuidv7_$wrapper{$statement}\(\) in a parallel worker\n.*HINT:  Mark functions that call it PARALLEL RESTRICTED\./s;

	like(errors($node, "$parallel; $statement"), $error, "$statement: a worker does not generate");
	like(errors($node, "SELECT public.uuidv7_ordered(); $parallel; $statement"), $error, "$statement: neither does that of a leader that has");
}
is($server->sql($parallel, 'SELECT count(DISTINCT public.uuidv7_ordered()) FROM many'), '20000', 'the leader of a parallel query generates');
is($server->sql($parallel, 'SELECT count(*) FROM many WHERE public.uuidv7_horizon() IS NOT NULL'), '20000', 'it has a horizon');
cmp_ok($server->value, 'gt', $value, 'values stay in order');
is($server->sql('SELECT count(*) FROM public.uuid_generator_stats() WHERE held_since IS NOT NULL'), '0', 'no worker holds the horizon');
is($server->log_lines('PANIC|TRAP|was terminated by signal'), 0, 'no process crashed');

$node->stop;
done_testing();
