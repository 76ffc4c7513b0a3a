# If the clock of a running server stands still or goes back, the values of a session keep
# increasing, and each generator has a time of its own.  test/proofs/generator.c has the
# details.
use ServerTest;
use World;

my $world = World->new('clock') or plan skip_all => World::REASON;

# 2026-01-01 00:00:00.123456789 UTC, and the generators' time fields at that moment
my $now = '1767225600 123456789';
my $v7 = 1767225600123 * 4096 + int(456789 * 4096 / 1000000);
my %time_of = (
	'uuidv1()' => (1767225600 + 12219292800) * 10_000_000 + 1234567,
	'uuidv6()' => (1767225600 + 12219292800) * 10_000_000 + 1234567,
	'uuidv7()' => $v7,
	'uuidv8()' => (1767225600 * 100_000_000 + 12345678) % (1 << 60),
	'uuidv8_node(7)' => $v7);
my @calls = sort keys %time_of;

# Return the 60-bit time and the 4-bit counter of a UUID.
sub fields
{
	my ($uuid) = @_;
	my ($a, $b, $c, $d) = split /-/, $uuid;
	my $time = substr($c, 0, 1) eq '1' ? substr($c, 1) . $b . $a : $a . $b . substr($c, 1);
	return (hex $time, hex(substr($d, 0, 2)) >> 2 & 0xf);
}

# Return the fields of the values that a session selects.
sub values_of
{
	my ($out, $err) = $world->session(@_);
	return map { [ fields($_) ] } split /\n/, $out;
}

# Check values while the clock stands still: in each tick, the counter starts at 7 or less,
# and increases by one.  After a counter of 15, the next tick follows.
sub steps_by_one
{
	my ($time, @values) = @_;
	my ($before, $wrong) = ([ $time - 1, 15 ], 0);

	foreach (@values)
	{
		my ($t, $counter) = @$_;
		$wrong++
		  unless $before->[1] < 15 ? $t == $before->[0] && $counter == $before->[1] + 1 : $t == $before->[0] + 1 && $counter <= 7;
		$before = $_;
	}
	return $wrong == 0;
}

foreach my $call (@calls)
{
	# the other functions ignore v7_method: even with random, their counters increase by one
	my $method = $call eq 'uuidv7()' ? 'fraction' : 'random';
	my @values = values_of(normal => "SET uuid9562.v7_method = $method", $now => "SELECT public.$call FROM generate_series(1, 40)");

	is($values[0][0], $time_of{$call}, "$call: the first value has the clock's time");
	ok(steps_by_one($time_of{$call}, @values), "$call: the counter increases by one, and after a full counter the next tick is used");
}

my @values = values_of(normal => 'SET uuid9562.v7_method = random', $now => 'SELECT public.uuidv7() FROM generate_series(1, 100)');
is(scalar(grep { $_->[0] != $v7 } @values), 0, 'uuidv7(), method random: all values have the time of the clock');

# With method counter, the counter of each millisecond starts at a random seed, which is not
# a copy of the random bits after it.
my ($out, $err) = $world->session(
	normal => 'SET uuid9562.v7_method = counter',
	map { ((1767225600 + $_) . ' 0') => 'SELECT public.uuidv7()' } 1 .. 200);
my (%seeds, $copies);
$copies = 0;
foreach (split /\n/, $out)
{
	my ($time, $counter) = fields($_);
	my $seed = ($time % 4096) * 16 + $counter;
	$seeds{$seed} = 1;
	$copies++ if $seed == (hex(substr($_, -4)) & 0x7fff);
}
cmp_ok(scalar(keys %seeds), '>', 190, 'uuidv7(), method counter: 200 milliseconds have more than 190 different seeds');
is(scalar(grep { $_ > 32767 } keys %seeds), 0, 'uuidv7(), method counter: no seed has more than 15 bits');
cmp_ok($copies, '<', 3, 'uuidv7(), method counter: a seed is not a copy of the random bits after it');

# If the clock goes back from 2037, only the generator that was used in 2037 continues from
# its last time.
my $y2037 = '2114380800 0';
foreach my $ahead (@calls)
{
	my ($before, $after, @others) = values_of($y2037 => "SELECT public.$ahead", $now => join ";\n", map { "SELECT public.$_" } $ahead, @calls);
	my %times = map { $_ => (shift @others)->[0] } @calls;

	is_deeply($after, [ $before->[0], $before->[1] + 1 ], "$ahead: when the clock goes back, the time stays the same and the counter increases");
	delete $times{$ahead};
	is_deeply(\%times, { map { $_ => $time_of{$_} } grep { $_ ne $ahead } @calls }, "$ahead: the other generators use the time of the clock");
}
my ($plain, $shifted) = values_of($y2037 => 'SELECT public.uuidv7()', $now => q{SELECT public.uuidv7('0')});
is($shifted->[0], $plain->[0], 'uuidv7(interval) uses the generator of uuidv7()');

$world->node->stop;
done_testing();
