# The figures of the README and of doc/benchmarks.md are those of the last report of scripts/bench.
use FindBin;
use lib $FindBin::Bin;
use Project;

my %figures;
foreach (slurp('doc/benchmarks/18/report.md') =~ /^\| (.*) \|$/mg)
{
	my ($measure, $side, $median, undef, undef, $ratio) = split / \| /;
	$figures{"$measure, $side"} = { median => $median, ratio => $ratio };
}
my $day = 'ms, one day, ';
my $load = 's, loading 1000000 rows, ';
my $call = 'ns a call, generated at the time, ';
my $size = 'MB, 500000 rows with indexes, ';
# each row: how it begins, and the measures of its figures
my @rows = (
	[ 'query the rows of one day', map { $day . $_ } 'id <@ period', 'created_at with an index of its own', 'bounds by hand', 'extracted timestamp' ],
	[ 'generate a v7 UUID', map { $call . $_ } 'uuidv7()', q{PostgreSQL's uuidv7()}, 'pg_uuidv7: uuid_generate_v7()' ],
	[ 'load a million rows', map { $load . $_ } 'uuidv7()', 'bigint identity', q{PostgreSQL's uuidv7()}, q{PostgreSQL's gen_random_uuid()} ],
	[ 'table and indexes of 500,000 rows', map { $size . $_ } 'key uuidv7_next()', 'key uuidv7_next(), indexed created_at' ]);
my ($speed) = slurp('README.md') =~ /^## Speed\n(.*?)^## /ms;
my $count = () = $speed =~ /^\| (?!\||-)/mg;
is($count, @rows, 'each row of the README is compared');
foreach (@rows)
{
	my ($name, @measures) = @$_;
	my ($shown) = $speed =~ /^\| $name.*?( \| .*)$/m;
	my @shown = ($shown // '') =~ /(?<![\w.])(\d+(?:\.\d+)?)\b(?!\()/g;
	my @expected = map { my $decimals = length(($shown[$_] // '') =~ s/^\d+\.?//r); sprintf "%.${decimals}f", $figures{ $measures[$_] }{median} // -1 } 0 .. $#measures;

	is_deeply(\@shown, \@expected, "README: $name");
}

# sentences with a percentage
my $page = slurp('doc/benchmarks.md') =~ s/\s+/ /gr;
foreach ([ qr/planning takes about (\d+) % longer/, 'ms, planning 365 partitions, now(), id <@ period' ], [ qr/two columns about (\d+) % slower/, 's, INSERT of 200000 rows, uuidv7_guard_trigger(), AFTER' ])
{
	my ($sentence, $measure) = @$_;
	my ($percent) = $page =~ $sentence;
	my $measured = 100 * (($figures{$measure}{ratio} // 0) - 1);

	cmp_ok(abs(($percent // -100) - $measured), '<=', 5, "doc/benchmarks.md: $measure, $measured %");
}
done_testing();
