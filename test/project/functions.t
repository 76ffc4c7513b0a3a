# Each SQL function of the install script is named by a test.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Project;
use Test::More;

# functions that PostgreSQL has from some version on have the prefix uuid9562_ at first
my %functions = map { $_ => 1 } slurp('uuid9562--1.0.sql') =~ /^CREATE FUNCTION (?:uuid9562_)?(\w+)/mg;
my $tests = join "\n", map { slurp($_) } glob 'sql/*.sql test/pgtap/*.sql test/t/*.pl';

cmp_ok(scalar(keys %functions), '>', 50, 'the install script creates functions');
ok($tests =~ /\b$_\b/, "a test names $_()") foreach sort keys %functions;

done_testing();
