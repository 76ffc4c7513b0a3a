# If the random source or the clock fails, the statement fails with the right SQLSTATE and
# returns no value.  The next call works.
use ServerTest;
use Ordered;

my $world = Ordered->new('failure') or plan skip_all => World::REASON;
my @timed = qw(uuidv1() uuidv6() uuidv7() uuidv7('1d') uuidv8() uuidv8_node(1) uuidv7_ordered());

sub is_stopped
{
	my ($turn, $name, $error, @calls) = @_;
	SKIP:
	{
		skip World::NARROW, 2 * @calls unless World->can_be($turn);
		foreach my $call (@calls)
		{
			my ($version) = $call =~ /v(\d)/;
			my ($out, $err) = $world->session($turn => "SELECT 'value ' || public.$call", normal => "SELECT 'again ' || public.$call");

			like($err, qr/ERROR:  \Q@{[ $error =~ s{VERSION}{$version}r ]}\E/, "$call: $name");
			like($out, qr/\Aagain [0-9a-f]{8}-\S+\z/, "$call: $name, and then works again");
		}
	}
	return;
}

is_stopped('random', 'raises an error if the random source fails', 'XX000: could not generate random values', @timed,
	'uuidv4()', 'uuidv6_at(now())', 'uuidv7_at(now())', 'uuidv8_node_at(now(), 1)');
is_stopped('clock', 'raises an error if the clock fails', '58000: could not read the system clock: Operation not permitted', @timed);
my $range = '22008: system clock is out of range for UUID version VERSION';
is_stopped('-1 999999999', 'raises an error if the clock is before 1970', $range, grep { /v[78]/ } @timed);
is_stopped('-14830000000 0', 'raises an error if the clock is before 1582', $range, grep { /v[16]/ } @timed);
is_stopped('569000000000 0', 'raises an error if the clock is after the field', $range, qw(uuidv1() uuidv6() uuidv7() uuidv8_node(1)));

# After 9 to 16 values in the last tick of the time field, the next call raises an error.
foreach my $last ([ 'uuidv6()', '103072857660 684697599' ], [ 'uuidv7()', '281474976710 655999999' ])
{
	my ($call, $turn) = @$last;
	SKIP:
	{
		skip World::NARROW, 3 unless World->can_be($turn);
		my ($out, $err) = $world->session($turn => "SELECT public.$call;\n" x 20);
		my @values = split /\n/, $out;
		ok(@values >= 9 && @values <= 16, "$call: the last tick of the field has 9 to 16 values") or diag($out);
		my %seen = map { $_ => 1 } @values;
		is_deeply([ sort keys %seen ], \@values, "$call: the values of the last tick are distinct and in order");
		like($err, qr/ERROR:  22008: UUID version \d has reached its maximum timestamp/, "$call: the next value is an error");
	}
}

# A statement fails as a whole if a refill of the random buffer fails.
my ($out, $err) = $world->session(
	normal => 'CREATE TABLE ids (id uuid DEFAULT public.uuidv7()); INSERT INTO ids SELECT FROM generate_series(1, 100)',
	random => 'INSERT INTO ids SELECT FROM generate_series(1, 10000)',
	normal => 'SELECT count(*) FROM ids');
like($err, qr/could not generate random values/, 'an INSERT stops where the random buffer ends');
is($out, '100', 'a stopped INSERT leaves no row');

$world->node->stop;
done_testing();
