# The odds: scripts/odds finds as many collisions in the generator core as its formula
# says, and doc/collisions.md has its tables and no other figures.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Project;
use Test::More;

# The same random bits wherever it runs.
my $printed = do { local $ENV{SEED} = 1; `scripts/odds` };
is($?, 0, 'each row of the simulation is within four standard errors of the formula');

my $page = slurp('doc/collisions.md');
my @tables = $printed =~ /((?:^\|.*\|\n)+)/mg;
my $simulation = pop @tables;
like($simulation, qr/^\| the simulation /, 'scripts/odds ends with the simulation');
is_deeply([ $page =~ /((?:^\|.*\|\n)+)/mg ], \@tables, 'the page has the tables before it, and no other');

my $sentences = $page =~ s/^\|.*\n//mgr;
my @chances = map { s/\s+/ /gr } $sentences =~ /(\b1 in \d[\d.,]*\d(?:\s+[bmt]r?illion)?)/g;
cmp_ok(scalar(@chances), '>', 1, 'the sentences have chances');
is_deeply([ grep { index($printed, " $_ |") < 0 } @chances ], [], 'each of them from a table');

done_testing();
