# TimescaleDB: a hypertable on the primary key keeps each id in the chunk of
# its time, and "id <@ period" reads the chunks of the period.
#
# A version that knows uuid dimensions takes the key as it is.  Every version
# takes it with uuidv7_timestamp as the partitioning function; what that does
# not give is skipped by name.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Neighbours;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $reason = why_not('timescaledb', 'TimescaleDB');
plan skip_all => $reason if $reason;

my $node = PostgreSQL::Test::Cluster->new('timescaledb');
$node->init;
$node->append_conf('postgresql.conf', q{
	shared_preload_libraries = 'timescaledb'
	timescaledb.telemetry_level = off
	timezone = 'UTC'
	client_min_messages = warning});
$node->start;

# --- side by side -----------------------------------------------------------------

my %order = (ours_first => [qw(uuid9562 timescaledb)], theirs_first => [qw(timescaledb uuid9562)]);
foreach my $database (sort keys %order)
{
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	foreach my $extension (@{ $order{$database} })
	{
		my ($status, $out, $err) = $node->psql($database, "CREATE EXTENSION $extension SCHEMA public");
		is($status, 0, "$database: $extension goes into public") or diag($err);
	}
}

my $version = $node->safe_psql('ours_first', q{SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'});
my $theirs = "TimescaleDB $version";
note($theirs);

# --- hypertables ------------------------------------------------------------------

# Four days by the hour in chunks of a day, and the same rows in a plain table;
# then a row now and one 50, 100 and 150 days ago.
my %dimension = (
	key => q{by_range('id', interval '1 day')},
	function => q{by_range('id', interval '1 day', partition_func => 'public.uuidv7_timestamp')});

# the chunks of the rows that the condition selects
sub chunks_of
{
	my ($database, $table, $condition) = @_;

	return join ' ', sort map { s/.*\.//r } split /\n/,
	  $node->safe_psql($database, "SELECT DISTINCT tableoid::regclass FROM $table WHERE $condition");
}

foreach my $database (sort keys %order)
{
	my $sql = sub { return $node->safe_psql($database, join ";\n", @_) };

	foreach my $by (sort keys %dimension)
	{
		my $what = "$database, by " . ($by eq 'key' ? 'the key itself' : 'uuidv7_timestamp of the key');
		my $hours = "hours_by_$by";
		my $days = "days_by_$by";

		$sql->(map { "CREATE TABLE $_ (id uuid PRIMARY KEY DEFAULT public.uuidv7(), n int)" } $hours, $days, "plain_$by");
	  SKIP:
		{
			my ($status, $out, $err) = $node->psql($database,
				join ";\n", map { "SELECT create_hypertable('$_', $dimension{$by})" } $hours, $days);

			if ($by eq 'key' && $status != 0 && $err =~ /invalid type for dimension "id"/)
			{
				skip "$theirs has no dimensions of type uuid: a hypertable needs partition_func => 'public.uuidv7_timestamp'", 1;
			}
			is($status, 0, "$what: a hypertable on a uuid primary key") or diag($err);

			$sql->(qq{
				INSERT INTO plain_$by
					SELECT public.uuidv7_at('2026-01-01'::timestamptz + n * interval '1 hour'), n FROM generate_series(0, 95) AS n;
				INSERT INTO $hours TABLE plain_$by;
				INSERT INTO $days
					SELECT public.uuidv7_at(now() - make_interval(days => n)), n FROM generate_series(0, 150, 50) AS n});

			# where rows are
			is($sql->("SELECT count(*) FROM show_chunks('$hours')"), '4', "$what: four days make four chunks");
			is( $sql->("SELECT string_agg(rows, ', ' ORDER BY rows) FROM (
						SELECT lpad(min(n)::text, 2, '0') || '-' || max(n) AS rows FROM $hours GROUP BY tableoid) AS chunks"),
				'00-23, 24-47, 48-71, 72-95', "$what: each with the rows of its day");

			# the same rows as in a plain table
			foreach my $period ('[2026-01-02,2026-01-03)', '[2026-01-02,2026-01-03]', '(2026-01-02,2026-01-03)',
				'[2026-01-01 12:00,2026-01-03 12:00)', '[2026-01-03,)', '(,2026-01-03]', '(,)', '[2025-01-01,2025-02-01)',
				'empty', '(,1960-01-01)', '[11000-01-01,)')
			{
				my ($status, $out, $err) = $node->psql($database, "SELECT count(*), sum(n) FROM $hours WHERE id <@ '$period'");

				is($err || $out, $sql->("SELECT count(*), sum(n) FROM plain_$by WHERE id <@ '$period'"),
					"$what: the rows of a plain table in $period");
			}

			# which chunks are read
			my @day = map { chunks_of($database, $hours, "n = $_ * 24") } 0 .. 3;
			foreach my $case (
				[ '[2026-01-02,2026-01-03)', $day[1], 'a day' ],
				[ '[2026-01-02,2026-01-03]', join(' ', sort @day[ 1, 2 ]), 'a day and the next millisecond' ],
				[ '[2026-01-02 05:00,2026-01-02 06:00)', $day[1], 'an hour' ],
				[ '[2026-01-03,)', join(' ', sort @day[ 2, 3 ]), 'a period without an end' ],
				[ '(,2026-01-03)', join(' ', sort @day[ 0, 1 ]), 'a period without a beginning' ],
				[ '[2025-01-01,2025-02-01)', '', 'a period without rows' ])
			{
				my ($period, $chunks, $name) = @$case;

				is(scanned($node, $database, "SELECT count(*) FROM $hours WHERE id <@ '$period'"), $chunks,
					"$what: $name reads its chunks only, $period");
			}

			# with now(), and with a parameter
			my $recent = 'id <@ tstzrange(now() - interval \'75 days\', NULL)';
			my $before = 'id <@ tstzrange(now() - interval \'125 days\', now() - interval \'25 days\')';
			is($sql->("SELECT count(*), max(n) FROM $days WHERE $recent"), '2|50', "$what: the rows since 75 days ago");
			is($sql->("SELECT count(*), max(n) FROM $days WHERE $before"), '2|100', "$what: the rows of a hundred days");
			my %expected = ($recent => chunks_of($database, $days, 'n <= 50'), $before => chunks_of($database, $days, 'n IN (50, 100)'));
		  SKIP:
			{
				if ($by eq 'function' && removed($node, $database, "SELECT count(*) FROM $days WHERE $recent") == 0)
				{
					skip "$theirs does not exclude chunks of a partitioning function by id <@ a period of now() or of a parameter", 6;
				}
				is(scanned($node, $database, "SELECT count(*) FROM $days WHERE $_"), $expected{$_}, "$what: reads the chunks of $_")
				  foreach $recent, $before;
				is(removed($node, $database, "SELECT count(*) FROM $days WHERE $_"), 2, "$what: excludes the others at the start of $_")
				  foreach $recent, $before;

				my @generic = ('SET plan_cache_mode = force_generic_plan',
					"PREPARE q (tstzrange) AS SELECT count(*) FROM $hours WHERE id <@ \$1", q{EXECUTE q ('[2026-01-02,2026-01-03)')});
				is(scanned($node, $database, @generic), $day[1], "$what: generic plan, a day as parameter: reads its chunk");
				is($sql->(@generic), '24', "$what: generic plan, a day as parameter: its rows");
			}

			# with now(), by the expression that the chunks are made of
			if ($by eq 'function')
			{
				my $also = q{public.uuidv7_timestamp(id) >= now() - interval '75 days'};

				is(scanned($node, $database, "SELECT count(*) FROM $days WHERE $recent AND $also"), $expected{$recent},
					"$what: a condition on uuidv7_timestamp(id) beside it excludes the chunks before");
				is($sql->("SELECT count(*), max(n) FROM $days WHERE $recent AND $also"), '2|50', "$what: and the rows are the same");
			}

			# UPDATE and DELETE
			my $second = q{id <@ '[2026-01-02,2026-01-03)'};
			my $delete = scanned($node, $database, "DELETE FROM $hours WHERE $second");
		  SKIP:
			{
				skip "$theirs does not exclude chunks of a partitioning function from UPDATE and DELETE", 2
				  if $by eq 'function' && $delete eq join ' ', sort @day;
				is($delete, $day[1], "$what: DELETE of a day reads its chunk");
				is(scanned($node, $database, "UPDATE $hours SET n = -n WHERE $second"), $day[1], "$what: UPDATE of a day reads its chunk");
			}
			$sql->("UPDATE $hours SET n = -n WHERE $second");
			is($sql->("SELECT min(n), max(n), count(*) FROM $hours WHERE n < 0"), '-47|-24|24', "$what: UPDATE of a day changes its rows");
			$sql->("DELETE FROM $hours WHERE $second");
			is($sql->("SELECT count(*), count(*) FILTER (WHERE $second) FROM $hours"), '72|0', "$what: DELETE of a day deletes its rows");

			# retention
			is(join(' ', map { s/.*\.//r } split /\n/, $sql->("SELECT drop_chunks('$hours', older_than => '2026-01-03'::timestamptz) ORDER BY 1")),
				join(' ', sort @day[ 0, 1 ]), "$what: drop_chunks drops the days before a time");
			is($sql->("SELECT count(*), min(n) FROM $hours"), '48|48', "$what: and the days after stay");
			$sql->("SELECT drop_chunks('$days', older_than => interval '75 days')");
			is($sql->("SELECT string_agg(n::text, ' ' ORDER BY n) FROM $days"), '0 50', "$what: drop_chunks drops what is older than 75 days");

			# ids of the default, and others
			$sql->("INSERT INTO $days (n) SELECT n FROM generate_series(1001, 1100) AS n");
			is( $sql->("SELECT count(*) FROM (SELECT n, lag(n) OVER (ORDER BY id) AS before FROM $days WHERE n > 1000) AS rows WHERE n = before + 1"),
				'99', "$what: ids of the default are in row order");
			is($sql->("SELECT count(*) FROM $days WHERE id <@ tstzrange(now() - interval '1 hour', NULL) AND n > 1000"), '100',
				"$what: and of the last hour");
			($status, $out, $err) = $node->psql($database, "INSERT INTO $days VALUES ('f81d4fae-7dec-4ad0-a765-00a0c91e6bf6', 0)");
			like($err, $by eq 'key' ? qr/is not a version 7 UUID/ : qr/partitioning function "public\.uuidv7_timestamp" returned NULL/,
				"$what: a v4 id is refused");
		}
	}
}

$node->stop;
done_testing();
