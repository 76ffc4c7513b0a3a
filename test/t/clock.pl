# The clock stands still and goes back under a live server: values keep
# increasing, by the counter of their generator, and each generator has a time
# of its own.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Test::More;
use World;

my $world = World->new('clock') or plan skip_all => World::REASON;

# 2026-01-01 00:00:00.123456789 UTC, and what the generators' fields hold then
my $now = '1767225600 123456789';
my $fraction = int(456789 * 4096 / 1000000);
my %time_of = (
	'uuidv6()' => (1767225600 + 12219292800) * 10_000_000 + 1234567,
	'uuidv7()' => 1767225600123 * 4096 + $fraction,
	'uuidv8()' => (1767225600 * 100_000_000 + 12345678) % (1 << 60),
	'uuidv8_node(7)' => 1767225600123 * 4096 + $fraction);
$time_of{'uuidv1()'} = $time_of{'uuidv6()'};

# The 60-bit time and the 4-bit counter of a UUID in text.
sub fields
{
	my ($uuid) = @_;
	my ($a, $b, $c, $d) = split /-/, $uuid;
	my $time = substr($c, 0, 1) eq '1' ? substr($c, 1) . $b . $a : $a . $b . substr($c, 1);
	return (hex $time, hex(substr($d, 0, 2)) >> 2 & 0xf);
}

# Standing still: the exact time, then the counter by one, then the next tick.
# Only v7 has methods; the setting changes nothing for the others.
foreach my $method (qw(fraction counter random))
{
	foreach my $call (sort keys %time_of)
	{
		next if $call eq 'uuidv7()' && $method ne 'fraction';
		my ($out, $err) = $world->session(
			normal => "SET uuid9562.v7_method = $method",
			$now => "SELECT public.$call FROM generate_series(1, 40)");
		my @values = split /\n/, $out;
		my ($time, $counter) = fields(shift @values);
		my $wrong = 0;

		is($time, $time_of{$call}, "$call, v7_method $method: the time of the clock");
		cmp_ok($counter, '<=', 7, "$call, v7_method $method: a seed below the guard");
		foreach (@values)
		{
			my ($t, $c) = fields($_);
			$wrong++
			  unless $counter < 15 ? $t == $time && $c == $counter + 1 : $t == $time + 1 && $c <= 7;
			($time, $counter) = ($t, $c);
		}
		is($wrong, 0, "$call, v7_method $method: then the counter by one, then the next tick");
	}
}

# v7's other methods, standing still: a 16-bit counter, a growing tail.
my ($out, $err) = $world->session(
	normal => 'SET uuid9562.v7_method = counter',
	$now => 'SELECT public.uuidv7() FROM generate_series(1, 100)');
my @values = split /\n/, $out;
my @counters = map { my ($t, $c) = fields($_); $t * 16 + $c - 1767225600123 * 65536 } @values;
cmp_ok($counters[0], '>=', 0, 'uuidv7(), counter: whole milliseconds');
cmp_ok($counters[0], '<=', 32767, 'uuidv7(), counter: a seed of 15 bits');
is_deeply(\@counters, [ $counters[0] .. $counters[0] + 99 ], 'uuidv7(), counter: then by one');

($out, $err) = $world->session(
	normal => 'SET uuid9562.v7_method = random',
	$now => 'SELECT public.uuidv7() FROM generate_series(1, 100)');
@values = split /\n/, $out;
my @tails = map { my ($d, $e) = (split /-/)[ 3, 4 ]; hex($d . $e) & (1 << 62) - 1 } @values;
my %times = map { (fields($_))[0] => 1 } @values;
is_deeply([ keys %times ], [ $time_of{'uuidv7()'} ], 'uuidv7(), random: all at the time of the clock');
is(scalar(grep { $tails[$_] - $tails[ $_ - 1 ] < 1 || $tails[$_] - $tails[ $_ - 1 ] > 1 << 32 } 1 .. 99),
	0, 'uuidv7(), random: the tail grows by 1 to 2^32');

# A batch, standing still: as uuidv7() would.
($out, $err) = $world->session($now => 'SELECT public.uuidv7_batch(40)');
{
	my ($wrong, $time, $counter) = (0, $time_of{'uuidv7()'});
	foreach (split /\n/, $out)
	{
		my ($t, $c) = fields($_);
		if (!defined $counter) { $wrong++ unless $t == $time && $c <= 7 }
		else { $wrong++ unless $counter < 15 ? $t == $time && $c == $counter + 1 : $t == $time + 1 && $c <= 7 }
		($time, $counter) = ($t, $c);
	}
	is($wrong, 0, 'uuidv7_batch(): the time of the clock, then the counter by one, then the next tick');
}

# It keeps to one reading of the clock for 16 values at most, by every method.
foreach my $method (qw(fraction counter random))
{
	($out, $err) = $world->session(
		normal => "SET uuid9562.v7_method = $method; BEGIN; DECLARE ids CURSOR FOR SELECT public.uuidv7_batch(1000)",
		"1767225600 0" => 'FETCH 1 FROM ids',
		"1767225700 0" => 'FETCH 20 FROM ids');
	my @seconds = map { int((fields($_))[0] / 4096 / 1000) } split /\n/, $out;
	my $stale = grep { $_ == 1767225600 } @seconds;
	cmp_ok($stale, '<=', 16, "uuidv7_batch(), $method: the clock is read for 16 values at least");
	cmp_ok($stale, '>=', 8, "uuidv7_batch(), $method: and not for each");
	is($seconds[-1], 1767225700, "uuidv7_batch(), $method: then the time is that of the clock");
}

# The seeds of method counter, over many milliseconds: random, and no copy of
# the bits that follow.
($out, $err) = $world->session(
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
cmp_ok(scalar(keys %seeds), '>', 190, 'uuidv7(), counter: 200 milliseconds have as many seeds, give or take');
is(scalar(grep { $_ > 32767 } keys %seeds), 0, 'uuidv7(), counter: every seed is below the guard');
cmp_ok($copies, '<', 3, 'uuidv7(), counter: a seed is no copy of the random bits after it');

# Going back from 2037: each generator stays there, by itself.
my $y2037 = '2114380800 0';
foreach my $ahead (sort keys %time_of)
{
	($out, $err) = $world->session(
		$y2037 => "SELECT public.$ahead",
		$now => join(";\n", "SELECT public.$ahead", map { "SELECT public.$_" } sort keys %time_of));
	my ($before, $after, @others) = split /\n/, $out;
	my ($time_before, $counter_before) = fields($before);
	my ($time_after, $counter_after) = fields($after);
	is($time_after, $time_before, "$ahead: the time stands still when the clock goes back");
	is($counter_after, $counter_before + 1, "$ahead: and the counter goes on");
	my %times;
	@times{ sort keys %time_of } = map { (fields($_))[0] } @others;
	delete $times{$ahead};
	my %expected = %time_of;
	delete $expected{$ahead};
	is_deeply(\%times, \%expected, "$ahead: no other generator is drawn along");
}

# A shift goes by the same generator as the value without one.
($out, $err) = $world->session(
	$y2037 => 'SELECT public.uuidv7()',
	$now => q{SELECT public.uuidv7('0')});
my ($plain, $shifted) = split /\n/, $out;
is((fields($shifted))[0], (fields($plain))[0], 'uuidv7(interval) goes by the generator of uuidv7()');

$world->node->stop;

done_testing();
