# PgBouncer in transaction mode: one client's statements run in several server
# sessions, each with a generator, plans and settings of its own.
use ServerTest;
use Pooler;

my $node = new_server('pooler', "shared_preload_libraries = 'uuid9562'\ntimezone = 'UTC'\nuuid9562.node_id = 7\n");
$node->safe_psql('postgres', q{
	CREATE EXTENSION uuid9562;
	CREATE TABLE orders (n bigint GENERATED ALWAYS AS IDENTITY, id uuid PRIMARY KEY DEFAULT public.uuidv7(), pid int DEFAULT pg_backend_pid());
	CREATE TABLE visits (id uuid PRIMARY KEY);
	INSERT INTO visits SELECT public.uuidv7_at('2026-01-01'::timestamptz + n * interval '1 hour') FROM generate_series(1, 1000) AS n;
	ANALYZE visits});

my $pooler = Pooler->new($node) or plan skip_all => 'PgBouncer is not installed';
my $prepares = $pooler->prepares;
my $dir = PostgreSQL::Test::Utils::tempdir();
local @ENV{qw(PGHOST PGPORT)} = ($pooler->connection)[1, 3];

sub direct { return $node->safe_psql('postgres', join ";\n", @_) }

# Run pgbench through the pooler, with a number of clients and transactions.
sub through
{
	my ($name, $mode, $clients, $times, $script) = @_;

	append_to_file("$dir/$name.sql", $script);
	command_ok([ 'pgbench', '--no-vacuum', "--protocol=$mode", "--client=$clients", "--transactions=$times", "--file=$dir/$name.sql", 'postgres' ],
		"$name: pgbench has no error");
}

# Use prepared statements of the protocol if the pooler supports them.
my $mode = $prepares ? 'prepared' : 'extended';

through('warm', $mode, 4, 100, 'SELECT pg_sleep(0.001);');
through('insert', $mode, 1, 2000, 'INSERT INTO orders DEFAULT VALUES;');
is(direct('SELECT count(*), count(DISTINCT id) FROM orders'), '2000|2000', 'one client: all IDs are distinct');
cmp_ok(direct('SELECT count(DISTINCT pid) FROM orders'), '>', 1, 'one client: its statements ran in several sessions');
is(direct(q{SELECT count(*) FROM (SELECT pid, id, lag(id) OVER (PARTITION BY pid ORDER BY n) AS before FROM orders) AS o WHERE id <= before}),
	'0', 'uuidv7() is in order within each session of the server');

# run so often that sessions use generic plans
through('period', $mode, 2, 40, q{
	\set day random(1, 39)
	SELECT 1 / (count(*) = 24)::int FROM visits WHERE id <@ tstzrange('2026-01-01'::timestamptz + :day * interval '1 day', '2026-01-01'::timestamptz + (:day + 1) * interval '1 day');
	SELECT 1 / (public.uuidv8_node_id(public.uuidv8_node()) = 7)::int;
});

# uuidv7_ordered() orders a client's IDs, whichever session generates them.  uuidv7() does not:
# with method counter, each session starts its counter at a random value.
direct(q{ALTER SYSTEM SET uuid9562.v7_method = 'counter'}, 'SELECT pg_reload_conf()');
$node->poll_query_until('postgres', q{SELECT current_setting('uuid9562.v7_method') = 'counter'});
foreach my $case ([ 'uuidv7', 't', 'not in order' ], [ 'uuidv7_ordered', 'f', 'in order' ])
{
	my ($default, $disorder, $order) = @$case;

	direct("ALTER TABLE orders ALTER COLUMN id SET DEFAULT public.$default()", 'TRUNCATE orders RESTART IDENTITY');
	# run a statement in each session of the pool, so that each has processed the reload
	through("$default, warm", $mode, 4, 50, 'SELECT pg_sleep(0.001);');
	through("$default, insert", $mode, 1, 2000, 'INSERT INTO orders DEFAULT VALUES;');
	is(direct(q{SELECT count(*), count(DISTINCT pid) > 1, count(*) FILTER (WHERE id <= before) > 0
		FROM (SELECT pid, id, lag(id) OVER (ORDER BY n) AS before FROM orders) AS o}), "2000|t|$disorder",
		"$default() is $order across the sessions of the server");
}

$pooler->stop;
$node->stop;
done_testing();
