# The workflows run only code of this repository, and actions at a fixed commit.  No secret is
# a part of a command, where a shell would interpret it.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Project;
use Test::More;

my @workflows = glob '.github/workflows/*.yml';
cmp_ok(scalar(@workflows), '>', 3, 'there are workflows');
foreach my $workflow (@workflows)
{
	my $text = slurp($workflow);
	my @actions = grep { !/^\.\// } $text =~ /^ *(?:- )?uses: (.*)$/mg;
	is_deeply([ grep { !/^[\w\/-]+\@[0-9a-f]{40} # v\d+\.\d+\.\d+$/ } @actions ], [], "$workflow: each action has a commit, and its tag in a comment");

	# a secret or token occurs only as the value of an environment variable
	my @secrets = grep { /\$\{\{.*\b(?:secrets|github\.token)\b/ } split /\n/, $text;
	is_deeply([ grep { !/^ +[A-Z_]+: \$\{\{ [\w.]+ \}\}$/ } @secrets ], [], "$workflow: no command contains a secret");
	like($text, qr/^permissions:\n  contents: read$/m, "$workflow: jobs can only read, unless they say otherwise");
}

# each action has one commit in all workflows
my %commits;
foreach my $text (map { slurp($_) } @workflows)
{
	$commits{$1}{$2} = 1 while $text =~ /uses: ([\w\/-]+)\@(.*)$/mg;
}
is_deeply([ grep { keys %{ $commits{$_} } > 1 } sort keys %commits ], [], 'each action has one commit in all workflows');

unlike(slurp($_), qr/cpan|npm |pip /, "$_ installs no program from a registry of a language") foreach '.github/workflows/packages.yml', '.github/workflows/release.yml';

done_testing();
