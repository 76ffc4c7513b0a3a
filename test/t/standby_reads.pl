# Incremental reads on a standby: a reader gets the horizon and a WAL position from the
# primary.  Then it gets rows from a standby that has replayed WAL up to that position.
#
# UUID9562_STANDBY_ROWS is the approximate number of rows that are written under load.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Sessions;
use Test::More;

my $rows = $ENV{UUID9562_STANDBY_ROWS} || 100_000;
my $primary = use_server(PostgreSQL::Test::Cluster->new('read_primary'));
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', "shared_preload_libraries = 'uuid9562'\nautovacuum = off\ncheckpoint_timeout = 1h\nmax_wal_size = 4GB\n");
$primary->start;
sql(q{
	CREATE EXTENSION uuid9562;
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), n int);
	INSERT INTO events DEFAULT VALUES});
$primary->backup('standby');
my $standby = PostgreSQL::Test::Cluster->new('read_standby');
$standby->init_from_backup($primary, 'standby', has_streaming => 1);
$standby->start;

sub on_standby { return $standby->safe_psql('postgres', $_[0]) }

sub await_replay { return $standby->poll_query_until('postgres', "SELECT pg_last_wal_replay_lsn() >= '$_[0]'") }

# Read a page by the steps of the manual.
sub read_on_standby
{
	my ($reader) = @_;
	my ($horizon, $lsn, $timeline) = split /\|/, sql('SELECT public.uuidv7_horizon(), lsn, timeline FROM public.uuid_replay_target()');

	await_replay($lsn) or die "the standby does not reach $lsn";
	my $last = $reader->{last} ||= '00000000-0000-0000-0000-000000000000';
	my @page = split /\n/, on_standby("SELECT id FROM events WHERE id > '$last' AND id < '$horizon' ORDER BY id LIMIT 20000");
	return 0 if sql('SELECT timeline FROM public.uuid_replay_target()') ne $timeline;
	push @{ $reader->{ids} }, @page;
	$reader->{last} = $page[-1] if @page;
	return scalar @page;
}

# --- under load -----------------------------------------------------------------

{
	my $reader = { table => 'events' };
	my $polls = 0;

	# overlapping transactions, a tenth of which roll back
	run_pgbench(q{
		\set wait random(0, 5)
		\set fate random(1, 10)
		BEGIN;
		INSERT INTO events (n) SELECT n FROM generate_series(1, 25) AS n;
		\sleep :wait ms
		INSERT INTO events (n) SELECT n FROM generate_series(1, 25) AS n;
		\if :fate = 1
		ROLLBACK;
		\else
		COMMIT;
		\endif
	}, 8, int($rows * 1.15 / 50 / 8), sub { read_on_standby($reader); $polls++ });
	1 while read_on_standby($reader);
	cmp_ok(scalar(@{ $reader->{ids} }), '>', $rows * 0.98, "a reader on a standby gets rows while the writers run, in $polls polls");
	is(missed_and_twice($reader, $primary), '0 missed, 0 twice', 'a reader on a standby gets each of ' . @{ $reader->{ids} } . ' rows once');
}

# --- a primary that is idle -----------------------------------------------------

sub is_reached { ok(await_replay(sql('SELECT lsn FROM public.uuid_replay_target()')), $_[0]) }
is_reached('a standby reaches the replay target of an idle primary');

# Switch to a new WAL segment.  Try again if another process has written WAL after the
# switch.  The sizes of WAL headers depend on the alignment of the machine.
my ($page_header, $segment_header) = sql('SELECT max_data_alignment FROM pg_control_init()') == 8 ? (24, 40) : (20, 36);
my $offset = 0;
for (1 .. 20)
{
	sql('INSERT INTO events DEFAULT VALUES', 'SELECT pg_switch_wal()');
	$offset = sql(q{SELECT (pg_current_wal_insert_lsn() - '0/0') % pg_size_bytes(current_setting('wal_segment_size'))});
	last if $offset eq $segment_header;
}
is($offset, $segment_header, 'after pg_switch_wal() the insert position is after the header of a segment');
is_reached('a standby reaches the replay target after pg_switch_wal() on an idle primary');

# Fill a page of WAL to its end.
sql(qq{
	DO \$\$
	DECLARE
		used bigint;
	BEGIN
		FOR overhead IN 40 .. 90 LOOP
			LOOP
				used := (pg_current_wal_insert_lsn() - '0/0') % 8192;
				EXIT WHEN used < 6000 AND used > $page_header;
				PERFORM pg_logical_emit_message(false, '', repeat('x', 1000));
			END LOOP;
			PERFORM pg_logical_emit_message(false, '', repeat('x', (8192 - used)::int - overhead));
			EXIT WHEN (pg_current_wal_insert_lsn() - '0/0') % 8192 = $page_header;
		END LOOP;
	END\$\$});
is(sql(q{SELECT (pg_current_wal_insert_lsn() - '0/0') % 8192}), $page_header, 'the insert position is after the header of a page');
is_reached('a standby reaches the replay target after a page of WAL that is full');

# --- an old snapshot on the standby ---------------------------------------------

{
	my $old = session($standby);

	in($old, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
	my $before = sql('SELECT max(id::text) FROM events');
	sql('INSERT INTO events DEFAULT VALUES');
	my ($horizon, $lsn) = split /\|/, sql('SELECT public.uuidv7_horizon(), lsn FROM public.uuid_replay_target()');
	await_replay($lsn);
	my $page = "SELECT count(*) FROM events WHERE id > '$before' AND id < '$horizon'";
	is(in($old, $page), '0', 'a snapshot from before the wait does not see a row below the horizon');
	in($old, 'COMMIT');
	is(in($old, $page), '1', 'a later statement sees all rows below the horizon');
	$old->quit;
}

# --- cost -----------------------------------------------------------------------

# Print the time of a poll.  It depends on the machine, so it is not tested.
{
	my $out = run_pgbench('SELECT public.uuidv7_horizon(), lsn, timeline FROM public.uuid_replay_target();', 1, 2000, sub { });
	my $floor = run_pgbench('SELECT nil_uuid(), lsn, timeline FROM (VALUES (NULL::pg_lsn, 1)) AS t (lsn, timeline);', 1, 2000, sub { });

	note "ms, a poll: $1" if $out =~ /latency average = ([\d.]+) ms/;
	note "ms, a query of the same shape: $1" if $floor =~ /latency average = ([\d.]+) ms/;
}
unlike(slurp_file($_->logfile), qr/TRAP|PANIC/, $_->name . ' has not crashed') foreach $primary, $standby;
$_->stop foreach $standby, $primary;
done_testing();
