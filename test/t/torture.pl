# uuid9562.monotonic_scope = instance under whatever happens: eight sessions make ids
# while backends are killed, terminated and cancelled, the postmaster is killed, the
# server is stopped in immediate mode, and its clock is set forward and back.  Every id
# must be greater than each one whose call had returned before its own call began, and
# none may come twice.
#
# TORTURE_SECONDS and TORTURE_SEED; see scripts/torture.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use IPC::Open2;
use IPC::Run ();
use List::Util qw(shuffle);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);
use World;

my $seconds = $ENV{TORTURE_SECONDS} || 10;
my $seed = $ENV{TORTURE_SEED} || int(rand(1 << 30));
my $clients = 8;
# v1 sorts by its time only as v6
my %calls = (
	v1 => 'public.uuidv1_to_v6(public.uuidv1())',
	v6 => 'public.uuidv6()',
	v7 => 'public.uuidv7()',
	v8 => 'public.uuidv8()',
	v8_node => 'public.uuidv8_node(7)');
my @kinds = sort keys %calls;

note "TORTURE_SEED=$seed";
srand $seed;
my $world = World->new('torture', "shared_preload_libraries = 'uuid9562'\nuuid9562.monotonic_scope = instance\nlog_statement = none\nrestart_after_crash = on\n")
  or plan skip_all => World::REASON;
my $node = $world->node;
my $dir = PostgreSQL::Test::Utils::tempdir();
my $end = clock_gettime(CLOCK_MONOTONIC) + $seconds;

# --- the sessions -------------------------------------------------------------

# Make ids until the end, in one connection after another; a line for each, with when
# its call began and returned.
sub make_ids
{
	my ($client) = @_;
	my %log;

	srand $seed + $client;
	local $SIG{PIPE} = 'IGNORE';
	open STDERR, '>>', "$dir/errors" or die;
	foreach my $kind (@kinds)
	{
		open $log{$kind}, '>', "$dir/$kind.$client" or die;
	}
	while (clock_gettime(CLOCK_MONOTONIC) < $end)
	{
		my $pid = open2(my $out, my $in, 'psql', '-XAtq', $node->connstr('postgres'));

		SESSION: while (clock_gettime(CLOCK_MONOTONIC) < $end)
		{
			my $kind = $kinds[rand @kinds];
			my $method = (qw(fraction counter random))[rand 3];
			my $set = rand() < 0.01 ? "SET uuid9562.v7_method = $method;" : '';
			my $began = clock_gettime(CLOCK_MONOTONIC);

			print $in "$set SELECT $calls{$kind};\n\\echo done\n";
			$in->flush;
			while (1)
			{
				my $line = <$out>;
				last SESSION unless defined $line;
				last if $line eq "done\n";
				printf { $log{$kind} } "%.9f %.9f %s", $began, clock_gettime(CLOCK_MONOTONIC), $line;
			}
			sleep 0.001;
		}
		close $in;
		close $out;
		waitpid $pid, 0;
		sleep 0.02;
	}
	close $_ foreach values %log;
	# without the cleaning up of the test
	POSIX::_exit(0);
}

require POSIX;
my @pids = map {
	my $client = $_;
	my $pid = fork // die "fork: $!";
	make_ids($client) if $pid == 0;
	$pid
} 1 .. $clients;

# --- what happens to them -----------------------------------------------------

# A query by a connection of its own, which may fail.
sub ask
{
	my ($query) = @_;
	my $answer = '';

	IPC::Run::run([ 'psql', '-XAtq', '-c', $query, $node->connstr('postgres') ], '<', \undef, '>', \$answer, '2>', \my $errors);
	chomp $answer;
	return $answer;
}

# After the crash of a backend the server restarts by itself.
sub await_server
{
	for (1 .. 600)
	{
		return if ask('SELECT 1') eq '1';
		sleep 0.1;
	}
	die 'the server does not come back';
}

sub set_clock
{
	my $clock = rand() < 0.3 ? 'normal' : 'by ' . (int(rand(200)) - 100);
	$world->turn($clock);
	return;
}

# Start with another clock: pg_ctl looks at the time of a start, so it comes after.
sub start
{
	$world->turn('normal');
	$world->start;
	set_clock();
	return;
}

# Of the backends of the clients, some.
my $of_clients = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY random()";
my %deeds = (
	'cancel' => sub { ask("SELECT pg_cancel_backend(pid) $of_clients LIMIT 3") },
	'terminate' => sub { ask("SELECT pg_terminate_backend(pid) $of_clients LIMIT 3") },
	'kill a backend' => sub { my $pid = ask("SELECT pid $of_clients LIMIT 1"); CORE::kill 'KILL', $pid if $pid },
	'stop at once' => sub { $node->stop('immediate'); start() },
	'stop' => sub { $node->stop('fast'); start() },
	'kill the postmaster' => sub { $world->kill; start() },
	'set the clock' => \&set_clock);
my %done = map { $_ => 0 } keys %deeds;
my @next;
while (clock_gettime(CLOCK_MONOTONIC) < $end)
{
	# each of them comes before one comes again
	@next = shuffle(sort keys %deeds) unless @next;
	my $deed = shift @next;

	await_server();
	$deeds{$deed}->();
	$done{$deed}++;
	sleep rand(0.5);
}
waitpid $_, 0 foreach @pids;
await_server();
note join ', ', map { "$_: $done{$_}" } sort keys %done;

# --- the order ----------------------------------------------------------------

my $all = 0;
foreach my $kind (@kinds)
{
	my @calls = map { [ split ' ' ] } map { split /\n/, slurp_file($_) } glob "$dir/$kind.*";
	my @by_return = sort { $a->[1] <=> $b->[1] } @calls;
	my ($greatest, $returned, $wrong, %seen) = ('', 0, 0);

	foreach my $call (sort { $a->[0] <=> $b->[0] } @calls)
	{
		for (; $by_return[$returned][1] < $call->[0]; $returned++)
		{
			$greatest = $by_return[$returned][2] if $by_return[$returned][2] gt $greatest;
		}
		$wrong++ if $call->[2] le $greatest;
		$seen{ $call->[2] } = 1;
	}
	cmp_ok(scalar(@calls), '>', 100, "$kind: ids were made");
	is($wrong, 0, "$kind: none out of order");
	is(scalar(keys %seen), scalar(@calls), "$kind: none twice");
	$all += @calls;
}
note "$all ids in $seconds seconds";
unlike(slurp_file("$dir/errors"), qr/does not hold the mark|could not/ms, 'no errors but of what was done');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|does not hold the mark/, 'nor in the log');
$node->stop;
done_testing();
