# Keep copies of a table by examples/changes/copy_table.py, while eight clients change it: they insert,
# update, upsert and delete few shared keys and change them, in savepoints, transactions that roll
# back, and prepared transactions.  In each run, the programs are killed 24 times, the server crashes
# five times, also without synchronous commits, and three standbys are promoted.  One of them lacks
# transactions that have been copied, and clocks differ.  At each pause, the copies in SQLite and in
# PostgreSQL must equal the table.
#
# A copy that polls "updated_at" is kept beside them, and its wrong rows are counted.
#
# scripts/lab/torture sets TORTURE_CHANGES, the number of runs, and TORTURE_SEED.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Copies;
use IPC::Run ();
use List::Util qw(shuffle);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
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
my $other = PostgreSQL::Test::Cluster->new('changes_copies');
$other->init(extra => [ '--encoding', 'UTF8' ]);
$other->start;
my $primary = $world->node;
my $nodes = 1;
my %count = (wrong => 0, naive => 0, kept => 0, changes => 0, compared => 0);

sub on { my ($node, @statements) = @_; return $node->safe_psql('postgres', join ";\n", @statements) }

on($primary, q{
	CREATE TABLE item (id int PRIMARY KEY, n int NOT NULL, updated_at timestamptz);
	CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.updated_at := now(); RETURN NEW; END';
	CREATE TRIGGER touch BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION touch();
	INSERT INTO item SELECT n, n FROM generate_series(1, 2000) AS n;

	-- Make a few random changes, each in a savepoint.
	CREATE FUNCTION change() RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		k int;
		m int := random() * 1000000;
	BEGIN
		FOR i IN 0 .. (random() * 5)::int LOOP
			k := 1 + 40 * random() ^ 2;
			BEGIN
				CASE (random() * 8)::int
					WHEN 0 THEN INSERT INTO item VALUES (k, m);
					WHEN 1 THEN INSERT INTO item VALUES (k, m) ON CONFLICT (id) DO UPDATE SET n = excluded.n;
					WHEN 2 THEN UPDATE item SET n = m WHERE id = k;
					WHEN 3 THEN DELETE FROM item WHERE id = k;
					WHEN 4 THEN UPDATE item SET id = 1 + 40 * random() WHERE id = k;
					WHEN 5 THEN DELETE FROM item WHERE id = k; INSERT INTO item VALUES (k, m);
					WHEN 6 THEN UPDATE item SET n = n + 1 WHERE id BETWEEN 10 * k AND 10 * k + 20;
					WHEN 7 THEN INSERT INTO item VALUES (k, m) ON CONFLICT DO NOTHING;
					ELSE DELETE FROM item WHERE id = 2 * k; RAISE division_by_zero;
				END CASE;
				PERFORM pg_sleep(random() * 0.01);
			EXCEPTION WHEN unique_violation OR deadlock_detected OR division_by_zero THEN
				NULL;
			END;
		END LOOP;
	END$$});
unlike(track($primary, 'item'), qr/ERROR/, 'the table is tracked');

# --- writers ----------------------------------------------------------------------

append_to_file("$dir/commit.sql", "SELECT change();\n");
append_to_file("$dir/rollback.sql", "BEGIN;\nSELECT change();\nSELECT change();\nROLLBACK;\n");
append_to_file("$dir/prepare.sql", <<'SQL');
\set n random(1, 1000000000)
BEGIN;
SELECT change();
PREPARE TRANSACTION 'p:client_id:n';
\if :n % 4 = 0
ROLLBACK PREPARED 'p:client_id:n';
\else
COMMIT PREPARED 'p:client_id:n';
\endif
SQL
my ($writers, $out);

sub start_writers
{
	my ($asynchronous) = @_;
	my $options = $asynchronous ? '-c synchronous_commit=off' : '';

	$out = '';
	$writers = IPC::Run::start([ 'env', 'PGAPPNAME=writer', "PGOPTIONS=$options", 'pgbench', '--no-vacuum', '--client=8', '--time=600',
			"--file=$dir/commit.sql\@6", "--file=$dir/rollback.sql\@1", "--file=$dir/prepare.sql\@2", $primary->connstr('postgres') ], '<', \undef, '>&', \$out);
	return;
}

# Stop the clients, and wait for their sessions, which still execute statements.
sub stop_writers
{
	return unless $writers;
	$writers->signal('TERM');
	$writers->finish;
	undef $writers;
	on($primary, q{SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'writer'});
	return;
}

# --- copies -----------------------------------------------------------------------

my (@copies, %naive);
my $last = '-infinity';

# Let the copies read from the primary and its standby.
sub connect_copies
{
	my ($standby) = @_;
	my @hosts = grep { defined } $primary, $standby;
	my $conninfo = 'host=' . join(',', map { $_->host } @hosts) . ' port=' . join(',', map { $_->port } @hosts) . ' dbname=postgres';

	@copies = (Copies->new($conninfo, 'public.item'), Copies->new($conninfo, 'public.item', $other)) unless @copies;
	$_->{source} = $conninfo foreach @copies;
	return;
}

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

# Run writers and copies for some seconds, and kill each copy at random moments.
sub run_for
{
	my ($seconds, $kills) = @_;
	my $end = time + $seconds;
	my @at = sort { $a <=> $b } map { time + rand $seconds } 1 .. $kills;

	$_->start foreach grep { !$_->{process} } @copies;
	while (time < $end || @at)
	{
		poll();
		if (@at && time > $at[0])
		{
			shift @at;
			my $copy = $copies[rand @copies];
			$copy->kill;
			$copy->start;
			$count{kills}++;
		}
		sleep 0.05;
	}
	return;
}

# Compare the copies with the table, after all transactions have finished.
sub pause
{
	my ($name) = @_;

	stop_writers();
	on($primary, rand() < 0.5 ? "COMMIT PREPARED '$_'" : "ROLLBACK PREPARED '$_'") foreach split /\n/, on($primary, 'SELECT gid FROM pg_prepared_xacts');
	my $rows = on($primary, 'SELECT id, n FROM item ORDER BY id');
	foreach my $copy (@copies)
	{
		$copy->stop;
		my $reported = $copy->run('--once');
		my $differences = differences($copy->rows('id, n', 'id'), $rows);

		$count{wrong} += () = $differences =~ /^/mg if $differences ne '';
		is($differences, '', "$name: the copy in $copy->{kind} equals the table") or diag($reported . $copy->log);
	}
	poll();
	if ($name ne 'begin')
	{
		my %rows = map { split /\|/ } split /\n/, $rows;

		$count{naive} += grep { ($naive{$_} // '') ne $rows{$_} } keys %rows;
		$count{kept} += grep { !defined $rows{$_} } keys %naive;
	}
	%naive = map { split /\|/ } split /\n/, $rows;
	$last = on($primary, q{SELECT coalesce(max(updated_at), '-infinity') FROM item});
	$count{changes} += on($primary, 'SELECT count(*) FROM item_changes');
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
	$_->stop foreach @copies;
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
	note sprintf 'run %d: %d kills, %d crashes, %d promotions; %d wrong rows in the copies; '
	  . '%d wrong rows and %d deleted rows in the copy by updated_at', $run,
	  map { $count{$_} - ($before{$_} // 0) } qw(kills crashes promotions wrong naive kept);
}
my @compared = map { $_->log =~ /compared, (.*)/g } @copies;
note "$count{pauses} pauses, $count{kills} kills, comparisons: " . join('; ', @compared);
cmp_ok(scalar(grep { !/^0 rows fetched, 0 rows/ } @compared), '>', 0, 'lost transactions had been copied');
is($count{wrong}, 0, "no row is wrong in $runs runs; by updated_at, $count{naive} rows are wrong, and $count{kept} deleted rows are kept");
$_->stop foreach $other, $primary;
done_testing();
