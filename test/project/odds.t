# The odds: the page has what scripts/odds prints, and the generator core makes
# as many collisions as the formulas say.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Project;
use Test::More;

my $page = slurp('doc/collisions.md');

my $printed = `scripts/odds tables`;
is($?, 0, 'scripts/odds prints its tables');
my @tables = $printed =~ /((?:^\|.*\|\n)+)/mg;
cmp_ok(scalar(@tables), '>=', 7, 'as many as the page has');
foreach my $table (@tables)
{
	my ($name) = $table =~ /^\| (.*?) \|/;
	ok(index($page, "\n\n$table\n") >= 0, "the page has the table \"$name\"");
}

# The same random bits wherever it runs, and nearly the same moments.
my $simulated = do { local $ENV{SEED} = 1; `scripts/odds simulate` };
is($?, 0, 'each row of the simulation is within four standard errors of its formula');

# The rows with what is expected of them; what was found is the last run's.
my ($derived, $shown) = $page =~ /^(.*)^## The simulation\n(.*)/ms;
my @rows = $simulated =~ /^(\|(?: [^|]* \|){3})/mg;
cmp_ok(scalar(@rows), '>', 40, 'it has rows');
is_deeply([ $shown =~ /^(\|(?: [^|]* \|){3})/mg ], \@rows, 'and the page has each of them, and no other');

my %known = map { $_ => 1 } map { split /\n/ } @tables;
is_deeply([ grep { !$known{$_} } $derived =~ /^(\|.*\|)$/mg ], [], 'and no row of figures that is not printed');

my $sentences = $derived =~ s/^\|.*\n//mgr;
my @chances = map { s/\s+/ /gr } $sentences =~ /(\b1 in \d[\d.,]*\d(?:\s+[bmt]r?illion)?)/g;
is_deeply([ grep { index($printed, " $_ |") < 0 } @chances ], [], 'nor any chance in its sentences');

done_testing();
