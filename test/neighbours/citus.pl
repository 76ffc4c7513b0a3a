# Citus: where defaults are evaluated, "id <@ period" on the shards of tables of
# every kind, moved shards, a moved and an updated extension, and what ordered
# UUIDs mean.  A coordinator and two workers, three servers of this machine,
# each with a node id of its own: a column with the default uuidv8_node() tells
# which of them has evaluated the defaults of its row.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Neighbours;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $reason = why_not('citus', 'Citus');
plan skip_all => $reason if $reason;

# --- three servers ----------------------------------------------------------------

# Citus has to have the first of the hooks that it uses.  uuid9562 uses none of
# them, so either may be named first.
my %preload = (
	coordinator => 'citus, uuid9562',
	worker_1 => 'citus, uuid9562',
	worker_2 => 'uuid9562, citus');
my %node_id = (coordinator => 100, worker_1 => 1, worker_2 => 2);
my @names = sort keys %preload;
my @workers = qw(worker_1 worker_2);

# What the servers shall read: rows to COPY and, from PostgreSQL 18 on, the files of
# another version of the extension.
my $folder = PostgreSQL::Test::Utils::tempdir();

my %node;
foreach my $name (@names)
{
	my $node = PostgreSQL::Test::Cluster->new($name);
	my $host = $node->host;

	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf', qq{
		shared_preload_libraries = '$preload{$name}'
		max_connections = 100
		max_prepared_transactions = 50
		max_worker_processes = 32
		timezone = 'UTC'
		client_min_messages = warning
		citus.local_hostname = '$host'
		citus.node_conninfo = 'sslmode=prefer'
		citus.enable_statistics_collection = off
		citus.shard_count = 4
		columnar.chunk_group_row_limit = 1000});
	$node->append_conf('postgresql.conf', "extension_control_path = '$folder:\$system'")
	  if $node->pg_version >= 18;
	$node->start;
	ok(1, "$name starts with shared_preload_libraries = '$preload{$name}'");
	$node->safe_psql('postgres', 'CREATE EXTENSION citus');
	$node{$name} = $node;
}
my $coordinator = $node{coordinator};

sub sql { return $coordinator->safe_psql('postgres', join ";\n", @_) }

# What each of the three says, on a connection of its own: once if all agree.
sub everywhere
{
	my %said = map { $node{$_}->safe_psql('postgres', $_[0]) => 1 } @names;

	return join ' / ', sort keys %said;
}

my $citus = 'Citus ' . sql(q{SELECT extversion FROM pg_extension WHERE extname = 'citus'});
note($citus);

# Citus refuses a statement.
sub refused
{
	my ($statement, $error, $name) = @_;
	my ($status, $out, $err) = $coordinator->psql('postgres', $statement);

	like($err, $error, "$citus: $name");
}

sub add_node
{
	my ($name) = @_;

	sql(sprintf q{SELECT citus_add_node('%s', %d)}, $node{$name}->host, $node{$name}->port);
}

# --- the extension on each of them ------------------------------------------------

my $extension = q{
	SELECT extversion, extnamespace::regnamespace,
		(SELECT count(*) FROM pg_depend WHERE refobjid = pg_extension.oid AND deptype = 'e')
	FROM pg_extension WHERE extname = 'uuid9562'};

sql(sprintf q{SELECT citus_set_coordinator_host('%s', %d)}, $coordinator->host, $coordinator->port);
add_node('worker_1');

# by a role that is no superuser
sql('CREATE ROLE owner LOGIN', 'CREATE SCHEMA ids AUTHORIZATION owner', 'GRANT CREATE ON DATABASE postgres TO owner');
sql('SET ROLE owner', 'CREATE EXTENSION uuid9562 SCHEMA ids');
like(sql($extension), qr/^\d+\.\d+\|ids\|[1-9]\d+$/, 'CREATE EXTENSION on the coordinator, by a role that is no superuser');
is($node{worker_1}->safe_psql('postgres', $extension), sql($extension), 'makes it on the worker, in that schema');
sql('DROP EXTENSION uuid9562');
is($node{worker_1}->safe_psql('postgres', $extension), '', 'DROP EXTENSION drops it there');

sql('CREATE EXTENSION uuid9562');
is($node{worker_1}->safe_psql('postgres', $extension), sql($extension), 'CREATE EXTENSION makes it on the worker');
is($node{worker_2}->safe_psql('postgres', $extension), '', 'a server that is no worker yet does not have it');
add_node('worker_2');
is($node{worker_2}->safe_psql('postgres', $extension), sql($extension), 'it has it when it has been added');

# --- settings ---------------------------------------------------------------------

foreach my $name (@names)
{
	$node{$name}->safe_psql('postgres', "ALTER SYSTEM SET uuid9562.node_id = $node_id{$name}");
	$node{$name}->reload;
}
ok($coordinator->poll_query_until('postgres', q{SELECT current_setting('uuid9562.node_id') = '100'})
	  && $node{worker_1}->poll_query_until('postgres', q{SELECT current_setting('uuid9562.node_id') = '1'})
	  && $node{worker_2}->poll_query_until('postgres', q{SELECT current_setting('uuid9562.node_id') = '2'}),
	'ALTER SYSTEM sets a node id for each server');

is( sql(q{SET uuid9562.v7_method = 'counter'}, q{SELECT DISTINCT result FROM run_command_on_workers('SHOW uuid9562.v7_method')}),
	'fraction', 'SET on the coordinator is not for the workers');
sql(q{ALTER DATABASE postgres SET uuid9562.v7_method = 'counter'});
is(everywhere('SHOW uuid9562.v7_method'), 'counter', "$citus: ALTER DATABASE ... SET is for all of them");
sql(q{ALTER DATABASE postgres RESET uuid9562.v7_method});
sql(q{ALTER ROLE owner SET uuid9562.v7_method = 'random'});
is(everywhere(q{SELECT rolconfig FROM pg_roles WHERE rolname = 'owner'}), '{uuid9562.v7_method=random}', "$citus: and so is ALTER ROLE ... SET");
sql('ALTER DATABASE postgres SET uuid9562.node_id = 7');
is(everywhere('SHOW uuid9562.node_id'), '7', "$citus: so ALTER DATABASE gives them all one node id");
sql('ALTER DATABASE postgres RESET uuid9562.node_id');
is(everywhere('SHOW uuid9562.node_id'), '1 / 100 / 2', 'and without it each has its own again');

# --- tables of every kind ---------------------------------------------------------

# Days count from 100 days before now: day 100 is now.  Rows are made 50 minutes
# after each hour of these days, so that periods of whole hours from now() hold
# the same ones for as long as this test runs.
my $start = sql(q{SELECT date_trunc('second', now()) - interval '100 days'});
sub day { return sql(sprintf q{SELECT '%s'::timestamptz + %d * interval '1 day'}, $start, $_[0]) }
my %day = map { $_ => day($_) } (0, 10, 11, 20, 29, 30, 31, 60, 130, 160);

my $columns = 'tenant int, n int, made_on uuid DEFAULT public.uuidv8_node()';
sql(qq{
	CREATE TABLE event (id uuid PRIMARY KEY DEFAULT public.uuidv7(), $columns);
	SELECT create_distributed_table('event', 'id');
	CREATE TABLE by_tenant (id uuid DEFAULT public.uuidv7(), $columns, PRIMARY KEY (tenant, id));
	CREATE INDEX ON by_tenant (id);
	SELECT create_distributed_table('by_tenant', 'tenant');
	CREATE TABLE kind (id uuid PRIMARY KEY DEFAULT public.uuidv7(), $columns);
	SELECT create_reference_table('kind');
	CREATE TABLE visit (id uuid PRIMARY KEY DEFAULT public.uuidv7(), $columns) PARTITION BY RANGE (id);
	CREATE TABLE visit_old PARTITION OF visit
		FOR VALUES FROM (public.uuidv7_floor('$day{0}')) TO (public.uuidv7_floor('$day{30}'));
	SELECT create_distributed_table('visit', 'id');
	CREATE TABLE visit_mid PARTITION OF visit
		FOR VALUES FROM (public.uuidv7_floor('$day{30}')) TO (public.uuidv7_floor('$day{60}'));
	CREATE TABLE visit_new PARTITION OF visit
		FOR VALUES FROM (public.uuidv7_floor('$day{60}')) TO (public.uuidv7_floor('$day{130}'));
	CREATE TABLE source (tenant int PRIMARY KEY, n int);
	SELECT create_distributed_table('source', 'tenant');
	INSERT INTO source SELECT n, 101 - n FROM generate_series(1, 100) AS n;
	CREATE TABLE everywhere (tenant int PRIMARY KEY, n int);
	SELECT create_reference_table('everywhere');
	INSERT INTO everywhere SELECT n, n FROM generate_series(1, 100) AS n;
	CREATE TABLE plain (LIKE event INCLUDING INDEXES)});

my %shards = (event => 4, by_tenant => 4, kind => 1, visit => 4);
my @tables = sort keys %shards;
is( everywhere(q{SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relname ~ '^(event|by_tenant|kind|visit|visit_...)$'}),
	'by_tenant event kind visit visit_mid visit_new visit_old', 'the tables are everywhere');
is( everywhere(q{SELECT DISTINCT pg_get_expr(adbin, adrelid) FROM pg_attrdef JOIN pg_class ON adrelid = pg_class.oid
		WHERE relname ~ '^(event|by_tenant|kind|visit|visit_...)$' AND adnum = 1}),
	sql(q{SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'event'::regclass AND adnum = 1}),
	'with the default');

# --- where a default is evaluated -------------------------------------------------

my $file = "$folder/rows";
sql(qq{COPY (SELECT n, n FROM generate_series(1, 100) AS n) TO '$file'});

# the worker that has the row of the source
my $worker_of_source = sprintf q{CASE (SELECT nodeport FROM citus_shards WHERE table_name = 'source'::regclass
		AND shardid = get_shard_id_for_distribution_column('source', tenant)) WHEN %d THEN 1 WHEN %d THEN 2 END},
  map { $node{$_}->port } @workers;
is(sql("SELECT string_agg(DISTINCT ($worker_of_source)::text, ' ') FROM generate_series(1, 100) AS tenant"), '1 2',
	'both workers have rows of a distributed table');

my @coordinator_cases = (
	[ 'a single row', q{INSERT INTO %s (tenant, n) VALUES (1, 1)}, 1 ],
	[ 'rows of VALUES', 'INSERT INTO %s (tenant, n) VALUES ' . join(', ', map { "($_, $_)" } 1 .. 100), 100 ],
	[ 'INSERT ... SELECT of a function', q{INSERT INTO %s (tenant, n) SELECT n, n FROM generate_series(1, 100) AS n}, 100 ],
	[ 'INSERT ... SELECT of a local table', q{INSERT INTO %s (tenant, n) SELECT tenant, n FROM plain ORDER BY n}, 100 ],
	[ 'INSERT ... SELECT of a reference table', q{INSERT INTO %s (tenant, n) SELECT tenant, n FROM everywhere ORDER BY n}, 100 ],
	[ 'COPY', qq{COPY %s (tenant, n) FROM '$file'}, 100 ],
	[   'INSERT ... SELECT of a materialized CTE of a distributed table',
		q{WITH rows AS MATERIALIZED (SELECT * FROM source) INSERT INTO %s (tenant, n) SELECT tenant, n FROM rows ORDER BY n}, 100 ]);
my $select = 'INSERT INTO %s (tenant, n) SELECT tenant, n FROM source';
my @worker_cases = (
	[ 'INSERT ... SELECT of a distributed table', $select, 'repartition' ],
	[ 'INSERT ... SELECT of a distributed table with ORDER BY', "$select ORDER BY n", 'pull to coordinator' ]);

sql('INSERT INTO plain (id, tenant, n) SELECT gen_random_uuid(), n, n FROM generate_series(1, 100) AS n');
foreach my $table (@tables)
{
	foreach my $case (@coordinator_cases)
	{
		my ($what, $statement, $rows) = @$case;

		sql("TRUNCATE $table", sprintf $statement, $table);
		is( sql("SELECT string_agg(DISTINCT uuidv8_node_id(made_on)::text, ' '), count(DISTINCT id), count(DISTINCT made_on) FROM $table"),
			"100|$rows|$rows", "$table, $what: the coordinator evaluates the defaults");
		is(sql("SELECT count(*) FROM (SELECT n, lag(n) OVER (ORDER BY id) AS before FROM $table) AS pairs WHERE n <= before"),
			'0', "$table, $what: ids in row order");
	}
	foreach my $case (@worker_cases)
	{
		my ($what, $statement, $method) = @$case;

		like(sql(sprintf "EXPLAIN (COSTS OFF) $statement", $table), qr/INSERT\/SELECT method: $method/, "$citus: $table, $what: $method")
		  if $table ne 'kind';
		sql("TRUNCATE $table", sprintf $statement, $table);
		is( sql(qq{CREATE TEMPORARY TABLE made AS SELECT * FROM $table},
				qq{SELECT count(*), count(DISTINCT id), count(DISTINCT made_on), count(*) FILTER (WHERE uuidv8_node_id(made_on) IS DISTINCT FROM $worker_of_source)
					FROM made}),
			'100|100|100|0', "$table, $what: each worker evaluates the defaults for its rows, with its node id");
		isnt(sql("SELECT count(*) FROM (SELECT n, lag(n) OVER (ORDER BY id) AS before FROM $table) AS pairs WHERE n <= before"),
			'0', "$table, $what: ids are in no order of the whole");
	}
}
is(everywhere(q{SELECT count(*), md5(string_agg(id::text || made_on, ' ' ORDER BY id)) FROM kind}),
	sql(q{SELECT count(*), md5(string_agg(id::text || made_on, ' ' ORDER BY id)) FROM kind}),
	'a reference table has the same ids on each server');

# ids that are selected, and not made
sql('CREATE TABLE event_copy (LIKE event)', q{SELECT create_distributed_table('event_copy', 'id', colocate_with => 'event')});
my $push_down = 'INSERT INTO event_copy (id, tenant, n, made_on) SELECT id, tenant, n, made_on FROM event';
unlike(sql("EXPLAIN (COSTS OFF) $push_down"), qr/INSERT\/SELECT method/, 'INSERT ... SELECT with the ids is pushed down to the shards');
sql($push_down);
is(sql('SELECT count(*) FROM event JOIN event_copy USING (id, tenant, n, made_on)'), '100', 'and they stay the same');
sql('DROP TABLE event_copy');

# from a worker
foreach my $name (@workers)
{
	sql('TRUNCATE event');
	$node{$name}->safe_psql('postgres', 'INSERT INTO event (tenant, n) SELECT n, n FROM generate_series(1, 100) AS n');
	is(sql(q{SELECT string_agg(DISTINCT uuidv8_node_id(made_on)::text, ' '), count(DISTINCT id) FROM event}),
		"$node_id{$name}|100", "a statement that $name is given: $name evaluates the defaults");
}

# a setting for a transaction
is( sql('BEGIN', q{SET LOCAL citus.propagate_set_commands = 'local'}, q{SET LOCAL uuid9562.v7_method = 'counter'},
		q{SELECT DISTINCT method FROM (SELECT current_setting('uuid9562.v7_method') AS method FROM source OFFSET 0) AS methods}, 'COMMIT'),
	'counter', 'SET LOCAL is for the workers, when Citus is told to pass it on');

refused("UPDATE by_tenant SET $_", qr/functions used in UPDATE queries on distributed tables must not be VOLATILE/,
	"no UPDATE of a distributed table sets $_")
  foreach 'id = public.uuidv7_at(public.uuidv7_timestamp(id))', 'made_on = public.uuidv8_node()';

# --- a million rows ---------------------------------------------------------------

# Seven tenths of them by one session of the coordinator, which counts on from COPY
# to INSERT; the others by the workers.
sql('TRUNCATE by_tenant', qq{COPY (SELECT n % 100 + 1, n FROM generate_series(1, 400000) AS n) TO '$file'});
sql(qq{COPY by_tenant (tenant, n) FROM '$file'},
	'INSERT INTO by_tenant (tenant, n) SELECT n % 100 + 1, n FROM generate_series(400001, 699990) AS n',
	map { "INSERT INTO by_tenant (tenant, n) VALUES ($_, $_)" } 699991 .. 700000);
sql('INSERT INTO by_tenant (tenant) SELECT tenant FROM source, generate_series(1, 3000)');
is(sql('SELECT uuidv8_node_id(made_on) = 100, count(*) FROM by_tenant GROUP BY 1 ORDER BY 1'), "f|300000\nt|700000",
	'a million rows, of the coordinator and of the workers');
is(sql('CREATE TEMPORARY TABLE made AS SELECT id FROM by_tenant', 'SELECT count(*), count(DISTINCT id) FROM made'),
	'1000000|1000000', 'each id of a million is another one');
is( sql('CREATE TEMPORARY TABLE made AS SELECT id, n FROM by_tenant WHERE n IS NOT NULL',
		'SELECT count(*) FROM (SELECT n, lag(n) OVER (ORDER BY id) AS before FROM made) AS pairs WHERE n <> before + 1'),
	'0', 'those of one session of the coordinator are in the order of its rows, over its statements');

# --- the rows of a period ---------------------------------------------------------

# Twenty rows an hour, and to each hundredth a v4 id that lies beside it.
sql('TRUNCATE event, by_tenant, kind, visit, plain',
	qq{INSERT INTO plain (id, tenant, n)
		SELECT public.uuidv7_at('$start'::timestamptz + interval '50 minutes' + n / 20 * interval '1 hour' + n % 20 * interval '1 second'),
			n % 50, n
		FROM generate_series(0, 47999) AS n},
	q{INSERT INTO plain (id, tenant, n)
		SELECT overlay(id::text PLACING '4' FROM 15)::uuid, tenant, -1 - n FROM plain WHERE n % 100 = 50},
	map { ("INSERT INTO $_ (id, tenant, n) SELECT id, tenant, n FROM plain", "ANALYZE $_") } @tables);
is(sql("SELECT count(*) FROM $_"), '48480', "$_ has the rows of a plain table") foreach @tables;

# Said before each statement.
my @before;

# The ids and numbers that statements select, the last of them by a condition on
# the table; and the same of the plain table.
sub rows_of
{
	my ($node, @statements) = @_;

	return $node->safe_psql('postgres', join ";\n", @before, @statements);
}

sub same_rows
{
	my ($table, $name, $rows, @statements) = @_;
	my $got = rows_of($coordinator, map { s/\bTABLE\b/$table/gr } @statements);
	my $expected = rows_of($coordinator, map { s/\bTABLE\b/plain/gr } @statements);
	my @got = split /\n/, $got;

	ok($got eq $expected && @got == $rows, "$name: the rows of a plain table")
	  or diag(sprintf '%d rows, expected %d; %s', scalar(@got), $rows, $got eq $expected ? 'the same' : 'not the same');
}

# The plans of the last of the statements on each shard.
sub tasks
{
	my (@statements) = @_;
	my $last = pop @statements;
	my ($head, @tasks) = split /->  Task\n/,
	  sql(@before, 'SET citus.explain_all_tasks = on', @statements, "EXPLAIN (COSTS OFF) $last");

	return @tasks;
}

# Each shard searches an index between two bounds, in the shards of these tables.
sub searches_index
{
	my ($name, $shards, $tables, @statements) = @_;
	my @tasks = tasks(@statements);
	my @good = grep { /Index Cond: \(.*\bid >= .* AND \(id <= / && !/Seq Scan on (?!shift)/ } @tasks;
	my %read = map { s/_\d+$//r => 1 } map { split / /, tables_in($_) } @tasks;

	delete $read{shift};    # the periods of a join
	ok(@tasks == $shards && @good == @tasks, "$name: each shard has the index condition")
	  or diag(join "\n", scalar(@tasks) . ' tasks', @tasks);
	is(join(' ', sort keys %read), $tables, "$name: reads $tables");
}

my $now = q{tstzrange(now() - interval '75 days', now() - interval '74 days')};
my $generic = 'SET plan_cache_mode = force_generic_plan';
my $custom = 'SET plan_cache_mode = force_custom_plan';
my $query = 'SELECT id, n FROM TABLE WHERE';
my @cases = (
	[ 'a constant', 'visit_old', 480, "$query id <@ '[$day{10},$day{11})' ORDER BY id" ],
	[ 'a constant, by @>', 'visit_old', 480, "$query '[$day{10},$day{11})' @> id ORDER BY id" ],
	[ 'a constant, by uuidv7_within', 'visit_old', 480, "$query uuidv7_within(id, '[$day{10},$day{11})') ORDER BY id" ],
	[ 'a constant over two partitions', 'visit_mid visit_old', 960, "$query id <@ tstzrange('$day{29}', '$day{31}') ORDER BY id" ],
	[ 'now()', 'visit_old', 480, "$query id <@ $now ORDER BY id" ],
	[ 'now(), without an end', 'visit_new', 480, "$query id <@ tstzrange(now() - interval '1 day', NULL) ORDER BY id" ],
	[   'a parameter', 'visit_old', 480,
		"PREPARE q (tstzrange) AS $query id <@ \$1 ORDER BY id", "EXECUTE q ('[$day{10},$day{11})')" ],
	[   'parameters, in a custom plan', 'visit_old', 480,
		$custom, "PREPARE q (timestamptz, timestamptz) AS $query id <@ tstzrange(\$1, \$2) ORDER BY id", "EXECUTE q ('$day{10}', '$day{11}')" ]);
foreach my $table (@tables)
{
	foreach my $case (@cases)
	{
		my ($what, $partitions, $rows, @statements) = @$case;

		same_rows($table, "$table, $what", $rows, @statements);
		searches_index("$table, $what", $shards{$table}, $table eq 'visit' ? $partitions : $table,
			map { s/\bTABLE\b/$table/gr } @statements);
	}
	same_rows($table, "$table, a parameter that is NULL", 0, 'PREPARE q (tstzrange) AS SELECT id, n FROM TABLE WHERE id <@ $1',
		'EXECUTE q (NULL)');
	same_rows($table, "$table, NOT", 48000, "$query NOT id <@ '[$day{10},$day{11})' ORDER BY id");
	same_rows($table, "$table, all time", 48000, "$query id <@ '(,)' ORDER BY id");
}
is( scalar(grep { /Subplans Removed: 2\n/ } tasks("SELECT count(*) FROM visit WHERE id <@ $now")),
	4, 'visit, now(): each shard removes the other partitions');
my @estimates = sql('SET citus.explain_all_tasks = on', "EXPLAIN SELECT id FROM event WHERE id <@ '[$day{10},$day{20})'") =~
  /on event_\d+ .*? rows=(\d+)/g;
is(scalar(grep { $_ > 900 && $_ < 1500 } @estimates), 4, 'each shard expects some 1200 rows of ten days') or diag("@estimates");

# many executions: where Citus may take a generic plan, and where it may not
my @tenant = ("PREPARE q (int, tstzrange) AS $query tenant = \$1 AND id <@ \$2 ORDER BY id",
	map { "EXECUTE q ($_ % 7, '[$day{10},$day{20})')" } 1 .. 10);
same_rows('by_tenant', 'by_tenant, ten executions for a tenant', 960, @tenant);
is( (split /\n/, sql((map { s/\bTABLE\b/by_tenant/gr } @tenant), q{SELECT generic_plans > 0 FROM pg_prepared_statements}))[-1],
	't', 'by_tenant, ten executions for a tenant: the later ones in a generic plan');
my @forced = ($generic, $tenant[0], "EXECUTE q (3, '[$day{10},$day{20})')");
same_rows('by_tenant', 'by_tenant, a tenant, in a generic plan', 96, @forced);
searches_index('by_tenant, a tenant, in a generic plan', 1, 'by_tenant', map { s/\bTABLE\b/by_tenant/gr } @forced);
@forced = ($generic, "PREPARE q (tstzrange) AS $query id <@ \$1 ORDER BY id", "EXECUTE q ('[$day{10},$day{11})')");
same_rows('kind', 'kind, in a generic plan', 480, @forced);
searches_index('kind, in a generic plan', 1, 'kind', map { s/\bTABLE\b/kind/gr } @forced);
my @event = ("PREPARE q (tstzrange) AS $query id <@ \$1 ORDER BY id", map { "EXECUTE q ('[$day{10},$day{11})')" } 1 .. 10);
same_rows('event', 'event, ten executions', 4800, @event);
is( (split /\n/, sql((map { s/\bTABLE\b/event/gr } @event), q{SELECT generic_plans, custom_plans FROM pg_prepared_statements}))[-1],
	'0|10', "$citus: event, ten executions: over many shards each in a custom plan");
refused("$generic; PREPARE q (uuid) AS SELECT n FROM event WHERE id >= \$1; EXECUTE q ('019c1000-0000-7000-8000-000000000000')",
	qr/could not create distributed plan/, 'a generic plan over many shards cannot be forced, whatever the condition');

# --- joins, groups, and what is sent to the shards ---------------------------------

sql(qq{
	CREATE TABLE shift (name text PRIMARY KEY, period tstzrange);
	SELECT create_reference_table('shift');
	INSERT INTO shift VALUES ('early', tstzrange('$day{10}', '$day{11}')), ('late', tstzrange('$day{20}', '$day{20}'::timestamptz + interval '1 day')),
		('none', NULL);
	CREATE TABLE item (id uuid, position int, PRIMARY KEY (id, position));
	SELECT create_distributed_table('item', 'id', colocate_with => 'event');
	CREATE TABLE plain_item (LIKE item);
	INSERT INTO plain_item SELECT id, position FROM plain, generate_series(1, 2) AS position WHERE n % 3 = 0;
	INSERT INTO item TABLE plain_item;
	ANALYZE item});
foreach my $table (@tables)
{
	my $items = $table eq 'kind' || $table eq 'by_tenant' ? 'plain_item' : 'item';

	same_rows($table, "$table, a join with periods", 2,
		'SELECT name, count(*), sum(n) FROM shift JOIN TABLE ON id <@ period GROUP BY name ORDER BY name');
	searches_index("$table, a join with periods", $shards{$table}, $table eq 'visit' ? 'visit_mid visit_new visit_old' : $table,
		"SELECT name, count(*) FROM shift JOIN $table ON id <@ period GROUP BY name");
	is( sql("SELECT count(*), sum(n), sum(position) FROM $table JOIN $items USING (id) WHERE id <@ '[$day{10},$day{20})'"),
		sql("SELECT count(*), sum(n), sum(position) FROM plain JOIN plain_item USING (id) WHERE id <@ '[$day{10},$day{20})'"),
		"$table, a join by id: the rows of a plain table");
	same_rows($table, "$table, groups by time", 10,
		"SELECT date_bin('1 day', uuidv7_timestamp(id), '$day{10}') AS day, count(*), sum(n) FROM TABLE WHERE id <@ '[$day{10},$day{20})' GROUP BY day ORDER BY day");
	same_rows($table, "$table, a period of a subquery", 480,
		"$query id <@ (SELECT period FROM shift WHERE name = 'early') ORDER BY id");
	same_rows($table, "$table, in a CTE", 240,
		"WITH rows AS MATERIALIZED (SELECT id, n FROM TABLE WHERE id <@ '[$day{10},$day{11})')
			SELECT id, n FROM rows WHERE id <@ tstzrange('$day{10}', '$day{10}'::timestamptz + interval '12 hours') ORDER BY id");
	is(sql("SELECT count(*) FROM plain JOIN $table USING (id) WHERE plain.id <@ '[$day{10},$day{11})'"), '480', "$table, a join with a local table");
}

# The same periods of keys with a node id.
sql('CREATE TABLE part (id uuid PRIMARY KEY DEFAULT public.uuidv8_node() CHECK (public.uuid_is_v8(id)), n int)',
	q{SELECT create_distributed_table('part', 'id')},
	q{INSERT INTO part SELECT public.uuidv8_node_at(public.uuidv7_timestamp_micros(id), n % 3), n FROM plain WHERE public.uuid_is_v7(id)}, 'ANALYZE part');
foreach my $period ("'[$day{10},$day{11})'", $now)
{
	is(sql("SELECT string_agg(n::text, ' ' ORDER BY n) FROM part WHERE public.uuidv8_node_within(id, $period)"),
		sql("SELECT string_agg(n::text, ' ' ORDER BY n) FROM plain WHERE id <@ $period"), "part, $period: the rows of a plain table, by node id keys");
	my @tasks = tasks("SELECT n FROM part WHERE public.uuidv8_node_within(id, $period)");
	is(scalar(grep { /Index Cond: \(\(id IS NOT NULL\) AND \(id >= .* AND \(id <= / && !/Filter/ } @tasks), 4, "part, $period: each shard has the index condition alone");
}

# what now() is in
my @select = tasks("SELECT count(*) FROM event WHERE id <@ $now");
is(scalar(grep { /Index Cond: .*now\(\)/ } @select), 4, 'SELECT: each shard evaluates now() itself');
my @update = tasks("UPDATE event SET n = n WHERE id <@ $now");
is(scalar(grep { /Index Cond: .*'[0-9a-f-]{36}'/ && !/now\(\)/ } @update), 4, 'UPDATE: the coordinator evaluates now() for all');

# from a worker
foreach my $name (@workers)
{
	ok( rows_of($node{$name}, "SELECT id, n FROM $_ WHERE id <@ '[$day{10},$day{11})' ORDER BY id") eq
		  rows_of($coordinator, "SELECT id, n FROM plain WHERE id <@ '[$day{10},$day{11})' ORDER BY id"),
		"$_, asked on $name: the rows of a plain table")
	  foreach @tables;
}

# --- UPDATE and DELETE ------------------------------------------------------------

foreach my $table (@tables)
{
	my $update = "UPDATE $table SET n = -n WHERE id <@ $now";
	my $delete = "DELETE FROM $table WHERE id <@ '[$day{10},$day{11})'";

	searches_index("$table, UPDATE", $shards{$table}, $table eq 'visit' ? 'visit_old' : $table, $update);
	searches_index("$table, DELETE", $shards{$table}, $table eq 'visit' ? 'visit_old' : $table, $delete);
	sql($update, $delete);
}
sql("UPDATE plain SET n = -n WHERE id <@ $now", "DELETE FROM plain WHERE id <@ '[$day{10},$day{11})'");
is(sql('SELECT count(*), count(*) FILTER (WHERE n < 0) FROM plain'), '48000|960', 'UPDATE and DELETE of a day in a plain table');
same_rows($_, "$_, after UPDATE and DELETE of a day", 48000, 'SELECT id, n FROM TABLE ORDER BY id') foreach @tables;

# --- what stands in the table -----------------------------------------------------

# A partial index, and a constraint that spares the filter.
sql("CREATE INDEX event_of_ten_days ON event (n) WHERE id <@ '[$day{20},$day{30})'", 'ANALYZE event');
is( scalar(grep { /event_of_ten_days_\d+/ } tasks("SELECT n FROM event WHERE id <@ '[$day{20},$day{30})' AND n = 9700")),
	4, 'a partial index of a period: used on each shard');
is(sql("SELECT count(*) FROM event WHERE id <@ '[$day{20},$day{30})' AND n BETWEEN 9700 AND 9799"), '100', 'and its rows are right');
sql('DROP INDEX event_of_ten_days', 'CREATE TABLE checked (id uuid PRIMARY KEY DEFAULT public.uuidv7(), CHECK (public.uuid_is_v7(id)))',
	q{SELECT create_distributed_table('checked', 'id')}, 'INSERT INTO checked SELECT FROM generate_series(1, 10000)', 'VACUUM ANALYZE checked');
is( scalar(grep { /Index Cond: \(\(id IS NOT NULL\) AND \(id >= / && !/Filter/ } tasks(q{SELECT id FROM checked WHERE id <@ tstzrange('2020-01-01', '2020-02-01')})),
	4, 'CHECK (uuid_is_v7(id)) spares each shard the filter');
refused('INSERT INTO checked VALUES (gen_random_uuid())', qr/violates check constraint "checked_id_check/, 'and refuses a v4 id');

# --- moved shards, a moved and an updated extension --------------------------------

# Periods give the rows of a plain table, by the index, and the default makes ids.
sub all_is_well
{
	my ($when) = @_;
	my ($from, $to) = @day{ 10, 11 };

	sql("ANALYZE $_") foreach @tables;
	foreach my $table (@tables)
	{
		foreach my $case (@cases[ 0, 4, 6 ])
		{
			my ($what, $partitions, $rows, @statements) = @$case;

			# days that are still there
			s/\Q$from\E/$day{20}/g, s/\Q$to\E/$day{29}/g foreach @statements;
			same_rows($table, "$when: $table, $what", $what eq 'now()' ? 480 : 4320, @statements);
			searches_index("$when: $table, $what", $shards{$table}, $table eq 'visit' ? $partitions : $table,
				map { s/\bTABLE\b/$table/gr } @statements)
			  if $what eq 'now()';
		}
		is( sql(@before, 'BEGIN', "INSERT INTO $table (tenant, n) SELECT tenant, 1000000 + n FROM source",
				"INSERT INTO $table (tenant, n) VALUES (1, 1000000)",
				"SELECT count(DISTINCT id) FROM $table WHERE n >= 1000000 AND id <@ tstzrange(now() - interval '49 minutes', NULL)", 'ROLLBACK'),
			'101', "$when: $table, the default makes ids of now");
	}
}

# Moves a shard of the table, and those colocated with it, away from worker 1.
sub move_shard
{
	my ($table, $mode) = @_;

	sql(sprintf q{SELECT citus_move_shard_placement(min(shardid), '%s', %d, '%s', %d, shard_transfer_mode => '%s')
		FROM citus_shards WHERE table_name = '%s'::regclass AND nodeport = %2$d},
		(map { ($node{$_}->host, $node{$_}->port) } @workers), $mode, $table);
}

sub placements
{
	my ($table) = @_;
	my %name = map { $node{$_}->port => $_ } @workers;

	return join ' ', map { my ($port, $count) = split /\|/; "$name{$port}:$count" } split /\n/,
	  sql("SELECT nodeport, count(*) FROM citus_shards WHERE table_name = '$table'::regclass GROUP BY nodeport ORDER BY nodeport");
}

move_shard('event', 'force_logical');
is(placements($_), 'worker_1:1 worker_2:3', "$_: a shard moves by logical replication") foreach qw(event visit);
all_is_well('a shard moved by logical replication');

sql('ALTER EXTENSION uuid9562 SET SCHEMA ids');
like(everywhere($extension), qr/^\d+\.\d+\|ids\|[1-9]\d+$/, 'ALTER EXTENSION ... SET SCHEMA moves it everywhere');
@before = ('SET search_path = public, ids');
all_is_well('in another schema');

move_shard('by_tenant', 'block_writes');
is(placements('by_tenant'), 'worker_1:1 worker_2:3', 'by_tenant: a shard moves with writes blocked');
all_is_well('in another schema, a shard moved with writes blocked');

SKIP:
{
	skip 'a second version of the extension can be had by an extension_control_path, from PostgreSQL 18 on', 2
	  if $coordinator->pg_version < 18;

	my $sharedir = Neighbours::pg_config('sharedir') . '/extension';
	my $version = sql(q{SELECT extversion FROM pg_extension WHERE extname = 'uuid9562'});

	mkdir "$folder/extension" or die "$folder/extension: $!";
	my $control = PostgreSQL::Test::Utils::slurp_file("$sharedir/uuid9562.control");
	$control =~ s/^default_version = '.*'$/default_version = '99.0'/m or die 'no default_version';
	append_to_file("$folder/extension/uuid9562.control", $control);
	symlink $_, "$folder/extension/" . s{.*/}{}r or die "$_: $!" foreach glob "$sharedir/uuid9562--*.sql";
	append_to_file("$folder/extension/uuid9562--$version--99.0.sql",
		"CREATE FUNCTION of_the_next_version() RETURNS int LANGUAGE sql RETURN 99;\n");
	sql('ALTER EXTENSION uuid9562 UPDATE');
	like(everywhere($extension), qr/^99\.0\|ids\|[1-9]\d+$/, 'ALTER EXTENSION ... UPDATE updates it everywhere');
	is(everywhere('SELECT ids.of_the_next_version()'), '99', 'with what is new');
}
sql('ALTER EXTENSION uuid9562 SET SCHEMA public');
@before = ();
all_is_well('updated, and in its schema again');

sql("SELECT rebalance_table_shards('$_')") foreach qw(event by_tenant);
is(placements($_), 'worker_1:2 worker_2:2', "$_: rebalance_table_shards moves a shard back") foreach @tables[ 0, 1, 3 ];
all_is_well('after rebalance_table_shards');

# --- months that come and go ------------------------------------------------------

sql(qq{CREATE TABLE visit_next PARTITION OF visit
	FOR VALUES FROM (public.uuidv7_floor('$day{130}')) TO (public.uuidv7_floor('$day{160}'))});
is(sql(q{SELECT count(*) FROM citus_shards WHERE table_name = 'visit_next'::regclass}), '4', 'a new partition is distributed with its table');
sql('ALTER TABLE visit DETACH PARTITION visit_mid', 'DROP TABLE visit_mid');
is( sql("SELECT count(*) FROM visit WHERE id <@ '[$day{29},$day{31})'"), '480', 'a dropped partition is gone with its rows');
refused('ALTER TABLE visit DETACH PARTITION visit_next CONCURRENTLY', qr/CONCURRENTLY commands are currently unsupported/,
	'DETACH PARTITION has no CONCURRENTLY');
refused(q{SELECT create_time_partitions('visit', interval '1 month', now() + interval '1 year')},
	qr/type of the partition column .* must be date, timestamp or timestamptz/, 'create_time_partitions knows no uuid');

SKIP:
{
	skip 'citus_columnar is not installed', 4 if why_not('citus_columnar', 'citus_columnar');

	sql('CREATE EXTENSION citus_columnar');
	sql(q{SELECT alter_table_set_access_method('visit_old', 'columnar')});
	same_rows('visit', 'visit, a columnar partition, a constant', 4320, "$query id <@ '[$day{20},$day{29})' ORDER BY id");
	same_rows('visit', 'visit, a columnar partition, now()', 480, "$query id <@ $now ORDER BY id");
	my $explain = 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT sum(n) FROM visit WHERE id <@';
	like(sql("$explain '[$day{20},$day{29})'"), qr/Columnar Chunk Groups Removed by Filter: [1-9]/,
		'visit, a columnar partition, a constant: skips groups of rows');
	like(sql("$explain $now"), qr/Columnar Chunk Groups Removed by Filter: 0$/m,
		"$citus: in a columnar partition now() skips no groups of rows");
}

SKIP:
{
	my $partman = why_not('pg_partman', 'pg_partman');
	skip $partman, 3 if $partman;

	sql('CREATE SCHEMA partman', 'CREATE EXTENSION pg_partman SCHEMA partman');
	skip 'this pg_partman has no time encoder', 3
	  if sql(q{SELECT count(*) FROM pg_proc WHERE proname = 'create_parent' AND 'p_time_encoder' = ANY (proargnames)}) == 0;

	sql('CREATE TABLE page (id uuid PRIMARY KEY DEFAULT public.uuidv7(), n int) PARTITION BY RANGE (id)',
		q{SELECT create_distributed_table('page', 'id')},
		q{SELECT partman.create_parent('public.page', 'id', '1 month', p_premake := 2, p_start_partition := (now() - interval '3 months')::text,
			p_time_encoder := 'public.uuidv7_floor', p_time_decoder := 'public.uuidv7_timestamp_from_text')},
		'INSERT INTO page (n) SELECT n FROM generate_series(1, 100) AS n');
	is( sql(q{SELECT (SELECT count(*) FROM page), (SELECT count(*) FROM page_default),
			(SELECT count(*) = 4 * count(DISTINCT table_name) FROM citus_shards WHERE table_name::text LIKE 'page\_%')}),
		'100|0|t', 'pg_partman makes partitions of a distributed table, on all shards');
	my $made = sql(q{SELECT count(*) FROM pg_inherits WHERE inhparent = 'page'::regclass});
	sql(q{UPDATE partman.part_config SET premake = 4, infinite_time_partitions = true WHERE parent_table = 'public.page'},
		q{SELECT partman.run_maintenance()});
	my $later = sql(q{SELECT count(*) FROM pg_inherits WHERE inhparent = 'page'::regclass});
	cmp_ok($later, '>', $made, 'and more of them in time');
	sql(q{UPDATE partman.part_config SET retention = '1 month', retention_keep_table = false WHERE parent_table = 'public.page'},
		q{SELECT partman.run_maintenance()});
	is(sql(qq{SELECT count(*) < $later, (SELECT count(*) FROM page) FROM pg_inherits WHERE inhparent = 'page'::regclass}), 't|100',
		'and drops the old ones');
}

# --- ordered UUIDs ----------------------------------------------------------------

# Each server has ordered generators of its own: the values of all its sessions are
# counted there, and there only.
sql('TRUNCATE by_tenant', 'ALTER TABLE by_tenant ALTER COLUMN id SET DEFAULT public.uuidv7_ordered()',
	'ALTER TABLE by_tenant ALTER COLUMN made_on SET DEFAULT public.uuidv8_node_ordered()');
my $generated = q{SELECT generated FROM public.uuid_generator_stats() WHERE generator = 'uuidv8_node_ordered'};
my %before = map { $_ => $node{$_}->safe_psql('postgres', $generated) } @names;

sql(map { "INSERT INTO by_tenant (tenant, n) SELECT n, n FROM generate_series($_ * 100 + 1, $_ * 100 + 100) AS n" } $_) foreach 0 .. 9;
sql('INSERT INTO by_tenant (tenant) SELECT tenant FROM source, generate_series(1, 100)');
$node{worker_1}->safe_psql('postgres', 'INSERT INTO by_tenant (tenant) SELECT n FROM generate_series(1, 500) AS n');
foreach my $name (@names)
{
	my $rows = sql("SELECT count(*) FROM by_tenant WHERE uuidv8_node_id(made_on) = $node_id{$name}");

	cmp_ok($rows, '>=', 500, "$name has generated IDs");
	is($node{$name}->safe_psql('postgres', $generated) - $before{$name}, $rows, "$name has generated the IDs with its node ID, and no others");
	ok(-f $node{$name}->data_dir . '/global/9562', "$name has a high-water mark of its own");
}
is( sql('SELECT count(*) FROM (SELECT n, lag(n) OVER (ORDER BY id) AS before FROM by_tenant WHERE n IS NOT NULL) AS pairs WHERE n <> before + 1'),
	'0', 'the IDs of ten sessions of the coordinator are in their order');
is(sql('CREATE TEMPORARY TABLE made AS SELECT id, made_on FROM by_tenant', 'SELECT count(*), count(DISTINCT id), count(DISTINCT made_on) FROM made'),
	'11500|11500|11500', 'all IDs of all servers are distinct');
sql('TRUNCATE by_tenant', sprintf "$select ORDER BY n", 'by_tenant');
isnt(sql('SELECT count(*) FROM (SELECT n, lag(n) OVER (ORDER BY id) AS before FROM by_tenant) AS pairs WHERE n <= before'),
	'0', 'the workers have no order among each other');

# --- the end ----------------------------------------------------------------------

sql('DROP TABLE event, by_tenant, kind, visit, item, part, checked', 'DROP EXTENSION uuid9562 CASCADE');
is(everywhere($extension), '', 'DROP EXTENSION drops it everywhere');

$_->stop foreach values %node;
done_testing();
