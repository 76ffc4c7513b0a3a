# The horizon: who reads on from the last id, up to it, misses no row.
#
# UUID9562_HORIZON_ROWS says how many rows the last part is to write at least, and
# UUID9562_TEST_SEED repeats its choices.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use POSIX qw(_exit);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);
use World;

my $rows = $ENV{UUID9562_HORIZON_ROWS} || 40_000;
my $seed = $ENV{UUID9562_TEST_SEED} || time;
my $world = World->new('horizon', <<'CONF', allows_streaming => 1)
shared_preload_libraries = 'uuid9562'
uuid9562.monotonic_scope = instance
uuid9562.max_ahead = 1d
max_prepared_transactions = 40
max_connections = 80
restart_after_crash = on
CONF
  or plan skip_all => World::REASON;
my $node = $world->node;
my $major = $node->pg_version =~ /(\d+)/ ? $1 : 0;

sub sql { return $node->safe_psql('postgres', join ";\n", @_) }

# What it fails with.
sub refusal
{
	my ($statement, $server) = @_;
	my ($status, $out, $err) = ($server || $node)->psql('postgres', "\\set VERBOSITY verbose\n$statement", on_error_stop => 0);

	return $err;
}

# A session that stays.
sub session { return $node->background_psql('postgres', on_error_stop => 0) }

sub in { my ($session, @statements) = @_; my $out; $out = $session->query_safe($_) foreach @statements; return $out }

# The transactions of a session end with it, and those of its process with that.
sub leave
{
	my ($session) = @_;
	my $pid = in($session, 'SELECT pg_backend_pid()');

	$session->quit;
	$node->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $pid)");
}

# Does a session's horizon lie above all of a table, as it does when nothing holds it?
sub is_free
{
	my ($what) = @_;

	is(sql('SELECT public.uuidv7_horizon() > max(id::text)::uuid FROM events'), 't', $what);
}

# Is it at or below the least id of that note?
sub is_held
{
	my ($note, $what, $session) = @_;

	is(in($session, "SELECT public.uuidv7_horizon() <= min(id::text)::uuid FROM events WHERE note = '$note'"), 't', $what);
}

sql(q{
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT public.uuidv7(), note text);
	INSERT INTO events (note) VALUES ('first')});

# --- a reader and two writers ---------------------------------------------------

{
	my ($slow, $fast) = (session(), session());

	in($slow, 'BEGIN', q{INSERT INTO events (note) VALUES ('slow')});
	in($fast, q{INSERT INTO events (note) VALUES ('fast')});
	my $last = sql('SELECT max(id::text) FROM events');
	is(sql('SELECT note FROM events WHERE id < public.uuidv7_horizon() ORDER BY id'), 'first', 'what was made after the first id of an open transaction waits for it');
	is( sql(q{SELECT count(*), count(held_since), count(held_by) FROM public.uuid_generator_stats() WHERE scope = 'instance'}),
		'5|1|1', 'the statistics name one process that holds one horizon');
	is( sql(q{SELECT generator, state FROM public.uuid_generator_stats() JOIN pg_stat_activity ON pid = held_by}),
		'uuidv7|idle in transaction', 'and which it is');
	is(sql(q{SELECT held_since BETWEEN now() - interval '1 hour' AND now() FROM public.uuid_generator_stats() WHERE held_by IS NOT NULL}), 't', 'since when');
	is_held('slow', 'a transaction sees none of its own ids below the horizon', $slow);
	in($slow, 'COMMIT');
	is(sql("SELECT note FROM events WHERE id > '$last' ORDER BY id"), '', 'a reader that goes on from the last id misses the row of the other');
	is(sql('SELECT note FROM events WHERE id < public.uuidv7_horizon() ORDER BY id'), "first\nslow\nfast", 'a reader by the horizon does not');
	is(sql('SELECT count(held_since) FROM public.uuid_generator_stats()'), '0', 'nobody holds it when all have ended');

	# each generator has its own
	in($slow, 'BEGIN', 'SELECT public.uuidv6(), public.uuidv8_node(7)');
	is_free('a value of another generator does not hold it');
	is( in($fast, 'SELECT public.uuidv6_horizon() < public.uuidv6(), public.uuidv8_node_horizon() < public.uuidv8_node(1)'),
		't|t', 'but its own');
	is( in($slow, q{SELECT string_agg(generator, ' ') FROM public.uuid_generator_stats() WHERE held_by = pg_backend_pid()}),
		'uuidv6 uuidv8_node', 'which the statistics tell apart');
	in($slow, 'COMMIT');

	# the tails of these two are stamped, with all that a stamp can hold
	foreach my $call ('uuidv6()', 'uuidv8_node(65535)', 'uuidv8_node(0)', 'uuidv7()')
	{
		my $horizon = $call =~ s/\(.*/_horizon()/r;
		my $value = in($fast, "SET uuid9562.mac_address = 'ff:ff:ff:ff:ff:ff'", "SELECT public.$call");
		my $found = sql("SELECT public.$horizon");

		cmp_ok($found, 'gt', $value, "$horizon is above the last value");
		cmp_ok(sql("SET uuid9562.mac_address = '00:00:00:00:00:00'", "SELECT public.$call"), 'ge', $found, "and not above the next");
	}

	# what lasts as long as the transaction, and no longer
	in($slow, 'BEGIN', 'SAVEPOINT s', q{INSERT INTO events (note) VALUES ('gone')}, 'ROLLBACK TO s', q{INSERT INTO events (note) VALUES ('after a savepoint')});
	in($fast, q{INSERT INTO events (note) VALUES ('fast')});
	is(sql(q{SELECT count(*) FROM events WHERE note = 'fast' AND id < public.uuidv7_horizon()}), '1', 'a savepoint that is rolled back goes on holding it');
	in($slow, 'COMMIT AND CHAIN');
	is_free('a transaction that was committed and chained does not');
	in($slow, q{INSERT INTO events (note) VALUES ('chained')});
	is_held('chained', 'until it makes a value', $slow);
	in($slow, 'ROLLBACK AND CHAIN');
	is_free('nor does one that was rolled back and chained');
	in($slow, 'ROLLBACK');

	in($slow, 'BEGIN READ ONLY', 'SELECT public.uuidv7()');
	is(sql('SELECT public.uuidv7_horizon() < public.uuidv7()'), 't', 'a transaction that has written nothing yet holds it');
	in($slow, 'COMMIT');
	is_free('until it ends');

	sql(q{
		CREATE PROCEDURE commit_twice() LANGUAGE plpgsql AS $$
		DECLARE
			above boolean[];
		BEGIN
			FOR n IN 1 .. 3 LOOP
				INSERT INTO events (note) VALUES ('procedure ' || n);
				IF n < 3 THEN
					COMMIT;
				END IF;
				above[n] := public.uuidv7_horizon() > max(id::text)::uuid FROM events;
			END LOOP;
			RAISE NOTICE '%', above;
		END$$});
	my ($status, $out, $err) = $node->psql('postgres', 'CALL commit_twice()');
	like($err, qr/\{t,t,f\}/, 'each transaction of a procedure ends for itself');
	leave($_) foreach $slow, $fast;
}

# --- one snapshot, one answer -----------------------------------------------------

# A function that waits at the second row, and is evaluated before the id is compared.
sql(q{
	CREATE FUNCTION gate(n int) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
	BEGIN
		IF n = 2 THEN
			PERFORM pg_advisory_xact_lock_shared(1);
		END IF;
		RETURN true;
	END$$;
	CREATE TABLE heap (id uuid, n int);
	CREATE TABLE parts (id uuid, n int) PARTITION BY LIST (n);
	CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1, 3);
	CREATE TABLE part_2 PARTITION OF parts FOR VALUES IN (2);
	CREATE VIEW settled AS SELECT * FROM heap WHERE id < public.uuidv7_horizon()});

foreach my $case (
	[ 'a sequential scan', 'SELECT n FROM heap WHERE gate(n) AND id < public.uuidv7_horizon()' ],
	[ 'partitions', 'SELECT n FROM parts WHERE gate(n) AND id < public.uuidv7_horizon()' ],
	[ 'a view', 'SELECT n FROM settled WHERE gate(n)' ],
	[ 'a scan that is made again', 'SELECT n FROM generate_series(1, 2) AS again (x), LATERAL (SELECT n FROM heap WHERE n >= x AND gate(n) AND id < public.uuidv7_horizon() OFFSET 0) AS scan' ],
	[ 'two parts of a union', 'SELECT n FROM part_1 WHERE id < public.uuidv7_horizon() UNION ALL SELECT n FROM part_2 WHERE gate(n) AND id < public.uuidv7_horizon()' ])
{
	my ($name, $query) = @$case;
	my ($gatekeeper, $holder, $reader) = (session(), session(), session());

	# the first row read is below what the holder has, the others are above
	sql('TRUNCATE heap, parts');
	in($gatekeeper, 'SELECT pg_advisory_lock(1)');
	in($holder, 'BEGIN', 'SELECT public.uuidv7()');
	sql("INSERT INTO $_ SELECT public.uuidv7(), n FROM generate_series(1, 3) AS n") foreach qw(heap parts);
	in($reader, 'SET max_parallel_workers_per_gather = 0');
	$reader->query_until(qr/begun/, "\\echo begun\n$query;\n\\echo done\n");
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'advisory'});
	in($holder, 'ROLLBACK');
	in($gatekeeper, 'SELECT pg_advisory_unlock(1)');
	is($reader->query_until(qr/done/, ''), "done\n", "$name: a holder that rolls back meanwhile changes nothing for the rest");
	is(in($reader, $query), $name =~ /again/ ? "1\n2\n3\n2\n3" : $name =~ /part/ ? "1\n3\n2" : "1\n2\n3", "$name: the next statement reads them all");
	leave($_) foreach $gatekeeper, $holder, $reader;
}

foreach my $level ('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
{
	my ($holder, $reader) = (session(), session());

	sql('TRUNCATE heap', 'INSERT INTO heap VALUES (public.uuidv7(), 0)');
	my $old = sql('SELECT id FROM heap');
	in($holder, 'BEGIN', 'SELECT public.uuidv7()');
	sql('TRUNCATE heap', "INSERT INTO heap VALUES (public.uuidv7(), 1), ('$old', 0), (public.uuidv7(), 2)");
	in($reader, "BEGIN ISOLATION LEVEL $level", 'DECLARE c CURSOR FOR SELECT n FROM heap WHERE id < public.uuidv7_horizon()');
	is(in($reader, 'FETCH 1 FROM c'), '0', "a cursor, $level: what is sure");
	in($holder, 'ROLLBACK');
	sql('INSERT INTO heap VALUES (public.uuidv7(), 3)');
	is(in($reader, 'FETCH ALL FROM c'), '', "a cursor, $level: a holder that rolls back between two FETCHes changes nothing");
	# a snapshot of the same content as before, or one of its own
	is(in($reader, 'SELECT count(*) FROM heap WHERE id < public.uuidv7_horizon()'), $level eq 'READ COMMITTED' ? '4' : '1', "a statement after it, $level");
	in($reader, 'COMMIT');
	is(in($reader, 'SELECT count(*) FROM heap WHERE id < public.uuidv7_horizon()'), '4', "the next transaction, $level");
	leave($_) foreach $holder, $reader;
}

# A snapshot that comes from another session is as old as it is there.
{
	my ($exporter, $holder, $reader) = (session(), session(), session());
	my $snapshot = in($exporter, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT pg_export_snapshot()');

	sql(q{INSERT INTO events (note) VALUES ('exported')}) for 1 .. 3;
	in($holder, q{INSERT INTO events (note) VALUES ('exported')}) for 1 .. 3;
	in($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ', "SET TRANSACTION SNAPSHOT '$snapshot'");
	my $first = sql(q{SELECT min(id::text) FROM events WHERE note = 'exported'});
	cmp_ok(in($_, 'SELECT public.uuidv7_horizon()'), 'le', $first, 'the horizon of an exported snapshot is at or below what it does not see') foreach $exporter, $reader;
	leave($_) foreach $exporter, $holder, $reader;
}

# --- an old snapshot beside short transactions -------------------------------------

{
	my ($old, $writer) = (session(), session());

	sql('TRUNCATE events');
	sql(q{CREATE PROCEDURE write_shortly(n int) LANGUAGE plpgsql AS $$
		BEGIN
			FOR i IN 1 .. n LOOP
				INSERT INTO events (note) VALUES ('short');
				COMMIT;
			END LOOP;
		END$$});
	in($writer, 'CALL write_shortly(4000)');
	foreach my $after (1, 10, 100, 1000)
	{
		in($old, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
		in($writer, "CALL write_shortly($after)");
		cmp_ok(in($old, 'SELECT count(*) FROM events WHERE id >= public.uuidv7_horizon()'), '<=', $after,
			"a snapshot that is $after transactions old is told of a horizon that is about as old again at most");
		is(in($old, "SELECT public.uuidv7_horizon() <= '" . sql("SELECT id FROM events ORDER BY id DESC OFFSET $after - 1 LIMIT 1") . "'"),
			't', 'and of none that it does not see all below');
		in($old, 'COMMIT');
	}
	leave($_) foreach $old, $writer;
}

# --- prepared transactions -----------------------------------------------------------

{
	my ($preparer, $other) = (session(), session());

	in($preparer, 'BEGIN', q{INSERT INTO events (note) VALUES ('prepared')}, q{PREPARE TRANSACTION 'one'});
	in($preparer, 'BEGIN', q{INSERT INTO events (note) VALUES ('next')}, 'COMMIT');
	is(sql(q{SELECT count(*) FROM events WHERE note = 'next' AND id < public.uuidv7_horizon()}), '0', 'a prepared transaction holds it, whatever its session does then');
	is(sql(q{SELECT generator, held_by IS NULL FROM public.uuid_generator_stats() WHERE held_since IS NOT NULL}), 'uuidv7|t', 'the statistics show it without a process');
	in($other, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
	sql(q{COMMIT PREPARED 'one'});
	is(sql(q{SELECT count(*) FROM events WHERE note IN ('prepared', 'next') AND id < public.uuidv7_horizon()}), '2', 'until it is committed');
	is(in($other, q{SELECT count(*) FROM events WHERE note = 'next' AND id < public.uuidv7_horizon()}), '0', 'and longer, for who does not see that');
	in($other, 'COMMIT');

	# the same places again
	for my $n (1 .. 5)
	{
		in($preparer, 'BEGIN', "INSERT INTO events (note) VALUES ('prepared $n')", "PREPARE TRANSACTION 'a'");
		in($other, 'BEGIN', "INSERT INTO events (note) VALUES ('prepared $n')", "PREPARE TRANSACTION 'b'");
		is(sql("SELECT count(*) FROM events WHERE id >= public.uuidv7_horizon()"), '0', "two prepared transactions, round $n: nothing was written since");
		in($preparer, "INSERT INTO events (note) VALUES ('beside $n')");
		in($preparer, "COMMIT PREPARED 'b'");
		is(sql("SELECT count(*) FROM events WHERE id >= public.uuidv7_horizon()"), '2', "round $n: the older one holds what came after");
		in($preparer, "ROLLBACK PREPARED 'a'");
		is_free("round $n: until it is rolled back");
	}
	in($preparer, 'BEGIN', 'SELECT public.uuidv7()', q{PREPARE TRANSACTION 'read'}, q{COMMIT PREPARED 'read'});
	is_free('a prepared transaction that has written nothing does not hold it when it has ended');
	leave($_) foreach $preparer, $other;
}

# --- parallel workers ----------------------------------------------------------------

my $parallel = q{SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off};
sql('CREATE TABLE many AS SELECT n FROM generate_series(1, 20000) AS n', 'ANALYZE many');
{
	my $leader = session();

	in($leader, split /;/, $parallel);
	like(in($leader, 'EXPLAIN (COSTS OFF) CREATE TABLE made AS SELECT public.uuidv7() AS id FROM many'), qr/Workers Planned/, 'a plan whose workers alone generate');
	in($leader, 'BEGIN', 'CREATE TABLE made AS SELECT public.uuidv7() AS id FROM many');
	my $least = in($leader, 'SELECT min(id::text) FROM made');
	cmp_ok(sql('SELECT public.uuidv7_horizon()'), 'le', $least, 'what the workers of an open transaction have made holds it');
	in($leader, 'COMMIT');
	is(sql('SELECT count(*) FROM made WHERE id >= public.uuidv7_horizon()'), '0', 'until their leader commits');
	in($leader, 'BEGIN', 'CREATE TABLE made_again AS SELECT public.uuidv7() AS id FROM many');
	in($leader, 'ROLLBACK');
	is_free('or rolls back');
	leave($leader);

	# no horizon is asked in a worker, where another answer might be given
	my $force = $major >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
	sql(q{CREATE FUNCTION wrongly_safe() RETURNS uuid LANGUAGE plpgsql STABLE PARALLEL SAFE AS 'BEGIN RETURN public.uuidv7_horizon(); END'});
	like(refusal("SET $force = on; SELECT wrongly_safe()"), qr/ERROR:  25000: uuidv7_horizon\(\) cannot be asked in a parallel worker/, 'a worker does not ask');
	like(sql("SET $force = on", 'SELECT public.uuidv7_horizon()'), qr/^[0-9a-f-]{36}$/, 'and a plan does not make one do so');
}

# --- plans -------------------------------------------------------------------------------

{
	sql(q{
		CREATE TABLE months (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
		CREATE TABLE months_past PARTITION OF months FOR VALUES FROM (MINVALUE) TO ('01900000-0000-7000-8000-000000000000');
		CREATE TABLE months_now PARTITION OF months FOR VALUES FROM ('01900000-0000-7000-8000-000000000000') TO ('02900000-0000-7000-8000-000000000000');
		CREATE TABLE months_to_come PARTITION OF months FOR VALUES FROM ('02900000-0000-7000-8000-000000000000') TO (MAXVALUE);
		CREATE TABLE planned (id uuid PRIMARY KEY);
		INSERT INTO planned SELECT public.uuidv7() FROM generate_series(1, 20000);
		ANALYZE planned});
	my $plan = sql(q{EXPLAIN (COSTS OFF) SELECT * FROM months WHERE id > '01900000-0000-7000-8000-000000000000' AND id < public.uuidv7_horizon()});
	like($plan, qr/Subplans Removed: 1/, 'partitions above the horizon are left out');
	unlike($plan, qr/months_past|months_to_come/, 'and those below the last id');
	like(sql(q{SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT * FROM planned WHERE id < public.uuidv7_horizon()}), qr/Index Cond: \(id < (public\.)?uuidv7_horizon\(\)\)/, 'an index serves it');

	my $holder = session();
	my $rows = sub { sql(q{EXPLAIN SELECT * FROM planned WHERE id < public.uuidv7_horizon()}) =~ /rows=(\d+)/ ? $1 : die };
	cmp_ok($rows->(), '>', 19000, 'the estimate knows that all rows are below it');
	in($holder, 'BEGIN', 'SELECT public.uuidv7()');
	sql(q{INSERT INTO planned SELECT public.uuidv7() FROM generate_series(1, 20000)}, 'ANALYZE planned');
	my $held = $rows->();
	ok($held > 15000 && $held < 25000, "and that half of them are, when an open transaction holds it ($held of 40000)");
	in($holder, 'ROLLBACK');

	# what was told when a query was planned, is not told to another snapshot
	my $reader = session();
	in($reader, 'BEGIN', 'PREPARE read AS SELECT count(*) FROM planned WHERE id < public.uuidv7_horizon()', 'SET plan_cache_mode = force_generic_plan');
	in($holder, 'BEGIN', 'INSERT INTO planned SELECT public.uuidv7()');
	is(in($reader, 'EXECUTE read'), '40000', 'a prepared statement is told what its snapshot sees');
	in($holder, 'COMMIT');
	is(in($reader, 'EXECUTE read'), '40001', 'each time that it is executed');
	leave($_) foreach $holder, $reader;
}

# --- what ends a transaction -----------------------------------------------------------

{
	my $client = session();
	my $pid = in($client, 'SELECT pg_backend_pid()');

	in($client, 'BEGIN', q{INSERT INTO events (note) VALUES ('terminated')});
	is(sql("SELECT held_by FROM public.uuid_generator_stats() WHERE held_by IS NOT NULL"), $pid, 'a session holds it');
	sql("SELECT pg_terminate_backend($pid)");
	$node->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $pid)");
	is(sql('SELECT count(held_since) FROM public.uuid_generator_stats()'), '0', 'until it is terminated in its transaction');
	is_free('and then no more');
	eval { $client->quit };
}

# --- a reset, an advance, the clock ------------------------------------------------------

{
	my ($writer, $other) = (session(), session());

	sql('TRUNCATE events');
	$world->turn((time + 3600) . ' 0');
	in($writer, 'BEGIN', q{INSERT INTO events (note) VALUES ('ahead')});
	$world->turn('normal');
	sql('SELECT public.uuid_generator_reset()');
	in($writer, q{INSERT INTO events (note) VALUES ('after a reset')});
	in($other, q{INSERT INTO events (note) VALUES ('beside')});
	is(sql(q{SELECT count(*) FROM events WHERE id < public.uuidv7_horizon()}), '0', 'what an open transaction makes after a reset holds it');
	in($writer, 'COMMIT');
	is(sql(q{SELECT string_agg(note, ' ' ORDER BY id) FROM events WHERE id < public.uuidv7_horizon()}), 'after a reset beside', 'and what it made before comes when the generator is there');

	in($writer, 'BEGIN', q{INSERT INTO events (note) VALUES ('before an advance')});
	sql(q{SELECT public.uuid_generator_advance(id) FROM events WHERE note = 'ahead'});
	in($other, q{INSERT INTO events (note) VALUES ('advanced')});
	is_held('before an advance', 'an open transaction holds it when the generator is advanced', $writer);
	in($writer, 'COMMIT');
	is(sql(q{SELECT string_agg(note, ', ' ORDER BY id) FROM events WHERE id < public.uuidv7_horizon()}),
		'after a reset, beside, before an advance, ahead, advanced', 'and all comes when it has ended');
	sql('TRUNCATE events', 'SELECT public.uuid_generator_reset()', q{INSERT INTO events (note) VALUES ('anew')});
	leave($_) foreach $writer, $other;
}

# --- starts ----------------------------------------------------------------------------

foreach my $mode ('fast', 'immediate')
{
	sql(q{INSERT INTO events (note) VALUES ('before a stop')});
	$node->stop($mode);
	$world->start;
	is_free("after a stop that is $mode, all is below the horizon before a value is made");
}

sql('BEGIN', q{INSERT INTO events (note) VALUES ('prepared before')}, q{PREPARE TRANSACTION 'before'});
$node->restart;
like(refusal('SELECT public.uuidv7_horizon()'), qr/ERROR:  55000: uuidv7_horizon\(\) cannot tell what a prepared transaction has made\n.*DETAIL: .*\n.*HINT:  End it with COMMIT PREPARED/, 'what was prepared before the last start is not known');
is(sql(q{SELECT count(*) FROM public.uuid_generator_stats() WHERE scope = 'instance' AND held_since = '-infinity' AND held_by IS NULL}), '3', 'the statistics say so');
like(refusal('EXPLAIN SELECT * FROM events WHERE id < public.uuidv7_horizon()'), qr/cannot tell/, 'nor is it when a query is planned');
like(sql('SELECT public.uuidv7()'), qr/^[0-9a-f-]{36}$/, 'values are made as ever');
sql(q{COMMIT PREPARED 'before'});
is_free('until it is ended');
sql('BEGIN', q{INSERT INTO events (note) VALUES ('prepared after')}, q{PREPARE TRANSACTION 'after'});
is(sql(q{SELECT count(*) FROM events WHERE note = 'prepared before' AND id < public.uuidv7_horizon()}), '1', 'one that was prepared since is known');
sql(q{ROLLBACK PREPARED 'after'});

# a snapshot from before its end takes it to be running, however late the first question
{
	sql('BEGIN', q{INSERT INTO events (note) VALUES ('prepared early')}, q{PREPARE TRANSACTION 'early'});
	$node->restart;
	my $reader = session();
	in($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
	sql(q{COMMIT PREPARED 'early'});
	$reader->query('SELECT public.uuidv7_horizon()');
	like($reader->{stderr}, qr/cannot tell what a prepared transaction has made/, 'what was prepared before the start and has ended since is not known to an older snapshot');
	$reader->quit;
	is(sql(q{SELECT count(*) FROM events WHERE note = 'prepared early' AND id < public.uuidv7_horizon()}), '1', 'and is there for a new one');
}

# --- a standby ---------------------------------------------------------------------------

{
	$node->backup('standby');
	my $standby = PostgreSQL::Test::Cluster->new('horizon_standby');

	$standby->init_from_backup($node, 'standby', has_streaming => 1);
	$world->start($standby);
	$node->wait_for_catchup($standby, 'replay');
	like(refusal('SELECT public.uuidv7_horizon()', $standby), qr/ERROR:  55000: uuidv7_horizon\(\) cannot be asked on a standby\n.*DETAIL: .*\n.*HINT:  Ask on the primary/, 'a standby knows no horizon');
	my $connected = $standby->background_psql('postgres', on_error_stop => 0);
	$connected->query_safe($_) foreach 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1';
	sql('BEGIN', q{INSERT INTO events (note) VALUES ('prepared on the primary')}, q{PREPARE TRANSACTION 'standby'});
	$node->wait_for_catchup($standby, 'replay');
	$standby->promote;
	$connected->query('SELECT public.uuidv7_horizon()');
	like($connected->{stderr}, qr/cannot be asked on a standby/, 'nor does a snapshot that was taken there, after the promotion');
	like(refusal('SELECT public.uuidv7_horizon()', $standby), qr/cannot tell what a prepared transaction has made/, 'nor one beside a transaction that was prepared on the primary');
	$standby->safe_psql('postgres', q{COMMIT PREPARED 'standby'});
	is($standby->safe_psql('postgres', 'SELECT public.uuidv7_horizon() > max(id::text)::uuid FROM events'), 't', 'then all is below it');
	$connected->quit;
	$standby->stop;
	sql(q{ROLLBACK PREPARED 'standby'});
}

# --- without preloading ----------------------------------------------------------------

{
	my $unloaded = PostgreSQL::Test::Cluster->new('horizon_not_preloaded');

	$unloaded->init;
	$unloaded->append_conf('postgresql.conf', "uuid9562.monotonic_scope = instance\n");
	$unloaded->start;
	$unloaded->safe_psql('postgres', 'CREATE EXTENSION uuid9562; CREATE TABLE many AS SELECT n FROM generate_series(1, 20000) AS n; ANALYZE many;' .
		q{CREATE FUNCTION made_elsewhere() RETURNS uuid LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN public.uuidv7(); END'});
  SKIP:
	{
		if ($major < 17)
		{
			like(refusal('SELECT public.uuidv7_horizon()', $unloaded),
				qr/ERROR:  55000: uuid9562\.monotonic_scope = instance has no shared memory\nHINT:  Add uuid9562 to shared_preload_libraries/, 'without shared memory there is no horizon');
			skip 'before PostgreSQL 17 there is no shared memory without preloading', 4;
		}
		is($unloaded->safe_psql('postgres', 'SELECT public.uuidv7_horizon() < public.uuidv7()'), 't', 'shared memory is found when it is asked for');
		$unloaded->safe_psql('postgres', "$parallel; CREATE TABLE made AS SELECT public.uuidv7() AS id FROM many");
		is($unloaded->safe_psql('postgres', 'SELECT count(*) FROM made WHERE id >= public.uuidv7_horizon()'), '0', 'a leader whose workers alone generate, in a session that has just begun, lets go');
		$unloaded->safe_psql('postgres', "SET uuid9562.monotonic_scope = session; SELECT public.uuidv7(); SET uuid9562.monotonic_scope = instance; $parallel;
			CREATE TABLE made_later AS SELECT public.uuidv7() AS id FROM many");
		is($unloaded->safe_psql('postgres', 'SELECT count(*) FROM made_later WHERE id >= public.uuidv7_horizon()'), '0', 'also one that has changed the scope');
		like(refusal("$parallel; SELECT count(made_elsewhere()) FROM many", $unloaded),
			qr/ERROR:  55000: a parallel worker makes UUIDs for a session that has not loaded uuid9562\n/, 'one that could not let go is refused');
		is($unloaded->safe_psql('postgres', "SELECT public.uuidv7() IS NULL; $parallel; SELECT count(made_elsewhere()) FROM many"), "f\n20000", 'and may, when it has loaded the library');
	}
	$unloaded->stop;
}

# --- many at once ----------------------------------------------------------------------

# Writers that do all that a writer can, readers that go on from what they have, and
# somebody who cancels, terminates and kills, and turns the clock.
note "UUID9562_TEST_SEED=$seed UUID9562_HORIZON_ROWS=$rows";
my @tables = qw(plain parted older node);
sql(q{
	CREATE TABLE plain (id uuid PRIMARY KEY DEFAULT public.uuidv7(), w int);
	CREATE TABLE parted (id uuid DEFAULT public.uuidv7(), w int) PARTITION BY HASH (w);
	CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	CREATE TABLE older (id uuid PRIMARY KEY DEFAULT public.uuidv6(), w int);
	CREATE TABLE node (id uuid PRIMARY KEY DEFAULT public.uuidv8_node(7), w int);
	CREATE VIEW settled_plain AS SELECT * FROM plain WHERE id < public.uuidv7_horizon();
	CREATE TABLE positions (reader text PRIMARY KEY, id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000');
	CREATE TABLE seen (reader text, id uuid);
	CREATE FUNCTION read_on(reader text, query text) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE format('WITH page AS (INSERT INTO seen SELECT %L, id FROM (%s) AS page RETURNING id)
			UPDATE positions SET id = last.id FROM (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last WHERE reader = %1$L', reader, query)
		USING (SELECT p.id FROM positions AS p WHERE p.reader = read_on.reader);
	END$$;
	CREATE FUNCTION read_by_cursor(reader text) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		page CURSOR (last uuid) FOR SELECT id FROM parted WHERE id > last AND id < public.uuidv7_horizon();
		greatest uuid := (SELECT p.id FROM positions AS p WHERE p.reader = read_by_cursor.reader);
		row record;
	BEGIN
		FOR row IN page (greatest) LOOP
			INSERT INTO seen VALUES (reader, row.id);
			greatest := greatest(greatest, row.id);
			IF random() < 0.05 THEN
				PERFORM pg_sleep(0.002);
			END IF;
		END LOOP;
		UPDATE positions AS p SET id = greatest WHERE p.reader = read_by_cursor.reader;
	END$$});

# name, table, what it reads with
my @readers = (
	[ 'by index', 'plain', q{SELECT read_on('by index', 'SELECT id FROM plain WHERE id > $1 AND id < public.uuidv7_horizon()')} ],
	[ 'by a view, in pages', 'plain', q{SELECT read_on('by a view, in pages', 'SELECT id FROM settled_plain WHERE id > $1 ORDER BY id LIMIT 500')} ],
	[ 'of an old snapshot', 'plain',
		q{BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM positions; SELECT pg_sleep(0.02);
		SELECT read_on('of an old snapshot', 'SELECT id FROM plain WHERE id > $1 AND id < public.uuidv7_horizon()'); COMMIT} ],
	[ 'by sequential scans', 'parted', q{SELECT read_on('by sequential scans', 'SELECT id FROM parted WHERE id > $1 AND id < public.uuidv7_horizon()')} ],
	[ 'by a cursor', 'parted', q{SELECT read_by_cursor('by a cursor')} ],
	[ 'of version 6', 'older', q{SELECT read_on('of version 6', 'SELECT id FROM older WHERE id > $1 AND id < public.uuidv6_horizon()')} ],
	[ 'of a node', 'node', q{SELECT read_on('of a node', 'SELECT id FROM node WHERE id > $1 AND id < public.uuidv8_node_horizon()')} ],
	[ 'by the last id alone', 'plain', q{SELECT read_on('by the last id alone', 'SELECT id FROM plain WHERE id > $1')} ]);
sql("INSERT INTO positions (reader) VALUES " . join ', ', map { "('$_->[0]')" } @readers);

# What a writer does, a script for psql of some transactions.
sub transactions
{
	my ($writer) = @_;
	my $script = "SET application_name = 'writer'; SET client_min_messages = error; $parallel;\n";
	my $delay = sub { return rand() < 0.5 ? '' : sprintf "SELECT pg_sleep(%.4f);\n", rand(0.03) };
	my $insert = sub {
		my $table = $tables[ rand @tables ];
		my $count = rand() < 0.8 ? 1 + int rand 5 : 1 + int rand 60;
		my $how = int rand 4;

		return "INSERT INTO $table (w) SELECT n FROM generate_series(1, $count) AS n;\n" if $how == 0;
		return "INSERT INTO $table (w) VALUES " . join(', ', map { "($_)" } 1 .. $count) . ";\n" if $how == 1;
		return "INSERT INTO plain (id, w) SELECT public.uuidv7_batch($count), 1;\n" if $how == 2;
		return "COPY $table (w) FROM STDIN;\n" . join('', map { "$_\n" } 1 .. $count) . "\\.\n";
	};

	for my $n (1 .. 30)
	{
		my $kind = rand;

		if ($kind < 0.25)
		{
			$script .= $insert->();
			next;
		}
		$script .= "BEGIN;\n" . $insert->() . $delay->();
		$script .= "SAVEPOINT s;\n" . $insert->() . $delay->() . (rand() < 0.5 ? "ROLLBACK TO s;\n" : "RELEASE s;\n") . $insert->() if rand() < 0.3;
		$script .= "CREATE TABLE made_$writer AS SELECT public.uuidv7() AS id FROM many LIMIT 300; INSERT INTO plain SELECT id, 2 FROM made_$writer; DROP TABLE made_$writer;\n" if rand() < 0.05;
		if ($kind < 0.4)
		{
			# another transaction comes before it is finished
			$script .= "PREPARE TRANSACTION 'writer $writer';\n" . $insert->() . $delay->() . (rand() < 0.8 ? 'COMMIT' : 'ROLLBACK') . " PREPARED 'writer $writer';\n";
		}
		else
		{
			$script .= $kind < 0.55 ? "ROLLBACK;\n" : $kind < 0.65 ? "COMMIT AND CHAIN;\n" . $insert->() . "COMMIT;\n" : "COMMIT;\n";
		}
	}
	return $script;
}

# A process that runs scripts one after the other, whatever happens to them, until
# it is told to stop.
my $stop = PostgreSQL::Test::Utils::tempdir() . '/stop';
my $work = PostgreSQL::Test::Utils::tempdir();
my @children;
sub keep_running
{
	my ($name, $script) = @_;
	my $pid = fork;

	die "cannot fork: $!" unless defined $pid;
	if ($pid)
	{
		push @children, $pid;
		return;
	}
	open STDOUT, '>', "$work/$name.out";
	open STDERR, '>', "$work/$name.err";
	until (-e $stop)
	{
		open my $file, '>', "$work/$name.sql" or _exit(1);
		print $file $script->();
		close $file;
		# where the server starts again, a moment later
		system('psql', '-Xqd', $node->connstr('postgres'), '-f', "$work/$name.sql") == 0 or sleep 0.1;
	}
	_exit(0);
}

for my $writer (1 .. 16)
{
	keep_running("writer_$writer", do { my $started; sub { srand($seed * 100 + $writer) unless $started++; return transactions($writer) } });
}
for my $n (0 .. $#readers)
{
	keep_running("reader_$n", sub { return "$readers[$n][2];\nSELECT pg_sleep(0.01);\n" x 20 });
}

srand $seed;
my $crashes = 0;
my $written = 0;
for (my $turn = 1; $written < $rows || $turn <= 25; $turn++)
{
	my $choice = rand;
	my $victim = "SELECT %s(pid) FROM pg_stat_activity WHERE application_name = 'writer' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1";

	sleep 0.1;
	if ($turn == 12 || $turn % 200 == 150)
	{
		my ($status, $out) = $node->psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE application_name = 'writer' LIMIT 1});
		if ($out)
		{
			kill 9, $out;
			$crashes++;
			$node->poll_query_until('postgres', 'SELECT true');
		}
	}
	elsif ($choice < 0.3) { $node->psql('postgres', sprintf $victim, 'pg_cancel_backend') }
	elsif ($choice < 0.5) { $node->psql('postgres', sprintf $victim, 'pg_terminate_backend') }
	elsif ($choice < 0.6) { $world->turn((time + int(rand 10) - 5) . ' 0') }
	elsif ($choice < 0.7) { $world->turn('normal') }
	# what a lost writer has prepared
	my ($status, $prepared) = $node->psql('postgres', q{SELECT gid FROM pg_prepared_xacts WHERE prepared < clock_timestamp() - interval '1 second'});
	$node->psql('postgres', "COMMIT PREPARED '$_'") foreach split /\n/, $prepared || '';
	(undef, $written) = $node->psql('postgres', 'SELECT ' . join ' + ', map { "(SELECT count(*) FROM $_)" } @tables) if $turn % 10 == 0;
	$written ||= 0;
}
$world->turn('normal');
append_to_file($stop, '');
waitpid $_, 0 foreach @children;
$node->poll_query_until('postgres', 'SELECT true');
sql("COMMIT PREPARED '$_'") foreach split /\n/, sql('SELECT gid FROM pg_prepared_xacts');

# what is left, and by pages
foreach my $reader (@readers)
{
	my ($name, $table, $read) = @$reader;
	my $before;

	do
	{
		$before = sql("SELECT id FROM positions WHERE reader = '$name'");
		sql($read);
	} until $before eq sql("SELECT id FROM positions WHERE reader = '$name'");
}
note 'written: ' . sql('SELECT ' . join q{ || ', ' || }, map { "(SELECT count(*) || ' in $_' FROM $_)" } @tables) . "; the server crashed $crashes times";
foreach my $reader (@readers)
{
	my ($name, $table) = @$reader;
	my $difference = "(SELECT count(*) FROM (SELECT id FROM %s EXCEPT ALL SELECT id FROM %s) AS lost)";
	my $seen = "(SELECT id FROM seen WHERE reader = '$name') AS seen";
	my $found = sql("SELECT (SELECT count(*) FROM $seen), " . sprintf("$difference, $difference", $table, $seen, $seen, $table));

	if ($name =~ /alone/)
	{
		note "by the last id alone: " . sprintf '%d read, %d missed', (split /\|/, $found)[ 0, 1 ];
		next;
	}
	is($found =~ s/^\d+\|//r, '0|0', "a reader $name: every row, and each once ($found)");
}
unlike(slurp_file($node->logfile), qr/TRAP|PANIC|stuck spinlock/, 'the server did not fail by itself');
done_testing;
