# Let incremental readers read through random histories of three servers.  The clocks of the
# servers differ, and there is no WAL archive.  A history consists of:
#
#	- switchovers, restarts, and resets of the generators
#	- primaries that die with rows that no standby has
#	- promotions to a timeline number that another server has taken
#	- failback by pg_rewind or by a new base backup
#	- copies of a data directory that are restored over a newer one
#
# Readers read on the primary and on standbys, with positions inside and outside the
# database.  Two more readers are behind a pooler: each of their transactions reaches any
# server that runs.  At the end of each history, every reader must have all rows of the
# primary.  A reader may get a row again only after an event that can lose rows, after a
# reset, or if its position is unknown and the reader begins again.
#
# scripts/lab/torture sets TORTURE_SECONDS and TORTURE_SEED from its arguments.
use ServerTest;
use File::Copy qw(copy);
use File::Path qw(rmtree);
use List::Util qw(shuffle);
use PostgreSQL::Test::RecursiveCopy;
use Reader;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
use World;

use constant DEEDS => 10;    # number in each history

my $seconds = $ENV{TORTURE_SECONDS} or plan skip_all => 'scripts/lab/torture runs this test';
my $seed = $ENV{TORTURE_SEED} || int(rand(1 << 30));
note "TORTURE_SEED=$seed";
srand $seed;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $world = World->new('failovers_1', <<'CONF', allows_streaming => 1, extra => ['--wal-segsize=1']) or plan skip_all => World::REASON;
shared_preload_libraries = 'uuid9562'
uuid9562.max_ahead = 1d
log_statement = none
autovacuum = off
wal_keep_size = 100MB
wal_retrieve_retry_interval = 100ms
wal_receiver_timeout = 0
wal_sender_timeout = 0
CONF

# Each server has a node, a WAL history, and whether it follows the primary.  The WAL history
# is a list of unique numbers.  Its length is the timeline number, so two servers can have the
# same timeline number and different WAL histories.
my @servers = ({ node => $world->node, history => [0] });
my $primary = $servers[0];
my $numbers = 0;
my $ahead = 100;  # seconds by which the fastest clock is ahead
my $epoch = 0;    # increased whenever readers may get rows again
my $copy;         # the data directory of a primary, and its WAL history
my %count;
my $writers;

sub on { my ($server, @statements) = @_; return $server->{node}->safe_psql('postgres', join ";\n", @statements) }

sub pick { return $_[rand @_] }

sub runs { return defined $_[0]{node}{_pid} }

sub standbys { return grep { $_ != $primary && runs($_) } @servers }

sub followers { return grep { $_->{follows} } @servers }

# Check whether the WAL history of a server is the beginning of another server's, or the same.
sub is_before { my ($server, $other) = @_; return index("@{ $other->{history} } ", "@{ $server->{history} } ") == 0 }

# --- servers --------------------------------------------------------------------

# Set the clock of a server, by default to some seconds behind the fastest clock.
sub set_clock { my ($server, $clock) = @_; $world->turn('by ' . ($clock // $ahead - int(rand(200))), $server->{node}); return }

# Start a server.  Then set its clock, since pg_ctl compares the start time with the real
# clock.
sub start
{
	my ($server) = @_;

	$world->turn('normal', $server->{node});
	$world->start($server->{node});
	set_clock($server);
	return;
}

sub stop { my ($server, $mode) = @_; $server->{node}->stop($mode); $server->{follows} = 0; return }

# Configure a data directory that was copied from another server.
sub own
{
	my ($server) = @_;
	my $node = $server->{node};

	$node->append_conf('postgresql.conf', "port = " . $node->port . "\nunix_socket_directories = '" . $node->host . "'\n");
	return;
}

# Wait until a standby has replayed all transactions.  Do not wait for the insert position, since
# it can be after the header of a page that has no record yet.
sub catch_up { my ($standby) = @_; $primary->{node}->wait_for_catchup($standby->{node}->name, 'replay', $primary->{node}->lsn('flush')); return }

# Let a running or stopped server follow the primary as a standby.
sub follow
{
	my ($server) = @_;
	my $node = $server->{node};

	$node->append_conf('postgresql.conf', "primary_conninfo = '" . $primary->{node}->connstr . ' application_name=' . $node->name . "'\n");
	$node->set_standby_mode;
	runs($server) ? $node->reload : start($server);
	catch_up($server);
	$server->{follows} = 1;
	$server->{history} = [ @{ $primary->{history} } ];
	return;
}

# Stop standbys from following the primary.
sub cut_off
{
	foreach my $standby (@_)
	{
		my $name = $standby->{node}->name;

		$standby->{node}->append_conf('postgresql.conf', "primary_conninfo = ''\n");
		$standby->{node}->reload;
		$standby->{follows} = 0;
		$primary->{node}->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM pg_stat_replication WHERE application_name = '$name')") or die "$name is still connected";
	}
	return;
}

# Return how much WAL a standby has.
sub received { return on($_[0], q{SELECT greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0'}) }

# Promote a standby.  Other standbys can follow it only if it has all of their WAL.
sub promote
{
	my ($new) = @_;
	my @able = grep { $_ != $new && is_before($_, $new) && received($_) <= received($new) } standbys();

	$_->{follows} = 0 foreach @servers;
	$new->{node}->promote;
	push @{ $new->{history} }, ++$numbers;
	$primary = $new;
	$count{promotions}++;
	cut_off(grep { $_ != $new } standbys());
	rand() < 0.6 && follow($_) foreach @able;
	return;
}

# Turn a server that does not follow the primary into a standby of the primary.
sub fail_back
{
	my ($server) = @_;
	my $node = $server->{node};

	# pg_rewind needs a former primary, which has all WAL up to the promotion of its successor;
	# it mistakes servers with the same timeline number for servers with the same WAL history
	my $can_rewind = !runs($server) && is_before($server, $primary) && @{ $server->{history} } < @{ $primary->{history} };

	stop($server, 'fast');
	if ($can_rewind && rand() < 0.7)
	{
		on($primary, 'CHECKPOINT');
		system_or_bail('pg_rewind', '--no-sync', '--source-server', $primary->{node}->connstr('postgres'), '--target-pgdata', $node->data_dir);
		$count{rewinds}++;
	}
	else
	{
		my $folder = $primary->{node}->data_dir . '/pg_wal';

		rmtree($node->data_dir);
		system_or_bail('pg_basebackup', '--no-sync', '--checkpoint=fast', '--pgdata', $node->data_dir, '--dbname', $primary->{node}->connstr('postgres'));
		# other servers can need earlier WAL when they follow this one
		-e $node->data_dir . "/pg_wal/$_" or copy("$folder/$_", $node->data_dir . "/pg_wal/$_") foreach grep { /^0/ } slurp_dir($folder);
		$count{'base backups'}++;
	}
	own($server);
	follow($server);
	return;
}

# --- rows -----------------------------------------------------------------------

my @names = ('primary outside', 'primary inside', 'standby outside', 'standby inside', 'pooled outside', 'pooled inside');
my %pooled = (
	where => sub { pick('primary', 'standby') },
	primary => sub { pick(grep { runs($_) } @servers)->{node} },
	standby => sub { pick(grep { runs($_) } @servers)->{node} },
	tries => 30, polls => 10);
my %direct = (
	polls => 10,
	primary => sub { $primary->{node} },
	standby => sub { my $follower = pick(followers()); $follower && $follower->{node} });
my @readers = map { Reader->new($_, $dir, limit => 100, /pooled/ ? %pooled : %direct) } @names;

# Start sessions that write rows.
my ($out, $script) = ('', "$dir/script");
append_to_file($script, q{
	\set count random(1, 10)
	\set wait random(0, 3)
	BEGIN;
	INSERT INTO events SELECT FROM generate_series(1, :count);
	\sleep :wait ms
	INSERT INTO events DEFAULT VALUES;
	COMMIT;
});
sub start_writers
{
	await_writers();
	$writers = IPC::Run::start([ 'pgbench', '--no-vacuum', '--client=3', '--transactions=5', "--file=$script", $primary->{node}->connstr('postgres') ], '>', \$out, '2>&1');
	return;
}

# Wait for the writers, whose server can have died.
sub await_writers { $writers->finish if $writers; undef $writers; return }

# Let each reader read some pages.  Then set a seed that was chosen before the reads.  The
# number of retries depends on timing, and must not affect the random choices that follow.
sub read_some
{
	my ($least) = @_;
	my $next = int rand(1 << 30);

	foreach my $reader (shuffle(@readers))
	{
		$reader->{epoch} = $epoch;
		$reader->read_page for 1 .. $least + int rand 3;
	}
	srand $next;
	return;
}

# Write rows that at least one standby does not have, with IDs ahead of those of the next
# primary, and read them.
sub write_ahead
{
	my @followers = shuffle(followers());

	cut_off(@followers[ 0 .. rand @followers ]) if @followers;
	set_clock($primary, $ahead += 30);
	start_writers();
	await_writers() if rand() < 0.7;
	read_some(2);
	return;
}

# --- deeds ----------------------------------------------------------------------

my %deeds = (
	'restart' => sub {
		return copy_primary() if rand() < 0.4;
		stop($primary, pick('fast', 'immediate'));
		start($primary);
	},
	'switch over' => sub {
		fail_back((standbys())[0] || pick(grep { !runs($_) } @servers)) unless followers();
		my $new = pick(followers());
		my $old = $primary;

		catch_up($new);
		stop($old, 'fast');
		my ($control) = run_command([ 'pg_controldata', $old->{node}->data_dir ]);
		my ($end) = $control =~ /^Latest checkpoint location: +(\S+)/m;
		$new->{node}->poll_query_until('postgres', "SELECT pg_last_wal_replay_lsn() > '$end'") or die 'the standby lacks WAL';
		promote($new);
		follow($old);
	},
	'lose the primary' => sub {
		fail_back(pick(grep { $_ != $primary } @servers)) unless standbys();
		write_ahead();
		lose_primary();
	},
	'lose two primaries' => sub {
		fail_back($_) foreach grep { $_ != $primary && !$_->{follows} } @servers;
		write_ahead();
		lose_primary();
		write_ahead();
		lose_primary();
	},
	'fail back' => sub { fail_back($_) foreach grep { $_ != $primary && !$_->{follows} } @servers },
	'cut off' => sub { my @followers = followers(); cut_off(pick(@followers)) if @followers },
	'restore a copy' => sub {
		copy_primary() unless $copy;
		write_ahead();
		cut_off(followers());
		stop($primary, 'immediate');
		rmtree($primary->{node}->data_dir);
		PostgreSQL::Test::RecursiveCopy::copypath($copy->{folder}, $primary->{node}->data_dir);
		chmod 0700, $primary->{node}->data_dir;
		# the timeline number stays the same, but the WAL history is another one
		$primary->{history} = [ @{ $copy->{history} } ];
		$primary->{history}[-1] = ++$numbers;
		own($primary);
		start($primary);
		$epoch++;
	},
	'reset' => sub { on($primary, 'SELECT public.uuid_generator_reset()'); $epoch++ },
	'set a clock' => sub { set_clock(pick(grep { runs($_) } @servers)) });

sub copy_primary
{
	stop($primary, 'fast');
	$copy = { folder => "$dir/copy", history => [ @{ $primary->{history} } ] };
	rmtree($copy->{folder});
	PostgreSQL::Test::RecursiveCopy::copypath($primary->{node}->data_dir, $copy->{folder});
	start($primary);
	return;
}

# Let the primary die, and promote another server.  If standbys follow the primary, the readers
# of standbys first read a page, and try to store it after the promotion.
sub lose_primary
{
	my @pages = followers() ? map { [ $_, $_->page_from_standby ] } grep { $_->{name} =~ /standby/ } @readers : ();

	stop($primary, 'immediate');
	$epoch++;
	promote(pick(grep { !$_->{follows} } standbys()));
	foreach my $page (@pages)
	{
		my ($reader, @page) = @$page;

		$reader->keep(@page) if @page;
	}
	return;
}

# --- histories ------------------------------------------------------------------

Reader::prepare($primary->{node}, grep { /inside/ } @names);
foreach my $number (2, 3)
{
	push @servers, { node => PostgreSQL::Test::Cluster->new("failovers_$number"), history => [] };
	fail_back($servers[-1]);
}
my ($end, $histories, @next) = (clock_gettime(CLOCK_MONOTONIC) + $seconds, 0);
while (clock_gettime(CLOCK_MONOTONIC) < $end)
{
	for (1 .. DEEDS)
	{
		# use all deeds once, in random order, before one is used again
		@next = shuffle(sort keys %deeds) unless @next;
		my $deed = shift @next;

		start_writers();
		read_some(0);
		note $deed;
		$deeds{$deed}->();
		await_writers();
		$count{$deed}++;
	}
	$deeds{'fail back'}->();
	# after a reset, rows can be above the horizon, so advance the generator
	on($primary, 'SELECT public.uuid_generator_advance(public.max(id)) FROM events');
	my @rows = split /\n/, on($primary, 'SELECT id FROM events');
	$histories++;
	foreach my $reader (@readers)
	{
		$reader->{epoch} = $epoch;
		$reader->read_to_end;
		my ($missed, $twice, $others) = $reader->compare(@rows);
		note "$reader->{name}: $others rows that were lost, $reader->{unknown} times an unknown position";
		is($missed, 0, "history $histories, $reader->{name}: the reader misses none of " . @rows . ' rows');
		is($twice, 0, "history $histories, $reader->{name}: the reader gets no row twice without a reason");
	}
}
note join ', ', map { "$_: $count{$_}" } sort keys %count;
unlike(slurp_file("$dir/errors"), qr/does not contain valid|could not (?!connect|receive|send)/, 'no session has an unexpected error');
unlike(slurp_file($_->{node}->logfile), qr/PANIC|TRAP|terminated by signal [^9]|does not contain valid/, $_->{node}->name . ' has not crashed by itself') foreach @servers;
$_->{node}->stop foreach @servers;
done_testing();
