# pg_partman creates, fills and drops partitions by the time in the primary key, with
# uuidv7_floor as encoder and uuidv7_timestamp_from_text as decoder.  Sets whose bounds have zeros as
# version or variant go on with these functions, and other sets with their own encoder.
#
# pg_partman uses the current time.  So the test numbers the months relative to the current
# month, which is 0.
use ServerTest;
use Neighbours;

need_extension('pg_partman', 'pg_partman');
my $node = new_server('pg_partman', "timezone = 'UTC'\nclient_min_messages = warning");

sub sql { return $node->safe_psql('postgres', join ";\n", @_) }

sql('CREATE SCHEMA partman', 'CREATE EXTENSION pg_partman SCHEMA partman', 'CREATE EXTENSION uuid9562');
my $version = sql(q{SELECT extversion FROM pg_extension WHERE extname = 'pg_partman'});
if (sql(q{SELECT count(*) FROM pg_proc WHERE pronamespace = 'partman'::regnamespace
		AND proname = 'create_parent' AND 'p_time_encoder' = ANY (proargnames)}) == 0)
{
	$node->stop;
	plan skip_all => "pg_partman $version has no time encoder: partitioning by uuid needs 5.2 or later";
}

# Wait if a month is about to end.
sql(q{SELECT pg_sleep(61) WHERE date_trunc('month', now() + interval '1 minute') <> date_trunc('month', now())});

# month(n) returns the beginning of month n.  month_of(partition) returns the number of the
# partition's month, or the name of a partition without a month.
sql(q{
	CREATE FUNCTION month(n int) RETURNS timestamptz STABLE LANGUAGE sql AS
		$$SELECT date_trunc('month', now()) + make_interval(months => n)$$;
	CREATE FUNCTION month_of(relation regclass) RETURNS text STABLE LANGUAGE sql AS
		$$SELECT coalesce((SELECT n::text FROM generate_series(-24, 24) AS n
			WHERE relation::text LIKE '%\_p' || to_char(public.month(n), 'YYYYMMDD')), relation::text)$$});

# Return the months that have a partition.
sub months
{
	return sql(q{SELECT string_agg(month, ' ' ORDER BY month::int)
		FROM (SELECT month_of(inhrelid) AS month FROM pg_inherits WHERE inhparent = 'orders'::regclass) AS months
		WHERE month <> 'orders_default'});
}

# Return the months of the partitions with rows that match a condition, and column n of
# these rows.
sub placed
{
	my ($condition) = @_;

	return sql(qq{SELECT string_agg(month || ':' || rows, ' ' ORDER BY month ~ '^-?\\d', month)
		FROM (SELECT month_of(tableoid) AS month, string_agg(n::text, ',' ORDER BY n) AS rows FROM orders WHERE $condition GROUP BY tableoid) AS placed});
}

sql('CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT public.uuidv7(), n int) PARTITION BY RANGE (id)',
	q{SELECT partman.create_parent('public.orders', 'id', '1 month', p_premake := 2, p_start_partition := month(-3)::text,
		p_time_encoder := 'public.uuidv7_floor', p_time_decoder := 'public.uuidv7_timestamp_from_text')});
is(months(), '-3 -2 -1 0 1 2', 'create_parent creates a partition for each month');
sql(q{INSERT INTO orders
	SELECT id, n FROM generate_series(-3, 2) AS n,
		unnest(ARRAY[public.uuidv7_floor(month(n)), public.uuidv7_at(month(n + 1) - interval '1 microsecond')]) AS id});
is(placed('true'), '-1:-1,-1 -2:-2,-2 -3:-3,-3 0:0,0 1:1,1 2:2,2', 'a partition takes the ids of its month, from the first millisecond to the last');
my ($from, $to) = split /\|/, sql('SELECT month(-2), month(-1)');
is(sql(sprintf q{SELECT month_of('%s')}, scanned($node, 'postgres', "SELECT count(*) FROM orders WHERE id <@ '[$from,$to)'")), '-2',
	'a query for a month scans its partition');

sql('SELECT partman.run_maintenance()');
is(months(), '-3 -2 -1 0 1 2 3 4', 'run_maintenance creates the partitions of two months after the newest row');
sql(q{INSERT INTO orders VALUES (overlay(public.uuidv7_at(month(4) + interval '10 days')::text PLACING '4' FROM 15)::uuid, 400)},
	'SELECT partman.run_maintenance()');
is(months(), '-3 -2 -1 0 1 2 3 4 5 6', 'run_maintenance treats a v4 id as a row of the month in which its bytes sort');
sql('DELETE FROM orders WHERE n = 400');

sql(q{INSERT INTO orders SELECT public.uuidv7_at(month(n)), n FROM generate_series(-6, -5) AS n});
is(placed('n <= -5'), 'orders_default:-6,-5', 'rows of months without a partition go to the default one');
SKIP:
{
	my ($status, $out, $err) = $node->psql('postgres', q{BEGIN; LOCK TABLE ONLY orders IN ACCESS EXCLUSIVE MODE; SELECT partman.partition_data_time('public.orders', p_batch_count := 100); COMMIT});

	skip "partition_data_time of pg_partman $version does not take uuid keys", 1
	  if $status != 0 && $err =~ /Cannot run on partition set without time based control column .* Found control: uuid/;
	is(placed('n <= -5'), '-5:-5 -6:-6', 'partition_data_time moves rows of the default partition to their months') or diag($err);
}

sql(q{UPDATE partman.part_config SET retention = '2 months', retention_keep_table = false WHERE parent_table = 'public.orders'},
	'SELECT partman.run_maintenance()');
is(months(), '-2 -1 0 1 2 3 4 5 6', 'a retention of two months drops the partitions before');
is(placed('n BETWEEN -4 AND 2'), '-1:-1,-1 -2:-2,-2 0:0,0 1:1,1 2:2,2', 'the rows of the other months stay');

# --- bounds of other encoders ---------------------------------------------------------

# pg_partman's own encoder writes zeros as version and variant.  Others write the version alone, or a
# greater variant.
sql(q{CREATE FUNCTION public.version_only(timestamptz) RETURNS uuid STABLE LANGUAGE sql AS
	$$SELECT overlay(partman.uuid7_time_encoder($1)::text PLACING '7' FROM 15)::uuid$$});
sql(q{CREATE FUNCTION public.greater(timestamptz) RETURNS uuid STABLE LANGUAGE sql AS
	$$SELECT overlay(overlay(partman.uuid7_time_encoder($1)::text PLACING '7' FROM 15) PLACING 'c' FROM 20)::uuid$$});
my %bound = ('public.greater' => '-7000-c000-000000000000', 'partman.uuid7_time_encoder' => '-0000-0000-000000000000', 'public.version_only' => '-7000-0000-000000000000');

# Return the warnings and errors of statements.
sub complaints { my ($status, $out, $err) = $node->psql('postgres', join ";\n", @_); return $err }

# Create a set with an encoder and pg_partman's decoder, and set other functions.
sub set_of
{
	my ($table, $encoder, @then) = @_;

	sql("CREATE TABLE $table (id uuid PRIMARY KEY, n int) PARTITION BY RANGE (id)",
		qq{SELECT partman.create_parent('public.$table', 'id', '1 month', p_premake := 2, p_start_partition := month(0)::text,
			p_time_encoder := '$encoder', p_time_decoder := 'partman.uuid7_time_decoder')},
		qq{UPDATE partman.part_config SET time_encoder = '$then[0]', time_decoder = '$then[1]' WHERE parent_table = 'public.$table'});
	return;
}
sub months_of
{
	my ($table) = @_;

	return sql(qq{SELECT string_agg(month, ' ' ORDER BY month::int)
		FROM (SELECT month_of(inhrelid) AS month FROM pg_inherits WHERE inhparent = '$table'::regclass) AS months WHERE month <> '${table}_default'});
}

foreach my $encoder (sort keys %bound)
{
	my ($bound, $table) = ($bound{$encoder}, $encoder =~ s/^.*\.//r);

	set_of($table, $encoder, 'public.uuidv7_floor', 'public.uuidv7_timestamp_from_text');
	is(sql(qq{SELECT count(*) FROM pg_class WHERE pg_get_expr(relpartbound, oid) LIKE '%$bound'') TO%' AND relispartition AND relname LIKE '${table}_p%' AND relkind = 'r'}), '3',
		"$encoder: the bounds of the set are its own");
	if ($bound gt '-7000-8')
	{
		sql("INSERT INTO $table SELECT public.uuidv7_at(month(n) + interval '1 day'), n FROM generate_series(0, 2) AS n");
		like(complaints('SELECT partman.run_maintenance()'), qr/partition "${table}_p\d+" would overlap partition "${table}_p\d+"/, "$encoder: a month after these bounds needs their encoder");
		sql("DELETE FROM partman.part_config WHERE parent_table = 'public.$table'");
	}
	else
	{
		my $complaints = '';
		foreach my $month (0 .. 8)
		{
			sql("INSERT INTO $table SELECT id, $month FROM unnest(ARRAY[public.uuidv7_floor(month($month)), public.uuidv7_at(month($month + 1) - interval '1 microsecond')]) AS id");
			$complaints .= complaints('SELECT partman.run_maintenance()');
		}
		is($complaints, '', "$encoder: the maintenance creates months without a complaint");
		is(months_of($table), '0 1 2 3 4 5 6 7 8 9 10', "$encoder: each month has a partition");
		is(sql("SELECT count(*), count(*) FILTER (WHERE month_of(tableoid) = n::text), count(*) FILTER (WHERE tableoid::regclass::text = '${table}_default') FROM $table"), '18|18|0',
			"$encoder: the rows of eight months are in the partitions of their months, and none in the default one");
		like(complaints("SELECT partman.create_partition_time('public.$table', ARRAY[month(-1)])"), qr/partition "${table}_p\d+" would overlap partition "${table}_p\d+"/,
			"$encoder: a month before these bounds needs their encoder");
	}

	my $kept = "${table}_kept";
	set_of($kept, $encoder, $encoder, 'public.uuidv7_timestamp_from_text');
	is(complaints("SELECT partman.create_partition_time('public.$kept', ARRAY[month(-1)])", "INSERT INTO $kept VALUES (public.uuidv7_at(month(2) + interval '1 day'), 2)",
			'SELECT partman.run_maintenance()'), '', "$encoder: with it, an earlier and a later month are created without a complaint");
	is(months_of($kept), '-1 0 1 2 3 4', "$encoder: and have a partition");
	sql("INSERT INTO $kept SELECT public.uuidv7_at(month(n) + interval '1 day'), n FROM generate_series(-1, 4) AS n");
	is(sql("SELECT count(*), count(*) FILTER (WHERE month_of(tableoid) = n::text) FROM $kept"), '7|7', "$encoder: and take the rows of their months");
	# above those of uuidv7_floor, the bounds leave the first IDs of a month in the partition before
	next if $bound gt '-7000-8';
	my ($begin, $end) = split /\|/, sql('SELECT month(1), month(2)');
	is(sql(sprintf q{SELECT month_of('%s')}, scanned($node, 'postgres', "SELECT count(*) FROM $kept WHERE id <@ '[$begin,$end)'")), '1',
		"$encoder: a query for a month scans its partition");
}

$node->stop;
done_testing();
