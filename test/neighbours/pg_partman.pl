# pg_partman makes, fills and drops the partitions of a table by the time in
# its primary key, with uuidv7_floor as encoder and uuidv7_timestamp_from_text
# as decoder; "id <@ period" then scans the partitions of the period.
#
# It works from the clock, so months count from this one: 0 is this month, -1
# the one before.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Neighbours;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $reason = why_not('pg_partman', 'pg_partman');
plan skip_all => $reason if $reason;

my $node = PostgreSQL::Test::Cluster->new('pg_partman');
$node->init;
$node->append_conf('postgresql.conf', "timezone = 'UTC'\nclient_min_messages = warning");
$node->start;

sub sql { return $node->safe_psql('postgres', join ";\n", @_) }

sql('CREATE SCHEMA partman', 'CREATE EXTENSION pg_partman SCHEMA partman', 'CREATE EXTENSION uuid9562');
my $partman = 'pg_partman ' . sql(q{SELECT extversion FROM pg_extension WHERE extname = 'pg_partman'});
note($partman);

if (sql(q{SELECT count(*) FROM pg_proc WHERE pronamespace = 'partman'::regnamespace
		AND proname = 'create_parent' AND 'p_time_encoder' = ANY (proargnames)}) == 0)
{
	$node->stop;
	plan skip_all => "$partman has no time encoder: partitioning by uuid needs 5.2 or later";
}

# No month ends during this test.
sql(q{SELECT pg_sleep(61) WHERE date_trunc('month', now() + interval '1 minute') <> date_trunc('month', now())});

# The beginning of month n, and the month of a partition or else its name.
sql(q{
	CREATE FUNCTION month(n int) RETURNS timestamptz STABLE LANGUAGE sql AS
		$$SELECT date_trunc('month', now()) + make_interval(months => n)$$;
	CREATE FUNCTION month_of(relation regclass) RETURNS text STABLE LANGUAGE sql AS
		$$SELECT coalesce((SELECT n::text FROM generate_series(-24, 24) AS n
			WHERE relation::text LIKE '%\_p' || to_char(public.month(n), 'YYYYMMDD')), relation::text)$$});

# The partitions of a table by their months, without the default partition.
sub months
{
	my ($table) = @_;

	return sql(qq{SELECT string_agg(month, ' ' ORDER BY month::int)
		FROM (SELECT month_of(inhrelid) AS month FROM pg_inherits WHERE inhparent = '$table'::regclass) AS months
		WHERE month <> '${table}_default'});
}

# Where the rows of a table are, by the months of their partitions.
sub placed
{
	my ($table, $condition) = @_;

	return sql(qq{SELECT string_agg(month || ':' || rows, ' ' ORDER BY month ~ '^-?\\d', month)
		FROM (SELECT month_of(tableoid) AS month, string_agg(n::text, ',' ORDER BY n) AS rows
			FROM $table WHERE $condition GROUP BY tableoid) AS placed});
}

# --- the partitions ---------------------------------------------------------------

sql('CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT public.uuidv7(), n int) PARTITION BY RANGE (id)');
is( sql(q{SELECT partman.create_parent('public.orders', 'id', '1 month', p_premake := 2,
		p_start_partition := month(-3)::text,
		p_time_encoder := 'public.uuidv7_floor', p_time_decoder := 'public.uuidv7_timestamp_from_text')}),
	't', "$partman partitions a table by the time in its ids");
is(months('orders'), '-3 -2 -1 0 1 2', 'with a partition for each month from the start to the second to come');
is( sql(q{SELECT string_agg(month_of(partition_tablename::regclass), ' ' ORDER BY child_start_time)
		FROM partman.show_partitions('public.orders'),
			partman.show_partition_info(partition_schemaname || '.' || partition_tablename, '1 month', 'public.orders') AS info
		WHERE info.child_start_time = month(month_of(partition_tablename::regclass)::int)}),
	'-3 -2 -1 0 1 2', 'and it reads the beginning of each from its bounds');

sql(q{INSERT INTO orders
	SELECT id, n FROM generate_series(-3, 2) AS n,
		unnest(ARRAY[public.uuidv7_at(month(n)), public.uuidv7_floor(month(n)), public.uuidv7_at(month(n) + interval '10 days'),
			public.uuidv7_at(month(n + 1) - interval '1 microsecond')]) AS id});
is(placed('orders', 'true'), '-1:-1,-1,-1,-1 -2:-2,-2,-2,-2 -3:-3,-3,-3,-3 0:0,0,0,0 1:1,1,1,1 2:2,2,2,2',
	'each takes the ids of its month, from the first millisecond to the last');
sql('INSERT INTO orders (n) VALUES (100)');
is(placed('orders', 'n = 100'), '0:100', 'an id of the default goes to this month');

# --- what it scans ----------------------------------------------------------------

sub scans
{
	return join ' ', sort { $a <=> $b } map { sql("SELECT month_of('$_')") } split / /, scanned($node, 'postgres', @_);
}

my ($from, $to) = split /\|/, sql('SELECT month(-2), month(-1)');
is(scans("SELECT count(*) FROM orders WHERE id <@ '[$from,$to)'"), '-2', 'a month scans its partition');
is(sql("SELECT count(*) FROM orders WHERE id <@ '[$from,$to)'"), '4', 'and finds its rows');
is( scans(q{SELECT count(*) FROM orders WHERE id <@ tstzrange(date_trunc('month', now()), date_trunc('month', now()) + interval '1 month')}),
	'0', 'a month by now() scans its partition');
is( removed($node, 'postgres',
		q{SELECT count(*) FROM orders WHERE id <@ tstzrange(date_trunc('month', now()), date_trunc('month', now()) + interval '1 month')}),
	'6', 'and removes the others');

# --- maintenance ------------------------------------------------------------------

# the rows in month 2 are the newest
sql('SELECT partman.run_maintenance()');
is(months('orders'), '-3 -2 -1 0 1 2 3 4', 'run_maintenance makes two months after the newest row');
is(placed('orders', 'n = 2'), '2:2,2,2,2', 'and leaves the rows where they are');

# an id of another version counts by the place where it stands
sql(q{INSERT INTO orders VALUES (overlay(public.uuidv7_at(month(4) + interval '10 days')::text PLACING '4' FROM 15)::uuid, 400)});
is(placed('orders', 'n = 400'), '4:400', 'a v4 id lands in a month by its octets');
sql('SELECT partman.run_maintenance()');
is(months('orders'), '-3 -2 -1 0 1 2 3 4 5 6', 'and is a row of that month to run_maintenance');
sql('DELETE FROM orders WHERE n = 400', map { 'DROP TABLE ' . sql(qq{SELECT inhrelid::regclass FROM pg_inherits
	WHERE inhparent = 'orders'::regclass AND month_of(inhrelid) = '$_'}) } 5, 6);

# --- rows from elsewhere ----------------------------------------------------------

sql(q{
	INSERT INTO orders
		SELECT public.uuidv7_at(at), n * 10 FROM generate_series(-8, -5) AS n,
			unnest(ARRAY[month(n), month(n) + interval '10 days', month(n + 1) - interval '1 microsecond']) AS at});
is( placed('orders', 'n <= -50'), 'orders_default:-80,-80,-80,-70,-70,-70,-60,-60,-60,-50,-50,-50',
	'rows of months without a partition go to the default one');

# By the means of the version: its procedure, its function, or by hand.
my ($status, $out, $err) = $node->psql('postgres', q{CALL partman.partition_data_proc('public.orders', p_wait := 0)});
my $by = 'partition_data_proc';
if ($status != 0)
{
	like($err, qr/function partman\.partition_data_uuid\(.*\) does not exist/,
		"$partman: partition_data_proc does not move rows of uuid keys, it calls a function that is not there");
	($status, $out, $err) = $node->psql('postgres', q{SELECT partman.partition_data_time('public.orders', p_batch_count := 100)});
	$by = 'partition_data_time';
}
if ($status != 0)
{
	like($err, qr/Cannot run on partition set without time based control column .* Found control: uuid/,
		"$partman: partition_data_time does not take uuid keys");
	$by = 'create_partition_time';
	foreach my $month (-8 .. -4)
	{
		sql(qq{
			BEGIN;
			CREATE TEMPORARY TABLE moved ON COMMIT DROP AS
				SELECT * FROM orders_default WHERE id <@ tstzrange(month($month), month($month + 1));
			DELETE FROM orders_default WHERE id IN (SELECT id FROM moved);
			SELECT partman.create_partition_time('public.orders', ARRAY[month($month)]);
			INSERT INTO orders TABLE moved;
			COMMIT});
	}
}
is( placed('orders', 'n <= -50'), '-5:-50,-50,-50 -6:-60,-60,-60 -7:-70,-70,-70 -8:-80,-80,-80',
	"$partman: $by moves rows of the default partition to their months");

SKIP:
{
	skip "$partman moves no rows of uuid keys out of another table: INSERT ... SELECT does, into partitions that are there", 2
	  if $by eq 'create_partition_time';
	sql(q{
		CREATE TABLE old_orders (id uuid PRIMARY KEY, n int);
		INSERT INTO old_orders
			SELECT public.uuidv7_at(month(-1) + n * interval '7 days'), 600 + n FROM generate_series(0, 3) AS n});
	if ($by eq 'partition_data_proc')
	{
		sql(q{CALL partman.partition_data_proc('public.orders', p_wait := 0, p_source_table := 'public.old_orders')});
	}
	else
	{
		sql(q{SELECT partman.partition_data_time('public.orders', p_batch_count := 100, p_source_table := 'public.old_orders')});
	}
	is(sql('SELECT count(*) FROM old_orders'), '0', "$partman: $by moves rows out of another table");
	is(placed('orders', 'n BETWEEN 600 AND 603'), '-1:600,601,602,603', 'to their month');
}

# --- gaps and retention -----------------------------------------------------------

sql('DROP TABLE ' . sql(q{SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'orders'::regclass AND month_of(inhrelid) = '-2'}));
unlike(months('orders'), qr/-2/, 'a dropped month leaves a gap');
sql(q{SELECT partman.partition_gap_fill('public.orders')});
like(months('orders'), qr/-4 -3 -2 -1 0 1 2 3 4$/, 'partition_gap_fill makes it again');

sql(q{UPDATE partman.part_config SET retention = '2 months', retention_keep_table = false WHERE parent_table = 'public.orders'});
sql('SELECT partman.run_maintenance()');
is(months('orders'), '-2 -1 0 1 2 3 4', 'retention of two months drops the months before');
is(sql(q{SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname LIKE 'orders\_p%'}), '7', 'and their tables');
is(sql('SELECT count(*) FROM orders WHERE id <@ tstzrange(NULL, month(-1))'), '0', 'with their rows');
is(sql('SELECT count(*) FROM orders WHERE n BETWEEN -1 AND 2'), '16', 'the rows of the other months stay');

# --- undone ------------------------------------------------------------------------

# The least id of month 0 is a v4 that stands there among the v7 ids.
sql(q{
	CREATE TABLE undone (id uuid PRIMARY KEY, n int) PARTITION BY RANGE (id);
	SELECT partman.create_parent('public.undone', 'id', '1 month', p_premake := 1, p_start_partition := month(-1)::text,
		p_time_encoder := 'public.uuidv7_floor', p_time_decoder := 'public.uuidv7_timestamp_from_text');
	INSERT INTO undone SELECT public.uuidv7_at(month(0) + n * interval '5 hours'), n FROM generate_series(-4, 5) AS n;
	INSERT INTO undone VALUES (overlay(public.uuidv7_at(month(0) - interval '1 day')::text PLACING '4' FROM 15)::uuid, 6);
	CREATE TABLE undone_into (id uuid PRIMARY KEY, n int)});
is(sql('SELECT count(*) FROM undone'), '11', 'eleven rows, one with a v4 key');
sql(q{SELECT partman.undo_partition('public.undone', 'public.undone_into', p_loop_count := 1000, p_keep_table := false)});
is(sql('SELECT count(*) FROM undone_into'), '11', "$partman undoes the partitions and keeps all rows");
is(sql('SELECT count(*) FROM undone'), '0', 'none of them is left behind');

# --- what it calls the encoder and the decoder with --------------------------------

# An untyped literal is text to a function of text.
sql(q{
	CREATE TABLE calls (what text, argument text);
	CREATE FUNCTION noted_floor(argument text) RETURNS uuid LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO public.calls VALUES ('encoder', argument); RETURN public.uuidv7_floor(argument::timestamptz); END$$;
	CREATE FUNCTION noted_timestamp(argument text) RETURNS timestamptz LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO public.calls VALUES ('decoder', argument); RETURN public.uuidv7_timestamp_from_text(argument); END$$;
	CREATE TABLE noted (id uuid PRIMARY KEY, n int) PARTITION BY RANGE (id);
	SELECT partman.create_parent('public.noted', 'id', '1 month', p_premake := 1,
		p_time_encoder := 'public.noted_floor', p_time_decoder := 'public.noted_timestamp');
	INSERT INTO noted VALUES (public.uuidv7_at(now()), 1);
	SELECT partman.run_maintenance('public.noted')});
is( sql(q{SELECT count(*) > 0, bool_and(argument ~ '^\d{4}-\d\d-01 00:00:00\+00$') FROM calls WHERE what = 'encoder'}),
	't|t', "$partman calls the encoder with a literal of a timestamptz");
is( sql(q{SELECT count(*) > 0, bool_and(argument ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$')
		FROM calls WHERE what = 'decoder'}),
	't|t', "$partman calls the decoder with the text of a uuid, of a bound or of a row");
is(sql('SELECT count(DISTINCT argument) FROM calls JOIN noted ON argument = id::text'), '1', 'the row is one of them');

$node->stop;
done_testing();
