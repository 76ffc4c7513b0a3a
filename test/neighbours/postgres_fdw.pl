# postgres_fdw: with the server option "extensions 'uuid9562'", the foreign server receives
# the bounds of a period, and returns only the rows of the period.
use ServerTest;
use Neighbours;

need_extension('postgres_fdw', 'postgres_fdw');
my $node = new_server('postgres_fdw', "timezone = 'UTC'");

my $connection = sprintf(q{host '%s', port '%d', dbname 'postgres'}, $node->host, $node->port);
$node->safe_psql('postgres', qq{
	CREATE EXTENSION uuid9562;
	CREATE EXTENSION postgres_fdw;
	CREATE TABLE orders (id uuid PRIMARY KEY, n int);
	INSERT INTO orders SELECT public.uuidv7_at('2026-01-01'::timestamptz + n * interval '1 hour'), n FROM generate_series(0, 999) AS n;
	INSERT INTO orders VALUES ('019ba700-0000-4000-8000-000000000000', -1);
	CREATE SERVER there FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($connection, extensions 'uuid9562');
	CREATE USER MAPPING FOR PUBLIC SERVER there;
	CREATE FOREIGN TABLE far (id uuid, n int) SERVER there OPTIONS (table_name 'orders');
	CREATE TABLE shift (period tstzrange, starts timestamptz, ends timestamptz);
	INSERT INTO shift VALUES ('[2026-01-10,2026-01-11)', '2026-01-10', '2026-01-11'), (NULL, '2026-02-11 10:00', NULL)});

# Run statements.  Check the remote SQL, the local filter and the result of the last one.
sub ships
{
	my ($name, $expected, $rows, @statements) = @_;
	my $last = pop @statements;
	my $plan = $node->safe_psql('postgres', join ";\n", @statements, "EXPLAIN (VERBOSE, COSTS OFF) $last");

	like(join("\n", $plan =~ /Remote SQL: (.*)/g), $expected, "$name: the remote statement has the bounds");
	unlike($plan, qr/Filter:/, "$name: the plan has no local filter");
	is($node->safe_psql('postgres', join ";\n", @statements, $last), $rows, "$name: the result is right");
}

my $each = '\$\d::[a-z ]+';
ships('a constant period', qr/id >= '019ba533-.*id <= '019baa5a-/, '24', q{SELECT count(*) FROM far WHERE id <@ '[2026-01-10,2026-01-11)'});
ships('a generic plan', qr/id >= public\.uuidv7_lower_bound\($each, true\).*id <= public\.uuidv7_upper_bound\($each, false\)/, '24',
	'SET plan_cache_mode = force_generic_plan', 'PREPARE q (timestamptz, timestamptz) AS SELECT count(*) FROM far WHERE id <@ tstzrange($1, $2)',
	q{EXECUTE q ('2026-01-10', '2026-01-11')});
ships('a generic plan without an end', qr/id >= public\.uuidv7_lower_bound\($each, true\).*id <= public\.uuidv7_upper_bound\($each, true\)/, '2',
	'SET plan_cache_mode = force_generic_plan', 'PREPARE q (timestamptz, timestamptz) AS SELECT count(*) FROM far WHERE id <@ tstzrange($1, $2, $$[]$$)',
	q{EXECUTE q ('2026-02-11 14:00', NULL)});
ships('a generic plan with a period', qr/id >= public\.uuidv7_lower_bound\($each\).*id <= public\.uuidv7_upper_bound\($each\)/, '24',
	'SET plan_cache_mode = force_generic_plan', 'PREPARE q (tstzrange) AS SELECT count(*) FROM far WHERE id <@ $1', q{EXECUTE q ('[2026-01-10,2026-01-11)')});

# postgres_fdw can send a GROUP BY to the foreign server.  PostgreSQL finds the grouped
# condition in the select list by comparing expression trees.  So the condition must stay the
# same expression in the select list and in GROUP BY.
is( $node->safe_psql('postgres', q{SELECT NOT id <@ '[2026-01-10,2026-01-11)', count(*) FROM far GROUP BY id <@ '[2026-01-10,2026-01-11)' ORDER BY 1}),
	"f|24\nt|977", 'a query groups by a condition');

is( $node->safe_psql('postgres', q{SELECT count(*) FILTER (WHERE within) FROM (
		SELECT id <@ tstzrange(starts, ends) AS within FROM far, shift GROUP BY id, tstzrange(starts, ends)) AS grouped}),
	$node->safe_psql('postgres', 'SELECT count(*) FROM far, shift WHERE id <@ tstzrange(starts, ends)'), 'a query groups by a period');

# a join, with the times of each row of table shift as parameters
$node->safe_psql('postgres', 'ANALYZE shift');
my $join = 'SELECT count(*) FROM shift JOIN LATERAL (SELECT * FROM far WHERE id <@ tstzrange(starts, ends) OFFSET 0) AS found ON true';
ships('a join', qr/id >= public\.uuidv7_lower_bound\($each, true\).*id <= public\.uuidv7_upper_bound\($each, false\)/, '30', $join);

$node->stop;
done_testing();
