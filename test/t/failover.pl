# Ordered UUIDs after a failover: the IDs of a promoted standby sort after all IDs that
# it received from the old primary, whatever the clocks of the servers show.  The IDs of a
# server from a backup also sort after the IDs in its tables.  positions.pl uses pg_rewind.
use ServerTest;
use World;

my $rows = 10000;

my $world = World->new('primary', qq{
shared_preload_libraries = 'uuid9562'
uuid9562.max_ahead = '1 h'
wal_consistency_checking = all
max_wal_senders = 10
wal_keep_size = 4GB
}, allows_streaming => 1, has_archiving => 1, extra => ['--data-checksums'])
  or plan skip_all => World::REASON;
my $first = $world->node;
$first->safe_psql('postgres', 'CREATE TABLE ids (n bigserial, id uuid DEFAULT public.uuidv7_ordered(), origin text)');
# take a backup before the first value, when there is no file of the high-water mark
$first->backup('base');

sub sql { my ($node, @sql) = @_; return $node->safe_psql('postgres', join ";\n", @sql) }

# Insert rows, by default $rows of them.
sub fill
{
	my ($node, $origin, $count) = @_;

	sql($node, "INSERT INTO ids (origin) SELECT '$origin' FROM generate_series(1, " . ($count || $rows) . ')');
	return;
}

sub caught_up
{
	my ($of, $node) = @_;
	$of->wait_for_catchup($node, 'replay', $of->lsn('insert'));
	return;
}

# Return a connected session, in which generating an ID has failed during recovery.
sub connect_to
{
	my ($node) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);

	$session->query('PREPARE generate AS SELECT public.uuidv7_ordered(); EXECUTE generate');
	like($session->{stderr}, qr/cannot execute uuidv7_ordered\(\) in a read-only transaction/,
		$node->name . ': an ID is refused during recovery');
	$session->{stderr} = '';
	return $session;
}

# Promote the node.  Generate an ID in the given session, if any, and insert rows in a new
# session.  Then test the order.
sub promote_in_order
{
	my ($node, $name, $origin, $session) = @_;
	my $greatest = sql($node, 'SELECT id FROM ids ORDER BY id DESC LIMIT 1');

	$node->promote;
	if ($session)
	{
		my $id = $session->query_safe('EXECUTE generate');
		cmp_ok($id =~ s/\s+//gr, 'gt', $greatest, "$name: an ID in a session from before promotion is above all rows");
		$session->quit;
	}
	fill($node, $origin);
	in_order($node, $name, $origin);
	return;
}

# Test that the IDs of one server's rows are greater than those of all other rows.
sub in_order
{
	my ($node, $name, $origin) = @_;
	my $counts = sql($node, "SELECT count(*) FILTER (WHERE origin <> '$origin') >= $rows, count(*) FILTER (WHERE origin = '$origin') >= $rows FROM ids");
	my $wrong = sql($node, "SELECT count(*) FROM ids WHERE origin = '$origin'
		AND id <= (SELECT id FROM ids WHERE origin <> '$origin' ORDER BY id DESC LIMIT 1)");

	is("$counts $wrong", 't|t 0', "$name: no row is out of order");
	return;
}

# --- standbys whose clocks are behind -----------------------------------------

# The first standby crashes before a checkpoint writes the high-water mark to its file.  The
# second standby does not preload the library.  The clock of the third standby is 30 seconds
# behind.
my $near = $world->from_backup('base', 'near', $first, 'by -5');
my $plain = $world->from_backup('base', 'plain', $first, undef, "shared_preload_libraries = ''\n");
my $far = $world->from_backup('base', 'far', $first, 'by -30');
fill($first, 'first');
caught_up($first, $_) foreach $near, $plain, $far;
$near->stop('immediate');
$world->start_in($near, 'by -5');
my %sessions = map { $_->name => connect_to($_) } $near, $far;
fill($first, 'first', 100);
caught_up($first, $_) foreach $near, $plain, $far;

promote_in_order($near, 'a clock 5 s behind, after a crash of the standby', 'near', $sessions{near});
is(sql($plain, 'SELECT count(*) FROM ids'), $rows + 100, 'a standby without the library continues');
promote_in_order($plain, 'a standby that had no library', 'plain') if $plain->pg_version >= 17;
$_->stop foreach $near, $plain;

promote_in_order($far, 'a clock 30 s behind', 'far', $sessions{far});
$far->stop('immediate');

# --- writers that still run ---------------------------------------------------

my $hasty = $world->from_backup('base', 'hasty', $first, 'by -30');
caught_up($first, $hasty);
my $script = PostgreSQL::Test::Utils::tempdir() . '/insert';
PostgreSQL::Test::Utils::append_to_file($script, "INSERT INTO ids (origin) SELECT 'first' FROM generate_series(1, 20);\n");
my $writers = IPC::Run::start(
	[ 'pgbench', '--no-vacuum', '--client=4', '--time=600', "--file=$script", $first->connstr('postgres') ],
	'>', \my $pgbench_out, '2>', \my $pgbench_err);
$hasty->poll_query_until('postgres', 'SELECT count(*) > 2 * ' . $rows . ' FROM ids') or die 'no rows arrive';

# take a base backup while writers run
$first->backup('under_load');
promote_in_order($hasty, 'while writers of the old primary still run', 'hasty');
$hasty->stop;
$writers->kill_kill;

my $restored = $world->from_backup('under_load', 'restored', undef, 'by -30');
fill($restored, 'restored');
in_order($restored, 'a base backup under load, 30 s behind', 'restored');
$restored->stop;

# --- a clock that was ahead ---------------------------------------------------

$world->turn('by 60');
fill($first, 'ahead', 1);
$world->turn('normal');
my $corrected = $world->from_backup('base', 'corrected', $first);
my $throughout_corrected = connect_to($corrected);
fill($first, 'first');
caught_up($first, $corrected);

# restore a server from a base backup and the WAL archive
my $segment = sql($first, 'SELECT pg_walfile_name(pg_current_wal_lsn())', 'SELECT pg_switch_wal()') =~ s/\n.*//sr;
$first->poll_query_until('postgres', "SELECT last_archived_wal >= '$segment' FROM pg_stat_archiver") or die 'no archive';
my $archived = PostgreSQL::Test::Cluster->new('archived');
$archived->init_from_backup($first, 'base', has_restoring => 1, standby => 0);
$archived->append_conf('postgresql.conf', 'archive_mode = off');
$world->start($archived);
$archived->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'recovery does not end';
is(sql($archived, "SELECT count(*) FROM ids WHERE origin = 'ahead'"), '1', 'the archive has the row from when the clock was ahead');
fill($archived, 'archived');
in_order($archived, 'a clock that was 60 s ahead once, restored from backup and archive', 'archived');
$archived->stop;

$first->stop('immediate');
promote_in_order($corrected, 'a clock that was 60 s ahead once', 'corrected', $throughout_corrected);

$corrected->stop;
command_ok([ 'pg_checksums', '--check', '--pgdata', $corrected->data_dir ], 'the checksums are correct');
ok(-s $corrected->data_dir . '/global/9562', 'the file of the high-water mark is not empty');

foreach my $node ($first, $near, $plain, $far, $hasty, $restored, $archived, $corrected)
{
	unlike(slurp_file($node->logfile), qr/PANIC|TRAP|inconsistent page|terminated by signal [^9]/, $node->name . ' has not crashed');
}
done_testing();
