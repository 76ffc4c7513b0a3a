# A random source or a clock that fails stops the statement: an error with its
# SQLSTATE, no value, and the next call works again.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Test::More;
use Ordered;

my $world = Ordered->new('failure') or plan skip_all => World::REASON;

sub is_stopped
{
	my ($call, $turn, $error, $name) = @_;
	SKIP:
	{
		skip World::NARROW, 3 unless World->can_be($turn);
		my ($out, $err) = $world->session(
			$turn => "SELECT 'value ' || public.$call",
			normal => "SELECT 'again ' || public.$call");
		unlike($out, qr/value/, "$call: no value when $name");
		like($err, $error, "$call: an error when $name");
		like($out, qr/again [0-9a-f]{8}-/, "$call: works again after $name");
	}
	return;
}

is_stopped($_, 'random', qr/ERROR:  XX000: could not generate random values/, 'the random source fails')
  foreach qw(uuidv1() uuidv4() uuidv6() uuidv7() uuidv7('1d') uuidv7_batch(1) uuidv8() uuidv8_node(1)
	uuidv6_at(now()) uuidv7_at(now()) uuidv6_ordered() uuidv7_ordered() uuidv8_node_ordered()), 'uuidv8_node_at(now(), 1)';
is_stopped($_, 'clock', qr/ERROR:  58000: could not read the system clock: Operation not permitted/, 'the clock fails')
  foreach qw(uuidv1() uuidv6() uuidv7() uuidv7('1d') uuidv7_batch(1) uuidv8() uuidv8_node(1) uuidv6_ordered() uuidv7_ordered() uuidv8_node_ordered());

sub is_out_of_range
{
	my ($call, $turn, $name) = @_;
	my ($version) = $call =~ /v(\d)/;

	is_stopped($call, $turn, qr/ERROR:  22008: system clock is out of range for UUID version $version: -?\d+ seconds since 1970-01-01\n/, $name);
	return;
}

is_out_of_range($_, '-1 999999999', 'the clock is before 1970') foreach qw(uuidv7() uuidv7('1d') uuidv8() uuidv8_node(1) uuidv7_ordered());
is_out_of_range($_, '-14830000000 0', 'the clock is before 1582') foreach qw(uuidv1() uuidv6() uuidv6_ordered());
is_out_of_range($_, '569000000000 0', 'the clock is after the field') foreach qw(uuidv1() uuidv6() uuidv7() uuidv8_node(1) uuidv7_ordered());

# The last tick of the field has 9 to 16 values, and then there is none.
foreach my $last (
	[ 'uuidv6()', '103072857660 684697599', 6 ],
	[ 'uuidv7()', '281474976710 655999999', 7 ],
	[ 'uuidv7_batch(1)', '281474976710 655999999', 7 ])
{
	my ($call, $turn, $version) = @$last;
	SKIP:
	{
		skip World::NARROW, 5 unless World->can_be($turn);
		my ($out, $err) = $world->session($turn => "SELECT public.$call;\n" x 20);
		my @values = split /\n/, $out;
		cmp_ok(scalar(@values), '>=', 9, "$call: values in the last tick of the field");
		cmp_ok(scalar(@values), '<=', 16, "$call: no more than its counter has");
		is_deeply([ sort @values ], \@values, "$call: in order");
		my %seen = map { $_ => 1 } @values;
		is(scalar(keys %seen), scalar(@values), "$call: none twice");
		like($err, qr/ERROR:  22008: UUID version $version has reached its maximum timestamp/, "$call: then an error");
	}
}

# A statement that needs more than one refill fails as a whole.
my ($out, $err) = $world->session(
	normal => 'CREATE TABLE ids (id uuid DEFAULT public.uuidv7()); INSERT INTO ids SELECT FROM generate_series(1, 100)',
	random => 'INSERT INTO ids SELECT FROM generate_series(1, 10000)',
	normal => 'SELECT count(*) FROM ids');
like($err, qr/could not generate random values/, 'an INSERT stops where the pool ends');
is($out, '100', 'and leaves no row');

$world->node->stop;
done_testing();
