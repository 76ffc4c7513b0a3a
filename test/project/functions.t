# The reference of an extension has an entry for each function, procedure, aggregate, operator and view of the
# install script, and for nothing else.  The section of an entry has the words of the object's comment in the
# catalog.  For functions that only other functions call, one section lists the names.  A test names each
# function.
use FindBin;
use lib $FindBin::Bin;
use Project;

my $parentheses = qr/(?<in>\((?:[^()]++|(?&in))*+\))/;

# Return a signature without output columns and without the result: "f(a uuid, b text DEFAULT 'x')".
sub signature
{
	my ($name, $arguments) = @_;
	my @in = grep { !/^OUT / } split /, /, substr($arguments, 1, -1) =~ s/\s+/ /gr;

	return "$name(" . join(', ', @in) . ')';
}

my %names;
foreach ([ 'uuid9562', 50 ], [ 'uuid9562_changes', 8 ])
{
	my ($extension, $least) = @$_;
	my ($version) = slurp("$extension.control") =~ /^default_version = '(.*)'$/m;
	my $script = slurp("$extension--$version.sql");
	my $reference = slurp("doc/$extension.md") =~ s/^```.*?^```$//msgr;

	# Read the entries, each with its section.  An entry is an indented line, with lines below that are
	# indented more, or one of the signatures that begin an item of a list and end with a colon.  The entry of a view is "view NAME".
	my (%entries, %internal);
	foreach my $section (split /^(?=#)/m, $reference)
	{
		%internal = map { $_ => 1 } $section =~ /`((?:uuid9562_changes\.|changes_)\w+)`/g if $section =~ /^## Implementation/;

		my @signatures = map { /`([^`]*\))[^`]*`/g } $section =~ /^- ((?:`[^`]*`,\s+)*`[^`]*`):/mg;

		foreach my $line (map({ s/\s+/ /gr } $section =~ /^ {4}(\S.*(?:\n {8}\S.*)*)$/mg), @signatures)
		{
			foreach my $either ($line =~ /\btext or bytea\b/ ? ($line =~ s/ or bytea//r, $line =~ s/text or //r) : $line)
			{
				my $entry = $either =~ /^(\w+)$parentheses/ ? signature($1, $+{in}) : $either =~ s/ returns .*//r;

				ok(!exists $entries{$entry}, "the reference has one entry for $entry");
				$entries{$entry} = $section;
			}
		}
	}

	my %comments;
	while ($script =~ /^COMMENT ON (?:FUNCTION|PROCEDURE|AGGREGATE) (?:uuid9562_)?(\w+\(.*?\)) IS '((?:[^']|'')*)';/mg)
	{
		$comments{$1} = $2;
	}

	# functions that PostgreSQL has from some version on have the prefix uuid9562_ at first
	my @objects;
	while ($script =~ /^CREATE (FUNCTION|PROCEDURE|AGGREGATE) (?:uuid9562_(?!changes\.))?([\w.]+)$parentheses/mg)
	{
		my ($kind, $name, $arguments) = ($1, $2, $+{in});
		my $object = signature($name, $arguments);

		$names{ $name =~ s/.*\.//r } = 1 if $kind ne 'AGGREGATE';
		next if delete $internal{$name};
		push @objects, $object;

		# words that the manual can write in another form or omit
		my %other = map { $_ => 1 } qw(convert decrypt does extract for from generate generated with);
		my ($types) = map { join ', ', map { s/ DEFAULT .*//r =~ s/^"?\w+"? (?=\w)//r } split /, / } $object =~ /\((.*)\)/;
		my $section = ($entries{$object} // '') =~ s/\s+/ /gr =~ s/\bv(?=\d\b)/version /gr;
		my @words = grep { !$other{$_} } ($comments{"$name($types)"} // 'no comment') =~ /\w{3,}|\d+/g;
		is_deeply([ grep { $section !~ /\b\Q$_\E/i } @words, $arguments =~ /\bOUT "?(\w+)/g ], [], "the section of $object has the words of its comment");
	}
	while ($script =~ /^CREATE OPERATOR (\S+) \((.*?)^\);/msg)
	{
		my ($name, $definition) = ($1, $2);
		my ($left, $right) = $definition =~ /LEFTARG = (\w+).*RIGHTARG = (\w+)/s;

		# the domain over tstzrange is a detail of the operators
		push @objects, join ' ', map { s/^uuidv7_period$/tstzrange/r } $left, $name, $right;
	}
	is_deeply([ sort keys %internal ], [], "$extension: the section of functions that only others call lists no other name");
	push @objects, map { "view $_" } $script =~ /^CREATE VIEW (\w+)/mg;

	cmp_ok(scalar(@objects), '>', $least, "$extension: the install script creates objects");
	is_deeply([ sort keys %entries ], [ sort @objects ], "$extension: the reference has an entry for each object of the install script, and no other entry");
}

my $tests = join "\n", map { slurp($_) } glob 'sql/*.sql test/pgtap/*.sql test/t/*.pl';
ok($tests =~ /\b$_\b/, "a test names $_()") foreach sort keys %names;

done_testing();
