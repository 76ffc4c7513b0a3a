# A CHECK constraint on the version removes the version filter of an index scan only if no
# snapshot of the transaction is older than the constraint.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Sessions;
use Test::More;

my $node = use_server(PostgreSQL::Test::Cluster->new('new_check'));
$node->init;
$node->append_conf('postgresql.conf', "max_prepared_transactions = 1\nautovacuum = off\n");
$node->start;
sql(q{
	CREATE EXTENSION uuid9562;
	CREATE TABLE events (id uuid PRIMARY KEY, n int);
	CREATE TABLE parts (id uuid, n int) PARTITION BY RANGE (id);
	CREATE TABLE part PARTITION OF parts DEFAULT;
	CREATE INDEX ON parts (id);
	CREATE TABLE parent (id uuid, n int);
	CREATE TABLE child () INHERITS (parent);
	CREATE INDEX ON parent (id);
	CREATE INDEX ON child (id)});

# the period contains the time of the v7, and the v4 is between the bounds of the period
my $period = "'[2026-01-01,2026-01-02)'";
my $v7 = '019b7711-9680-7000-8000-000000000001';
my $v4 = '019b7711-9680-4000-8000-000000000002';

# Return whether the plan of a query has the version filter.
sub has_filter { my ($session, $query) = @_; return in($session, "EXPLAIN $query") =~ /uuid_is_v7/ ? 1 : 0 }

# Wait until each transaction in progress has begun after the constraint was added or validated.
sub wait_for_old_check
{
	$node->poll_query_until('postgres', q{
		SELECT bool_and(age(xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::xid)) FROM pg_constraint WHERE conname = 'v7'})
		or die 'the constraint does not become old';
}

sub scans { return ("SET enable_seqscan = $_[0]", 'SET enable_bitmapscan = off', 'SET max_parallel_workers_per_gather = 0') }

# Delete the v4 that fill() has stored, and add or validate the constraint.
sub make_check
{
	my ($table, $leaf, $how) = @_;

	sql("DELETE FROM $table WHERE id = '$v4'");
	sql($how eq 'ADD' ? "ALTER TABLE $table ADD CONSTRAINT v7 CHECK (public.uuid_is_v7(id))" : "ALTER TABLE $table VALIDATE CONSTRAINT v7");
}

sub fill
{
	my ($table, $leaf, $how) = @_;

	sql("ALTER TABLE $table DROP CONSTRAINT IF EXISTS v7", "DELETE FROM $table", "INSERT INTO $leaf VALUES ('$v7', 1), ('$v4', 2)", "ANALYZE $leaf");
	sql("ALTER TABLE $table ADD CONSTRAINT v7 CHECK (public.uuid_is_v7(id)) NOT VALID") if $how eq 'VALIDATE';
}

foreach my $table ([ 'events', 'events' ], [ 'parts', 'part' ], [ 'parent', 'child' ])
{
	foreach my $how ('ADD', 'VALIDATE')
	{
		foreach my $seqscan ('on', 'off')
		{
			my ($name, $leaf) = @$table;
			my $case = "$how, $name, enable_seqscan = $seqscan";
			my $query = "SELECT count(*), min(n) FROM $name WHERE id <@ $period";
			my $reader = session();

			fill($name, $leaf, $how);
			in($reader, scans($seqscan), 'SET plan_cache_mode = force_generic_plan', "PREPARE q AS $query", 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
			make_check($name, $leaf, $how);
			is(in($reader, $query), '1|1', "$case: a snapshot that is older than the constraint finds only the v7");
			is(in($reader, 'EXECUTE q'), '1|1', "$case: a prepared statement with the older snapshot finds only the v7");
			is(in($reader, "SELECT count(*) FROM $name"), '2', "$case: the snapshot sees the deleted v4");
			in($reader, 'COMMIT');
			wait_for_old_check();
			is(has_filter($reader, $query), $seqscan eq 'on' ? 1 : 0, "$case: an older constraint removes the filter of an index scan");
			is(has_filter($reader, 'EXECUTE q'), $seqscan eq 'on' ? 1 : 0, "$case: the prepared statement gets a new plan");
			is(in($reader, 'EXECUTE q'), '1|1', "$case: the prepared statement without the filter finds the v7");
			leave($reader);
		}
	}
}

# --- snapshots of other sessions ------------------------------------------------

# the plan was made with a later snapshot than the one that the transaction imports
{
	my ($exporter, $reader) = (session(), session());
	my $query = "SELECT count(*) FROM events WHERE id <@ $period";

	fill('events', 'events', 'ADD');
	my $snapshot = in($exporter, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT pg_export_snapshot()');
	make_check('events', 'events', 'ADD');
	in($reader, scans('off'), 'SET plan_cache_mode = force_generic_plan', "PREPARE q AS $query");
	is(has_filter($reader, 'EXECUTE q'), 0, 'a snapshot that is older than the constraint does not affect the plans of other sessions');
	in($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ', "SET TRANSACTION SNAPSHOT '$snapshot'");
	is(in($reader, 'EXECUTE q'), '1', 'a cached plan is made again if the transaction imports an older snapshot');
	in($reader, 'COMMIT');
	leave($exporter, $reader);
}

# a temporary table: GlobalVisCheckRemovableXid() ignores snapshots of other sessions for it
{
	my ($exporter, $reader) = (session(), session());

	in($reader, 'CREATE TEMP TABLE own (id uuid)',
		"INSERT INTO own VALUES ('0198c0de-0000-4000-8000-000000000001'), ('0198c0de-0000-7000-8000-000000000002')", 'CREATE INDEX ON own (id)');
	my $snapshot = in($exporter, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT pg_export_snapshot()');
	in($reader, 'DELETE FROM own WHERE NOT public.uuid_is_v7(id)', 'ALTER TABLE own ADD CHECK (public.uuid_is_v7(id))', 'SELECT pg_current_xact_id()',
		'SET enable_seqscan = off', 'SET enable_bitmapscan = off', 'PREPARE q AS SELECT id FROM own WHERE public.uuid_is_v7(id)', 'EXPLAIN EXECUTE q');
	in($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ', "SET TRANSACTION SNAPSHOT '$snapshot'");
	is(in($reader, 'EXECUTE q'), '0198c0de-0000-7000-8000-000000000002', 'a cached plan of a temporary table is made again if the transaction imports an older snapshot');
	in($reader, 'COMMIT');
	leave($exporter, $reader);
}

# a cursor, and a function that is planned while the cursor is open
{
	my $reader = session();

	fill('events', 'events', 'VALIDATE');
	sql("CREATE FUNCTION found() RETURNS bigint STABLE LANGUAGE plpgsql AS \$\$BEGIN RETURN (SELECT count(*) FROM events WHERE id <@ $period); END\$\$");
	in($reader, scans('off'), 'SET plan_cache_mode = force_generic_plan', 'BEGIN', 'DECLARE c CURSOR FOR SELECT found() FROM generate_series(1, 3)');
	make_check('events', 'events', 'VALIDATE');
	is(in($reader, 'SELECT found()'), '1', 'a later statement finds only the v7');
	is(in($reader, 'FETCH 1 FROM c'), '1', 'a function that a cursor with an older snapshot calls finds only the v7');
	in($reader, 'COMMIT');
	leave($reader);
}

# the transaction that adds the constraint, and then is prepared
{
	my ($writer, $reader) = (session(), session());
	my $query = "SELECT count(*) FROM events WHERE id <@ $period";

	fill('events', 'events', 'ADD');
	in($writer, scans('off'), 'BEGIN', "DELETE FROM events WHERE id = '$v4'", 'ALTER TABLE events ADD CONSTRAINT v7 CHECK (public.uuid_is_v7(id))');
	is(in($writer, $query), '1', 'the transaction that adds the constraint finds the v7');
	in($reader, scans('off'), 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1');
	in($writer, q{PREPARE TRANSACTION 'check'}, q{COMMIT PREPARED 'check'});
	is(in($reader, $query), '1', 'a snapshot that is older than a prepared transaction finds only the v7');
	in($reader, 'COMMIT');
	leave($writer, $reader);
}

done_testing();
