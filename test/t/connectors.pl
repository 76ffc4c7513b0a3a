# The page doc/connectors.md: its views have indexes for the queries of tools, a tool that polls the copy of
# a tracked table gets updates and deletes, also after a reset of the reader, and after a reset of the
# generator, the query of the page tells where to set a tool back.
#
# test/harness polls the views under load.
use ServerTest;
use Sessions;

my $node = use_server(new_server('connectors', "shared_preload_libraries = 'uuid9562'\n"));

my $page = slurp_file("$FindBin::Bin/doc/connectors.md");
my @blocks = $page =~ /^```sql\n(.*?)^```/msg;
my ($create, $back) = grep { /horizon_log/ } @blocks;
my ($copy_changes) = grep { /changes_read/ } @blocks or die 'the page has no job that copies changes';
my ($job) = $create =~ /^-- the job\n(.*)/ms or die 'the page has no job';
$back =~ s/WHERE .*;/WHERE stored_at < now()/ or die 'the query has no time';
sql('CREATE EXTENSION uuid9562', grep { !/stored_at </ } @blocks);
sql('SELECT uuidv7_ordered()', q{INSERT INTO outbox (message) SELECT 'row' FROM generate_series(1, 1000)});

# --- plans ------------------------------------------------------------------------

sql('ANALYZE outbox');
foreach my $case ([ 'outbox_settled', 'id', q{uuidv7_floor(now() - interval '1 hour')} ],
	[ 'outbox_numbered', 'ordinal', q{uuidv7_ordinal(uuidv7_floor(now() - interval '1 hour'))} ])
{
	my ($view, $cursor, $last) = @$case;
	my $plan = sql('SET enable_seqscan = off', 'SET enable_bitmapscan = off', "EXPLAIN (COSTS OFF) SELECT * FROM $view WHERE $cursor > $last ORDER BY $cursor");
	like($plan, qr/^Index Scan.*\n  Index Cond: .* < .* AND .* > /, "both bounds of $view are conditions of the index");
}

# --- updates and deletes ----------------------------------------------------------

# The tool: it stores the rows above its cursor, and deletes those that are marked as deleted.
sql('CREATE TABLE target (id bigint PRIMARY KEY, name text)', 'CREATE TABLE cursor (last bigint)', 'INSERT INTO cursor VALUES (0)');

sub poll
{
	sql(q{
		CREATE TEMPORARY TABLE page AS SELECT * FROM customer_numbered WHERE ordinal > (SELECT last FROM cursor);
		UPDATE cursor SET last = coalesce((SELECT max(ordinal) FROM page), last);
		DELETE FROM target USING page WHERE target.id = page.id;
		INSERT INTO target SELECT id, name FROM page WHERE NOT is_deleted});
	return sql(q{SELECT string_agg(id || ' ' || name, ', ' ORDER BY id) FROM target});
}

sub job { my $err = refusal($copy_changes); is($err, '', "the job has no error: $_[0]"); return }

sql(q{INSERT INTO customer VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cid')});
job('rows that were there before the reader');
is(poll(), '1 Ann, 2 Bob, 3 Cid', 'the tool gets the rows of the table');
job('nothing has changed');
sql(q{UPDATE customer SET name = 'Anna' WHERE id = 1}, 'DELETE FROM customer WHERE id = 2', q{INSERT INTO customer VALUES (4, 'Dan')});
job('changes');
is(poll(), '1 Anna, 3 Cid, 4 Dan', 'the tool gets an update, a delete and an insert');
{
	my ($writer, $job) = (session(), session());

	in($writer, 'BEGIN', q{UPDATE customer SET name = 'Cindy' WHERE id = 3});
	in($job, 'BEGIN', $copy_changes);
	sql(q{INSERT INTO customer VALUES (2, 'Ben')});
	in($job, 'COMMIT');
	job('a transaction is in progress');
	is(poll(), '1 Anna, 2 Ben, 3 Cid, 4 Dan', 'the tool gets a key that was deleted before');
	in($writer, 'COMMIT');
	in($job, 'BEGIN', $copy_changes);
	sql(q{UPDATE customer SET name = 'Bea' WHERE id = 2});
	is(poll(), '1 Anna, 2 Ben, 3 Cid, 4 Dan', 'the tool does not get rows of a job that is in progress');
	in($job, 'COMMIT');
	job('two jobs');
	is(poll(), '1 Anna, 2 Bea, 3 Cindy, 4 Dan', 'the tool gets the row of a transaction that committed late');
	leave($writer, $job);
}
sql(q{INSERT INTO customer SELECT n, 'many' FROM generate_series(5, 2500) AS n});
job('more than a page');
is(sql('SELECT count(*) FROM customer_numbered'), 2500, 'one run of the job copies all pages');
sql('TRUNCATE customer', q{INSERT INTO customer VALUES (1, 'Anna'), (5, 'Eve')}, 'ALTER TABLE customer ADD note text');
job('a reset');
is(poll(), '1 Anna, 5 Eve', 'the tool gets the rows that were deleted before a reset, and all others');
sql('DELETE FROM customer WHERE id = 5');
job('a delete after the reset');
is(poll(), '1 Anna', 'the tool gets a delete after the reset');

# --- after a reset of the generator -----------------------------------------------

# a clock that was an hour ahead
sql('TRUNCATE horizon_log', q{SELECT uuid_generator_advance(uuidv7_at(now() + interval '1 hour'), force => true)}, q{INSERT INTO outbox (message) VALUES ('ahead')},
	$job);
my $cursor = sql(q{SELECT max(ordinal) FROM outbox_numbered});
sql('SELECT uuid_generator_reset()', q{INSERT INTO outbox (message) VALUES ('new')});
is(sql("SELECT message FROM outbox_numbered WHERE ordinal > $cursor"), '', 'a tool misses the row after a reset');
like(sql("SELECT message FROM outbox_numbered WHERE ordinal > (SELECT ordinal FROM ($back) AS back)"),
	qr/^new$/m, 'a tool that is set back reads the row after a reset');
$node->stop;
done_testing();
