# Keep copies of a table with changes_read(), while eight clients change it: they insert, update, upsert,
# merge and delete few shared keys and change them, in savepoints, transactions that roll back,
# REPEATABLE READ, and prepared transactions.  In each run, the programs are killed at random, the server
# crashes five times, also without synchronous commits, and three standbys are promoted.  One of them
# lacks transactions that have been copied, and clocks differ.  Meanwhile, entries are purged, the
# generator of IDs is reset, and the log is emptied, dropped and created again.  With an odd seed, the
# table is partitioned, changes of keys move rows, and partitions come and go.
#
# There are three copies: examples/copy_table.py keeps one in another server, with "after".  Two programs
# with the same reader's name write another one there, and confirm it with changes_done(); they do not
# notice promotions that lose transactions, but get "reset" after each.  A function keeps one in the
# database, in transactions that also confirm it.  At each pause, they must equal the table.  A copy that
# polls "updated_at" is kept beside them, and its wrong rows are counted.
#
# scripts/lab/torture sets TORTURE_CHANGES, the number of runs, and TORTURE_SEED.
use ServerTest;
use Copies;
use List::Util qw(shuffle);
use Time::HiRes qw(sleep time);
use World;

my $runs = $ENV{TORTURE_CHANGES} or plan skip_all => 'scripts/lab/torture --changes runs this test';
plan skip_all => 'Psycopg 3 is not installed' unless Copies::can_copy();
my $seed = $ENV{TORTURE_SEED} || int(rand(1 << 30));
note "TORTURE_SEED=$seed";
srand $seed;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $world = World->new('changes_1', <<'CONF', allows_streaming => 1, extra => [ '--encoding', 'UTF8' ]) or plan skip_all => World::REASON;
shared_preload_libraries = 'uuid9562'
uuid9562.max_ahead = 1d
log_statement = none
max_connections = 50
max_prepared_transactions = 20
deadlock_timeout = 100ms
wal_retrieve_retry_interval = 100ms
CONF
my $other = new_server('changes_copies', '', extra => [ '--encoding', 'UTF8' ]);
my $primary = $world->node;
my $nodes = 1;
my %count = map { $_ => 0 } qw(wrong naive kept kills crashes asynchronous promotions losses pauses purges resets retracks advanced copied);
my %deeds;	# how often each kind of change happened
my @deeds = qw(insert upsert update delete key replace many ignore abort merge rollback repeatable commit_prepared rollback_prepared);
my $parts = $seed % 2;

sub on { my ($node, @statements) = @_; return $node->safe_psql('postgres', join ";\n", @statements) }

on($primary, q{
	CREATE EXTENSION uuid9562_changes;
	CREATE TABLE item (id int PRIMARY KEY, n int NOT NULL, updated_at timestamptz) } . ($parts ? 'PARTITION BY HASH (id)' : '') . q{;
	} . join('', map { $parts ? "CREATE TABLE item_$_ PARTITION OF item FOR VALUES WITH (MODULUS 3, REMAINDER $_);" : '' } 0 .. 2) . q{
	} . join('', map { "CREATE SEQUENCE done_$_;" } @deeds) . q{
	CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.updated_at := now(); RETURN NEW; END';
	CREATE TRIGGER touch BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION touch();
	INSERT INTO item SELECT n, n FROM generate_series(1, 2000) AS n;

	-- Make a few random changes, each in a savepoint.
	CREATE FUNCTION change() RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		k int;
		m int := random() * 1000000;
		deed text;
		changed int;
	BEGIN
		FOR i IN 0 .. (random() * 5)::int LOOP
			k := 1 + 40 * random() ^ 2;
			deed := ('{insert,upsert,update,delete,key,replace,many,ignore,abort,merge}'::text[])[1 + floor(random() * 10)];
			BEGIN
				CASE deed
					WHEN 'insert' THEN INSERT INTO item VALUES (k, m);
					WHEN 'upsert' THEN INSERT INTO item VALUES (k, m) ON CONFLICT (id) DO UPDATE SET n = excluded.n;
					WHEN 'update' THEN UPDATE item SET n = m WHERE id = k;
					WHEN 'delete' THEN DELETE FROM item WHERE id = k;
					WHEN 'key' THEN UPDATE item SET id = 1 + 40 * random() WHERE id = k;
					WHEN 'replace' THEN DELETE FROM item WHERE id = k; INSERT INTO item VALUES (k, m);
					WHEN 'many' THEN UPDATE item SET n = n + 1 WHERE id BETWEEN 10 * k AND 10 * k + 20;
					WHEN 'ignore' THEN INSERT INTO item VALUES (k, m) ON CONFLICT DO NOTHING;
					WHEN 'merge' THEN MERGE INTO item USING (VALUES (k), (k + 1)) AS s (id) ON item.id = s.id
						WHEN MATCHED AND m % 3 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET n = m WHEN NOT MATCHED THEN INSERT VALUES (s.id, m);
					ELSE DELETE FROM item WHERE id = 2 * k; RAISE division_by_zero;
				END CASE;
				GET DIAGNOSTICS changed = ROW_COUNT;
				IF changed > 0 OR deed = 'ignore' THEN
					PERFORM nextval('done_' || deed);
				END IF;
				PERFORM pg_sleep(random() * 0.01);
			EXCEPTION
				WHEN division_by_zero THEN PERFORM nextval('done_abort');
				WHEN unique_violation OR deadlock_detected THEN NULL;
				-- of REPEATABLE READ, or of a row that moves to another partition
				WHEN serialization_failure THEN NULL;
			END;
		END LOOP;
	END$$});
on($primary, q{
	SELECT changes_track('item');
	CREATE TABLE copy (id int PRIMARY KEY, n int);
	CREATE TABLE resets (at timestamptz DEFAULT now());

	-- Apply a page to the table "copy".
	CREATE FUNCTION apply() RETURNS boolean LANGUAGE plpgsql AS $$
	DECLARE
		change record;
	BEGIN
		FOR change IN SELECT change_type AS type, (data).* FROM changes_read('inside', NULL::item, (1 + 999 * random() ^ 3)::int) LOOP
			IF change.type = 'reset' THEN
				DELETE FROM copy;
				INSERT INTO copy SELECT id, n FROM item;
				INSERT INTO resets DEFAULT VALUES;
			ELSE
				DELETE FROM copy WHERE id = change.id;
				INSERT INTO copy SELECT change.id, change.n WHERE change.type = 'upsert';
			END IF;
		END LOOP;
		PERFORM changes_done('inside') WHERE change IS NOT NULL;
		RETURN change IS NOT NULL;
	END$$});
$other->safe_psql('postgres', 'CREATE TABLE pair (id int, n int)');

# --- writers ----------------------------------------------------------------------

append_to_file("$dir/commit.sql", "SELECT change();\n");
append_to_file("$dir/rollback.sql", "BEGIN;\nSELECT change();\nSELECT change();\nSELECT nextval('done_rollback');\nROLLBACK;\n");
append_to_file("$dir/repeatable.sql", "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT change();\nSELECT change();\nSELECT nextval('done_repeatable');\nCOMMIT;\n");
append_to_file("$dir/prepare.sql", <<'SQL');
\set n random(1, 1000000000)
BEGIN;
SELECT change();
PREPARE TRANSACTION 'p:client_id:n';
\if :n % 4 = 0
ROLLBACK PREPARED 'p:client_id:n';
SELECT nextval('done_rollback_prepared');
\else
COMMIT PREPARED 'p:client_id:n';
SELECT nextval('done_commit_prepared');
\endif
SQL
my ($writers, $out);

sub start_writers
{
	my ($asynchronous) = @_;
	my $options = $asynchronous ? '-c synchronous_commit=off' : '';

	$out = '';
	$writers = IPC::Run::start([ 'env', 'PGAPPNAME=writer', "PGOPTIONS=$options", 'pgbench', '--no-vacuum', '--client=8', '--time=600',
			"--file=$dir/commit.sql\@6", "--file=$dir/rollback.sql\@1", "--file=$dir/repeatable.sql\@1", "--file=$dir/prepare.sql\@2", $primary->connstr('postgres') ], '<', \undef, '>&', \$out);
	return;
}

# Stop the clients, and wait for their sessions, which still execute statements.
sub stop_writers
{
	return unless $writers;
	is(on($primary, q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'writer'}), '8', 'all clients write until the pause') or diag($out);
	$writers->signal('TERM');
	$writers->finish;
	undef $writers;
	on($primary, q{SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'writer'});
	return;
}

# --- copies -----------------------------------------------------------------------

my ($copy, %naive, %pair);
my $last = '-infinity';

# Let the copies read from the primary and its standby.
sub connect_copies
{
	my ($standby) = @_;
	my @hosts = grep { defined } $primary, $standby;
	my $conninfo = 'host=' . join(',', map { $_->host } @hosts) . ' port=' . join(',', map { $_->port } @hosts) . ' dbname=postgres';

	$copy ||= Copies->new($conninfo, 'public.item', $other);
	$copy->{source} = $conninfo;
	return;
}

sub start_pair
{
	my ($number) = @_;

	$pair{$number} = IPC::Run::start([ '/usr/bin/python3', "$FindBin::Bin/changes_reader.py", $copy->{source}, $other->connstr('postgres') ], '<', \undef, '>>', "$dir/pair.log", '2>>', "$dir/pair.log");
	return;
}

sub kill_pair { my ($number) = @_; my $process = delete $pair{$number} or return; $process->kill_kill; return }

# Stop all programs.
sub stop_copies { $copy->stop; kill_pair($_) foreach keys %pair; return }

sub start_copies { $copy->start; start_pair($_) foreach 1, 2; return }

# Poll updated_at, as many tools do.
sub poll
{
	my ($status, $rows);

	# IPC::Run dies if psql ends before it has read the statement
	eval { ($status, $rows) = $primary->psql('postgres', "SELECT id, n, updated_at FROM item WHERE updated_at > '$last' ORDER BY updated_at, id") };
	return if !defined $status || $status;
	foreach (split /\n/, $rows)
	{
		my ($id, $n, $time) = split /\|/;

		$naive{$id} = $n;
		$last = $time;
	}
	return;
}

# Change something of the log while clients write.  The server can have crashed.
sub disturb
{
	my $choice = int rand 40;

	eval {
		if ($choice < 8) { on($primary, q{SELECT changes_purge('item', '0.5 s')}); $count{purges}++ }
		elsif ($choice == 8) { on($primary, 'SELECT uuid_generator_reset()'); $count{resets}++ }
		elsif ($choice == 9) { on($primary, q{SET lock_timeout = '1 s'; TRUNCATE changes.item}); $count{resets}++ }
		elsif ($choice == 10) { on($primary, q{SET lock_timeout = '1 s'; BEGIN; ALTER TABLE item DISABLE TRIGGER ALL; UPDATE item SET n = n + 1 WHERE id < 5; ALTER TABLE item ENABLE TRIGGER ALL; COMMIT}); $count{resets}++ }
		elsif ($choice == 11) { on($primary, q{SET lock_timeout = '1 s'; DROP TABLE changes.item}); $count{retracks}++ }
		elsif ($choice == 12) { on($primary, q{SELECT changes_reset('item')}); $count{resets}++ }
		elsif ($choice == 13 && $parts)
		{
			on($primary, q{SET lock_timeout = '1 s'; BEGIN; ALTER TABLE item DETACH PARTITION item_1; UPDATE item_1 SET n = n + 1; ALTER TABLE item ATTACH PARTITION item_1 FOR VALUES WITH (MODULUS 3, REMAINDER 1); COMMIT});
			$count{resets}++;
		}
	};
	# the triggers and the log are repaired
	eval { on($primary, q{SET lock_timeout = '3 s'; SELECT changes_track('item')}) } if $choice == 10 || $choice == 11;
	return;
}

# Run writers and copies for some seconds, and kill the programs at random moments.
sub run_for
{
	my ($seconds, $kills) = @_;
	my $end = time + $seconds;
	my @at = sort { $a <=> $b } map { time + rand $seconds } 1 .. $kills;
	my $position = q{SELECT position FROM copy_state};
	my $before = eval { $copy->ask($position) } // '';

	start_copies() unless %pair;
	while (time < $end || @at)
	{
		poll();
		eval { on($primary, 'SELECT apply()'); $count{copied}++ };
		if (@at && time > $at[0])
		{
			my $number = int rand 3;

			shift @at;
			$number ? kill_pair($number) : $copy->kill;
			$number ? start_pair($number) : $copy->start;
			$count{kills}++;
		}
		disturb() if $kills;
		sleep 0.05;
	}
	$count{advanced}++ if $before ne (eval { $copy->ask($position) } // '');
	return;
}

# Compare a copy with the table.
sub is_equal
{
	my ($name, $got, $rows) = @_;
	my $differences = differences($got, $rows);

	$count{wrong} += () = $differences =~ /^/mg if $differences ne '';
	is($differences, '', $name) or diag($copy->log, slurp_file("$dir/pair.log"));
	return;
}

# Compare the copies with the table, after all transactions have finished.
sub pause
{
	my ($name) = @_;

	stop_writers();
	on($primary, rand() < 0.5 ? "COMMIT PREPARED '$_'" : "ROLLBACK PREPARED '$_'") foreach split /\n/, on($primary, 'SELECT gid FROM pg_prepared_xacts');
	on($primary, q{SELECT changes_track('item')});
	my $rows = on($primary, 'SELECT id, n FROM item ORDER BY id');
	$copy->stop;
	$copy->run('--once');
	is_equal("$name: the copy with positions outside equals the table", $copy->rows('id, n', 'id'), $rows);
	# one of the two programs ends, and the other one goes back to the page of the first one
	kill_pair(1);
	start_pair(2) unless $pair{2};
	my $pair;
	for (1 .. 300)
	{
		$pair = $other->safe_psql('postgres', 'SELECT id, n FROM pair ORDER BY id');
		last if $pair eq $rows && on($primary, q{SELECT count(*) FROM changes_readers WHERE reader = 'pair' AND waits_for IS NULL}) eq '1';
		sleep 0.1;
	}
	is_equal("$name: the copy of two programs equals the table", $pair, $rows);
	kill_pair(2);
	1 while on($primary, 'SELECT apply()') eq 't';
	is_equal("$name: the copy in the database equals the table", on($primary, 'SELECT id, n FROM copy ORDER BY id'), $rows);
	poll();
	if ($name ne 'begin')
	{
		my %rows = map { split /\|/ } split /\n/, $rows;

		$count{naive} += grep { ($naive{$_} // '') ne $rows{$_} } keys %rows;
		$count{kept} += grep { !defined $rows{$_} } keys %naive;
	}
	%naive = map { split /\|/ } split /\n/, $rows;
	$last = on($primary, q{SELECT coalesce(max(updated_at), '-infinity') FROM item});
	$deeds{$_} += on($primary, "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM done_$_; SELECT setval('done_$_', 1, false)") =~ s/\n.*//r foreach @deeds;
	$count{pauses}++;
	return;
}

# --- deeds ------------------------------------------------------------------------

# Let the server crash while clients write.
sub crash
{
	my ($asynchronous) = @_;

	start_writers($asynchronous);
	run_for(3, 3);
	$primary->stop('immediate');
	undef $writers if $writers->finish || 1;
	$world->start($primary);
	$count{crashes}++;
	$count{asynchronous} += $asynchronous;
	pause("crash $count{crashes}");
	return;
}

# Create a standby, and promote it.  If transactions shall be lost, the standby does not get them.
sub promote
{
	my ($lose, $asynchronous) = @_;
	my $old = $primary;
	my $standby = PostgreSQL::Test::Cluster->new('changes_' . ++$nodes);

	$old->backup("for_$nodes");
	$standby->init_from_backup($old, "for_$nodes", has_streaming => 1);
	$world->turn('normal', $standby);
	$world->start($standby);
	$world->turn('by ' . int(rand 200), $standby);
	connect_copies($standby);
	stop_copies();
	start_writers($asynchronous);
	run_for(2, 3);
	if ($lose)
	{
		$standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
		$standby->reload;
		$old->poll_query_until('postgres', 'SELECT NOT EXISTS (SELECT FROM pg_stat_replication)') or die 'the standby is still connected';
		run_for(2, 0);
		$old->stop('immediate');
	}
	else
	{
		$old->stop('fast');
	}
	undef $writers if $writers->finish || 1;
	$standby->promote;
	$primary = $standby;
	$count{promotions}++;
	$count{losses} += $lose;
	$count{asynchronous} += $asynchronous;
	# the copies connect to the new primary by themselves
	on($primary, "COMMIT PREPARED '$_'") foreach split /\n/, on($primary, 'SELECT gid FROM pg_prepared_xacts');
	start_writers();
	run_for(2, 0);
	pause("promotion $count{promotions}" . ($lose ? ', which loses transactions' : ''));
	return;
}

foreach my $run (1 .. $runs)
{
	my %before = %count;

	connect_copies();
	pause('begin') if $run == 1;
	my %asynchronous = (crash => [ shuffle(0, 0, 1, 1, 1) ], promote => [ shuffle(0, 0, 1) ]);
	my @losing = shuffle(1, 0, 0);
	foreach my $deed (shuffle('crash', 'crash', 'crash', 'crash', 'crash', 'promote', 'promote', 'promote'))
	{
		my $asynchronous = shift @{ $asynchronous{$deed} };

		$deed eq 'crash' ? crash($asynchronous) : promote(shift @losing, $asynchronous);
	}
	note sprintf 'run %d: %s; %d wrong rows in the copies; %d wrong rows and %d deleted rows in the copy by updated_at', $run,
	  join(', ', map { ($count{$_} - ($before{$_} // 0)) . " $_" } qw(kills purges resets retracks crashes promotions losses asynchronous)),
	  map { $count{$_} - ($before{$_} // 0) } qw(wrong naive kept);
}
note 'changes: ' . join ', ', map { "$deeds{$_} $_" } @deeds;
is(join(' ', grep { !$deeds{$_} } @deeds), '', 'each kind of change happened');
cmp_ok($count{advanced}, '>=', 5 * $runs, "the copy advanced $count{advanced} times while clients wrote");
note "$count{pauses} pauses, ", on($primary, 'SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables WHERE relname LIKE \'item%\''), ' changes since the last start, ', on($primary, 'SELECT count(*) FROM resets'), ' resets of the copy in the database';
cmp_ok((() = $copy->log =~ /compared/g), '>', 0, 'lost transactions had been copied');
is($count{wrong}, 0, "no row is wrong in $runs runs; by updated_at, $count{naive} rows are wrong, and $count{kept} deleted rows are kept");
$_->stop foreach $other, $primary;
done_testing();
