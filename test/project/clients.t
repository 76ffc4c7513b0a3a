# Test that each snippet of the page doc/clients.md occurs in a test of test/clients.
use strict;
use warnings;

use JSON::PP;
use FindBin;
use lib $FindBin::Bin;
use Project;
use Test::More;

my $page = slurp('doc/clients.md');
my @tests = map { slurp($_) } grep { -f } glob 'test/clients/*.* test/clients/*/*.*';

# test/t/examples.pl executes the SQL.
my @snippets = $page =~ /^```(?!sql|text)\w+\n(.*?)^```$/msg;
cmp_ok(scalar(@snippets), '>', 15, 'the page has snippets');
foreach my $snippet (@snippets)
{
	my ($first) = $snippet =~ /(\S.*)/;
	ok((grep { index($_, $snippet) >= 0 } @tests), "a test has: $first");
}

# Each package that the page names with a version, as in "knex 3.3.0", has this version in
# package.json.
my $pinned = decode_json(slurp('test/clients/package.json'))->{dependencies};
my @versions = $page =~ /([\w@\/-]+)\s(\d+\.\d+\.\d+)\b/g;
cmp_ok(scalar(@versions), '>', 0, 'the page has versions');
while (my ($name, $version) = splice @versions, 0, 2)
{
	is($version, $pinned->{$name}, "the page has the version of $name in package.json");
}

done_testing();
