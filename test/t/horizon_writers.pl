# Parallel workers, which could break the horizon, the roles that can see which session holds it, and
# uuid_replay_target().
use ServerTest;
use Sessions;

my $node = use_server(new_server('horizon_writers', "shared_preload_libraries = 'uuid9562'\nmax_prepared_transactions = 10\n"));
sql('CREATE EXTENSION uuid9562');
my $major = $node->pg_version =~ /(\d+)/ ? $1 : 0;
my $force = $major >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
my $parallel = q{SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off};
sql(q{
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), note text);
	INSERT INTO events (note) VALUES ('first');
	CREATE TABLE many AS SELECT n FROM generate_series(1, 20000) AS n;
	ANALYZE many});

# --- parallel workers -----------------------------------------------------------

# Create functions that are wrongly marked PARALLEL SAFE.
sql(q{
	CREATE FUNCTION horizon_called() RETURNS uuid LANGUAGE plpgsql STABLE PARALLEL SAFE AS 'BEGIN RETURN public.uuidv7_horizon(); END';
	CREATE FUNCTION ordered_called() RETURNS uuid LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS 'BEGIN RETURN public.uuidv7_ordered(); END'});
foreach my $what ('horizon', 'ordered')
{
	my $refused = qr/ERROR:  25000: cannot execute uuidv7_$what\(\) in a parallel worker\nHINT:  Mark functions that call it PARALLEL RESTRICTED/;

	like(refusal("SET $force = on; SELECT ${what}_called()"), $refused, "uuidv7_$what() raises an error in a worker that runs a mislabeled function");
	like(refusal("$parallel; SELECT count(${what}_called()) FROM many"), $refused, "uuidv7_$what() raises an error in a parallel scan with a mislabeled function");
	like(sql("$parallel; SET $force = on; SELECT count(public.uuidv7_$what()) FROM many"), qr/^20000$/, "uuidv7_$what() runs in the leader of a parallel scan");
}
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
	my $stats = q{SELECT held_since IS NOT NULL, held_by_pid, held_by_prepared FROM public.uuid_generator_stats()};

	is(sql($stats), "t|$pid|", 'a superuser sees which session holds the horizon');
	is(sql('SET ROLE watcher', $stats), "t|$pid|", 'a member of pg_read_all_stats sees which session holds the horizon');
	is(sql('SET ROLE clerk', $stats), 't||', 'another user sees that the horizon is held, but not by which session');
	is(sql(qq{SELECT held_since BETWEEN '$since'::timestamptz - interval '2 ms' AND '$since' FROM public.uuid_generator_stats()}), 't', 'held_since is the time of the first value');
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

is(sql('SELECT lsn <= pg_current_wal_flush_lsn() FROM public.uuid_replay_target()'), 't', 'the WAL of a replay target is flushed');
is(sql('BEGIN READ ONLY', 'SELECT count(*) FROM public.uuid_replay_target()', 'COMMIT'), '1', 'a read-only transaction can get the replay target');
sql(q{CREATE FUNCTION target_as_integer() RETURNS integer LANGUAGE c AS '$libdir/uuid9562', 'uuid9562_uuid_replay_target'});
like(refusal('SELECT target_as_integer()'), qr/return type must be a row type/, 'a replay target is a row');

unlike(slurp_file($node->logfile), qr/TRAP|PANIC|terminated by signal [^9]/, 'the server has not crashed');
$node->stop;
done_testing();
