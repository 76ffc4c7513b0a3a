# Readers miss no row through failovers, restores and resets, wherever they store their
# position.
use ServerTest;
use PostgreSQL::Test::RecursiveCopy;
use Sessions;
use World;

my $conf = "shared_preload_libraries = 'uuid9562'\nuuid9562.max_ahead = 1d\nautovacuum = off\nwal_log_hints = on\nwal_keep_size = 1GB\nwal_writer_delay = '10 s'\n";
my $world = World->new('first', $conf, allows_streaming => 1) or plan skip_all => World::REASON;
my $first = use_server($world->node);
my @all = ($first);
sql(q{
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), note text);
	CREATE TABLE copied (id uuid);
	CREATE TABLE place (position text);
	INSERT INTO place VALUES (NULL);
	CREATE EXTENSION uuid9562_changes;
	CREATE TABLE item (id int PRIMARY KEY);
	SELECT changes_track('item');
	SELECT changes_done('r') FROM changes_read('r', NULL::item)});
$first->backup('base');

sub on { my ($server, @statements) = @_; return $server->safe_psql('postgres', join ";\n", @statements) }

sub write_rows { on($_[0], "INSERT INTO events (note) SELECT '$_[1]' FROM generate_series(1, 300)") }

# Start a server whose clock is some seconds ahead.
sub start { my ($server, $ahead) = @_; return $world->start_in($server, $ahead ? "by $ahead" : undef) }

# Return a server from the base backup: a standby of the server $of, or an independent server.
sub from_backup { my ($name, $of, $ahead) = @_; push @all, $world->from_backup('base', $name, $of, $ahead ? "by $ahead" : undef); return $all[-1] }

sub caught_up { my ($of, $server) = @_; $of->wait_for_catchup($server, 'replay', $of->lsn('insert')) }

sub timeline { return on($_[0], 'SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)') }

# Copy the next page to a table, and store the position in the same transaction and database.
sub read_inside
{
	on($_[0], q{
		WITH page AS (
			SELECT id, public.uuidv7_position(id, (SELECT position FROM place)) AS position FROM events
			WHERE id > public.uuidv7_after((SELECT position FROM place)) AND id < public.uuidv7_horizon()
			ORDER BY id LIMIT 1000),
		copy AS (INSERT INTO copied SELECT id FROM page)
		UPDATE place SET position = page.position FROM (SELECT position FROM page ORDER BY id DESC LIMIT 1) AS page});
}

# Read pages until one is empty, but at most 20 pages, in case the position does not advance.
sub read_to_end { my ($reader) = @_; read_on($reader) or return for 1 .. 20 }

# A reader whose position is outside the database, one that reads a single small page each time, so
# that it is always behind, and one whose position is inside
my $outside = { table => 'events' };
my $behind = { table => 'events', limit => 70 };
sub read_all
{
	my ($server) = @_;

	$_->{node} = $server foreach $outside, $behind;
	read_to_end($outside);
	read_on($behind);
	read_inside($server) for 1 .. 3;
}

# Test that both readers have read all rows of a server.  With $once, also test that the reader
# with its position outside the database got no row twice.  This reader may get rows twice only
# after its last rows were lost.
sub is_complete
{
	my ($server, $name, $once) = @_;

	read_all($server);
	like(missed_and_twice($outside, $server), $once ? qr/^0 missed, 0 twice$/ : qr/^0 missed/, "$name: a position outside the database");
	is(on($server, 'SELECT (SELECT count(*) FROM (SELECT id FROM events EXCEPT SELECT id FROM copied) AS m), (SELECT count(*) - count(DISTINCT id) FROM copied)'),
		'0|0', "$name: a position inside the database");
}

# --- restarts -------------------------------------------------------------------

foreach my $mode ('fast', 'immediate')
{
	write_rows($first, $mode);
	read_all($first);
	write_rows($first, $mode);
	$first->stop($mode);
	start($first);
	write_rows($first, $mode);
	is_complete($first, "after a stop in $mode mode", 1);
	is(scalar World::branches($first), $mode eq 'fast' ? 2 : 3, "after a stop in $mode mode, the reader has visited a new branch");
}
# uuidv7_position() records the branch of a snapshot for which uuidv7_after() has read the branches
write_rows($first, 'snapshot');
my $earlier = on($first, 'SELECT public.uuidv7_position(id, NULL) FROM events ORDER BY id LIMIT 1');
$first->stop;
start($first);
write_rows($first, 'snapshot');
is(on($first, qq{
	BEGIN ISOLATION LEVEL REPEATABLE READ;
	SELECT public.uuidv7_after('$earlier') AS first \\gset
	SELECT id AS last, public.uuidv7_position(id, '$earlier') AS position FROM events WHERE id < public.uuidv7_horizon() ORDER BY id DESC LIMIT 1 \\gset
	SELECT public.uuidv7_after(:'position') = :'last', :'first' < :'last';
	COMMIT}), 't|t', 'a position continues after its last row in the snapshot in which it was computed');

# --- two standbys promoted to one timeline number -------------------------------

# The clock of server "third" is behind the clock of server "second".  Server "second" is promoted,
# and dies after its rows were read.
my $second = from_backup('second', $first, 60);
my $third = from_backup('third', $first, -60);
write_rows($first, 'kept');
read_all($first);
caught_up($first, $_) foreach $second, $third;
$third->append_conf('postgresql.conf', "primary_conninfo = ''\n");
$third->reload;
$first->poll_query_until('postgres', q{SELECT NOT EXISTS (SELECT FROM pg_stat_replication WHERE application_name = 'third')}) or die 'the standby is still connected';
$world->turn('by 60', $first);
write_rows($first, 'lost with the first server');
read_all($first);
my %at_first = %$outside;
caught_up($first, $second);
$first->stop('immediate');
$second->promote;
write_rows($second, 'lost with the second server');
is_complete($second, 'after a promotion', 1);
is(on($second, q{SELECT change_type FROM changes_read('r', NULL::item)}), 'reset', 'after a promotion, a reader of changes copies the table, since it can have applied a page that is lost');
my $timeline = timeline($second);
my @target_of_second = do { local $outside->{node} = $second; ask_primary($outside) };

$second->stop('immediate');
$third->promote;
write_rows($third, 'new') for 1 .. 3;
is(timeline($third), $timeline, 'both standbys have the same timeline');
is_complete($third, 'after the promotion of a standby that has the same timeline');

# --- standbys of the wrong branch -----------------------------------------------

# Server "second" replays only its own branch.  Its WAL is as long as that of server "third".
{
	my $reader = { %$outside, ids => [ @{ $outside->{ids} } ], node => $third };
	my ($standby, $wrong) = (from_backup('standby', $third), $second);

	write_rows($third, 'for the standby');
	my @from_primary = ask_primary($reader);
	$wrong->append_conf('postgresql.conf', "primary_conninfo = ''\n");
	$wrong->set_standby_mode;
	start($wrong);
	is(read_on_standby($reader, $wrong, 1, @from_primary), undef, 'a standby of another branch has not replayed the target');
	is(on($wrong, "SELECT public.uuid_has_replayed('$target_of_second[2]')"), 't', 'a standby of another branch has replayed the target of that branch');
	is(read_on_standby($reader, $standby, 60, @from_primary), 300, 'a standby of the right branch has the rows');
	is(read_on_standby($reader, $standby, 60), 0, 'the position after the horizon continues there');
	like(missed_and_twice($reader, $third), qr/^0 missed/, 'a reader of a standby misses no row');
	my $next = (ask_primary($reader))[2];
	$standby->stop;
	write_rows($third, 'for the standby');
	$next = (ask_primary($reader))[2];
	is(on($third, "SELECT public.uuid_has_replayed('$next'), public.uuid_has_replayed('$target_of_second[2]')"), 't|f',
		'a primary has replayed its own targets, and not those of a branch that died');
	start($standby);
	is($standby->poll_query_until('postgres', "SELECT public.uuid_has_replayed('$next')"), 1, 'a standby that was stopped catches up with the target');
	is(on($standby, "SELECT public.uuid_has_replayed('$target_of_second[2]')"), 'f', 'a standby never replays the target of a branch that died');
	like(refusal("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT public.uuid_has_replayed('$next')", $standby),
		qr/ERROR:  25001: cannot execute uuid_has_replayed\(\) at isolation level REPEATABLE READ/, 'a snapshot that would not see the rows is refused');
	like(refusal("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT public.uuid_has_replayed('$next')", $third),
		qr/ERROR:  25001: cannot execute uuid_has_replayed\(\) at isolation level SERIALIZABLE/, 'also on a primary');
	like(refusal("SELECT public.uuidv7_after('$reader->{position}')", $standby), qr/ERROR:  25006: cannot execute uuidv7_after\(\) during recovery/, 'uuidv7_after() raises an error during recovery');
	# a restart of the primary begins another branch, but earlier targets stay valid
	$third->stop;
	start($third, -60);
	on($third, 'SELECT target FROM public.uuid_replay_target()');
	caught_up($third, $standby);
	is(on($_, "SELECT public.uuid_has_replayed('$next')"), 't', 'a target stays replayed after a restart of the primary: ' . $_->name) foreach $third, $standby;
	$standby->stop;
	$wrong->stop;
}

# --- failback, restores ---------------------------------------------------------

# Turn the first server, which has lost rows of its own, into a standby of the third one.
start($first);
$first->stop;
on($third, 'CHECKPOINT');
command_ok([ 'pg_rewind', '--no-sync', '--source-server', $third->connstr('postgres'), '--target-pgdata', $first->data_dir,
	'--config-file', $first->data_dir . '/postgresql.conf' ], 'pg_rewind');
$first->append_conf('postgresql.conf', 'port = ' . $first->port . "\nunix_socket_directories = '" . $first->host . "'\nprimary_conninfo = '" . $third->connstr . " application_name=first'\n");
$first->set_standby_mode;
start($first, -90);
write_rows($third, 'before the failback');
is_complete($third, 'before the failback');
caught_up($third, $first);
$third->stop;
$first->promote;
write_rows($first, 'failed back');
is_complete($first, 'after pg_rewind and promotion');

# Restore a cold copy of the data directory.  The reader has visited branches after the copy.
$first->stop;
my $copy = PostgreSQL::Test::Utils::tempdir() . '/copy';
PostgreSQL::Test::RecursiveCopy::copypath($first->data_dir, $copy);
foreach my $visit (1 .. 2)
{
	start($first, 120 * $visit);
	write_rows($first, 'lost with the disk');
	read_all($first);
	$first->stop;
}
PostgreSQL::Test::RecursiveCopy::copypath($copy, $first->data_dir . '.new');
system_or_bail('sh', '-c', 'rm -rf "$1" && mv "$1.new" "$1" && chmod 700 "$1"', 'sh', $first->data_dir);
start($first);
write_rows($first, 'after the restore') for 1 .. 2;
is_complete($first, 'after the restore of a data directory');
1 while read_on($behind);
like(missed_and_twice($behind), qr/^0 missed/, 'a reader that was behind in all of these branches misses no row');

# Restore the base backup, from before the first position.
my $restored = from_backup('restored');
write_rows($restored, 'restored');
like(refusal("SELECT public.uuidv7_after('$outside->{position}')", $restored), qr/ERROR:  55000: position is unknown on this server\nDETAIL:  .*\nHINT:  To begin again, .*uuidv7_position\(\), with NULL/,
	'a server from before the first position refuses the position');

# --- a reset under an open snapshot ---------------------------------------------

{
	my $reader = { table => 'events', node => $first };
	my $old = session($first);

	read_to_end($reader);
	$world->turn('by 3600', $first);
	write_rows($first, 'ahead');
	in($old, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT public.uuidv7_horizon()');
	$world->turn('by -1', $first);
	on($first, 'SELECT public.uuid_generator_reset()');
	my ($position) = in($old, "SELECT public.uuidv7_position(id, '$reader->{position}') FROM events WHERE id > public.uuidv7_after('$reader->{position}') AND id < public.uuidv7_horizon() ORDER BY id DESC LIMIT 1");
	push @{ $reader->{ids} }, split /\n/, in($old, "SELECT id FROM events WHERE id > public.uuidv7_after('$reader->{position}') AND id < public.uuidv7_horizon()");
	in($old, 'COMMIT');
	$reader->{position} = $position;
	write_rows($first, 'after the reset');
	read_to_end($reader);
	my ($missed) = split /,/, missed_and_twice({ %$reader, table => q{events WHERE note <> 'ahead'} }, $first);
	is($missed, '0 missed', 'a reset between horizon and position loses no row');
	is(on($first, 'SELECT count(*) FROM events WHERE id >= public.uuidv7_horizon() AND note = \'ahead\''), 300, 'after a reset, the rows that were ahead of the clock are above the horizon');
	$world->turn('by 3601', $first);
	on($first, 'SELECT public.uuidv7_ordered()');
	read_to_end($reader);
	like(missed_and_twice($reader, $first), qr/^0 missed/, 'a reader gets these rows when their time comes');
	$world->turn('by -1', $first);
	# reset more often than the number of branches that the mark keeps (339)
	in($old, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT public.uuidv7_horizon()');
	on($first, ('SELECT public.uuid_generator_reset(), count(public.uuidv7_horizon()) FROM public.uuid_replay_target()') x 340);
	like(refused_in($old, q{SELECT public.uuidv7_position(public.uuidv7_horizon(), NULL)}), qr/reset too often since the snapshot/, 'a snapshot from before 340 resets has no position');
	like(refusal("SELECT public.uuidv7_after('$position')", $first), qr/position is unknown/, 'a position from before 340 branches is refused');
	$old->quit;
}

# --- errors ---------------------------------------------------------------------

my $position = on($first, 'SELECT public.uuidv7_position(public.uuidv7_horizon(), NULL)');
my $target = on($first, 'SELECT target FROM public.uuid_replay_target()');
is(on($first, 'SELECT public.uuidv7_after(NULL), public.uuidv7_position(NULL, NULL) IS NULL', "SELECT public.uuidv7_position(NULL, '$position') = '$position'"),
	"00000000-0000-0000-0000-000000000000|t\nt", 'NULL is the position before the first row, and an empty page keeps the position');
is(on($first, 'BEGIN READ ONLY', "SELECT public.uuidv7_after('$position') < public.uuidv7_horizon(), public.uuidv7_position(public.uuidv7_horizon(), '$position') = '$position'", 'COMMIT'),
	't|t', 'a read-only transaction can compute positions');
# a target of three words, with a valid checksum
my $long_target = substr($target, 0, -8) . '0000000000000001';
{
	my $sum = 2166136261;

	$sum = ($sum ^ $_) * 16777619 & 0xffffffff foreach unpack 'C*', $long_target;
	$long_target .= sprintf '%08x', $sum;
}
foreach my $case (
	[ "uuidv7_after('nonsense')", qr/22P02: invalid input syntax for UUID position: "nonsense"\nHINT:  Pass, without changes, the text that .* or NULL before the first one/ ],
	[ "uuidv7_after(left('$position', 50))", qr/22P02: invalid input syntax for UUID position/ ],
	[ "uuidv7_after('$target')", qr/22P02: invalid input syntax for UUID position/ ],
	[ "uuidv7_position(public.uuidv7_ordered(), '$position')", qr/22023: UUID \S+ is greater than uuidv7_horizon\(\)\nHINT:  Compute the position in the query/ ],
	[ "uuid_has_replayed('$position')", qr/22P02: invalid input syntax for UUID target/ ],
	[ "uuid_has_replayed('$long_target')", qr/22P02: invalid input syntax for UUID target/ ])
{
	my ($call, $error) = @$case;

	like(refusal("SELECT public.$call", $first), qr/ERROR:  $error/, ($call =~ s/:\w+//gr) . ' is an error');
}
# Citus gives its connections a name when it opens them, or with SET.  A statement can change the
# name with SET later.
foreach my $case (
	[ 'psql', "'citus_internal gpid=1'" ],
	[ 'psql', "'citus_run_command gpid=1'" ],
	[ 'citus_internal gpid=1', "'psql'" ],
	[ 'citus_internal gpid=1', "''" ])
{
	local $ENV{PGAPPNAME} = $case->[0];

	foreach my $call ('uuidv7_horizon()', 'uuidv7_after(NULL)', 'uuidv7_position(NULL, NULL)', 'uuid_replay_target()', 'uuidv7_ordered()')
	{
		my ($function) = $call =~ /(\w+)/;
		my $hint = $call eq 'uuidv7_ordered()' ? qr/In INSERT ... SELECT, write "INSERT ... WITH s AS MATERIALIZED \(SELECT .* temporary table/ : qr/Execute the function on the coordinator in a separate statement\. .*\(SELECT $function\(\.\.\.\)\)"/;
		my @errors = refusal("SET application_name = $case->[1];\nSELECT public.$call;\nSELECT public.$call", $first) =~
		  /ERROR:  0A000: cannot execute $function\(\) on a connection of Citus\nDETAIL:  Each server .*\nHINT:  $hint/g;

		is(scalar @errors, 2, "$call is refused twice on a connection that began as $case->[0] and is named $case->[1]");
	}
}
{
	local $ENV{PGAPPNAME} = 'not_citus_internal';

	is(on($first, 'SELECT public.uuidv7_ordered() > public.uuidv7_horizon()'), 't', 'a similar name is not one of Citus');
}
{
	my $value = on($first, 'SELECT public.uuidv7_ordered()');
	my $own = on($first, "SELECT public.uuidv7_position('$value', NULL)");

	is(on($first, "SELECT public.uuidv7_after('$own')"), $value, 'uuidv7_after() returns the ID of the position');
}
unlike(slurp_file($_->logfile), qr/TRAP|PANIC|terminated by signal [^9]/, $_->name . ' has not crashed') foreach @all;
$_->stop foreach $first, $restored;
done_testing();
