# Tests of uuid_generator_stats(), uuid_generator_advance() and uuid_generator_reset(), the branches
# in the high-water mark, and warnings about a clock that is behind.
use ServerTest;
use Ordered;

my $server = Ordered->new('administration') or plan skip_all => World::REASON;
my $node = $server->node;
my $T = 1767225600;
# Return a pattern for the warning that values are some seconds ahead of the clock.
sub warning { return qr/WARNING:  01000: ordered UUIDs are $_[0] seconds ahead of the system clock\nDETAIL:  uuidv7_ordered\(\) continues .*\nHINT:  .*uuid_generator_reset/ }

# --- statistics -----------------------------------------------------------------

$server->turn("$T 123456789");
$server->forget;
is($server->sql('SELECT * FROM public.uuid_generator_stats()'),
	'|0|0|0|||',
	'a new server has generated nothing');
$server->sql(q{SELECT public.uuidv7_ordered() FROM generate_series(1, 40)}, 'SELECT public.uuidv7(), public.uuidv6(), public.uuidv8_node(1)');
is($server->sql(q{SELECT generated, ahead_of_clock, mark_writes, last_timestamp = '2026-01-01 00:00:00.123+00', held_since IS NULL
	FROM public.uuid_generator_stats()}), '40|0|1|t|t',
	'only ordered values are counted');
$server->turn(($T - 3600) . ' 0');
$server->sql('SELECT public.uuidv7_ordered() FROM generate_series(1, 3)');
is($server->sql(q{SELECT generated, ahead_of_clock, last_timestamp = '2026-01-01 00:00:00.123+00' FROM public.uuid_generator_stats()}),
	'43|3|t', 'values ahead of the clock are counted, and last_timestamp does not change');
$server->turn(($T + 3600) . ' 0');
$server->value;
is($server->statistic('ahead_of_clock'), '3', 'values are not counted as ahead of the clock once it has caught up');
$server->crash;
is($server->sql('SELECT generated, last_timestamp FROM public.uuid_generator_stats()'), '0|', 'a start of the server resets the statistics');

# --- branches -------------------------------------------------------------------

$server->turn("$T 0");
$server->forget;
$server->value;
# Return the times after $T at which the branches end.
sub ends { return [ map { defined $_->[1] ? $_->[1] - $T : undef } World::branches($node) ] }

is_deeply(ends(), [], 'a branch without a position or target has no entry');
$server->sql('SELECT public.uuid_replay_target()', 'SELECT public.uuid_replay_target()');
is_deeply(ends(), [undef], 'the current branch has no end');
$server->turn(($T + 60) . ' 0');
$server->sql('SELECT public.uuid_generator_reset()', 'SELECT public.uuidv7_position(public.uuidv7_horizon(), NULL)');
is_deeply(ends(), [ 60, undef ], 'a branch ends where a reset restarts the generator');
isnt(map({ $_->[0] } World::branches($node)), 'branches have different names');
$server->value;
$server->restart;
is_deeply(ends(), [ 60, undef ], 'the last branch has no end until an ordered function is used');
$server->sql('SELECT public.uuid_replay_target()');
is_deeply(ends(), [ 60, 62, undef ], 'the next branch begins where its predecessor ends');

# --- the high-water mark of a snapshot --------------------------------------------

{
	my $position = $server->sql('SELECT public.uuidv7_position(public.uuidv7_horizon(), NULL)');
	my $reader = $node->background_psql('postgres', on_error_stop => 0);
	my $after = "SELECT count(public.uuidv7_after('$position')) FROM generate_series(1, 10000)";

	$reader->query_safe($_) foreach 'BEGIN ISOLATION LEVEL REPEATABLE READ', $after;
	$server->block;
	is($reader->query_safe($after), '10000', 'uuidv7_after() reads the file once for a snapshot');
	$server->unblock;
	$reader->quit;
}

$server->turn("$T 0");
$server->forget;
$server->sql('CREATE ROLE clerk LOGIN', 'CREATE TABLE t (id uuid)');
$server->turn(($T + 10) . ' 0');

# --- advance --------------------------------------------------------------------

my $ahead = $server->sql("SELECT public.uuidv7_at(to_timestamp($T + 50.123))");
$server->sql("SELECT public.uuid_generator_advance('$ahead')");
cmp_ok($server->value, 'gt', $ahead, 'the generator continues after the ID that it was advanced to');
$server->sql("SELECT public.uuid_generator_advance(public.uuidv7_at(to_timestamp($T)))");
cmp_ok($server->value, 'gt', $ahead, 'an advance to an earlier ID does not affect the generator');
$server->crash;
cmp_ok($server->value, 'gt', $ahead, 'an advance outlasts a crash');
my $next = $server->sql("SELECT public.uuidv7_at(to_timestamp($T + 58))");
$server->sql("SELECT public.uuid_generator_advance('$next')");
$server->crash;
cmp_ok($server->value, 'gt', $next, 'an advance outlasts a crash before the next value');
my $last = $server->sql("SELECT public.uuidv7_ceil(to_timestamp($T + 65))");
$server->sql("SELECT public.uuid_generator_advance('$last')");
cmp_ok($server->value, 'gt', $last, 'a generator continues after the greatest UUID of a millisecond');
is($server->sql('SELECT public.uuid_generator_advance(NULL)', 'SELECT public.uuid_generator_advance(id) FROM t WHERE false'), '', 'an advance to NULL does nothing');

my $wrong = $server->sql("SELECT public.uuidv7_at(to_timestamp($T + 10 + 60 + 1))");
my ($out, $err) = $server->try("SELECT public.uuid_generator_advance('$wrong')", 'SELECT public.uuidv7_ordered()');
like($err, qr/ERROR:  22003: UUID $wrong is 61 seconds ahead of the system clock\nDETAIL:  uuidv7_ordered\(\) would continue.*\nHINT:  .*"force => true"/,
	'an ID that is more than uuid9562.max_ahead ahead is refused');
cmp_ok($out, 'lt', $wrong, 'a refused advance does not affect the generator');
$server->sql("SELECT public.uuid_generator_advance('$wrong', force => true)");
cmp_ok($server->value, 'gt', $wrong, 'an advance with force accepts an ID that is more than uuid9562.max_ahead ahead');
my $limit = $server->sql("SELECT public.uuidv7_at(to_timestamp($T + 10 + 60))");
is($server->error("SELECT public.uuid_generator_advance('$limit')"), '', 'an ID that is uuid9562.max_ahead ahead is accepted');

# --- reset ----------------------------------------------------------------------

like($server->error('SET ROLE clerk', 'SELECT public.uuid_generator_reset()', "SELECT public.uuid_generator_advance('$last')"),
	qr/42501: permission denied for function uuid_generator_reset.*42501: permission denied for function uuid_generator_advance/s, 'only superusers can reset and advance');
$server->sql('SELECT public.uuid_generator_reset()');
is($server->sql('SELECT count(last_timestamp) FROM public.uuid_generator_stats()'), '0', 'after a reset there is no last value');
is($server->sql("SELECT public.uuidv7_timestamp(public.uuidv7_ordered()) = to_timestamp($T + 10)"), 't', 'after a reset the generator starts at the clock');
$server->sql('SELECT public.uuid_generator_reset()');
$server->crash;
is($server->sql("SELECT public.uuidv7_timestamp(public.uuidv7_ordered()) = to_timestamp($T + 10)"), 't', 'a reset outlasts a crash');
$server->sql('SELECT public.uuid_generator_reset()');
my $value = $server->value;
$server->turn(($T + 9) . ' 0');
$server->crash;
cmp_ok($server->value, 'gt', $value, 'the first value after a reset is not repeated after a crash');
$server->turn(($T + 10) . ' 0');

# A reset that cannot write the high-water mark, or has no valid clock, changes nothing.
$value = $server->sql('SELECT public.uuidv7_ordered()');
$server->turn(($T - 3600) . ' 0');
$server->block;
like($server->error('SELECT public.uuid_generator_reset()'), qr/could not open file "global\/9562"/, 'a reset that cannot write the mark is an error');
$server->unblock;
$server->turn('-1 0');
like($server->error('SELECT public.uuid_generator_reset()'), qr/22008: system clock is out of range for UUID version 7/, 'a reset before 1970 is an error');
$server->turn(($T - 3600) . ' 0');
cmp_ok($server->value, 'gt', $value, 'after a reset that failed, values stay in order');

$server->turn('normal');

# An advance that fails has no visible effect.
$server->forget;
chmod 0500, $node->data_dir . '/global' or die;
like($server->error('SELECT public.uuid_generator_advance(public.uuidv7_at(now()))'), qr/could not create file "global\/\w+\.9562"/, 'an advance that cannot write the mark is an error');
like($server->error('SELECT public.uuidv7_horizon()'), qr/has not generated any value/, 'an advance that failed does not change the horizon');
chmod 0700, $node->data_dir . '/global' or die;

# --- warnings -------------------------------------------------------------------

# The first value that is ahead of the clock by more than uuid9562.max_ahead raises a
# warning, even if earlier calls raised an error.
foreach my $case ([ 30, 0 ], [ 62, 0 ], [ 120, 1 ], [ 864000, 1 ])
{
	my ($seconds, $warned) = @$case;

	$server->turn("$T 0");
	$server->forget;
	$server->value;
	$node->stop;
	$server->turn(($T + 2 - $seconds) . ' 0');
	$server->start;
	if ($seconds > 86400)
	{
		$server->block;
		like($server->error('SELECT public.uuidv7_ordered()'), qr/ERROR: .* could not open/, 'the first attempt fails');
		$server->unblock;
	}
	my $first = $server->error('SELECT public.uuidv7_ordered()');
	$warned ? like($first, warning($seconds), "values $seconds seconds ahead of the clock warn") : is($first, '', "values $seconds seconds ahead of the clock do not warn")
	  unless $seconds == 62;
	is($server->error('SELECT public.uuidv7_ordered()'), '', "the second value does not warn, at $seconds seconds") unless $seconds == 62;
}
$server->turn("$T 0");
$server->forget;
my $logged = $server->log_lines('WARNING:  ordered UUIDs are 3600');
foreach my $incident (1 .. 2)
{
	my $then = $T + $incident * 86400;
	my @warned;

	$server->value;
	$server->turn("$then 0");
	$server->value;
	$server->turn(($then - 3600) . ' 0');
	push @warned, $server->error('SELECT public.uuidv7_ordered()') =~ warning('3600') ? 1 : 0 for 1 .. 3;
	is("@warned", '1 0 0', "a clock that was an hour ahead is reported once, incident $incident");
	is($server->log_lines('WARNING:  ordered UUIDs are 3600') - $logged, $incident, "the server log has the warning, incident $incident");
	$server->turn(($then + 10) . ' 0');
}
$server->sql('ALTER SYSTEM SET uuid9562.max_ahead = 7200', 'SELECT pg_reload_conf()');
$node->poll_query_until('postgres', q{SELECT current_setting('uuid9562.max_ahead') = '2h'}) or die;
my $then = $T + 3 * 86400;
$server->turn("$then 0");
$server->value;
$server->turn(($then - 7200) . ' 0');
is($server->error('SELECT public.uuidv7_ordered()'), '', 'values that are uuid9562.max_ahead ahead of the clock do not warn');
$server->turn(($then - 7201) . ' 0');
like($server->error('SELECT public.uuidv7_ordered()'), warning('7201'), 'values that are a second further ahead warn');
$server->sql('SELECT public.uuid_generator_reset()');
$server->turn("$then 0");
$server->value;
$server->turn(($then - 7201) . ' 0');
like($server->error('SELECT public.uuidv7_ordered()'), warning('7201'), 'after a reset, the same values warn again');
$server->turn('normal');

$node->stop;
done_testing();
