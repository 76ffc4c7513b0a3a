# Incremental reads on a standby: a reader gets the horizon and a replay target from the
# primary.  Then it gets rows from a standby that has replayed the target.
use ServerTest;
use Sessions;

my $conf = "shared_preload_libraries = 'uuid9562'\nautovacuum = off\nwal_writer_delay = '10 s'\ncheckpoint_timeout = 1h\nmax_wal_size = 4GB\n";
my $primary = use_server(new_server('read_primary', $conf, allows_streaming => 1));
sql('CREATE EXTENSION uuid9562');
$primary->backup('new');
sql(q{
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), n int);
	INSERT INTO events DEFAULT VALUES});
$primary->backup('standby');
my $standby = PostgreSQL::Test::Cluster->new('read_standby');
$standby->init_from_backup($primary, 'standby', has_streaming => 1);
$standby->start;

sub on_standby { return $standby->safe_psql('postgres', $_[0]) }

# --- a primary that is idle -----------------------------------------------------

# Before pg_switch_wal(), only uuid_replay_target() writes or flushes WAL, and the WAL writer
# sleeps.
{
	my ($target, $lsn) = split /\|/, sql('SELECT target, lsn FROM public.uuid_replay_target()');

	ok($standby->poll_query_until('postgres', "SELECT public.uuid_has_replayed('$target')"), 'a standby reaches the replay target of an idle primary');
	is(on_standby("SELECT pg_last_wal_replay_lsn() = '$lsn'"), 't', 'the LSN of the target is the end of its WAL record');
	sql('SELECT pg_switch_wal()');
	($target) = sql('SELECT target FROM public.uuid_replay_target()');
	ok($standby->poll_query_until('postgres', "SELECT public.uuid_has_replayed('$target')"), 'a standby reaches a target in a new WAL segment');
}

# --- a standby that is behind ---------------------------------------------------

{
	my ($row, $target);

	on_standby('SELECT pg_wal_replay_pause()');
	$standby->poll_query_until('postgres', q{SELECT pg_get_wal_replay_pause_state() = 'paused'}) or die 'replay does not pause';
	$row = sql('INSERT INTO events DEFAULT VALUES RETURNING id');
	$target = sql('SELECT target FROM public.uuid_replay_target()');
	$primary->wait_for_catchup($standby, 'flush', $primary->lsn('flush'));
	is(on_standby("SELECT public.uuid_has_replayed('$target')"), 'f', 'a standby has not replayed a target that it has only received');
	on_standby('SELECT pg_wal_replay_resume()');
	$standby->poll_query_until('postgres', "SELECT public.uuid_has_replayed('$target')") or die 'the target is not reached';
	is(on_standby("SELECT count(*) FROM events WHERE id = '$row'"), '1', 'a standby that has replayed a target shows the row');
}

# --- a standby without the high-water mark ---------------------------------------

# The base backup is from before the first value, and nothing has been replayed.
{
	my $empty = PostgreSQL::Test::Cluster->new('read_empty');

	$empty->init_from_backup($primary, 'new', has_streaming => 1);
	$empty->append_conf('postgresql.conf', "primary_conninfo = ''\n");
	$empty->start;
	ok(!-e $empty->data_dir . '/global/9562', 'a standby has no file before the first value is replayed');
	is($empty->safe_psql('postgres', "SELECT public.uuid_has_replayed('" . sql('SELECT target FROM public.uuid_replay_target()') . "')"), 'f', 'a standby without the file has not replayed a target');
	$empty->stop;
}

unlike(slurp_file($_->logfile), qr/TRAP|PANIC|terminated by signal [^9]/, $_->name . ' has not crashed') foreach $primary, $standby;
$_->stop foreach $standby, $primary;
done_testing();
