# Check that the manual agrees with the code: the page of settings has every setting, and the page of
# errors every message that does not say what to do.  Every requirement on the conformance page names
# tests that exist.  functions.t compares the reference with the install script.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Project;
use Test::More;

my $settings_page = slurp('doc/settings.md');
my %functions = map { $_ => 1 } map { slurp($_) =~ /^CREATE (?:FUNCTION|AGGREGATE) (?:uuid9562_)?(\w+)/mg } glob 'uuid9562--*.sql';
cmp_ok(scalar(keys %functions), '>', 20, 'the install script has functions');

my %settings = map { $_ => 1 } slurp('src/settings.c') =~ /DefineCustom\w+Variable\("(uuid9562\.\w+)"/g;
cmp_ok(scalar(keys %settings), '>=', 3, 'the module has settings');
foreach my $setting (sort keys %settings)
{
	like($settings_page, qr/^## \Q$setting\E$/m, "the page of settings has $setting");
}

# The page has each message whose detail or hint does not say what to do.  Compare messages up to their
# first variable part.
{
	my $page = slurp('doc/errors.md');
	my %messages;
	foreach my $code (map { slurp($_) } glob 'src/*.[ch] src/*/*.[ch]')
	{
		while ($code =~ /\b(?:ereport\([^;]*?)?\berrmsg\("((?:[^"\\]|\\.)*)"([^;]*)/g)
		{
			my ($text, $rest) = ($1, "$&");
			$messages{ $text =~ s/ *(?:\\"|%).*//r } = 1 unless $rest =~ /\berr(?:hint|detail)\(/;
		}
	}
	delete $messages{''};
	cmp_ok(scalar(keys %messages), '>', 10, 'the code has messages');
	is_deeply([ grep { index($page, $_) < 0 } sort keys %messages ], [], 'the page of errors has each message');
}

# Each complete SQL statement that a sentence quotes also occurs in a code block or in a test.
# test/t/examples.pl runs the code blocks.
{
	my @pages = ('README.md', glob 'doc/*.md');
	my @run = (map({ slurp($_) =~ /^```sql\n(.*?)^```/msg } @pages), map { slurp($_) } glob 'sql/*.sql test/*/*.sql test/*/*.pl');
	my $run = join(' ', @run) =~ s/\s+/ /gr;
	foreach my $page (@pages)
	{
		my $sentences = slurp($page) =~ s/^```.*?^```//msgr;
		my @statements = grep { !/\.\.\./ && / .* / && /[a-z]/ } map { s/\s+/ /gr =~ s/;$//r }
		  $sentences =~ /`((?:ALTER|CALL|COPY|CREATE|DELETE|DROP|EXPLAIN|GRANT|INSERT|LOAD|SELECT|SET(?= \w+\.)|SHOW|UPDATE|WITH) [^`]*)`/g;
		is_deeply([ grep { index($run, $_) < 0 } @statements ], [], "$page: a test runs each statement");
	}
}

# The README and the manual call only functions that the install script creates.
foreach my $page ('README.md', glob 'doc/*.md')
{
	my %called = map { $_ => 1 } slurp($page) =~ /\bpublic\.(\w+)\(/g;
	is_deeply([ grep { !$functions{$_} } sort keys %called ], [], "$page calls only functions that exist");
}

# A rule whose neglect loses rows stands on one page, marked <!-- rule: NAME --> with a name of its own.
{
	my %pages;
	foreach my $page ('README.md', glob 'doc/*.md')
	{
		push @{ $pages{$_} }, $page foreach slurp($page) =~ /<!--\s*rule:\s*(.*?)\s*-->/g;
	}
	is_deeply([ map { "$_: @{ $pages{$_} }" } grep { @{ $pages{$_} } > 1 } sort keys %pages ], [], 'no rule stands twice in the manual');
}

# An empty line follows each table, since Markdown treats any other line as a row.
foreach my $page (glob '*.md doc/*.md')
{
	is_deeply([ slurp($page) =~ /^\|.*\n((?!\|)\S.*)$/mg ], [], "$page: an empty line follows each table");
}

# Each link leads to a file and a heading that exist.
sub anchors
{
	my %anchors;
	foreach my $heading ($_[0] =~ /^#+ (.*)$/mg)
	{
		my $anchor = lc $heading =~ s/[^\w\s-]//gr =~ s/\s/-/gr;
		$anchors{$anchor} = 1;
	}
	return \%anchors;
}
foreach my $page (glob '*.md doc/*.md')
{
	my ($folder) = $page =~ m{^(.*/)?};
	my @broken;
	foreach my $link (slurp($page) =~ /\]\(([^)\s]+)\)/g)
	{
		next if $link =~ /^https?:/;
		my ($file, $anchor) = $link =~ /^([^#]*)(?:#(.*))?$/;
		my $path = $file eq '' ? $page : ($folder // '') . $file;
		$path =~ s{[^/]+/\.\./}{};
		push @broken, $link
		  if !-e $path || defined $anchor && !anchors(slurp($path))->{$anchor};
	}
	is_deeply(\@broken, [], "$page: every link has a target");
}

# doc/index.md has one link to each other page.  These links are the navigation of the site.
my @listed = sort(slurp('doc/index.md') =~ /\]\(([\w-]+\.md)\)/g);
is_deeply(\@listed, [ grep { $_ ne 'index.md' } map { s{^doc/}{}r } sort glob 'doc/*.md' ], 'doc/index.md has one link to each page');

# Each figure in the table of the section "Speed" of the README is a figure of a report of
# scripts/bench, rounded.
{
	my ($speed) = slurp('README.md') =~ /^## Speed\n(.*?)^## /ms;
	my @measured = map { slurp($_) =~ /\| (\d[\d.]*)(?= \|)/g } glob 'doc/benchmarks/*/*.md';
	my @figures = map { /(?<![\w.])(\d+(?:\.\d+)?)\b/g } map { /^\|[^|]*\|(.*)\|$/mg } $speed;
	cmp_ok(scalar(@figures), '>', 10, 'the README has figures');
	my @wrong = grep { my $figure = $_; my $digits = /\.(\d+)/ ? length $1 : 0; !grep { sprintf("%.${digits}f", $_) eq $figure } @measured } @figures;
	is_deeply(\@wrong, [], 'each figure in the README rounds a figure of a report');
}

# Read the items of doc/rfc9562.md: - **id** ... `file`: `name`; ...
my %proofs = map { s/\s+/ /gr =~ /^\*\*(\w+)\*\* (.*)/ } split /^- |^#.*\n/m, slurp('doc/rfc9562.md');
my @ids = qw(F1 F2 F3 F4 V1 V1b V2 V3 V4 V5 V6 V6b V7 V8 V8a V8b V8c V8d S1 S2
  T1 T2 T3 T4 T5 M1 M2 M3 M3b M4 M5 M6 G1 G2 G3 D1 N1 N2 C1 U1 H1 O1 O2 B1 B2 X1 X2
  E1 E2 E3);
foreach my $id (@ids)
{
	ok(defined $proofs{$id}, "requirement $id is on the conformance page") or next;
	my @tests = $proofs{$id} =~ /`([^`]+)`: `([^`]+)`/g;
	ok(@tests > 0, "requirement $id names a test");
	while (my ($file, $name) = splice @tests, 0, 2)
	{
		my $text = slurp($file);
		ok(defined $text && index($text, $name) >= 0, "requirement $id: $file has \"$name\"");
	}
}

# Each table of commands lists exactly the commands in its folder.
foreach my $list ([ 'CONTRIBUTING.md', 'scripts', 6 ], [ 'scripts/lab/README.md', 'scripts/lab', 10 ])
{
	my ($page, $folder, $fewest) = @$list;
	my @commands = grep { -x && -f } glob "$folder/*";
	cmp_ok(scalar(@commands), '>=', $fewest, "$folder has commands");
	is_deeply([ sort(slurp($page) =~ /^\| `(scripts\/[\w\/-]+)` \|/mg) ], [ sort @commands ], "$page lists each command");
}

done_testing();
