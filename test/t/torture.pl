# Ordered UUIDs and the horizon under faults: sessions generate IDs, write rows and read
# them incrementally.  Meanwhile, backends are killed, terminated and canceled, the
# postmaster is killed, the server is stopped in immediate mode, its library is replaced,
# and its clock is set forward and back.
#
# The rows have IDs of the column's default, and a guard trigger checks them.
#
# Every ID must be greater than all IDs of its function whose calls returned before its own
# call began.  No ID may be repeated.  Each reader must get each row once.
#
# scripts/lab/torture sets TORTURE_SECONDS and TORTURE_SEED from its arguments.
use ServerTest;
use File::Copy qw(copy);
use IPC::Open2;
use List::Util qw(shuffle);
use Reader;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);
use World;

my $seconds = $ENV{TORTURE_SECONDS} || 10;
my $seed = $ENV{TORTURE_SEED} || int(rand(1 << 30));

note "TORTURE_SEED=$seed";
srand $seed;
my $dir = PostgreSQL::Test::Utils::tempdir();
my $library = "$dir/uuid9562.so";
chomp(my $pkglibdir = qx(pg_config --pkglibdir));
copy("$pkglibdir/uuid9562.so", $library) or die "$library: $!";
my $world = World->new('torture', <<'CONF', allows_streaming => 1) or plan skip_all => World::REASON;
shared_preload_libraries = 'uuid9562'
log_statement = none
max_connections = 100
max_prepared_transactions = 10
restart_after_crash = on
CONF
my $node = $world->node;
my $major = $node->pg_version =~ /(\d+)/ ? $1 : 0;

# Make the functions use a library that can be replaced.
$node->safe_psql('postgres', "UPDATE pg_proc SET probin = '$library' WHERE probin LIKE '%uuid9562'");
$node->append_conf('postgresql.conf', "shared_preload_libraries = '$library'\n");
$node->stop;
$world->start;
$node->safe_psql('postgres', q{
	CREATE FUNCTION insert_with_exceptions(count int) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. count LOOP
			BEGIN
				INSERT INTO events (n) VALUES (i);
				IF i % 3 = 0 THEN
					RAISE division_by_zero;
				END IF;
			EXCEPTION WHEN division_by_zero THEN
				NULL;
			END;
		END LOOP;
	END$$});
my @names = ('primary outside', 'primary inside', 'standby outside', 'standby inside');
Reader::prepare($node, @names);
$node->safe_psql('postgres', q{
	CREATE TRIGGER guard AFTER INSERT OR UPDATE ON events FOR EACH ROW EXECUTE FUNCTION uuidv7_guard_trigger('id')});
$node->backup('standby');
my $standby = PostgreSQL::Test::Cluster->new('torture_standby');
$standby->init_from_backup($node, 'standby', has_streaming => 1);
$standby->append_conf('postgresql.conf', "wal_retrieve_retry_interval = 200ms\nhot_standby_feedback = on\n");
$world->turn('normal', $standby);
$world->start($standby);
my $end = clock_gettime(CLOCK_MONOTONIC) + $seconds;

# --- processes ----------------------------------------------------------------

# Start a process that calls a function repeatedly, until the end of the test.
my @pids;
sub keep_calling
{
	my ($number, $function) = @_;
	my $pid = fork // die "fork: $!";

	if ($pid)
	{
		push @pids, $pid;
		return;
	}
	srand $seed + $number;
	local $SIG{PIPE} = 'IGNORE';
	open STDERR, '>>', "$dir/errors" or die;
	while (clock_gettime(CLOCK_MONOTONIC) < $end)
	{
		$function->();
		sleep 0.02;
	}
	# exit without the cleanup of the test
	POSIX::_exit(0);
}
require POSIX;

# Run statements in a new connection.  Return their output, or undef if they fail.
sub ask_of
{
	my ($printed, $errors) = Reader::run(@_);

	append_to_file("$dir/errors", $errors) if $errors ne '';
	return $printed;
}

# --- sessions that generate ---------------------------------------------------

# Generate IDs in one connection until it ends.  Log each ID with the times at which its
# call began and returned.
sub generate
{
	my ($client) = @_;

	open my $log, '>>', "$dir/ids.$client" or die;
	my $pid = open2(my $out, my $in, 'psql', '-XAtq', $node->connstr('postgres'));

	SESSION: while (clock_gettime(CLOCK_MONOTONIC) < $end)
	{
		my $began = clock_gettime(CLOCK_MONOTONIC);

		print $in "SELECT public.uuidv7_ordered();\n\\echo done\n";
		$in->flush;
		while (1)
		{
			my $line = <$out>;
			last SESSION unless defined $line;
			last if $line eq "done\n";
			printf $log "%.9f %.9f %s", $began, clock_gettime(CLOCK_MONOTONIC), $line;
		}
		sleep 0.001;
	}
	close $in;
	close $out;
	waitpid $pid, 0;
	close $log;
}
foreach my $client (1 .. 8)
{
	keep_calling($client, sub { generate($client) });
}

# --- writers ------------------------------------------------------------------

# Write rows in transactions.  Some have more than 64 subtransactions, roll back or are prepared.
sub write_rows
{
	my $count = 1 + int rand 150;
	my $subtransactions = join ' ', map { "SAVEPOINT s$_; INSERT INTO events DEFAULT VALUES;" } 1 .. $count;
	my $name = "'" . int(rand(1 << 30)) . "'";
	my $end = rand() < 0.7 ? 'COMMIT' : rand() < 0.5 ? 'ROLLBACK' : "PREPARE TRANSACTION $name; COMMIT PREPARED $name";

	ask_of($node, 'BEGIN', rand() < 0.5 ? $subtransactions : "SELECT insert_with_exceptions($count)", sprintf('SELECT pg_sleep(%.3f)', rand 0.05), $end);
}
keep_calling(100 + $_, \&write_rows) foreach 1 .. 4;

# Write a row with an ID that another transaction has generated.  Readers have passed such an ID
# when the transaction commits.
sub write_earlier_id
{
	ask_of($node, "SELECT public.uuidv7_ordered() AS earlier \\gset\nBEGIN", q{INSERT INTO events (id) VALUES (:'earlier')},
		'SELECT pg_sleep(0.2)', 'COMMIT');
}
keep_calling(110, \&write_earlier_id);

# --- readers ------------------------------------------------------------------

# Readers on the primary and on the standby, with positions outside and inside the database.
my @readers = map { Reader->new($_, $dir, primary => sub { $node }, standby => sub { $standby }) } @names;
foreach my $number (0 .. $#readers)
{
	keep_calling(200 + $number, sub { $readers[$number]->read_page });
}

# --- faults -------------------------------------------------------------------

sub ask { return ask_of($node, $_[0]) // '' }

# Wait for the server, which restarts by itself after the crash of a backend.
sub await_server
{
	for (1 .. 600)
	{
		return if ask('SELECT 1') eq '1';
		sleep 0.1;
	}
	die 'the server does not restart';
}

# Commit the transactions whose writers have ended before COMMIT PREPARED.
sub commit_prepared
{
	ask("COMMIT PREPARED '$_'") foreach split /\n/, ask(q{SELECT gid FROM pg_prepared_xacts WHERE prepared < clock_timestamp() - interval '1 second'});
	return;
}

sub set_clock
{
	my $clock = rand() < 0.3 ? 'normal' : 'by ' . (int(rand(200)) - 100);
	$world->turn($clock);
	return;
}

# Start the server, with or without preloading if both are possible.  Then set the clock,
# since pg_ctl compares the start time with the real clock.
sub start
{
	$node->append_conf('postgresql.conf', "shared_preload_libraries = '" . (rand() < 0.5 ? $library : '') . "'\n") if $major >= 17;
	$world->turn('normal');
	$world->start;
	set_clock();
	return;
}

my $of_clients = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY random()";
my %deeds = (
	'cancel' => sub { ask("SELECT pg_cancel_backend(pid) $of_clients LIMIT 3") },
	'terminate' => sub { ask("SELECT pg_terminate_backend(pid) $of_clients LIMIT 3") },
	'kill a backend' => sub { my $pid = ask("SELECT pid $of_clients LIMIT 1"); CORE::kill 'KILL', $pid if $pid },
	'stop at once' => sub { $node->stop('immediate'); start() },
	'stop' => sub { $node->stop('fast'); start() },
	'kill the postmaster' => sub { $world->kill; start() },
	'replace the library' => sub { copy($library, "$library.new") && rename("$library.new", $library) or die "$library: $!" },
	'set the clock' => \&set_clock);
my %done = map { $_ => 0 } keys %deeds;
my @next;
while (clock_gettime(CLOCK_MONOTONIC) < $end)
{
	# use all faults once, in random order, before one is used again
	@next = shuffle(sort keys %deeds) unless @next;
	my $deed = shift @next;

	await_server();
	commit_prepared();
	$deeds{$deed}->();
	$done{$deed}++;
	sleep rand(0.5);
}
waitpid $_, 0 foreach @pids;
await_server();
$world->turn('normal');
ask("COMMIT PREPARED '$_'") foreach split /\n/, ask('SELECT gid FROM pg_prepared_xacts');
note join ', ', map { "$_: $done{$_}" } sort keys %done;

# --- the order ----------------------------------------------------------------

{
	my @calls = map { [ split ' ' ] } map { split /\n/, slurp_file($_) } glob "$dir/ids.*";
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
	cmp_ok(scalar(@calls), '>', 100, 'sessions generate IDs');
	is($wrong, 0, 'no ID is out of order');
	is(scalar(keys %seen), scalar(@calls), 'no ID is repeated');
	note scalar(@calls) . " IDs in $seconds seconds";
}

# --- the rows -----------------------------------------------------------------

my @rows = split /\n/, ask('SELECT id FROM events');
foreach my $reader (@readers)
{
	cmp_ok(scalar($reader->rows), '>', 0, "$reader->{name}: the reader gets rows under load");
	$reader->read_to_end;
	my ($missed, $twice, $others) = $reader->compare(@rows);
	is($missed, 0, "$reader->{name}: the reader misses none of " . @rows . ' rows');
	is($twice, 0, "$reader->{name}: the reader gets no row twice");
	is($others, 0, "$reader->{name}: the reader gets no row that was not committed");
}
my @refused = slurp_file("$dir/errors") =~ /ERROR:  ID \S{14}(\d)\S* in column "id" of relation "events" was not generated by this transaction/g;
cmp_ok(scalar(@refused), '>', 0, 'the guard trigger refuses IDs of other transactions');
unlike(slurp_file("$dir/errors"), qr/does not contain valid|could not (?!connect|receive|send)/, 'no session has an unexpected error');
unlike(slurp_file($_->logfile), qr/PANIC|TRAP|terminated by signal [^9]|does not contain valid/, $_->name . ' has not crashed by itself') foreach $node, $standby;
$_->stop foreach $standby, $node;
done_testing();
