# Tests of uuidv7_horizon() and uuidv7_ordered() in parallel workers, of the roles that can
# see which session holds the horizon, and of uuid_replay_target().
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Sessions;
use Test::More;

my $node = use_server(PostgreSQL::Test::Cluster->new('horizon_access'));
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'uuid9562'\n");
$node->start;
my $major = $node->pg_version =~ /(\d+)/ ? $1 : 0;
my $force = $major >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
my $parallel = q{SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off};
sql(q{
	CREATE EXTENSION uuid9562;
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), note text);
	INSERT INTO events (note) VALUES ('first');
	CREATE TABLE many AS SELECT n FROM generate_series(1, 20000) AS n;
	ANALYZE many});

# --- parallel workers -----------------------------------------------------------

# Create functions that are wrongly marked PARALLEL SAFE.
sql(q{
	CREATE FUNCTION horizon_inlined() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE RETURN public.uuidv7_horizon();
	CREATE FUNCTION horizon_called() RETURNS uuid LANGUAGE plpgsql STABLE PARALLEL SAFE AS 'BEGIN RETURN public.uuidv7_horizon(); END';
	CREATE FUNCTION ordered_inlined() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE RETURN public.uuidv7_ordered();
	CREATE FUNCTION ordered_called() RETURNS uuid LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS 'BEGIN RETURN public.uuidv7_ordered(); END'});
foreach my $what ('horizon', 'ordered')
{
	my $refused = qr/ERROR:  25000: cannot execute uuidv7_$what\(\) in a parallel worker\nHINT:  Mark functions that call it PARALLEL RESTRICTED/;

	like(refusal("SET $force = on; SELECT ${what}_called()"), $refused, "uuidv7_$what() raises an error in a worker that runs a mislabeled function");
	like(refusal("$parallel; SELECT count(${what}_called()) FROM many"), $refused, "uuidv7_$what() raises an error in a parallel scan with a mislabeled function");
	like(refusal("$parallel; SELECT count(${what}_inlined()) FROM many"), $refused, "uuidv7_$what() raises an error in a parallel scan with a mislabeled function that is inlined");
	like(sql("$parallel; SET $force = on; SELECT count(public.uuidv7_$what()) FROM many"), qr/^20000$/, "uuidv7_$what() runs in the leader of a parallel scan");
}
sql('CREATE FUNCTION index_key(int) RETURNS uuid LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$BEGIN RETURN public.uuidv7_ordered(); END$$');
like(refusal("SET max_parallel_maintenance_workers = 2; SET min_parallel_table_scan_size = 0; ALTER TABLE many SET (parallel_workers = 2); CREATE INDEX ON many (index_key(n))"),
	qr/cannot execute uuidv7_ordered\(\) in a parallel worker/, 'a worker that builds an index on a mislabeled function raises an error');
is_above_all('workers that raised an error leave nothing that holds the horizon');
{
	my $leader = session();

	in($leader, 'BEGIN', split(/;/, $parallel), 'CREATE TABLE generated AS SELECT public.uuidv7_ordered() AS id FROM many');
	cmp_ok(sql('SELECT public.uuidv7_horizon()'), 'le', in($leader, 'SELECT min(id::text) FROM generated'), 'CREATE TABLE AS over a parallel scan holds the horizon');
	in($leader, 'COMMIT');
	is(sql('SELECT count(*) FROM generated WHERE id >= public.uuidv7_horizon()'), '0', 'the COMMIT of CREATE TABLE AS releases the horizon');
	leave($leader);
}

# --- statistics -----------------------------------------------------------------

{
	my $holder = session();

	sql('CREATE ROLE clerk LOGIN', 'CREATE ROLE watcher LOGIN IN ROLE pg_read_all_stats', 'GRANT INSERT ON events TO clerk');
	in($holder, 'SELECT 1', 'BEGIN', q{INSERT INTO events (note) VALUES ('held')});
	my $pid = in($holder, 'SELECT pg_backend_pid()');
	my $since = in($holder, q{SELECT uuidv7_timestamp_micros(id) FROM events WHERE note = 'held'});
	my $stats = q{SELECT held_since IS NOT NULL, held_by_pid, held_by_prepared FROM public.uuid_generator_stats() WHERE generator = 'uuidv7_ordered'};

	is(sql($stats), "t|$pid|", 'a superuser sees which session holds the horizon');
	is(sql('SET ROLE watcher', $stats), "t|$pid|", 'a member of pg_read_all_stats sees which session holds the horizon');
	is(sql('SET ROLE clerk', $stats), 't||', 'another user sees that the horizon is held, but not by which session');
	is(sql(qq{SELECT held_since BETWEEN '$since'::timestamptz - interval '2 ms' AND '$since' FROM public.uuid_generator_stats() WHERE generator = 'uuidv7_ordered'}), 't', 'held_since is the time of the first value');
	is(sql('SELECT generator FROM public.uuid_generator_stats() WHERE held_since IS NOT NULL'), 'uuidv7_ordered', 'held_since is set only for the generator whose horizon is held');
	in($holder, 'ROLLBACK');
	leave($holder);

	my $own = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'clerk' ]);
	in($own, 'BEGIN', q{INSERT INTO events (note) VALUES ('of the clerk')});
	is(in($own, $stats), 't|' . in($own, 'SELECT pg_backend_pid()') . '|', 'a user sees a session of the same user');
	in($own, 'ROLLBACK');
	is(in($own, $stats), 'f||', 'nothing is shown when nothing holds the horizon');
	$own->quit;
}

# --- WAL position for standbys --------------------------------------------------

is(sql('SELECT lsn <= pg_current_wal_insert_lsn(), timeline FROM public.uuid_replay_target()'), 't|1', 'the replay target is at or before the insert position, on timeline 1');
is(sql('BEGIN READ ONLY', 'SELECT count(*) FROM public.uuid_replay_target()', 'COMMIT'), '1', 'a read-only transaction can get the replay target');
unlike(slurp_file($node->logfile), qr/TRAP|PANIC/, 'the server has not crashed');
$node->stop;

done_testing();
