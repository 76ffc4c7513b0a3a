# A table partitioned by the time in its primary key: each id goes to the
# partition of its month, "id <@ period" scans only the partitions of the
# period, and dropping a month drops its rows.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Neighbours;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('partitioning');
$node->init;
$node->append_conf('postgresql.conf', "timezone = 'UTC'");
$node->start;

sub sql { return $node->safe_psql('postgres', join ";\n", @_) }
sub scans { return scanned($node, 'postgres', @_) }
sub removes { return removed($node, 'postgres', @_) }

sql(q{
	CREATE EXTENSION uuid9562;
	CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT public.uuidv7(), n int) PARTITION BY RANGE (id);
	CREATE TABLE orders_1 PARTITION OF orders
		FOR VALUES FROM (public.uuidv7_floor('2026-01-01')) TO (public.uuidv7_floor('2026-02-01'));
	CREATE TABLE orders_2 PARTITION OF orders
		FOR VALUES FROM (public.uuidv7_floor('2026-02-01')) TO (public.uuidv7_floor('2026-03-01'));
	CREATE TABLE orders_3 PARTITION OF orders
		FOR VALUES FROM (public.uuidv7_floor('2026-03-01')) TO (public.uuidv7_floor('2026-04-01'));
	CREATE TABLE orders_4 PARTITION OF orders
		FOR VALUES FROM (public.uuidv7_floor('2026-04-01')) TO (public.uuidv7_floor('2026-05-01'));
	CREATE TABLE orders_other PARTITION OF orders DEFAULT});

# --- where ids go -------------------------------------------------------------

# the partition of an id, which is then gone again
sub partition_of
{
	my ($id) = @_;

	return sql('BEGIN', "INSERT INTO orders VALUES ($id, 0) RETURNING tableoid::regclass", 'ROLLBACK');
}

foreach my $case (
	[ q{'2025-12-31 23:59:59.999999'}, 'orders_other', 'the last microsecond before the first month' ],
	[ q{'2026-01-01 00:00:00'}, 'orders_1', 'the first microsecond of January' ],
	[ q{'2026-01-01 00:00:00.000999'}, 'orders_1', 'the end of the first millisecond of January' ],
	[ q{'2026-01-31 23:59:59.999'}, 'orders_1', 'the last millisecond of January' ],
	[ q{'2026-01-31 23:59:59.999999'}, 'orders_1', 'the last microsecond of January' ],
	[ q{'2026-02-01 00:00:00'}, 'orders_2', 'the first microsecond of February' ],
	[ q{'2026-02-28 23:59:59.999999'}, 'orders_2', 'the last microsecond of February' ],
	[ q{'2026-04-30 23:59:59.999999'}, 'orders_4', 'the last microsecond of April' ],
	[ q{'2026-05-01 00:00:00'}, 'orders_other', 'the first microsecond after the last month' ])
{
	my ($time, $partition, $name) = @$case;

	is(partition_of("public.uuidv7_at($time)"), $partition, "$name goes to $partition");
}
is(partition_of(q{public.uuidv7_floor('2026-02-01')}), 'orders_2', 'the least id of a month goes to it');
is(partition_of(q{public.uuidv7_ceil('2026-01-31 23:59:59.999')}), 'orders_1', 'and so does the greatest');
is(partition_of(q{'019c1000-0000-4000-8000-000000000000'}), 'orders_1', 'a v4 id goes where its octets say');
is(partition_of(q{'019b76da-a800-4fff-8fff-ffffffffffff'}), 'orders_other',
	'in the first millisecond of a month a v4 id sorts before it');
is(partition_of(q{'f81d4fae-7dec-4ad0-a765-00a0c91e6bf6'}), 'orders_other', 'a v4 id at random is in no month');

# every 7 hours from before the first month to after the last, and two v4 ids
sql(q{
	INSERT INTO orders
		SELECT public.uuidv7_at('2025-12-20'::timestamptz + n * interval '7 hours'), n FROM generate_series(1, 490) AS n;
	INSERT INTO orders VALUES
		('019c1000-0000-4000-8000-000000000000', 0), ('f81d4fae-7dec-4ad0-a765-00a0c91e6bf6', 0);
	ANALYZE orders});
is( sql(q{SELECT string_agg(name || ' ' || count, ', ' ORDER BY name)
		FROM (SELECT tableoid::regclass::text AS name, count(*) FROM orders GROUP BY tableoid) AS partitions}),
	'orders_1 107, orders_2 96, orders_3 106, orders_4 103, orders_other 80',
	'rows in order of time fill one month after the other');

# --- the same rows as by their times --------------------------------------------

is( sql(q{SELECT string_agg((SELECT count(*) FROM orders WHERE id <@ tstzrange(month, month + interval '1 month'))::text, ' ' ORDER BY month)
		FROM generate_series('2025-11-01'::timestamptz, '2026-06-01', interval '1 month') AS month}),
	'0 41 106 96 106 103 38 0', 'the months hold the rows of their times');
is( sql(q{SELECT count(*) FROM generate_series('2025-11-01'::timestamptz, '2026-06-01', interval '1 month') AS month
		WHERE (SELECT count(*) FROM orders WHERE id <@ tstzrange(month, month + interval '1 month')) <>
			(SELECT count(*) FROM orders WHERE date_trunc('month', public.uuidv7_timestamp(id)) = month)}),
	'0', 'as many as by their timestamps');
is(sql(q{SELECT count(*) FROM orders WHERE id <@ '(,)'}), '490', 'a v4 id is never within');

# --- what is scanned --------------------------------------------------------------

# when planning
my $all = 'orders_1 orders_2 orders_3 orders_4 orders_other';
foreach my $case (
	[ q{id <@ '[2026-02-01,2026-03-01)'}, 'orders_2', 'a month' ],
	[ q{'[2026-02-01,2026-03-01)' @> id}, 'orders_2', 'a month, by @>' ],
	[ q{public.uuidv7_within(id, '[2026-02-01,2026-03-01)')}, 'orders_2', 'a month, by uuidv7_within' ],
	[ q{id <@ tstzrange('2026-02-01', '2026-03-01', '[]')}, 'orders_2 orders_3', 'a month and the next millisecond' ],
	[ q{id <@ tstzrange('2026-02-10', '2026-02-10 00:00:01')}, 'orders_2', 'a second' ],
	[ q{id <@ '[2026-01-20,2026-03-10)'}, 'orders_1 orders_2 orders_3', 'a period over three months' ],
	[ q{id <@ '[2026-04-20,)'}, 'orders_4 orders_other', 'a period without an end' ],
	[ q{id <@ '(,2026-01-15)'}, 'orders_1 orders_other', 'a period without a beginning' ],
	[ q{id <@ '[2030-01-01,2031-01-01)'}, 'orders_other', 'a period outside the months' ],
	[ q{id <@ '(,)'}, $all, 'all time' ],
	[ q{public.uuidv7_timestamp(id) >= '2026-02-01'}, $all, 'a condition on the timestamp' ])
{
	my ($condition, $partitions, $name) = @$case;
	my $what = $partitions eq $all ? 'every partition' : $partitions;

	is(scans("SELECT count(*) FROM orders WHERE $condition"), $partitions, "$name scans $what");
}
unlike(scans(q{SELECT count(*) FROM orders WHERE id <@ 'empty'}), qr/orders_\d/, 'an empty period scans no month');

# when executing: a parameter
foreach my $case (
	[ 'tstzrange', '$1', q{'[2026-02-01,2026-03-01)'}, 'orders_2', 96, 'a period' ],
	[ 'tstzrange', '$1', q{'[2026-01-20,2026-03-10)'}, 'orders_1 orders_2 orders_3', 168, 'a period over three months' ],
	[ 'timestamptz, timestamptz', 'tstzrange($1, $2)', q{'2026-03-01', '2026-04-01'}, 'orders_3', 106, 'both ends' ],
	[ 'timestamptz, interval', 'tstzrange($1, $1 + $2)', q{'2026-04-01', '1 month'}, 'orders_4', 103, 'a beginning and a length' ])
{
	my ($types, $period, $values, $partitions, $rows, $name) = @$case;
	my @statements = ('SET plan_cache_mode = force_generic_plan',
		"PREPARE q ($types) AS SELECT count(*) FROM orders WHERE id <@ $period", "EXECUTE q ($values)");

	is(scans(@statements), $partitions, "generic plan, $name as parameter: scans $partitions");
	is(removes(@statements), 5 - split(/ /, $partitions), "generic plan, $name as parameter: removes the others");
	is(sql(@statements), $rows, "generic plan, $name as parameter: $rows rows");
}
is( sql('SET plan_cache_mode = force_generic_plan',
		'PREPARE q (tstzrange) AS SELECT count(*) FROM orders WHERE id <@ $1', 'EXECUTE q (NULL)'),
	'0', 'generic plan: no row is within NULL');

# when executing: a period of each row of another table
my $plan = sql('SET enable_seqscan = off', 'SET enable_bitmapscan = off', q{
	EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
	SELECT (SELECT count(*) FROM orders WHERE id <@ period)
	FROM (VALUES (tstzrange('2026-02-01', '2026-03-01')), (tstzrange('2026-04-01', '2026-05-01'))) AS periods (period)});
is( join(' ', map { /on (orders_\w+).*\(actual/ ? $1 : () } split /\n/, $plan),
	'orders_2 orders_4', 'each row of another table scans the partition of its own period')
  or diag($plan);

# when executing: now()
sql(q{
	BEGIN;
	CREATE TABLE events (id uuid PRIMARY KEY, days int) PARTITION BY RANGE (id);
	CREATE TABLE events_old PARTITION OF events
		FOR VALUES FROM (public.uuidv7_floor(now() - interval '90 days')) TO (public.uuidv7_floor(now() - interval '60 days'));
	CREATE TABLE events_mid PARTITION OF events
		FOR VALUES FROM (public.uuidv7_floor(now() - interval '60 days')) TO (public.uuidv7_floor(now() - interval '30 days'));
	CREATE TABLE events_new PARTITION OF events
		FOR VALUES FROM (public.uuidv7_floor(now() - interval '30 days')) TO (public.uuidv7_floor(now() + interval '30 days'));
	CREATE TABLE events_other PARTITION OF events DEFAULT;
	INSERT INTO events
		SELECT public.uuidv7_at(now() - make_interval(days => days)), days FROM generate_series(1, 99, 2) AS days;
	COMMIT});
foreach my $case (
	[ q{tstzrange(now() - interval '10 days', NULL)}, 5, 'events_new events_other', 2, 'the last ten days and after' ],
	[ q{tstzrange(now() - interval '10 days', now())}, 5, 'events_new', 3, 'the last ten days' ],
	[ q{tstzrange(now() - interval '50 days', now() - interval '40 days')}, 5, 'events_mid', 3, 'ten days before' ],
	[ q{tstzrange(now() - interval '70 days', now() - interval '40 days')}, 15, 'events_mid events_old', 2, 'a month before' ])
{
	my ($period, $rows, $partitions, $removed, $name) = @$case;
	my $query = "FROM events WHERE id <@ $period";

	is(scans("SELECT count(*) $query"), $partitions, "now(), $name: scans $partitions");
	is(removes("SELECT count(*) $query"), $removed, "now(), $name: removes the other $removed");
	is(sql("SELECT count(*) $query"), $rows, "now(), $name: $rows rows");
}

# --- UPDATE and DELETE ------------------------------------------------------------

my $february = q{id <@ '[2026-02-01,2026-03-01)'};
is(scans("UPDATE orders SET n = -n WHERE $february"), 'orders_2', 'UPDATE of a month scans the month');
is(scans("DELETE FROM orders WHERE $february"), 'orders_2', 'DELETE of a month scans the month');
is( scans(q{UPDATE events SET days = 0 WHERE id <@ tstzrange(now() - interval '10 days', now())}),
	'events_new', 'UPDATE of the last ten days scans their partition');
is( scans(q{DELETE FROM events WHERE id <@ tstzrange(now() - interval '50 days', now() - interval '40 days')}),
	'events_mid', 'DELETE of ten days scans their partition');
sql("UPDATE orders SET n = -n WHERE $february");
is( sql(q{SELECT count(*), bool_and(date_trunc('month', public.uuidv7_timestamp(id)) = '2026-02-01') FROM orders WHERE n < 0}),
	'96|t', 'UPDATE of a month changes its rows and no other');
sql(q{DELETE FROM orders WHERE id <@ '[2026-02-01,2026-02-15)'});
is( sql(q{SELECT count(*), count(*) FILTER (WHERE public.uuidv7_timestamp(id) < '2026-02-15') FROM orders_2}),
	'48|0', 'DELETE of half a month deletes its rows and no other');

# --- retention --------------------------------------------------------------------

sql('ALTER TABLE orders DETACH PARTITION orders_1');
is(sql('SELECT count(*) FROM orders'), 492 - 107 - 48, 'without a detached month its rows are gone from the table');
is(scans(q{SELECT count(*) FROM orders WHERE id <@ '[2026-01-01,2026-02-01)'}), 'orders_other',
	'and a query for it scans no month');
is(sql(q{SELECT count(*) FROM orders_1 WHERE id <@ '[2026-01-01,2026-02-01)'}), '106', 'the detached month still has them');
sql('DROP TABLE orders_1');
is(sql(q{SELECT count(*) FROM orders WHERE id <@ '[2026-01-01,2026-04-01)'}), 48 + 106, 'the other months stay');

$node->stop;
done_testing();
