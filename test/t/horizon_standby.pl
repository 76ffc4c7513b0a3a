# Functions that generate ordered values or change the generators raise errors in read-only
# transactions and during recovery.  uuidv7_horizon() and uuid_replay_target() raise errors
# during recovery.  After promotion, uuidv7_horizon() raises an error for snapshots that were
# taken before the promotion.
use ServerTest;
use Sessions;
use World;

my $world = World->new('horizon_primary', <<'CONF', allows_streaming => 'logical') or plan skip_all => World::REASON;
shared_preload_libraries = 'uuid9562'
uuid9562.max_ahead = 1d
uuid9562.node_id = 7
max_prepared_transactions = 10
CONF
my $primary = use_server($world->node);
my $major = $primary->pg_version =~ /(\d+)/ ? $1 : 0;
sql(q{
	CREATE EXTENSION uuid9562_changes;
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), note text);
	INSERT INTO events (note) VALUES ('first')});

# --- read-only transactions -----------------------------------------------------

my $before = sql('SELECT public.uuidv7_ordered()');
my @generating = ('uuidv7_ordered()', 'uuid_generator_reset()', "uuid_generator_advance('$before')");
foreach my $function (@generating)
{
	my ($name) = $function =~ /^(\w+)/;

	like(refusal("BEGIN READ ONLY; SELECT public.$function"), qr/ERROR:  25006: cannot execute $name\(\) in a read-only transaction\n/,
		"$name() is an error in a read-only transaction");
}
{
	my $session = session();

	in($session, 'SELECT public.uuidv7_ordered()', 'BEGIN', 'SET LOCAL transaction_read_only = on');
	like(refused_in($session, 'SELECT public.uuidv7_ordered()'), qr/cannot execute uuidv7_ordered\(\) in a read-only transaction/, 'uuidv7_ordered() is an error in a read-only transaction of a session that has generated before');
	cmp_ok(in($session, 'ROLLBACK', 'SELECT public.uuidv7_ordered()'), 'gt', $before, 'the session generates again afterwards');
	leave($session);
}
$primary->backup('standby');

my $recovery = qr/ERROR:  25006: cannot execute uuidv7_horizon\(\) during recovery\n.*DETAIL: .*\n.*HINT:  Execute it on the primary or, after promotion/;
my $unknown = qr/could not determine uuidv7_horizon\(\) because of an old transaction/;

# Return a standby whose clock is 30 seconds behind.
sub follow
{
	my ($name) = @_;
	my $standby = $world->from_backup('standby', $name, $primary, 'by -30', "hot_standby_feedback = on\nwal_receiver_status_interval = 1\n");

	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
	return $standby;
}

sub promote
{
	my ($standby) = @_;

	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
	$standby->promote;
}

# --- snapshots of sessions on the standby ---------------------------------------

{
	my $standby = follow('with_sessions');

	like(refusal('SELECT public.uuidv7_horizon()', $standby), $recovery, 'uuidv7_horizon() raises an error during recovery');
	foreach my $function (@generating)
	{
		my ($name) = $function =~ /^(\w+)/;

		# transactions during recovery are read-only, so either reason is correct
		like(refusal("SELECT public.$function", $standby), qr/ERROR:  25006: cannot execute $name\(\) (in a read-only transaction|during recovery)\n/, "$function is an error during recovery");
	}
	is($standby->safe_psql('postgres', 'SELECT public.uuidv7() IS NOT NULL, public.uuidv6() IS NOT NULL, public.uuidv8_node() IS NOT NULL'),
		't|t|t', 'uuidv6(), uuidv7() and uuidv8_node() work during recovery');
	like(refusal('SELECT * FROM public.uuid_replay_target()', $standby), qr/ERROR:  25006: cannot execute uuid_replay_target\(\) during recovery/, 'uuid_replay_target() raises an error during recovery');
	like(refusal("SELECT * FROM public.changes_read('r', NULL::events)", $standby), qr/ERROR:  25006: cannot execute changes_read\(\) during recovery/, 'changes_read() raises an error during recovery');
	like(refusal("CALL public.changes_wait('r', 'events')", $standby), qr/ERROR:  25006: cannot execute changes_wait\(\) during recovery/, 'changes_wait() raises an error during recovery');
	is($standby->safe_psql('postgres', 'SELECT count(*), count(held_since), count(last_timestamp) FROM public.uuid_generator_stats()'), '1|0|0', 'the statistics can be read during recovery');

	my $connected = session($standby);
	in($connected, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
	sql('BEGIN', q{INSERT INTO events (note) VALUES ('prepared on the primary')}, q{PREPARE TRANSACTION 'standby'});
	promote($standby);
	like(refused_in($connected, "\\set VERBOSITY verbose\nSELECT public.uuidv7_horizon()"), $recovery, 'a snapshot that was taken during recovery is refused after promotion');
	in($connected, 'ROLLBACK');
	like(refusal('SELECT public.uuidv7_horizon()', $standby), $unknown, 'the horizon is an error while a transaction of the old primary is prepared');
	$standby->safe_psql('postgres', q{COMMIT PREPARED 'standby'});
	is(in($connected, 'SELECT public.uuidv7_horizon() > max(id::text)::uuid FROM events'), 't', 'after the end of the prepared transaction the horizon is above all rows');
	sql(q{ROLLBACK PREPARED 'standby'});
	$connected->quit;
	$standby->stop;
}

# --- snapshots of logical slots on the standby ----------------------------------

SKIP:
{
	skip 'before PostgreSQL 16 a standby has no logical slots', 9 if $major < 16;
	my $standby = follow('with_slots');

	# creating a slot on a standby waits for the WAL record that pg_log_standby_snapshot()
	# writes on the primary
	my $logging = IPC::Run::start([ 'psql', '-XAtqd', $primary->connstr('postgres'), '-c',
			'DO $$BEGIN LOOP PERFORM pg_log_standby_snapshot(); PERFORM pg_sleep(0.2); END LOOP; END$$' ], '<', \undef, '>', \my $out, '2>', \my $err);
	my ($user, $exporter) = map { $standby->background_psql('postgres', on_error_stop => 0, replication => 'database') } 1 .. 2;
	in($user, 'BEGIN ISOLATION LEVEL REPEATABLE READ', q{CREATE_REPLICATION_SLOT used LOGICAL pgoutput (SNAPSHOT 'use')});
	my ($snapshot) = in($exporter, q{CREATE_REPLICATION_SLOT exported LOGICAL pgoutput (SNAPSHOT 'export')}) =~ /\|([0-9A-F-]+)\|/;
	my @importers = (session($standby), session($standby));
	in($importers[0], 'BEGIN ISOLATION LEVEL REPEATABLE READ', "SET TRANSACTION SNAPSHOT '$snapshot'");

	foreach ([ $user, 'the session that created the slot' ], [ $importers[0], 'a session that imported its snapshot' ])
	{
		my ($session, $name) = @$_;

		is(in($session, 'SELECT note FROM events'), 'first', "$name: the snapshot sees the rows from before the slot");
		like(refused_in($session, 'SELECT public.uuidv7_horizon()'), qr/cannot execute uuidv7_horizon\(\) during recovery/, "$name: the horizon is an error during recovery");
		in($session, 'ROLLBACK');
	}

	# export another snapshot, since the errors have aborted the transactions with the first
	# snapshots
	($snapshot) = in($exporter, q{CREATE_REPLICATION_SLOT exported_again LOGICAL pgoutput (SNAPSHOT 'export')}) =~ /\|([0-9A-F-]+)\|/;
	in($importers[0], 'BEGIN ISOLATION LEVEL REPEATABLE READ', "SET TRANSACTION SNAPSHOT '$snapshot'");
	sql(q{INSERT INTO events (note) VALUES ('later')});
	my $last = sql('SELECT max(id::text) FROM events');
	$logging->kill_kill;
	promote($standby);
	in($importers[1], 'BEGIN ISOLATION LEVEL REPEATABLE READ', "SET TRANSACTION SNAPSHOT '$snapshot'");
	is(in($_, q{SELECT count(*) FROM events WHERE note = 'later'}), '0', 'an imported snapshot does not see a later row after promotion') foreach @importers;
	like(refused_in($importers[0], 'SELECT public.uuidv7_horizon()'), $unknown, 'a snapshot of a slot that was imported before promotion is refused');
	like(refused_in($importers[1], 'SELECT public.uuidv7_horizon()'), $unknown, 'a snapshot of a slot that was imported after promotion is refused');
	cmp_ok($standby->safe_psql('postgres', 'SELECT public.uuidv7_ordered()'), 'gt', $last, 'after promotion the server generates values above those of the old primary, with a clock that is behind');
	eval { $_->quit } foreach @importers, $user, $exporter;
	unlike(slurp_file($standby->logfile), qr/TRAP|PANIC|terminated by signal [^9]/, 'the standby has not crashed');
	$standby->stop('immediate');
}
unlike(slurp_file($primary->logfile), qr/TRAP|PANIC|terminated by signal [^9]/, 'the primary has not crashed');
$primary->stop;
done_testing();
