# Each ordered UUID is greater than every earlier value of its function on this server,
# in any session, also after a restart, after a crash, and if the clock went back.
# test/t/failover.pl tests promotion, pg_rewind and restored backups.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Ordered;

my @calls = qw(uuidv6_ordered() uuidv7_ordered() uuidv8_node_ordered());
# slow down the WAL writer, so that it does not flush WAL before the backends do
my $server = Ordered->new('ordered', "wal_writer_delay = '10 s'\n") or plan skip_all => World::REASON;
my $node = $server->node;

# Return a value of each function.
sub values_of
{
	my %value;

	@value{@calls} = split /\|/, $server->sql('SELECT ' . join ', ', map { "public.$_" } @calls);
	return %value;
}

# Check whether the value of each function is greater in the second set than in the first.
sub all_greater
{
	my ($before, $after) = @_;
	return scalar(grep { $after->{$_} gt $before->{$_} } @calls) == @calls;
}

# Return the state of World.pm in which the clock stands still, one hour before the real time.
sub hour_ago { return (time - 3600) . ' 0' }

# --- sessions -----------------------------------------------------------------

# The advisory lock makes the sessions take turns.  So column n, which the sequence fills,
# shows the order in which the values were generated.
$server->sql(q{
	CREATE SEQUENCE numbers;
	CREATE TABLE numbered (n bigint, v6 uuid, v7 uuid, v8_node uuid, pid int DEFAULT pg_backend_pid());
	CREATE TABLE chain (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), seen uuid);
	INSERT INTO chain DEFAULT VALUES});
$node->pgbench('--no-vacuum --client=8 --jobs=2 --transactions=42', 0, [qr/processed: 336\/336/], [qr/^$/],
	'eight sessions take turns to generate 1,000 values of each function',
	{ numbered => q{
		BEGIN;
		SELECT pg_advisory_xact_lock(1);
		INSERT INTO numbered SELECT nextval('numbers'), public.uuidv6_ordered(), public.uuidv7_ordered(), public.uuidv8_node_ordered() FROM generate_series(1, 1000);
		COMMIT;
		} });
is($server->sql('SELECT count(*), count(DISTINCT v6), count(DISTINCT v7), count(DISTINCT v8_node), count(DISTINCT pid) FROM numbered'),
	'336000|336000|336000|336000|8', 'a million values of eight sessions are distinct');
is( $server->sql(q{SELECT count(*) FILTER (WHERE v6 <= v6_before), count(*) FILTER (WHERE v7 <= v7_before), count(*) FILTER (WHERE v8_node <= v8_node_before)
	FROM (SELECT *, lag(v6) OVER w AS v6_before, lag(v7) OVER w AS v7_before, lag(v8_node) OVER w AS v8_node_before
		FROM numbered WINDOW w AS (ORDER BY n)) AS pairs}),
	'0|0|0', 'each value is greater than the one before it, in any session');
is( $server->sql(q{SELECT count(*) FROM numbered
	WHERE public.uuid_extract_version(v6) <> 6 OR public.uuid_extract_version(v7) <> 7 OR public.uuid_extract_version(v8_node) <> 8
		OR public.uuidv8_node_id(v8_node) <> 7 OR public.uuid_extract_variant(v6) <> 'rfc9562'
		OR abs(extract(epoch FROM public.uuidv6_timestamp(v6) - public.uuidv7_timestamp(v7))) > 1}),
	'0', 'the values of a row have their versions, the node ID and the same time');
$node->pgbench('--no-vacuum --client=8 --jobs=2 --transactions=1000', 0, [qr/processed: 8000\/8000/], [qr/^$/],
	'eight sessions generate at once',
	{ chain => q{INSERT INTO chain (seen) SELECT id FROM chain ORDER BY id DESC LIMIT 1;} });
is($server->sql('SELECT count(*), count(*) FILTER (WHERE id <= seen) FROM chain WHERE seen IS NOT NULL'),
	'8000|0', 'each value is greater than all values that its statement sees');
my $generated = $server->statistic('generated');
$node->pgbench('--no-vacuum --client=8 --jobs=2 --transactions=100', 0, [qr/processed: 800\/800/], [qr/^$/],
	'eight sessions generate as fast as they can', { generate => 'SELECT count(public.uuidv7_ordered()) FROM generate_series(1, 1000);' });
is($server->statistic('generated') - $generated, 800000, 'each value is counted once');
{
	my ($one, $two) = ($server->stay, $server->stay);
	my @values;

	foreach my $session ($one, $two, $one, $two)
	{
		push @values, $session->query_safe('BEGIN; SELECT public.uuidv7_ordered(); ROLLBACK') =~ /([0-9a-f-]{36})/;
	}
	is_deeply([ sort @values ], \@values, 'a rollback does not rewind the generator');
	$_->quit foreach $one, $two;
}
is( $server->sql(q{
	CREATE TABLE mixed (n serial, ordered boolean, id uuid);
	INSERT INTO mixed (ordered, id) SELECT i % 2 = 0, CASE WHEN i % 2 = 0 THEN public.uuidv7_ordered() ELSE public.uuidv7() END FROM generate_series(1, 1000) AS i;
	SELECT count(*) FROM (SELECT id, lag(id) OVER (PARTITION BY ordered ORDER BY n) AS before FROM mixed) AS pairs WHERE id <= before}),
	'0', 'in a statement that calls both, values of uuidv7() and of uuidv7_ordered() are in order');
is($server->sql(q{SET uuid9562.v7_method = 'counter'}, 'SELECT count(*) FROM (SELECT lag(id) OVER () AS before, id FROM (SELECT public.uuidv7_ordered() FROM generate_series(1, 1000)) AS made (id)) AS pairs WHERE id <= before'),
	'0', 'uuid9562.v7_method does not change the order');

# --- restarts -----------------------------------------------------------------

my (%before, %after);
my %stop = (
	'a fast shutdown' => sub { $node->stop('fast') },
	'a smart shutdown' => sub { $node->stop('smart') },
	'an immediate shutdown' => sub { $node->stop('immediate') },
	'a kill of the postmaster' => sub { $server->kill });
foreach my $how (sort keys %stop)
{
	%before = values_of();
	$stop{$how}->();
	$server->turn(hour_ago());
	$server->start;
	cmp_ok($server->sql('SELECT public.uuidv7_horizon()'), 'gt', $before{'uuidv7_ordered()'}, "the horizon after $how is above earlier values");
	%after = values_of();
	ok(all_greater(\%before, \%after), "after $how, values stay in order if the clock is set back an hour");
	is($server->sql(q{SELECT count(*) FROM public.uuid_generator_stats() WHERE last_timestamp > '} . gmtime(time + 60) . q{ UTC'}),
		'0', "values are not far ahead of the clock after $how");
	$server->turn('normal');
}
foreach my $how ('an immediate shutdown', 'a kill of the postmaster')
{
	my @psql = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 3;

	$server->sql('TRUNCATE numbered');
	# send many short statements, since a backend notices the end of the postmaster only
	# between statements
	Ordered::send_to($_, join ";\n", ('INSERT INTO numbered (v7) SELECT public.uuidv7_ordered() FROM generate_series(1, 100)') x 5000) foreach @psql;
	$node->poll_query_until('postgres', 'SELECT count(*) > 5000 FROM numbered') or die 'nobody generates';
	$stop{$how}->();
	$server->turn(hour_ago());
	$server->start;
	my $last = $server->sql('SELECT v7 FROM numbered ORDER BY v7 DESC LIMIT 1');
	cmp_ok($server->value, 'gt', $last, "a value after $how is greater than all committed before it");
	$server->turn('normal');
	eval { $_->quit } foreach @psql;
}

# One generator has values ahead of the clock, another generator is used, and the server
# crashes.
$server->turn('by 86400');
my $tomorrow = $server->sql('SELECT public.uuidv6_ordered()');
my $staying = $server->stay;
$server->forget;
eval { $staying->quit };
$tomorrow = $server->sql('SELECT public.uuidv6_ordered()');
$server->turn('normal');
my $today = $server->value;
$server->turn('by 5');
$today = $server->value;
$server->turn('normal');
$server->crash;
cmp_ok($server->sql('SELECT public.uuidv6_ordered()'), 'gt', $tomorrow, 'a generator ahead of the clock keeps its order when another one extends the reservation');
my $next = $server->value;
cmp_ok($next, 'gt', $today, 'the other generator keeps its order too');
is($server->sql("SELECT public.uuidv7_timestamp('$next') < now() + interval '1 minute'"), 't', 'the other generator stays near the clock');
$server->forget;

# --- a clock that goes back while the server runs -----------------------------

%before = values_of();
$server->turn(hour_ago());
%after = values_of();
ok(all_greater(\%before, \%after), 'values stay in order when the clock goes back while the server runs');
cmp_ok($server->statistic('ahead_of_clock'), '>', 0, 'values ahead of a clock that went back are counted');
$server->turn('normal');

$node->stop;
done_testing();
