# Each ordered UUID is greater than every earlier one on this server,
# in any session, also after a restart, after a crash, and if the clock went back.
# test/t/failover.pl tests promotion, pg_rewind and restored backups.
use ServerTest;
use Ordered;

# slow down the WAL writer, so that it does not flush WAL before the backends do
my $server = Ordered->new('ordered', "wal_writer_delay = '10 s'\n") or plan skip_all => World::REASON;
my $node = $server->node;

# Return the state of World.pm in which the clock stands still, one hour before the real time.
sub hour_ago { return (time - 3600) . ' 0' }

# --- sessions -----------------------------------------------------------------

# The advisory lock makes the sessions take turns.  So column n, which the sequence fills,
# shows the order in which the values were generated.
$server->sql(q{
	CREATE SEQUENCE numbers;
	CREATE TABLE numbered (n bigint, id uuid, pid int DEFAULT pg_backend_pid());
	CREATE TABLE chain (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), seen uuid);
	INSERT INTO chain DEFAULT VALUES});
$node->pgbench('--no-vacuum --client=8 --jobs=2 --transactions=42', 0, [qr/processed: 336\/336/], [qr/^$/],
	'eight sessions take turns to generate 1,000 values',
	{ numbered => q{
		BEGIN;
		SELECT pg_advisory_xact_lock(1);
		INSERT INTO numbered SELECT nextval('numbers'), public.uuidv7_ordered() FROM generate_series(1, 1000);
		COMMIT;
		} });
is($server->sql('SELECT count(*), count(DISTINCT id), count(DISTINCT pid) FROM numbered'),
	'336000|336000|8', 'the values of eight sessions are distinct');
is($server->sql('SELECT count(*) FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before FROM numbered) AS pairs WHERE id <= before'),
	'0', 'each value is greater than the one before it, in any session');
is( $server->sql(q{SELECT count(*) FROM numbered
	WHERE public.uuid_extract_version(id) IS DISTINCT FROM 7
		OR public.uuidv7_timestamp(id) NOT BETWEEN now() - interval '1 hour' AND now()}),
	'0', 'the values have version 7 and the time of the clock');
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

# --- restarts -----------------------------------------------------------------

my ($before, $after);
my %stop = (
	'a fast shutdown' => sub { $node->stop('fast') },
	'a smart shutdown' => sub { $node->stop('smart') },
	'an immediate shutdown' => sub { $node->stop('immediate') },
	'a kill of the postmaster' => sub { $server->kill });
foreach my $how (sort keys %stop)
{
	$before = $server->value;
	$stop{$how}->();
	$server->turn(hour_ago());
	$server->start;
	cmp_ok($server->sql('SELECT public.uuidv7_horizon()'), 'gt', $before, "the horizon after $how is above earlier values");
	$after = $server->value;
	cmp_ok($after, 'gt', $before, "after $how, values stay in order if the clock is set back an hour");
	is($server->sql(q{SELECT count(*) FROM public.uuid_generator_stats() WHERE last_timestamp > '} . gmtime(time + 60) . q{ UTC'}),
		'0', "values are not far ahead of the clock after $how");
	$server->turn('normal');
}

$node->stop;
done_testing();
