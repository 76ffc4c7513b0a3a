# TimescaleDB: a hypertable on the primary key keeps each ID in the chunk of its time, and
# "id <@ period" reads only the chunks of the period.
#
# Some TimescaleDB versions can partition by a uuid key itself.  Every version can
# partition by the key with the partitioning function uuidv7_timestamp.  Tests that cannot
# pass with a partitioning function are skipped.
use ServerTest;
use Neighbours;

need_extension('timescaledb', 'TimescaleDB');
my $node = new_server('timescaledb', q{
	shared_preload_libraries = 'timescaledb'
	timescaledb.telemetry_level = off
	timezone = 'UTC'
	client_min_messages = warning});

sub sql { return $node->safe_psql('postgres', join ";\n", @_) }
sub scans { return scanned($node, 'postgres', @_) }

$node->safe_psql('postgres', 'CREATE DATABASE theirs_first');
foreach my $case ([ 'postgres', 'uuid9562', 'timescaledb' ], [ 'theirs_first', 'timescaledb', 'uuid9562' ])
{
	my ($database, @extensions) = @$case;
	my ($status, $out, $err) = $node->psql($database, join ';', map { "CREATE EXTENSION $_ SCHEMA public" } @extensions);

	is($status, 0, "@extensions go into one schema") or diag($err);
}
my $theirs = 'TimescaleDB ' . sql(q{SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'});

# Return the chunks of the rows that a condition selects.
sub chunks_of
{
	my ($table, $condition) = @_;

	return join ' ', sort map { s/.*\.//r } split /\n/, sql("SELECT DISTINCT tableoid::regclass FROM $table WHERE $condition");
}

# For each kind of dimension, by key and by partitioning function, create two hypertables
# with chunks of one day.  $hours has a row for each hour of four days, and plain_* has the
# same rows.  $days has rows of now, and of 50, 100 and 150 days ago.
my %dimension = (key => '', function => q{, partition_func => 'public.uuidv7_timestamp'});
foreach my $by (sort keys %dimension)
{
	my $hours = "hours_by_$by";
	my $days = "days_by_$by";

  SKIP:
	{
		my ($status, $out, $err) = $node->psql('postgres', join ";\n", map {
			"CREATE TABLE $_ (id uuid PRIMARY KEY DEFAULT public.uuidv7(), n int); SELECT create_hypertable('$_', by_range('id', interval '1 day'$dimension{$by}))"
		} $hours, $days);

		skip "$theirs has no dimensions of type uuid: a hypertable needs partition_func => 'public.uuidv7_timestamp'", 1
		  if $by eq 'key' && $status != 0 && $err =~ /invalid type for dimension "id"/;
		is($status, 0, "by $by: a hypertable on a uuid primary key") or diag($err);
		sql(qq{
			CREATE TABLE plain_$by AS
				SELECT public.uuidv7_at('2026-01-01'::timestamptz + n * interval '1 hour') AS id, n FROM generate_series(0, 95) AS n;
			INSERT INTO $hours TABLE plain_$by;
			INSERT INTO $days SELECT public.uuidv7_at(now() - make_interval(days => n)), n FROM generate_series(0, 150, 50) AS n});
		my @day = map { chunks_of($hours, "n = $_ * 24") } 0 .. 3;
		is(chunks_of($hours, 'n BETWEEN 24 AND 47'), $day[1], "by $by: a chunk has the rows of its day");

		foreach my $case (
			[ '[2026-01-02,2026-01-03)', $day[1] ], [ '[2026-01-02,2026-01-03]', @day[ 1, 2 ] ], [ '[2026-01-03,)', @day[ 2, 3 ] ],
			[ '(,2026-01-03)', @day[ 0, 1 ] ], [ '(,)', @day ], [ '[2025-01-01,2025-02-01)' ])
		{
			my ($period, @chunks) = @$case;
			my $query = "SELECT count(*), sum(n) FROM $hours WHERE id <@ '$period'";

			is(sql($query), sql("SELECT count(*), sum(n) FROM plain_$by WHERE id <@ '$period'"), "by $by, $period: the rows of a plain table");
			is(scans($query), join(' ', sort @chunks), "by $by, $period: reads only its chunks");
		}

		my $recent = "SELECT count(*), max(n) FROM $days WHERE id <@ tstzrange(now() - interval '75 days', NULL)";
		is(sql($recent), '2|50', "by $by: the rows since 75 days ago");
	  SKIP:
		{
			skip "$theirs with a partitioning function does not exclude chunks if the period has now() or a parameter", 2
			  if $by eq 'function' && removed($node, 'postgres', $recent) == 0;
			is(scans($recent), chunks_of($days, 'n <= 50'), "by $by: a period of now() reads its chunks");
			is( scans('SET plan_cache_mode = force_generic_plan', "PREPARE q (tstzrange) AS SELECT count(*) FROM $hours WHERE id <@ \$1",
					q{EXECUTE q ('[2026-01-02,2026-01-03)')}),
				$day[1], "by $by: a generic plan reads the chunks of its parameter");
		}
		if ($by eq 'function')
		{
			is(scans("$recent AND public.uuidv7_timestamp(id) >= now() - interval '75 days'"), chunks_of($days, 'n <= 50'),
				'by function: with a second condition, on uuidv7_timestamp(id), a period of now() reads its chunks');
		}

		# no v7 has the time of one side, and the other side is not known when the query is planned
		foreach my $period (q{tstzrange(now() - interval '99 years', '1960-01-01')}, q{tstzrange('20000-01-01', now() + interval '20000 years')})
		{
			my ($status, $out, $err) = $node->psql('postgres', "SELECT count(*) FROM $hours WHERE id <@ $period");

			is("$status|$out", '0|0', "by $by: no row in $period") or diag($err);
		}

		sql("DELETE FROM $hours WHERE id <@ '[2026-01-02,2026-01-03)'");
		is(sql("SELECT count(*), count(*) FILTER (WHERE n BETWEEN 24 AND 47) FROM $hours"), '72|0', "by $by: DELETE of a day deletes its rows");
		sql("SELECT drop_chunks('$hours', older_than => '2026-01-03'::timestamptz)");
		is(sql("SELECT count(*), min(n) FROM $hours"), '48|48', "by $by: drop_chunks drops the days before a time");
		($status, $out, $err) = $node->psql('postgres', "INSERT INTO $days VALUES ('f81d4fae-7dec-4ad0-a765-00a0c91e6bf6', 0)");
		like($err, $by eq 'key' ? qr/is not a version 7 UUID/ : qr/partitioning function "public\.uuidv7_timestamp" returned NULL/,
			"by $by: a v4 id is refused");
	}
}

$node->stop;
done_testing();
