# Test that each snippet of the page doc/clients.md occurs in a test of test/clients.
use FindBin;
use lib $FindBin::Bin;
use Project;

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

done_testing();
