# The example outbox_reader.py misses no row if it shares the sessions of a pooler with another reader,
# and handles positions that are set back, and permanent errors.  The program of the page
# doc/incremental-reads.md gets each row from a standby.  test/harness kills outbox_reader.py, and lets the
# server fail over.
use ServerTest;
use JSON::PP;
use Pooler;
use Sessions;
use World;

my $python = '/usr/bin/python3';
plan skip_all => 'Psycopg 3 is not installed' if system("$python -c 'import psycopg' 2>/dev/null") != 0;
# with SQL_ASCII, the default encoding in the locale C, psycopg returns texts as bytes
my $world = World->new('outbox', "shared_preload_libraries = 'uuid9562'\nuuid9562.max_ahead = 1d\n", allows_streaming => 1, extra => [ '--encoding', 'UTF8' ]) or plan skip_all => World::REASON;
my $primary = use_server($world->node);
my ($table) = slurp_file("$FindBin::Bin/examples/outbox_reader.py") =~ /^ +(CREATE TABLE outbox .*);$/m or die 'the example has no table';
sql(q{
	CREATE EXTENSION uuid9562_changes;
	} . $table . q{;
	CREATE TABLE tasks (LIKE outbox INCLUDING ALL);
	CREATE TABLE on_standby (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), message text NOT NULL);
	INSERT INTO on_standby (message) SELECT 'first' FROM generate_series(1, 2500);
	CREATE ROLE reader LOGIN;
	SELECT public.changes_track('outbox', operations => '{insert}'), public.changes_track('tasks', operations => '{insert}');
	GRANT SELECT ON outbox, tasks TO reader});
$primary->backup('standby');
my $standby = $world->from_backup('standby', 'outbox_standby', $primary);

my $dir = PostgreSQL::Test::Utils::tempdir();
my $conninfo = 'host=' . $primary->host . ',' . $standby->host . ' port=' . $primary->port . ',' . $standby->port . ' dbname=postgres user=reader client_encoding=SQL_ASCII';
my $reader;
sub start_reader
{
	$reader = IPC::Run::start([ $python, "$FindBin::Bin/examples/outbox_reader.py", $conninfo, "$dir/position" ], '<', \undef, '>>', "$dir/out", '2>>', "$dir/err");
}

# Wait until a file contains a text.  Return false after half a minute.
sub await_text
{
	my ($file, $text) = @_;

	for (1 .. 300)
	{
		return 1 if slurp_file($file) =~ $text;
		select undef, undef, undef, 0.1;
	}
	return 0;
}

# Wait until the reader has delivered a message.
sub await_message { await_text("$dir/out", qr/"message": "\Q$_[0]\E"/) or die "the reader does not deliver $_[0]: " . slurp_file("$dir/err") }

sub insert { my ($message, $count) = @_; sql("INSERT INTO outbox (message) SELECT '$message' FROM generate_series(1, $count)") }

insert('first', 2500);
start_reader();
await_message('first');
$primary->safe_psql('postgres', q{BEGIN; INSERT INTO outbox (message) VALUES ('withdrawn'); DELETE FROM outbox WHERE message = 'withdrawn'; COMMIT});
my ($status, $out, $err);
$status = IPC::Run::run([ 'timeout', '20', $python, "$FindBin::Bin/examples/outbox_reader.py", $conninfo, "$dir/position" ], '>', \$out, '2>', \$err);
ok(!$status && $err eq "another process uses $dir/position\n", 'a second reader with the same position is refused');

insert('second', 1);
await_message('second');
$reader->signal('KILL');
$reader->finish;
unlike(slurp_file("$dir/out"), qr/withdrawn|null/, 'the reader prints no row that was deleted before it read');

# --- a position that is set back ----------------------------------------------------

# Read the output of the reader through a pipe, which holds less than a page.  So when the test has
# got the first row of the second page, the reader waits within this page.
{
	my ($again, $pipe) = (0);

	sql(q{INSERT INTO tasks (message) SELECT repeat('long', 100) FROM generate_series(1, 2500)});
	append_to_file("$dir/tasks.py", slurp_file("$FindBin::Bin/examples/outbox_reader.py") =~ s/FROM outbox\b|NULL::outbox\b|'outbox'/$& =~ s{outbox}{tasks}r/ger);
	my $pid = open($pipe, '-|', $python, "$dir/tasks.py", $conninfo, "$dir/set_back") or die "no reader: $!";
	local $SIG{ALRM} = sub { kill KILL => $pid };
	my $rest = alarm 60;
	my ($first) = <$pipe> =~ /"id": "([^"]*)"/;
	<$pipe> for 1 .. 2499;
	sql(q{INSERT INTO tasks (message) SELECT repeat('more', 100) FROM generate_series(1, 2500)});
	<$pipe>;
	unlink "$dir/set_back" or die 'the reader has not stored a position';
	while (!$again && defined(my $line = <$pipe>)) { $again = $line =~ /"$first"/ }
	alarm $rest;
	kill KILL => $pid;
	close $pipe;
	ok($again, 'a position that is removed while the reader delivers a page is not stored again');
}

# --- another default of the isolation level -----------------------------------------

{
	my $output = '';
	local $ENV{PGOPTIONS} = '-c default_transaction_isolation=serializable';

	append_to_file("$dir/level.py", slurp_file("$FindBin::Bin/examples/outbox_reader.py") =~ s/\(data\)\.message/current_setting('transaction_isolation')/r =~ s/(?<!def )deliver_all\(connection\)/pass/r);
	my $process = IPC::Run::start([ $python, "$dir/level.py", $conninfo, "$dir/level" ], '<', \undef, '>', \$output, '2>', \$err, IPC::Run::timeout(60));
	for (1 .. 300) { last if -e "$dir/level"; select undef, undef, undef, 0.1 }
	sql(q{INSERT INTO outbox (message) VALUES ('level')});
	$process->pump until $output =~ /\n/;
	$process->signal('KILL');
	$process->finish;
	like($output, qr/^[^\n]*"message": "read committed"/, 'the reader uses READ COMMITTED if the default is another isolation level') or diag($err);
}

# --- permanent errors ---------------------------------------------------------------

foreach my $case ([ 'user=nobody', qr/role "nobody" does not exist/ ], [ 'dbname=nothing', qr/database "nothing" does not exist/ ])
{
	my ($wrong, $error) = @$case;

	$status = IPC::Run::run([ 'timeout', '20', $python, "$FindBin::Bin/examples/outbox_reader.py", "$conninfo $wrong", "$dir/wrong" ], '>', \$out, '2>', \$err);
	is($? >> 8, 1, "the reader ends if it connects with $wrong");
	like($err, $error, "the reader shows the error if it connects with $wrong");
}

# --- two readers behind a pooler ----------------------------------------------------

SKIP:
{
	my $pooler = Pooler->new($primary, prepares => 0) or skip 'PgBouncer is not installed', 6;
	my ($host, $port) = ($pooler->connection)[1, 3];
	my %program = (outbox => "$FindBin::Bin/examples/outbox_reader.py", tasks => "$dir/tasks.py");
	my $executions = sub { return scalar(() = slurp_file($primary->logfile) =~ /execute <unnamed>: \s*SELECT change_type, change_position/g) };

	sql('TRUNCATE tasks');
	my @readers = map { IPC::Run::start([ $python, $program{$_}, "host=$host port=$port dbname=postgres user=reader", "$dir/pooled.$_" ],
			'<', \undef, '>>', "$dir/out.$_", '2>>', "$dir/err.$_") } qw(outbox tasks);
	# a client of Psycopg prepares a statement that it has executed five times
	my $enough = $executions->() + 20;
	for (1 .. 1000)
	{
		last if $executions->() >= $enough;
		sql(map { "INSERT INTO $_ (message) SELECT '$_' FROM generate_series(1, 5)" } qw(outbox tasks));
		select undef, undef, undef, 0.1 + rand 0.2;
	}
	cmp_ok($executions->(), '>=', $enough, 'the readers execute the query more often than a client does before it prepares a statement');
	sql(map { "INSERT INTO $_ (message) VALUES ('last')" } qw(outbox tasks));
	foreach my $table (qw(outbox tasks))
	{
		await_text("$dir/out.$table", qr/"last"/);
		my %rows = map { $_ => 1 } split /\n/, sql("SELECT id FROM $table");
		my %got = map { decode_json($_)->{id} => 1 } slurp_file("$dir/out.$table") =~ /\{"id": "[^"{]*", "message": "[^"{]*"\}/g;
		my ($missed, $other) = (scalar(grep { !$got{$_} } keys %rows), scalar(grep { !$rows{$_} } keys %got));
		is("$missed of $table missed, $other of another table", "0 of $table missed, 0 of another table",
			"behind a pooler, a reader gets the " . keys(%rows) . " rows of its table")
		  or diag(slurp_file("$dir/err.$table"));
	}
	unlike(slurp_file($primary->logfile), qr/execute _pg3/, 'the readers prepare no named statement');

	# a pooler that reaches the new primary later than the standby
	$pooler->move_to($standby);
	ok(await_text("$dir/err.outbox", qr/during recovery/), 'the pooler connects a reader to a standby');
	$pooler->move_to($primary);
	sql(q{INSERT INTO outbox (message) VALUES ('after the standby')});
	ok(await_text("$dir/out.outbox", qr/"after the standby"/), 'a reader whose pooler was connected to a standby goes on') or diag(slurp_file("$dir/err.outbox"));
	foreach my $reader (@readers) { $reader->signal('KILL'); $reader->finish }
	$pooler->stop;
}

# --- the program of the page, which reads on a standby
my ($program) = slurp_file("$FindBin::Bin/doc/incremental-reads.md") =~ /^```python\n(.*?)^```/ms or die 'the page has no program';
$program =~ s/FROM outbox/FROM on_standby/ or die 'the program reads another table';
sql('CREATE TABLE copied (id uuid PRIMARY KEY, message text)', 'CREATE TABLE place (reader text PRIMARY KEY, position text)', q{INSERT INTO place VALUES ('copy', NULL)});
append_to_file("$dir/copy_rows.py", "import sys, time, psycopg\n$program" . q{
primary, standby = (psycopg.connect(server, autocommit=True) for server in sys.argv[1:])


def copied(least):
    """Copy rows until there are enough.  Return their number, and whether there is a position."""
    while True:
        copy_rows(primary, standby)
        count, = primary.execute("SELECT count(*) FROM copied").fetchone()
        if count >= least:
            return count, primary.execute("SELECT position IS NOT NULL FROM place").fetchone()[0]


rows, = primary.execute("SELECT count(*) FROM on_standby").fetchone()
print(*copied(rows))
primary.execute("INSERT INTO on_standby (message) VALUES ('fourth')")
print(*copied(rows + 1))

# the position and the copied rows are lost between the read and the copy
read_for_copy = read_rows


def read_rows(primary, standby, position):
    rows, next_position = [], None
    while not rows:
        rows, next_position = read_for_copy(primary, standby, position)
    primary.execute("TRUNCATE copied")
    primary.execute("UPDATE place SET position = NULL")
    return rows, next_position


primary.execute("INSERT INTO on_standby (message) VALUES ('fifth')")
copy_rows(primary, standby)
print(*primary.execute("SELECT (SELECT count(*) FROM copied), position IS NOT NULL FROM place").fetchone())
read_rows = read_for_copy
print(*copied(rows + 2))
});
my $rows = sql('SELECT count(*) FROM on_standby');
$status = IPC::Run::run([ 'timeout', '60', $python, "$dir/copy_rows.py", map { $_->connstr('postgres') } $primary, $standby ], '>', \$out, '2>', \$err);
is($out, "$rows True\n" . ($rows + 1) . " True\n0 False\n" . ($rows + 2) . " True\n",
	'the program of the manual copies each row from a standby, and copies nothing if its position has changed meanwhile') or diag($err);

$_->stop foreach $standby, $primary;
done_testing();
