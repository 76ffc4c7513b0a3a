# Check that the manual agrees with the code: the page of settings has every setting, and the page of
# errors every message that does not say what to do.  Tests exist for every requirement on the conformance
# page.  functions.t compares the reference with the install script.
use FindBin;
use lib $FindBin::Bin;
use Project;

my $settings_page = slurp('doc/settings.md');
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

# The page of RFC 9562 has these requirements, and a test has each of them: file and text in it.
my %requirements = (
	F1 => ['sql/convert.sql' => q{the text forms of the UUIDs in RFC 9562}],
	F2 => ['sql/inspect.sql' => q{4.1, table 1}],
	F3 => ['test/proofs/layout.c' => q{packing_sets_version_and_variant}],
	F4 => ['test/proofs/layout.c' => q{variant_and_version_are_those_of_the_rfc}],
	V1 => ['sql/vectors.sql' => q{A.1, version 1}],
	V1b => ['sql/settings.sql' => q{the clock sequence stays random}],
	V2 => ['sql/inspect.sql' => q{no field of v2 is read}],
	V3 => ['sql/vectors.sql' => q{A.2, version 3}],
	V4 => ['test/pgtap/random.sql' => q{each of the 122 random bits is set half the time}],
	V5 => ['sql/vectors.sql' => q{A.4, version 5}],
	V6 => ['sql/vectors.sql' => q{A.5, version 6}],
	V6b => ['sql/settings.sql' => q{random in each UUID}],
	V7 => ['test/t/clock.pl' => q{the first value has the clock's time}],
	V8 => ['sql/convert.sql' => q{all custom bits zero}],
	V8a => ['sql/vectors.sql' => q{B.1, version 8 with a time}],
	V8b => ['sql/vectors.sql' => q{B.2, version 8 from SHA-256}],
	V8c => ['sql/vectors.sql' => q{draft 12, B.2}],
	V8d => ['sql/vectors.sql' => q{draft 04, B.3}],
	S1 => ['sql/vectors.sql' => q{5.9, Nil}],
	S2 => ['sql/vectors.sql' => q{5.10, Max}],
	T1 => ['test/proofs/generator.c' => q{every_value_is_greater_than_the_previous_one}, 'test/t/failure.pl' => q{raises an error if the clock fails}],
	T2 => ['test/proofs/clock.c' => q{units_are_those_of_the_rfc}, 'test/proofs/clock.c' => q{ticks_of_v6_are_those_since_1582}, 'test/proofs/clock.c' => q{ticks_of_v7_are_those_since_1970}],
	T3 => ['test/proofs/clock.c' => q{that a field has a time, which is a number of ticks, if it can hold the time}],
	T4 => ['test/proofs/clock.c' => q{field_of_v8_has_the_low_bits_of_the_time}],
	T5 => ['test/proofs/generator.c' => q{fraction_steps_a_counter_of_four_bits}],
	M1 => ['test/proofs/generator.c' => q{counter_steps_sixteen_bits}],
	M2 => ['test/proofs/generator.c' => q{random_adds_1_to_2_to_the_32}],
	M3 => ['test/proofs/clock.c' => q{4096 * 1000 ticks in 10^9 nanoseconds}],
	M3b => ['test/proofs/generator.c' => q{fraction_steps_a_counter_of_four_bits}],
	M4 => ['test/proofs/generator.c' => q{every_value_is_greater_than_the_previous_one}],
	M5 => ['test/proofs/generator.c' => q{fraction_steps_a_counter_of_four_bits}, 'test/proofs/generator.c' => q{counter_steps_sixteen_bits}],
	M6 => ['test/pgtap/defaults.sql' => q{the IDs are in row order}],
	G1 => ['test/t/ordered.pl' => q{values stay in order if the clock is set back an hour}],
	G2 => ['test/t/ordered.pl' => q{each value is greater than the one before it, in any session}],
	G3 => ['test/t/damage.pl' => q{without the file the generator starts at the current time}, 'test/t/damage.pl' => q{report the damaged file}],
	D1 => ['sql/node.sql' => q{the node ID of the setting or of the argument}],
	N1 => ['test/t/encoding.pl' => q{the same name gives the same UUIDs in every encoding}],
	N2 => ['sql/vectors.sql' => q{6.6, namespace}, 'sql/named.sql' => q{any UUID can be a namespace}],
	C1 => ['test/pgtap/parallel.sql' => q{several workers generate no value twice}],
	U1 => ['test/t/failure.pl' => q{raises an error if the random source fails}],
	H1 => ['sql/settings.sql' => q{with the multicast bit}],
	O1 => ['test/proofs/layout.c' => q{bytes_are_in_the_order_of_time_and_tail}],
	O2 => ['test/pgtap/within.sql' => q{the functions agree with the timestamp of the ID}],
	X2 => ['test/core/feistel.c' => q{is_a_permutation_in_both_directions}],
	B1 => ['test/pgtap/contract.sql' => q{the extensions have no type of their own, except a domain}],
	B2 => ['test/pgtap/defaults.sql' => q{first column of a composite primary key}],
	X1 => ['sql/settings.sql' => q{random in each UUID}],
	E1 => ['sql/inspect.sql' => q{4.1, table 1}],
	E2 => ['sql/vectors.sql' => q{A.1, version 1}],
	E3 => ['sql/vectors.sql' => q{erratum 7929}],
);
is_deeply([ sort(slurp('doc/rfc9562.md') =~ /^- \*\*(\w+)\*\* /mg) ], [ sort keys %requirements ], 'the page of RFC 9562 has each requirement');
foreach my $id (sort keys %requirements)
{
	my @tests = @{ $requirements{$id} };
	ok(@tests > 0, "requirement $id names a test");
	while (my ($file, $name) = splice @tests, 0, 2)
	{
		my $text = slurp($file);
		ok(defined $text && index($text, $name) >= 0, "requirement $id: $file has \"$name\"");
	}
}

# Each table of commands lists exactly the commands in its folder.
foreach my $list ([ 'CONTRIBUTING.md', 'scripts', 6 ], [ 'scripts/lab/README.md', 'scripts/lab', 10 ],
	[ 'findings/README.md', 'findings', 6 ])
{
	my ($page, $folder, $fewest) = @$list;
	my @commands = grep { -x && -f } glob "$folder/*";
	cmp_ok(scalar(@commands), '>=', $fewest, "$folder has commands");
	is_deeply([ sort(slurp($page) =~ /^\| `((?:scripts|findings)\/[\w\/.-]+)` \|/mg) ], [ sort @commands ], "$page lists each command");
}

# The top of each finding states what it shows, and the finding shows it without the extension.
foreach my $finding (glob 'findings/*.sh')
{
	my $script = slurp($finding);
	like(join("\n", (split /\n/, $script)[ 1 .. 7 ]), qr/^# Version: .*^# Behavior: .*^# Output: /ms, "$finding states what it shows");
	unlike($script, qr/uuid9562/i, "$finding does not use the extension");
}

done_testing();
