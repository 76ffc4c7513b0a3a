# Nothing is lost, twice or stale under load, kills and delays; test/harness/Harness.pm tells how.  Run the
# scenarios with one seed after another until the time is over.  After a failure, print the shortest part of
# the schedule that shows it, and end.
#
#	HARNESS_SECONDS		the time (20)
#	HARNESS_SEED		the first seed, which repeats a run
#	HARNESS				a regular expression of scenarios
#	HARNESS_SHORTEN		how many seconds to look for the shortest part (120)
#	HARNESS_GO_ON		if set, go on after failures, and do not look for it
use ServerTest;
use lib "$FindBin::Bin/harness";
use Harness;
use Scenarios;
use Time::HiRes qw(time);

my $harness = Harness->new or plan skip_all => World::REASON;
my $seconds = $ENV{HARNESS_SECONDS} || 20;
my $seed = $ENV{HARNESS_SEED} || int rand 1e9;
my $which = $ENV{HARNESS} || '.';
my $end = time + $seconds;

note "HARNESS_SEED=$seed";
for (my ($number, $ends) = (0, 0); !$ends; $number++)
{
	$ends = 1;	# unless a scenario runs
	foreach (Scenarios::all())
	{
		my $scenario = Harness::variant($_, $seed + $number);

		next if $scenario->{schedule} && $number;
		next if $scenario->{name} !~ $which;
		next if $scenario->{through} && !$harness->{servers}->has_pooler;
		last if $ends = time > $end;
		my $schedule = Harness::schedule($scenario, $seed + $number);
		my $began = time;
		my @faults = $harness->run($scenario, $schedule);

		ok(!@faults, "$scenario->{name}, seed " . ($seed + $number)) or diag(map { "$_->[0]: $_->[1]: $_->[2]\n" } @faults[ 0 .. ($#faults < 4 ? $#faults : 4) ]);
		note sprintf '%.1f s', time - $began;
		next if !@faults || $ENV{HARNESS_GO_ON};
		diag('the shortest schedule with this fault has ' . $harness->shorten($scenario, $schedule, $faults[0], $ENV{HARNESS_SHORTEN} // 120));
		$ends = 1;
		last;
	}
}
note "$harness->{delivered} changed rows are delivered for $harness->{written}";
cmp_ok($harness->{delivered}, '<=', 4 * $harness->{written}, 'few changes are delivered more than once');
is(join("\n", $harness->{servers}->complaints), '', 'no server has crashed by itself');
$harness->stop;
done_testing();
