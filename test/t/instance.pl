# uuid9562.monotonic_scope = instance: each value is greater than every value
# before it, of any session, over restarts, crashes and a clock set back.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use World;

# v1 sorts by its time only as v6
my @calls = ('uuidv1_to_v6(public.uuidv1())', qw(uuidv6() uuidv7() uuidv8() uuidv8_node(7)));
my $world = World->new('instance', "shared_preload_libraries = 'uuid9562'\nuuid9562.monotonic_scope = instance\n",
	allows_streaming => 1)
  or plan skip_all => World::REASON;
my $node = $world->node;
my $mark = $node->data_dir . '/global/9562';

sub sql { return $node->safe_psql('postgres', join ";\n", @_) }

# One value of each generator, by its call.
sub values_of
{
	my ($server) = @_;
	my %value;

	@value{@calls} = split /\|/, ($server || $node)->safe_psql('postgres', 'SELECT ' . join ', ', map { "public.$_" } @calls);
	return %value;
}

# Are all of the second greater than those of the first?
sub all_greater
{
	my ($before, $after) = @_;

	return scalar(grep { $after->{$_} gt $before->{$_} } @calls) == @calls;
}

sub statistic { return sql("SELECT max($_[0]) FROM public.uuid_generator_stats() WHERE scope = 'instance'") }

# an hour ago, for a clock that stands there
sub hour_ago { return (time - 3600) . ' 0' }

# --- sessions -----------------------------------------------------------------

# What happens under the lock is numbered in its order: nobody generates between
# a value and its number.
sql(q{
	CREATE SEQUENCE numbers;
	CREATE TABLE numbered (n bigint, id uuid, pid int DEFAULT pg_backend_pid());
	CREATE TABLE chain (id uuid PRIMARY KEY DEFAULT public.uuidv7(), seen uuid);
	INSERT INTO chain DEFAULT VALUES});
$node->pgbench('--no-vacuum --client=8 --jobs=2 --transactions=126', 0, [qr/processed: 1008\/1008/], [qr/^$/],
	'eight sessions take turns to generate a thousand values',
	{ numbered => q{
		BEGIN;
		SELECT pg_advisory_xact_lock(1);
		INSERT INTO numbered SELECT nextval('numbers'), public.uuidv7() FROM generate_series(1, 1000);
		COMMIT;
		} });
is(sql('SELECT count(*), count(DISTINCT id), count(DISTINCT pid) FROM numbered'), '1008000|1008000|8', 'a million values of eight sessions, all distinct');
is(sql('SELECT count(*) FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before FROM numbered) AS pairs WHERE id <= before'),
	'0', 'each is greater than the one before it');

# What a statement sees was made before what it makes, without any lock.
$node->pgbench('--no-vacuum --client=8 --jobs=2 --transactions=2000', 0, [qr/processed: 16000\/16000/], [qr/^$/],
	'eight sessions generate at once',
	{ chain => q{INSERT INTO chain (seen) SELECT id FROM chain ORDER BY id DESC LIMIT 1;} });
is(sql('SELECT count(*), count(*) FILTER (WHERE id <= seen) FROM chain WHERE seen IS NOT NULL'), '16000|0', 'no value is less than one that its session has seen');

# Back and forth between the scopes, each keeps its order.
is( sql(q{
	CREATE TABLE switched (n serial, scope text, id uuid);
	DO $$
	BEGIN
		FOR i IN 1 .. 1000 LOOP
			PERFORM set_config('uuid9562.monotonic_scope', CASE WHEN i % 2 = 0 THEN 'session' ELSE 'instance' END, false);
			INSERT INTO switched (scope, id) VALUES (current_setting('uuid9562.monotonic_scope'), public.uuidv7());
		END LOOP;
	END$$;
	SELECT count(*) FROM (SELECT id, lag(id) OVER (PARTITION BY scope ORDER BY n) AS before FROM switched) AS pairs WHERE id <= before}),
	'0', 'a session that switches between the scopes keeps the order of each');

# A batch stands in the order of all sessions, and each of its values follows the
# scope that it meets.
{
	my $before = sql('SELECT public.uuidv7()');
	my @batch = split /\n/, sql('SELECT public.uuidv7_batch(100)');
	my $after = sql('SELECT public.uuidv7()');
	is_deeply([ sort $after, $before, @batch ], [ $before, @batch, $after ], 'a batch is greater than what another session made before, and less than what one makes after');
	is( sql(q{SELECT count(*) FROM (
			SELECT public.uuidv7_batch(40) AS id, set_config('uuid9562.monotonic_scope', 'session', false) OFFSET 0) AS ids
		WHERE public.uuidv7_timestamp(id) BETWEEN now() - interval '1 minute' AND now() + interval '1 minute'}),
		'40', 'a change of scope in the middle of a batch finds the time of the clock');
}

# --- the mark -----------------------------------------------------------------

my $writes = statistic('mark_writes');
my $began = time;
$node->pgbench('--no-vacuum --client=4 --jobs=2 --time=4', 0, [qr/processed/], [qr/^$/], 'four sessions generate for four seconds',
	{ generate => q{SELECT count(public.uuidv7()) FROM generate_series(1, 1000);} });
cmp_ok(statistic('mark_writes') - $writes, '<=', time - $began + 1, 'the mark is written once a second at most');
cmp_ok(statistic('mark_writes') - $writes, '>=', 2, 'and it is written');

# --- restarts -----------------------------------------------------------------

my (%before, %after);
my %stop = (
	'a fast shutdown' => sub { $node->stop('fast') },
	'a smart shutdown' => sub { $node->stop('smart') },
	'an immediate shutdown' => sub { $node->stop('immediate') },
	'a kill of the postmaster' => sub { $world->kill });
foreach my $how (sort keys %stop)
{
	%before = values_of();
	$stop{$how}->();
	$world->turn(hour_ago());
	$world->start;
	%after = values_of();
	ok(all_greater(\%before, \%after), "after $how and with the clock set back an hour, values go on");
	is(sql(q{SELECT count(*) FROM public.uuid_generator_stats()
		WHERE scope = 'instance' AND last_timestamp > '} . gmtime(time + 60) . q{ UTC'}), '0', "$how: and their times are not far ahead");
	$world->turn('normal');
}

# A start goes on from the mark, which is two seconds ahead at most.
my $value = sql('SELECT public.uuidv7()');
$node->stop;
$world->turn(hour_ago());
$world->start;
is( sql("SELECT public.uuidv7_timestamp(public.uuidv7()) - public.uuidv7_timestamp('$value') BETWEEN '0 s' AND '2 s'"),
	't', 'after a clean stop values go on at most two seconds ahead of the last one');
$node->stop('immediate');
$world->start;
cmp_ok(sql('SELECT public.uuidv7()'), 'gt', $value, 'and after a crash from then on');
$world->turn('normal');

# One generator whose times are ahead, then another, then a crash.
$world->turn((time + 86400) . ' 0');
my $tomorrow = sql('SELECT public.uuidv6()');
sleep 1;
$world->turn('normal');
my $today = sql('SELECT public.uuidv7(), pg_sleep(1.5)') =~ s/\|.*//r;
$today = sql('SELECT public.uuidv7(), pg_sleep(1.5)') =~ s/\|.*//r;
$node->stop('immediate');
$world->start;
cmp_ok(sql('SELECT public.uuidv6()'), 'gt', $tomorrow, 'a generator that was ahead of the clock keeps its order when others have moved the mark');
my $then = sql('SELECT public.uuidv7()');
cmp_ok($then, 'gt', $today, 'and the others keep theirs');
is(sql("SELECT public.uuidv7_timestamp('$then') < now() + interval '1 minute'"), 't', 'and are not taken along');
sql('SELECT public.uuid_generator_reset()');

# each method of v7 over a crash, and from one to another
foreach my $method (qw(fraction counter random fraction random counter))
{
	my $first = sql("SET uuid9562.v7_method = $method", 'SELECT public.uuidv7()');
	$node->stop('immediate');
	$world->turn(hour_ago());
	$world->start;
	$world->turn('normal');
	cmp_ok(sql("SET uuid9562.v7_method = $method", 'SELECT public.uuidv7()'), 'gt', $first, "method $method: values go on over a crash");
}

# while generating
foreach my $how ('an immediate shutdown', 'a kill of the postmaster')
{
	my @psql = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 3;

	sql('TRUNCATE numbered');
	$_->{stdin} .= q{DO $$BEGIN FOR i IN 1 .. 1000000 LOOP INSERT INTO numbered VALUES (i, public.uuidv7()); IF i % 100 = 0 THEN COMMIT; END IF; END LOOP; END$$;} . "\n" foreach @psql;
	$_->{run}->pump_nb foreach @psql;
	sleep 3;
	$stop{$how}->();
	$world->turn(hour_ago());
	$world->start;
	my $last = sql('SELECT id FROM numbered ORDER BY id DESC LIMIT 1');
	cmp_ok(sql('SELECT count(*) FROM numbered'), '>', 100, "$how while generating: committed values are there");
	cmp_ok(sql('SELECT public.uuidv7()'), 'gt', $last, "$how while generating: the next value is greater than all of them");
	$world->turn('normal');
	eval { $_->quit } foreach @psql;
}

# --- the page -----------------------------------------------------------------

%before = values_of();
$node->stop;
unlink $mark or die;
$world->start;
my %anew = values_of();
is(statistic('damaged_marks'), '0', 'a missing page is a first start');
ok(-f $mark, 'and is written');
sql(map { "SELECT public.uuid_generator_advance('$_')" } values %before);
%after = values_of();
ok(all_greater(\%before, \%after), 'an advance brings the order back, of each generator');

# a page that cannot be opened
chmod 0, $mark or die;
my ($status, $out, $err) = $node->psql('postgres', 'SELECT public.uuid_generator_reset()');
like($err, qr/could not open file "global\/9562"/, 'the generators are not reset where the mark cannot be written');
chmod 0600, $mark or die;
%before = %after;
%after = values_of();
ok(all_greater(\%before, \%after), 'and values go on when it can be written again');

# --- advance ------------------------------------------------------------------

foreach my $scope (qw(instance session))
{
	my $then = (time + 30) . '.123';
	my $in_scope = sub { return sql("SET uuid9562.monotonic_scope = $scope", "SET uuid9562.node_id = 7", @_) };
	my %id = (
		'uuidv6()' => 'uuidv6_at', 'uuidv7()' => 'uuidv7_at', 'uuidv8_node()' => 'uuidv8_node_at');

	foreach my $call (sort keys %id)
	{
		my $ahead = sql("SET uuid9562.node_id = 65535", "SELECT public.$id{$call}(to_timestamp($then))");
		my $next = $in_scope->("SELECT public.uuid_generator_advance('$ahead')", "SELECT public.$call");
		cmp_ok($next =~ s/\s//gr, 'gt', $ahead, "$scope scope: an advance lifts $call");
	}
	foreach my $method (qw(fraction counter random))
	{
		my $ahead = '0' . substr(sql('SELECT public.uuidv7_at(to_timestamp(' . (time + 40) . '))'), 1, 14) . 'fff-bfff-fffffffffff0';
		my $next = $in_scope->("SET uuid9562.v7_method = $method", "SELECT public.uuid_generator_advance('$ahead')", 'SELECT public.uuidv7()');
		cmp_ok($next =~ s/\s//gr, 'gt', $ahead, "$scope scope: also above the last of a millisecond, method $method");
	}
	($status, $out, $err) = $node->psql('postgres', "SET uuid9562.monotonic_scope = $scope; SELECT public.uuid_generator_advance(public.uuidv6_at(clock_timestamp() + '500 s'))");
	like($err, qr/WARNING:  the UUID is (499|500) seconds ahead of the clock/, "$scope scope: a UUID far ahead of the clock is taken, with a WARNING");
	($status, $out, $err) = $node->psql('postgres', "SET uuid9562.monotonic_scope = $scope; SELECT public.uuid_generator_advance(public.uuidv4())");
	like($err, qr/ERROR:  no generator makes UUIDs like/, "$scope scope: one of no generator is an error");
	is($in_scope->('SELECT public.uuid_generator_advance(NULL)', 'SELECT public.uuid_generator_advance(max(id)) FROM chain WHERE false'), "\n", "$scope scope: of no UUID nothing happens");
	# of either kind of version 8, which leaves the other where it is
	is($in_scope->(q{SELECT public.uuid_generator_advance(public.uuidv8()), public.uuid_generator_advance(public.uuidv1())},
		q{SELECT abs(extract(epoch FROM public.uuidv8_node_timestamp(public.uuidv8_node()) - clock_timestamp())) < 60}), "|\nt", "$scope scope: a uuidv8() is not taken for a uuidv8_node()");
}
{
	my $ahead = sql('SELECT public.uuidv7_at(clock_timestamp() + $$50 s$$)');

	sql("SELECT public.uuid_generator_advance('$ahead')");
	$node->stop('immediate');
	$world->start;
	cmp_ok(sql('SELECT public.uuidv7()'), 'gt', $ahead, 'an advance holds over a crash');
}
sql('SELECT public.uuid_generator_reset()');

# a clock that was years ahead
$world->turn((time + 5 * 365 * 86400) . ' 0');
%before = values_of();
$node->stop;
$world->turn('normal');
$world->start;
($status, $out, $err) = $node->psql('postgres', 'SELECT public.uuidv7()');
like($err, qr/WARNING: .*seconds ahead of the clock.*HINT: .*uuid_generator_reset/s, 'values years ahead of the clock are reported');
cmp_ok($out, 'gt', $before{'uuidv7()'}, 'and keep their order');
sql('CREATE ROLE clerk');
($status, $out, $err) = $node->psql('postgres', 'SET ROLE clerk; SELECT public.uuid_generator_reset()');
like($err, qr/permission denied for function uuid_generator_reset/, 'not everybody may reset the generators');
($status, $out, $err) = $node->psql('postgres', 'SET ROLE clerk; SELECT public.uuid_generator_advance(public.uuidv7())');
like($err, qr/permission denied for function uuid_generator_advance/, 'nor advance them');
sql('SELECT public.uuid_generator_reset()');
is(sql(q{SELECT abs(extract(epoch FROM public.uuidv7_timestamp(public.uuidv7()) - clock_timestamp())) < 10}), 't', 'a superuser may, and they begin at the clock');
%before = values_of();
$node->stop('immediate');
$world->start;
%after = values_of();
ok(all_greater(\%before, \%after), 'after that values go on over a crash');

# the clock goes back under the server, and it is counted
sleep 3;	# what a crash leaves ahead of the clock is past
%before = values_of();
my $seen = statistic('clock_backwards');
$world->turn(hour_ago());
%after = values_of();
ok(all_greater(\%before, \%after), 'with the clock set back under the server values go on');
cmp_ok(statistic('clock_backwards'), '>', $seen, 'and it is counted');
$world->turn('normal');

# --- a standby ----------------------------------------------------------------

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$world->start($standby);
my %last = values_of();
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
my %there = values_of($standby);
%after = values_of($standby);
ok(all_greater(\%there, \%after), 'a standby generates in an order of its own');
$standby->promote;
%before = %after;
%after = values_of($standby);
ok(all_greater(\%before, \%after), 'and keeps it when it is promoted');
ok(all_greater(\%last, \%after), 'above what the old primary made');
$standby->stop;
$node->stop;

# --- without shared memory ----------------------------------------------------

my $bare = PostgreSQL::Test::Cluster->new('bare');
$bare->init;
$bare->append_conf('postgresql.conf', q{shared_preload_libraries = 'plpgsql,"pgoutput"'});
$bare->start;
$bare->safe_psql('postgres', 'CREATE EXTENSION uuid9562');
($status, $out, $err) = $bare->psql('postgres', "SELECT public.nil_uuid();\n\\set VERBOSITY verbose\nSET uuid9562.monotonic_scope = instance;\nSELECT public.uuidv7() < public.uuidv7()", on_error_stop => 0);
if ($bare->pg_version >= 17)
{
	like($out, qr/t$/, 'PostgreSQL 17 and later need no preloading');
}
else
{
	my $hint = qr/HINT:  Add uuid9562 to shared_preload_libraries/;

	like($err, qr/55000: .*has no shared memory.*$hint/s, 'without preloading the scope is refused, with a hint');
	($status, $out, $err) = $bare->psql('postgres', "SET uuid9562.monotonic_scope = instance; SELECT public.uuidv7()", on_error_stop => 0);
	is($out, '', 'set before the library is loaded, it is not dropped: the generators refuse');
	# as it goes to a parallel worker
	my $force = $bare->pg_version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
	($status, $out, $err) = $bare->psql('postgres', "SET uuid9562.monotonic_scope = instance; LOAD 'uuid9562'; SET $force = on; SELECT count(*) > 0 FROM pg_class");
	is($out, 't', 'and parallel queries of other things go on');
	($status, $out, $err) = $bare->psql('postgres', "SELECT public.nil_uuid(); ALTER DATABASE postgres SET uuid9562.monotonic_scope = instance");
	is($status, 0, 'a database can have it before the server has the library');
	like($err, qr/NOTICE: .*has no shared memory.*generators will refuse.*$hint/s, 'and whoever sets it is told');
	($status, $out, $err) = $bare->psql('postgres', "\\set VERBOSITY verbose\nSELECT public.uuidv7()");
	like($err, qr/55000: .*has no shared memory.*$hint/s, 'and where a database has it, the generators refuse');
	is($out, '', 'without a value');
	$bare->safe_psql('postgres', q{ALTER SYSTEM SET shared_preload_libraries = 'plpgsql', 'pgoutput', 'uuid9562'});
	$bare->restart;
	is($bare->safe_psql('postgres', 'SHOW uuid9562.monotonic_scope; SELECT public.uuidv7() < public.uuidv7()'), "instance\nt", 'with what the hint says they generate');
}
$bare->stop;
done_testing();
