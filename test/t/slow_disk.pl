# While each flush of WAL takes longer than a reservation lasts, no statement with ordered IDs waits
# longer than one flush more than statements with plain IDs do, and IDs are generated in order.
# All times are compared with the length of a flush.  SLOW_DISK_MS is this length in milliseconds,
# and SLOW_DISK_SESSIONS the number of sessions.
use ServerTest;
use List::Util qw(max);
use Ordered;

my $delay = $ENV{SLOW_DISK_MS} || 2000;
my $sessions = $ENV{SLOW_DISK_SESSIONS} || 4;
my $server = Ordered->new('slow', "fsync = on\nwal_sync_method = fdatasync\ncheckpoint_timeout = '1 h'\nmax_wal_size = '4 GB'\n")
  or plan skip_all => World::REASON;
my $node = $server->node;
my $folder = PostgreSQL::Test::Utils::tempdir();
my %tables = (ordered => 'public.uuidv7_ordered()', plain => 'public.uuidv7_next()');

$server->sql('CREATE SEQUENCE numbers',
	map { ("CREATE TABLE $_ (n bigint DEFAULT nextval('numbers'), id uuid DEFAULT $tables{$_}, pid int DEFAULT pg_backend_pid())",
			"INSERT INTO $_ DEFAULT VALUES") } sort keys %tables);

# Return the longest time that a transaction of pgbench took, in milliseconds.
sub longest
{
	my ($name) = @_;
	return max(map { map { (split)[2] / 1000 } split /\n/, slurp_file($_) } glob "$folder/$name.*");
}

# Run sessions while the disk is slow, and return the longest waits in flushes, with ordered and plain IDs.
sub longest_waits
{
	my ($synchronous, $attempt) = @_;
	my %load;

	foreach my $table (sort keys %tables)
	{
		append_to_file("$folder/$table.sql", "INSERT INTO $table DEFAULT VALUES;\n\\sleep 1 ms\n") unless -e "$folder/$table.sql";
		my $seconds = 2 + 12 * $delay / 1000;
		local $ENV{PGOPTIONS} = "-c synchronous_commit=$synchronous";
		$load{$table} = IPC::Run::start([ 'pgbench', '-n', '-c', $sessions, '-T', $seconds, '-l', "--log-prefix=$folder/$table.$synchronous.$attempt", '-f', "$folder/$table.sql",
				$node->connstr('postgres') ], '>&', \$load{"$table output"});
	}
	sleep 2;
	$server->turn("delay $delay");
	ok($load{$_}->finish, "sessions with $_ IDs run, synchronous_commit = $synchronous") or diag($load{"$_ output"}) foreach sort keys %tables;
	$server->turn('normal');

	my @waits = map { longest("$_.$synchronous.$attempt") / $delay } qw(ordered plain);
	note(sprintf 'longest waits, in flushes: %.2f with ordered IDs, %.2f with plain IDs', @waits);
	return @waits;
}

# A busy machine can delay a single transaction, but wrong code delays transactions each time.
foreach my $synchronous ('off', 'on')
{
	my ($ordered, $plain);

	for my $attempt (1 .. 3)
	{
		($ordered, $plain) = longest_waits($synchronous, $attempt);
		last if $ordered <= $plain + 1.1;
	}
	cmp_ok($ordered, '<=', $plain + 1.1, "with ordered IDs, the longest wait is at most one flush longer, synchronous_commit = $synchronous");
}
is($server->sql('SELECT count(*) - count(DISTINCT id) FROM ordered'), '0', 'no ID is generated twice');
is($server->sql('SELECT count(*) FROM (SELECT id, lag(id) OVER (PARTITION BY pid ORDER BY n) AS before FROM ordered) AS pairs WHERE id <= before'),
	'0', 'the IDs of each session are in order');
is($server->sql(q{SELECT count(*) FROM ordered WHERE public.uuidv7_timestamp(id) > now() + interval '1 minute'}), '0', 'no ID is far ahead of the clock');

$node->stop;
done_testing();
