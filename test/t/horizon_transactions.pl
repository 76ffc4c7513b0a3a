# The horizon with prepared transactions, subtransactions, and transactions from before
# the first value.
use ServerTest;
use Sessions;

my $node = use_server(new_server('horizon_transactions', "shared_preload_libraries = 'uuid9562'\nmax_prepared_transactions = 10\n"));
sql(q{
	CREATE EXTENSION uuid9562;
	CREATE TABLE plain (n int);
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), note text)});

# --- before the first value -----------------------------------------------------

# Restart the server for each session $n.  When another session generates the first value,
# a transaction of session $n is in progress.  Each session has a PGPROC of its own.
my $processes = 3;
$node->append_conf('postgresql.conf', "max_connections = $processes\nsuperuser_reserved_connections = 0\n");
foreach my $n (1 .. $processes)
{
	$node->restart;
	my @sessions = map { session() } 1 .. $processes;
	my $reader = $sessions[ $n - 2 ];

	in($sessions[ $n - 1 ], 'BEGIN', 'INSERT INTO plain VALUES (1)');
	in($reader, q{INSERT INTO events (note) VALUES ('first')});
	is($reader->query('SELECT public.uuidv7_horizon() > max(id::text)::uuid FROM events'), 't', "a transaction of process $n of $processes that was in progress at the first value refuses no reader");
	my $holder = in($sessions[ $n - 1 ], q{INSERT INTO events (note) VALUES ('held')}, 'SELECT pg_backend_pid()');
	is(in($reader, q{SELECT held_by_pid FROM public.uuid_generator_stats()}), $holder, "the statistics show process $n of $processes as the holder of the horizon");
	is(in($reader, 'SET ROLE pg_signal_backend', 'SELECT held_since IS NOT NULL, held_by_pid IS NULL FROM public.uuid_generator_stats()'), 't|t', 'but not to a role without the rights of that process');
	$_->quit foreach @sessions;
}
$node->append_conf('postgresql.conf', "max_connections = 100\n");
$node->restart;

my $unknown = qr/ERROR:  55000: could not determine uuidv7_horizon\(\) because of an old transaction\n.*DETAIL: .* prepared.*\n.*HINT:  Finish the transactions listed in pg_prepared_xacts/;
# --- prepared transactions ------------------------------------------------------

{
	my ($preparer, $other) = (session(), session());

	in($preparer, 'BEGIN', q{INSERT INTO events (note) VALUES ('prepared')});
	my $xid = in($preparer, 'SELECT pg_current_xact_id()::xid');
	in($preparer, q{PREPARE TRANSACTION 'one'}, 'BEGIN', q{INSERT INTO events (note) VALUES ('next')}, 'COMMIT');
	is(sql(q{SELECT count(*) FROM events WHERE note = 'next' AND id < public.uuidv7_horizon()}), '0', 'the horizon waits for a prepared transaction');
	is(sql(q{SELECT held_since IS NOT NULL, held_by_pid, held_by_prepared FROM public.uuid_generator_stats()}), "t||$xid", 'the statistics show the ID of a prepared transaction that holds the horizon');
	in($other, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
	sql(q{COMMIT PREPARED 'one'});
	is(sql(q{SELECT count(*) FROM events WHERE note IN ('prepared', 'next') AND id < public.uuidv7_horizon()}), '2', 'COMMIT PREPARED releases the horizon');
	is(in($other, q{SELECT count(*) FROM events WHERE note = 'next' AND id < public.uuidv7_horizon()}), '0', 'a snapshot from before COMMIT PREPARED has the horizon from before it');
	in($other, 'COMMIT');
	in($preparer, 'BEGIN', 'SELECT public.uuidv7_ordered()', q{PREPARE TRANSACTION 'read'}, q{COMMIT PREPARED 'read'});
	is_above_all('a prepared transaction that has written nothing does not hold the horizon when it has finished');
	leave($preparer, $other);
}

# --- transactions prepared before startup ---------------------------------------

# a single slot for prepared transactions is the first and the last one
$node->append_conf('postgresql.conf', "max_prepared_transactions = 1\n");
$node->restart;
sql('CREATE DATABASE elsewhere', 'BEGIN', q{INSERT INTO events (note) VALUES ('prepared before')}, q{PREPARE TRANSACTION 'before'});
$node->safe_psql('elsewhere', 'CREATE EXTENSION uuid9562');
my $holder = 'SELECT transaction = held_by_prepared, held_since IS NULL, held_by_pid IS NULL FROM pg_prepared_xacts, public.uuid_generator_stats()';
$node->restart;
is(sql($holder), 't|t|t', 'before the first use, the statistics show a transaction from before startup that stops readers');
is($node->safe_psql('elsewhere', 'SELECT held_by_prepared IS NULL FROM public.uuid_generator_stats()'), 't', 'it stops no readers of another database');
like(refusal('SELECT public.uuidv7_horizon()'), $unknown, 'the horizon is an error while a transaction from before startup is prepared');
like(refusal('EXPLAIN SELECT * FROM events WHERE id < public.uuidv7_horizon()'), $unknown, 'EXPLAIN of a query with the horizon is an error too');
like(sql('SELECT public.uuidv7_ordered()'), qr/^[0-9a-f-]{36}$/, 'writers generate values while a transaction from before startup is prepared');
is(sql($holder), 't|t|t', 'the statistics show a transaction from before startup that stops readers');
sql(q{COMMIT PREPARED 'before'});
is_above_all('after the end of the prepared transaction the horizon is above all rows');
is(sql('SELECT held_by_prepared IS NULL FROM public.uuid_generator_stats()'), 't', 'no transaction stops readers');
sql('BEGIN', q{INSERT INTO events (note) VALUES ('prepared after')}, q{PREPARE TRANSACTION 'after'});
is(sql(q{SELECT count(*) FROM events WHERE note = 'prepared before' AND id < public.uuidv7_horizon()}), '1', 'a transaction that was prepared after startup holds the horizon, and raises no error');
sql(q{ROLLBACK PREPARED 'after'});

{
	sql('BEGIN', q{INSERT INTO events (note) VALUES ('prepared early')}, q{PREPARE TRANSACTION 'early'});
	$node->restart;
	my $reader = session();
	in($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
	sql(q{COMMIT PREPARED 'early'});
	like(refused_in($reader, '\set VERBOSITY verbose' . "\nSELECT public.uuidv7_horizon()"), $unknown, 'with a snapshot from before the end of a transaction prepared before startup, the horizon is an error');
	in($reader, 'ROLLBACK');
	leave($reader);
	is(sql(q{SELECT count(*) FROM events WHERE note = 'prepared early' AND id < public.uuidv7_horizon()}), '1', 'a new snapshot sees the row below the horizon');
}

# --- subtransactions ------------------------------------------------------------

# Begin a transaction, and insert a row in each of a number of savepoints.  If a transaction
# has more than 64 subtransactions, snapshots list none of its subtransactions.
sub insert_in_savepoints
{
	my ($session, $count) = @_;

	in($session, 'BEGIN', map { ("SAVEPOINT s$_", q{INSERT INTO events (note) VALUES ('in a savepoint')}) } 1 .. $count);
}
# Start transactions with few and with many subtransactions in different orders.  A snapshot
# lists subtransactions only up to the first transaction with more than 64.
foreach my $counts ([ 5, 100 ], [ 100, 5 ], [ 5, 5, 100, 5, 5 ])
{
	my @writers = map { session() } @$counts;
	my ($committer, $reader) = (session(), session());
	my $beside = 'transactions with ' . join(', ', @$counts) . ' subtransactions';

	insert_in_savepoints($writers[$_], $counts->[$_]) foreach 0 .. $#writers;
	in($committer, q{INSERT INTO events (note) VALUES ('committed')});
	my @horizons = map { in($reader, 'SELECT public.uuidv7_horizon()') } 1 .. 3;
	is("@horizons", join(' ', ($horizons[0]) x 3), "$beside: a reader gets the same horizon three times");
	cmp_ok($horizons[0], 'le', in($writers[0], q{SELECT min(id::text) FROM events WHERE note = 'in a savepoint'}), "$beside: the horizon is held at the first value");
	in($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
	in($_, 'COMMIT') foreach @writers;
	is(in($reader, 'SELECT public.uuidv7_horizon()'), $horizons[0], "$beside: a snapshot from before the end of the writers keeps its horizon");
	in($reader, 'COMMIT');
	is_above_all("$beside: nothing holds the horizon when the writers have finished");
	leave(@writers, $committer, $reader);
	sql('TRUNCATE events', q{INSERT INTO events (note) VALUES ('again')});
}

# --- errors ---------------------------------------------------------------------

truncate $node->data_dir . '/global/9562', 0 or die;
my $failed = session();
like(refused_in($failed, 'SELECT public.uuid_generator_advance(public.uuidv7_ordered())'), qr/does not contain valid generator state/, 'the generator cannot be advanced if the file of the high-water mark is damaged');
like(refused_in($failed, 'SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(1)'), qr/canceling statement due to user request/, 'a session can be canceled after an error with the lock of the mark');
leave($failed);

unlike(slurp_file($node->logfile), qr/TRAP|PANIC|terminated by signal [^9]/, 'the server has not crashed');
$node->stop;
done_testing();
