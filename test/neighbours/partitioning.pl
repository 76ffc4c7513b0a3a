# Partitioning by the time in the primary key: each v7 is in the partition of its month,
# and "id <@ period" scans only the partitions of the period.
use ServerTest;
use Neighbours;

my $node = new_server('partitioning', "timezone = 'UTC'");

sub sql { return $node->safe_psql('postgres', join ";\n", @_) }
sub scans { return scanned($node, 'postgres', @_) }
sub removes { return removed($node, 'postgres', @_) }

sql(q{
	CREATE EXTENSION uuid9562;
	CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT public.uuidv7(), n int) PARTITION BY RANGE (id);
	CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM (public.uuidv7_floor('2026-01-01')) TO (public.uuidv7_floor('2026-02-01'));
	CREATE TABLE orders_2 PARTITION OF orders FOR VALUES FROM (public.uuidv7_floor('2026-02-01')) TO (public.uuidv7_floor('2026-03-01'));
	CREATE TABLE orders_3 PARTITION OF orders FOR VALUES FROM (public.uuidv7_floor('2026-03-01')) TO (public.uuidv7_floor('2026-04-01'));
	CREATE TABLE orders_other PARTITION OF orders DEFAULT});

foreach my $case (
	[ q{public.uuidv7_at('2025-12-31 23:59:59.999999')}, 'orders_other', 'the last microsecond before the first month' ],
	[ q{public.uuidv7_at('2026-01-01 00:00:00')}, 'orders_1', 'the first microsecond of a month' ],
	[ q{public.uuidv7_at('2026-01-31 23:59:59.999999')}, 'orders_1', 'the last microsecond of a month' ],
	[ q{public.uuidv7_floor('2026-02-01')}, 'orders_2', 'the smallest id of a month' ],
	[ q{public.uuidv7_ceil('2026-01-31 23:59:59.999')}, 'orders_1', 'the greatest id of a month' ],
	[ q{'019c1000-0000-4000-8000-000000000000'}, 'orders_1', 'a v4 id whose bytes are in a month' ],
	[ q{'019b76da-a800-4fff-8fff-ffffffffffff'}, 'orders_other', 'a v4 id in the first millisecond of a month' ])
{
	my ($id, $partition, $name) = @$case;

	is(sql('BEGIN', "INSERT INTO orders VALUES ($id, 0) RETURNING tableoid::regclass", 'ROLLBACK'), $partition, "$name goes to $partition");
}

# an ID for every 7 hours, from before the first month to after the last, and two v4
sql(q{
	INSERT INTO orders SELECT public.uuidv7_at('2025-12-20'::timestamptz + n * interval '7 hours'), n FROM generate_series(1, 400) AS n;
	INSERT INTO orders VALUES ('019c1000-0000-4000-8000-000000000000', 0), ('f81d4fae-7dec-4ad0-a765-00a0c91e6bf6', 0);
	ANALYZE orders});
is( sql(q{SELECT count(*), count(*) FILTER (WHERE (SELECT count(*) FROM orders WHERE id <@ tstzrange(month, month + interval '1 month')) <>
			(SELECT count(*) FROM orders WHERE date_trunc('month', public.uuidv7_timestamp(id)) = month))
		FROM generate_series('2025-11-01'::timestamptz, '2026-05-01', interval '1 month') AS month}),
	'7|0', 'a query for each month finds the rows with its timestamps');
is(sql(q{SELECT count(*) FROM orders WHERE id <@ '(,)'}), '400', 'a v4 id is never within');

# partitions are pruned during planning
foreach my $case (
	[ q{id <@ '[2026-02-01,2026-03-01)'}, 'orders_2', 'a month' ],
	[ q{'[2026-02-01,2026-03-01)' @> id}, 'orders_2', 'a month, by @>' ],
	[ q{public.uuidv7_within(id, '[2026-02-01,2026-03-01)')}, 'orders_2', 'a month, by uuidv7_within' ],
	[ q{id <@ tstzrange('2026-02-01', '2026-03-01', '[]')}, 'orders_2 orders_3', 'a month and the next millisecond' ],
	[ q{id <@ '(,2026-01-15)'}, 'orders_1 orders_other', 'a period without a lower bound' ],
	[ q{public.uuidv7_timestamp(id) >= '2026-02-01'}, 'orders_1 orders_2 orders_3 orders_other', 'a condition on the timestamp' ])
{
	my ($condition, $partitions, $name) = @$case;

	is(scans("SELECT count(*) FROM orders WHERE $condition"), $partitions, "$name scans $partitions");
}
is(scans(q{UPDATE orders SET n = -n WHERE id <@ '[2026-02-01,2026-03-01)'}), 'orders_2', 'UPDATE of a month scans its partition');
is(scans(q{DELETE FROM orders WHERE id <@ '[2026-02-01,2026-03-01)'}), 'orders_2', 'DELETE of a month scans its partition');

# partitions are pruned during execution, if the period is a parameter
foreach my $case (
	[ 'tstzrange', '$1', q{'[2026-01-20,2026-02-10)'}, 'orders_1 orders_2', 72 ],
	[ 'timestamptz, interval', 'tstzrange($1, $1 + $2)', q{'2026-02-01', '1 month'}, 'orders_2', 96 ])
{
	my ($types, $period, $values, $partitions, $rows) = @$case;
	my @statements = ('SET plan_cache_mode = force_generic_plan',
		"PREPARE q ($types) AS SELECT count(*) FROM orders WHERE id <@ $period", "EXECUTE q ($values)");

	is(scans(@statements), $partitions, "generic plan, $period: scans $partitions");
	is(removes(@statements), 4 - split(/ /, $partitions), "generic plan, $period: removes the other partitions");
	is(sql(@statements), $rows, "generic plan, $period: $rows rows");
}

# partitions are pruned during execution, if the period is from a row of another table
my $plan = sql('SET enable_seqscan = off', 'SET enable_bitmapscan = off', q{
	EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
	SELECT (SELECT count(*) FROM orders WHERE id <@ period)
	FROM (VALUES (tstzrange('2026-01-01', '2026-02-01')), (tstzrange('2026-03-01', '2026-04-01'))) AS periods (period)});
is(join(' ', map { /on (orders_\w+).*\(actual/ ? $1 : () } split /\n/, $plan), 'orders_1 orders_3',
	'each row of another table scans the partition of its own period')
  or diag($plan);

# partitions are pruned during execution, if the period has now()
sql(q{
	BEGIN;
	CREATE TABLE events (id uuid PRIMARY KEY, days int) PARTITION BY RANGE (id);
	CREATE TABLE events_old PARTITION OF events FOR VALUES FROM (public.uuidv7_floor(now() - interval '90 days')) TO (public.uuidv7_floor(now() - interval '30 days'));
	CREATE TABLE events_new PARTITION OF events FOR VALUES FROM (public.uuidv7_floor(now() - interval '30 days')) TO (public.uuidv7_floor(now() + interval '30 days'));
	CREATE TABLE events_other PARTITION OF events DEFAULT;
	INSERT INTO events SELECT public.uuidv7_at(now() - make_interval(days => days)), days FROM generate_series(1, 99, 2) AS days;
	COMMIT});
foreach my $case (
	[ q{tstzrange(now() - interval '10 days', now())}, 5, 'events_new', 2 ],
	[ q{tstzrange(now() - interval '50 days', NULL)}, 25, 'events_new events_old events_other', 0 ])
{
	my ($period, $rows, $partitions, $removed) = @$case;
	my $query = "SELECT count(*) FROM events WHERE id <@ $period";

	is(scans($query), $partitions, "$period: scans $partitions");
	is(removes($query), $removed, "$period: removes $removed partitions");
	is(sql($query), $rows, "$period: $rows rows");
}

$node->stop;
done_testing();
