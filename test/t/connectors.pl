# The queries of the tools in doc/connectors.md miss no row through the views of the page while
# transactions commit late, and miss rows without the views.  After a reset, the query of the
# page tells where to set a tool back.
#
# UUID9562_CONNECTORS_SECONDS is the duration of the load.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Sessions;
use Test::More;

my $python = '/usr/bin/python3';
plan skip_all => 'Psycopg 3 is not installed' if system("$python -c 'import psycopg' 2>/dev/null") != 0;

my $node = use_server(PostgreSQL::Test::Cluster->new('connectors'));
$node->init(extra => [ '--encoding', 'UTF8' ]);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'uuid9562'\n");
$node->start;

my $page = slurp_file("$FindBin::Bin/doc/connectors.md");
my @blocks = $page =~ /^```sql\n(.*?)^```/msg;
my ($create, $back) = grep { /horizon_log/ } @blocks;
my ($job) = $create =~ /^-- the job\n(.*)/ms or die 'the page has no job';
$back =~ s/WHERE .*;/WHERE stored_at < now()/ or die 'the query has no time';
sql('CREATE EXTENSION uuid9562', grep { !/stored_at </ } @blocks);
sql('ALTER TABLE outbox ADD number bigint GENERATED ALWAYS AS IDENTITY, ADD created_at timestamptz NOT NULL DEFAULT now()',
	'CREATE INDEX ON outbox (number)', 'CREATE INDEX ON outbox (created_at)', 'SELECT uuidv7_ordered()');

# --- queries of tools -------------------------------------------------------------

my ($out, $err);
my $status = IPC::Run::run([ 'timeout', '600', $python, "$FindBin::Bin/connectors.py", $node->connstr('postgres'), $ENV{UUID9562_CONNECTORS_SECONDS} || 3 ],
	'>', \$out, '2>', \$err);
ok($status, 'the tools end without an error') or diag($err);
diag($err =~ s/\n//r);
my @lines = split /\n/, $out;
my @through_views = grep { /outbox_/ } @lines;
note($out);
is(scalar(@lines), 15, 'each tool reads the table, and all but one a view');
foreach my $line (@through_views)
{
	my ($name, $missed) = $line =~ /^(.*?): (\d+) of [1-9]/;
	is($missed, 0, "$name: no row is missed");
}
cmp_ok(scalar(grep { !/outbox_|^Singer/ && /: [1-9]\d* of / } @lines), '>', 0, 'without the views, tools without a limit miss rows');
# Airbyte counts the rows that have the cursor's value.  The horizon of a later statement can be lower
# within the same tick, and hides them again; then Airbyte asks for rows with the same value too.
is(scalar(grep { !/^Airbyte/ && / [1-9]\d* twice/ } @through_views), 0, 'no tool but Airbyte gets a row of a view twice');

# --- plans ------------------------------------------------------------------------

sql('ANALYZE outbox');
foreach my $case ([ 'outbox_settled', 'id', q{uuidv7_floor(now() - interval '1 hour')} ],
	[ 'outbox_numbered', 'ordinal', q{uuidv7_ordinal(uuidv7_floor(now() - interval '1 hour'))} ],
	[ 'outbox_timed', 'generated_at', q{now() - interval '1 hour'} ])
{
	my ($view, $cursor, $last) = @$case;
	my $plan = sql('SET enable_seqscan = off', 'SET enable_bitmapscan = off', "EXPLAIN (COSTS OFF) SELECT * FROM $view WHERE $cursor > $last ORDER BY $cursor");
	like($plan, qr/^Index Scan.*\n  Index Cond: .* < .* AND .* > /, "both bounds of $view are conditions of the index");
}

# --- after a reset ----------------------------------------------------------------

# a clock that was an hour ahead
sql('TRUNCATE horizon_log', q{SELECT uuid_generator_advance(uuidv7_at(now() + interval '1 hour'), force => true)}, q{INSERT INTO outbox (message) VALUES ('ahead')},
	$job);
my $cursor = sql(q{SELECT max(ordinal) FROM outbox_numbered});
sql('SELECT uuid_generator_reset()', q{INSERT INTO outbox (message) VALUES ('new')}, 'SELECT pg_sleep(0.01), uuidv7_ordered()');
is(sql("SELECT message FROM outbox_numbered WHERE ordinal > $cursor"), '', 'a tool misses the row after a reset');
like(sql("SELECT message FROM outbox_numbered WHERE ordinal > (SELECT ordinal FROM ($back) AS back)"),
	qr/^new$/m, 'a tool that is set back reads the row after a reset');
like(sql("SELECT message FROM outbox_timed WHERE generated_at > (SELECT generated_at FROM ($back) AS back)"),
	qr/^new$/m, 'a tool with a timestamp that is set back reads the row after a reset');
$node->stop;
done_testing();
