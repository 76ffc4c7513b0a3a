# Readers and writers of many kinds run at the same time, while sessions are canceled,
# terminated and killed, and the clock is changed.
#
# UUID9562_HORIZON_ROWS is the minimum number of rows.  Each run prints its seed.  To repeat
# the random choices of this script, set UUID9562_TEST_SEED to the seed of the run.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use POSIX qw(_exit);
use PostgreSQL::Test::Utils;
use Sessions;
use Test::More;
use Time::HiRes qw(sleep);
use World;

my $rows = $ENV{UUID9562_HORIZON_ROWS} || 40_000;
my $seed = $ENV{UUID9562_TEST_SEED} || time;
my $world = World->new('horizon_load', <<'CONF') or plan skip_all => World::REASON;
shared_preload_libraries = 'uuid9562'
uuid9562.max_ahead = 1d
uuid9562.node_id = 7
max_prepared_transactions = 40
max_connections = 80
restart_after_crash = on
CONF
my $node = use_server($world->node);
my $parallel = q{SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off};

note "UUID9562_TEST_SEED=$seed UUID9562_HORIZON_ROWS=$rows";
my @tables = qw(plain parted);
sql(q{
	CREATE TABLE many AS SELECT n FROM generate_series(1, 20000) AS n;
	ANALYZE many;
	CREATE TABLE plain (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), w int);
	CREATE TABLE parted (id uuid DEFAULT public.uuidv7_ordered(), w int) PARTITION BY HASH (w);
	CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	CREATE VIEW settled_plain AS SELECT * FROM plain WHERE id < public.uuidv7_horizon();
	CREATE TABLE positions (reader text PRIMARY KEY, id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000');
	CREATE TABLE seen (reader text, id uuid);
	CREATE FUNCTION read_on(reader text, query text) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE format('WITH page AS (INSERT INTO seen SELECT %L, id FROM (%s) AS page RETURNING id)
			UPDATE positions SET id = last.id FROM (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last WHERE reader = %1$L', reader, query)
		USING (SELECT p.id FROM positions AS p WHERE p.reader = read_on.reader);
	END$$;
	CREATE FUNCTION read_by_cursor(reader text) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		page CURSOR (last uuid) FOR SELECT id FROM parted WHERE id > last AND id < public.uuidv7_horizon();
		greatest uuid := (SELECT p.id FROM positions AS p WHERE p.reader = read_by_cursor.reader);
		row record;
	BEGIN
		FOR row IN page (greatest) LOOP
			INSERT INTO seen VALUES (reader, row.id);
			greatest := greatest(greatest, row.id);
			IF random() < 0.05 THEN
				PERFORM pg_sleep(0.002);
			END IF;
		END LOOP;
		UPDATE positions AS p SET id = greatest WHERE p.reader = read_by_cursor.reader;
	END$$});

# readers: name, table, statement
my @readers = (
	[ 'by index', 'plain', q{SELECT read_on('by index', 'SELECT id FROM plain WHERE id > $1 AND id < public.uuidv7_horizon()')} ],
	[ 'by a view, in pages', 'plain', q{SELECT read_on('by a view, in pages', 'SELECT id FROM settled_plain WHERE id > $1 ORDER BY id LIMIT 500')} ],
	[ 'of an old snapshot', 'plain',
		q{BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM positions; SELECT pg_sleep(0.02);
		SELECT read_on('of an old snapshot', 'SELECT id FROM plain WHERE id > $1 AND id < public.uuidv7_horizon()'); COMMIT} ],
	[ 'by sequential scans', 'parted', q{SELECT read_on('by sequential scans', 'SELECT id FROM parted WHERE id > $1 AND id < public.uuidv7_horizon()')} ],
	[ 'by a cursor', 'parted', q{SELECT read_by_cursor('by a cursor')} ],
	[ 'without the horizon', 'plain', q{SELECT read_on('without the horizon', 'SELECT id FROM plain WHERE id > $1')} ]);
sql("INSERT INTO positions (reader) VALUES " . join ', ', map { "('$_->[0]')" } @readers);

# Return a psql script with transactions of a writer.
sub transactions
{
	my ($writer) = @_;
	my $script = "SET application_name = 'writer'; SET client_min_messages = error; $parallel;\n";
	my $delay = sub { return rand() < 0.5 ? '' : sprintf "SELECT pg_sleep(%.4f);\n", rand(0.03) };
	my $insert = sub {
		my $table = $tables[ rand @tables ];
		my $count = rand() < 0.8 ? 1 + int rand 5 : 1 + int rand 120;
		my $how = int rand 4;

		return "INSERT INTO $table (w) SELECT n FROM generate_series(1, $count) AS n;\n" if $how == 0;
		return "INSERT INTO $table (w) VALUES " . join(', ', map { "($_)" } 1 .. $count) . ";\n" if $how == 1;
		return "DO 'BEGIN FOR n IN 1 .. $count LOOP BEGIN INSERT INTO $table (w) VALUES (n); IF n % 5 = 0 THEN RAISE division_by_zero; END IF; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END';\n" if $how == 2;
		return "COPY $table (w) FROM STDIN;\n" . join('', map { "$_\n" } 1 .. $count) . "\\.\n";
	};

	for my $n (1 .. 30)
	{
		my $kind = rand;

		if ($kind < 0.25)
		{
			$script .= $insert->();
			next;
		}
		$script .= "BEGIN;\n" . $insert->() . $delay->();
		$script .= "SAVEPOINT s;\n" . $insert->() . $delay->() . (rand() < 0.5 ? "ROLLBACK TO s;\n" : "RELEASE s;\n") . $insert->() if rand() < 0.3;
		$script .= "CREATE TABLE generated_$writer AS SELECT public.uuidv7_ordered() AS id FROM many LIMIT 300; INSERT INTO plain SELECT id, 2 FROM generated_$writer; DROP TABLE generated_$writer;\n" if rand() < 0.05;
		if ($kind < 0.4)
		{
			# another transaction runs before the prepared one is finished
			$script .= "PREPARE TRANSACTION 'writer $writer';\n" . $insert->() . $delay->() . (rand() < 0.8 ? 'COMMIT' : 'ROLLBACK') . " PREPARED 'writer $writer';\n";
		}
		else
		{
			$script .= $kind < 0.55 ? "ROLLBACK;\n" : $kind < 0.65 ? "COMMIT AND CHAIN;\n" . $insert->() . "COMMIT;\n" : "COMMIT;\n";
		}
	}
	return $script;
}

# Start a process that runs scripts, one after the other, until the file "stop" exists.  The
# process ignores errors of the scripts.
my $stop = PostgreSQL::Test::Utils::tempdir() . '/stop';
my $work = PostgreSQL::Test::Utils::tempdir();
my @children;
sub keep_running
{
	my ($name, $script) = @_;
	my $pid = fork;

	die "cannot fork: $!" unless defined $pid;
	if ($pid)
	{
		push @children, $pid;
		return;
	}
	open STDOUT, '>', "$work/$name.out";
	open STDERR, '>', "$work/$name.err";
	until (-e $stop)
	{
		open my $file, '>', "$work/$name.sql" or _exit(1);
		print $file $script->();
		close $file;
		# wait after an error, since the server may be restarting
		system('psql', '-Xqd', $node->connstr('postgres'), '-f', "$work/$name.sql") == 0 or sleep 0.1;
	}
	_exit(0);
}

for my $writer (1 .. 16)
{
	keep_running("writer_$writer", do { my $started; sub { srand($seed * 100 + $writer) unless $started++; return transactions($writer) } });
}
for my $n (0 .. $#readers)
{
	keep_running("reader_$n", sub { return "$readers[$n][2];\nSELECT pg_sleep(0.01);\n" x 20 });
}

# Return the result of a statement, or '' if it fails.  If the server crashes, psql can end
# before it has read the statement, and then IPC::Run dies.
sub attempt
{
	my ($statement) = @_;
	my $out;

	eval { (undef, $out) = $node->psql('postgres', $statement) };
	return $out // '';
}

sub await_server
{
	for (1 .. 1800)
	{
		return if attempt('SELECT 1') eq '1';
		sleep 0.1;
	}
	die 'the server does not restart';
}

srand $seed;
my $crashes = 0;
my $written = 0;
for (my $turn = 1; $written < $rows || $turn <= 25; $turn++)
{
	my $choice = rand;
	my $victim = "SELECT %s(pid) FROM pg_stat_activity WHERE application_name = 'writer' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1";

	sleep 0.1;
	if ($turn == 12 || $turn % 200 == 150)
	{
		my $writer = attempt(q{SELECT pid FROM pg_stat_activity WHERE application_name = 'writer' LIMIT 1});
		if ($writer)
		{
			kill 9, $writer;
			$crashes++;
			await_server();
		}
	}
	elsif ($choice < 0.3) { attempt(sprintf $victim, 'pg_cancel_backend') }
	elsif ($choice < 0.5) { attempt(sprintf $victim, 'pg_terminate_backend') }
	elsif ($choice < 0.6) { $world->turn((time + int(rand 10) - 5) . ' 0') }
	elsif ($choice < 0.7) { $world->turn('normal') }
	# commit transactions that were prepared more than a second ago, since their writers may
	# have ended
	my $prepared = attempt(q{SELECT gid FROM pg_prepared_xacts WHERE prepared < clock_timestamp() - interval '1 second'});
	attempt("COMMIT PREPARED '$_'") foreach split /\n/, $prepared;
	$written = attempt('SELECT ' . join ' + ', map { "(SELECT count(*) FROM $_)" } @tables) if $turn % 10 == 0;
	$written ||= 0;
}
$world->turn('normal');
append_to_file($stop, '');
waitpid $_, 0 foreach @children;
await_server();
sql("COMMIT PREPARED '$_'") foreach split /\n/, sql('SELECT gid FROM pg_prepared_xacts');

# read the remaining rows
foreach my $reader (@readers)
{
	my ($name, $table, $read) = @$reader;
	my $before;

	cmp_ok(sql("SELECT count(*) FROM seen WHERE reader = '$name'"), '>', 0, "a reader $name gets rows during the load");
	do
	{
		$before = sql("SELECT id FROM positions WHERE reader = '$name'");
		sql($read);
	} until $before eq sql("SELECT id FROM positions WHERE reader = '$name'");
}
note 'written: ' . sql('SELECT ' . join q{ || ', ' || }, map { "(SELECT count(*) || ' in $_' FROM $_)" } @tables) . "; the server crashed $crashes times";
foreach my $reader (@readers)
{
	my ($name, $table) = @$reader;
	my $difference = "(SELECT count(*) FROM (SELECT id FROM %s EXCEPT ALL SELECT id FROM %s) AS lost)";
	my $seen = "(SELECT id FROM seen WHERE reader = '$name') AS seen";
	my $found = sql("SELECT (SELECT count(*) FROM $seen), " . sprintf("$difference, $difference", $table, $seen, $seen, $table));

	if ($name eq 'without the horizon')
	{
		note "without the horizon: " . sprintf '%d rows read, %d missed', (split /\|/, $found)[ 0, 1 ];
		next;
	}
	is($found =~ s/^\d+\|//r, '0|0', "a reader $name gets each row once");
}
unlike(slurp_file($node->logfile), qr/TRAP|PANIC|stuck spinlock|terminated by signal [^9]/, 'the server has not crashed by itself');
done_testing;
