# The tables of doc/migrating.md, on IDs that the named systems have written.
#
# The files of test/t/migrating begin with two lines: the system, and what to expect.  Each statement of the
# page must convert the IDs of its systems to UUIDs with the right time, or to the right UUIDs, in the order
# of the IDs, and twice to the same.  scripts/lab/judges lets the systems write the files again.  The query that
# checks a conversion must notice wrong byte orders and wrong arguments.
use ServerTest;
use Digest::MD5 qw(md5_hex);

my $page = slurp_file("$FindBin::Bin/doc/migrating.md");
my $node = new_server('other_ids', "timezone = 'Asia/Kolkata'\nfsync = off\n");

# --- the page ---------------------------------------------------------------------------

sub words { return map { $_ => 1 } split ' ', $_[0] =~ tr/`,//dr }
sub holds { my ($all, $some) = @_; my %all = words($all); return !grep { !$all{$_} } keys %{ { words($some) } } }

# Return the systems in a cell: names that commas or "and" separate, without those marked by an asterisk.
sub systems { return grep { !/\\\*$/ } split /,? and |, (?![^(]*\))/, $_[0] =~ tr/`//dr }

my (@rows, @arguments);
foreach my $line ($page =~ /^(`?\w.* \| .*)$/mg)
{
	my ($system, $statement) = split / \| /, $line;

	if ($statement =~ /^`(.*\(.*\))`$|^`(encode\(.*)`$/)
	{
		push @rows, { statement => $1 // $2, system => $system, names => [ systems($system) ] };
	}
	elsif ($system =~ /^`/)
	{
		my ($given) = $system =~ /\((.*)\)$/;
		my @names = ($system =~ s/ ?\(.*//r) =~ /`([^`]+)`(?!\\\*)/g;

		foreach my $argument (@names)
		{
			push @arguments, $argument;
			push @rows, { statement => "uuid_from_id(id::text, '$argument')", system => $system,
				names => [ map { "$argument (" . (/^\d/ ? "$argument $_" : $_) . ')' } split /, /, $given =~ tr/`//dr ] };
		}
	}
}
cmp_ok(scalar(grep { !/uuid_from_id/ } map { $_->{statement} } @rows), '>=', 10, 'the page has statements for byte orders');
cmp_ok(scalar(@arguments), '>=', 25, 'the page has arguments of uuid_from_id()');

# --- the files --------------------------------------------------------------------------

my @files;
foreach my $name (sort glob "$FindBin::Bin/migrating/*.tsv")
{
	my ($made, $expected, @lines) = split /\n/, slurp_file($name);
	my %file = (name => $name =~ s/.*\///r, lines => \@lines);

	($file{system}) = $made =~ /^# (.*?): / or die "$name: no system";
	($file{type}, $file{contents}) = $expected =~ /^# (\w+), (.*)$/ or die "$name: no contents";
	push @files, \%file;
}

# Find the row of each file, and files for each system of each row.
foreach my $file (@files)
{
	my @found = grep {
		my $row = $_;
		grep { $row->{statement} =~ /uuid_from_id/ ? $_ eq $file->{system} : holds($file->{system}, $_) && holds($row->{system}, $file->{system}) } @{ $row->{names} }
	} @rows;

	is(scalar(@found), 1, "$file->{name}: the page has one row for $file->{system}");
	$file->{row} = $found[0];
}
foreach my $row (@rows)
{
	my @of_row = grep { defined $_->{row} && $_->{row} == $row } @files;

	foreach my $name (@{ $row->{names} })
	{
		ok((grep { $row->{statement} =~ /uuid_from_id/ ? $_->{system} eq $name : holds($_->{system}, $name) } @of_row) > 0, "IDs of $name are tested");
	}
}
my @without = grep { my $argument = $_; $page !~ /`$argument`/ } slurp_file("$FindBin::Bin/examples/migrate_key/other_ids.sql") =~ /WHEN '([\w-]+)' THEN RETURN/g;
is("@without", '', 'the page has all arguments of uuid_from_id()');

# --- conversions ------------------------------------------------------------------------

# Return the UUID from which a system has written the n-th value.
sub uuid_of { return md5_hex($_[0]) =~ s/^(.{8})(.{4}).(.{3}).(.{3})/$1-$2-4$3-8$4-/r }

$node->safe_psql('postgres', "CREATE DATABASE $_") foreach 'extension', 'managed';
$node->safe_psql('extension', 'CREATE EXTENSION uuid9562');
$node->safe_psql('managed', "ALTER DATABASE managed SET search_path = public, uuid9562; \\i $FindBin::Bin/managed/uuid9562.sql");
foreach my $database ('extension', 'managed')
{
	$node->safe_psql($database, "\\i $FindBin::Bin/examples/migrate_key/other_ids.sql");
	foreach my $file (@files)
	{
		my ($type, $contents, $statement) = ($file->{type}, $file->{contents}, $file->{row}{statement});
		my $n = 0;
		my $copied = join '', map {
			my ($id, $column) = split /\t/;
			my ($step) = $contents =~ /every (\d+) ms/;
			my $ms = $step ? 1622505600000 + int($n / 4) * $step : $column // '\N';
			my $uuid = $contents =~ /UUID/ ? uuid_of($n) : '\N';

			join("\t", $n++, ($type eq 'bytea' ? '\\\\x' : '') . $id, $ms, $uuid) . "\n"
		} @{ $file->{lines} };

		my ($status, $out, $err) = $node->psql($database, "DROP TABLE IF EXISTS other, first, second;
			CREATE TABLE other (n int, id $type" . ($type eq 'text' ? ' COLLATE "C"' : '') . ", ms bigint, uuid uuid);\nCOPY other FROM STDIN;\n$copied\\.\n
			CREATE TABLE first AS SELECT n, id, ms, uuid, $statement AS made FROM other;
			CREATE TABLE second AS SELECT n, $statement AS made FROM other;
			SELECT count(*) FROM first JOIN second USING (n, made);
			SELECT count(DISTINCT made) FROM first;
			SELECT count(*) FROM first WHERE floor(extract(epoch FROM (uuid_contents(made)).time) * 1000) BETWEEN ms / unit * unit AND ms;
			SELECT count(*) FROM first WHERE made = uuid;
			SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY id) AS old, row_number() OVER (ORDER BY made) AS new FROM first) AS a WHERE old = new;
			SELECT count(*) FROM (SELECT n, row_number() OVER (ORDER BY made) - 1 AS new FROM first) AS a WHERE n = new" =~ s/\bunit\b/$contents =~ m{ 1 s} ? 1000 : 1/ger);

		is($status, 0, "$database: $file->{name}: no error") or diag($err), next;
		my @results = split /\n/, $out;

		is($results[0], $n, "$database: $file->{name}: twice the same UUIDs");
		is($results[1], $n, "$database: $file->{name}: no two UUIDs are equal");
		is($results[2], $n, "$database: $file->{name}: right times") if $contents =~ /time/;
		is($results[3], $n, "$database: $file->{name}: right UUIDs") if $contents =~ /UUID/;
		is($results[4], $n, "$database: $file->{name}: the order is kept") if $contents =~ /sorted/;
		is($results[5], $n, "$database: $file->{name}: the system's order is kept") if $contents =~ /in order/;
	}
}

# uuid_contents() returns the same as uuid_inspect().
is($node->safe_psql('extension', q{SELECT count(*), count(*) FILTER (WHERE (c.variant, c.version::smallint, c.time IS NULL) IS NOT DISTINCT FROM (i.variant, i.version, i.timestamp IS NULL)
		AND coalesce(abs(extract(epoch FROM c.time - i.timestamp)), 0) < 0.001)
	FROM (SELECT md5(n::text)::uuid FROM generate_series(1, 5000) AS n UNION ALL SELECT uuidv1() FROM generate_series(1, 100)
		UNION ALL SELECT uuidv6_at(now() - n * interval '17 days') FROM generate_series(1, 100) AS n UNION ALL SELECT uuidv7_at(now() - n * interval '17 days') FROM generate_series(1, 100) AS n) AS a (id),
		uuid_contents(id) AS c, uuid_inspect(id) AS i}), '5300|5300', 'uuid_contents() returns the same as uuid_inspect()');

# The bounds of Cassandra, here of cassandra-driver 4.10.0, are no bounds of v6 UUIDs, unlike those that the page has.
my @bounds = $page =~ /`minTimeuuid` and `maxTimeuuid` by `(\w+)` and\s+`(\w+)`/;
is($node->safe_psql('extension', qq{SELECT uuidv1_to_v6(min) <= smallest, $bounds[0](time) <= smallest, uuidv1_to_v6(max) >= greatest, $bounds[1](time) >= greatest
	FROM (SELECT uuidv1_to_v6('0e207c50-156b-11f1-8000-000000000000') AS smallest, uuidv1_to_v6('0e207c50-156b-11f1-bfff-ffffffffffff') AS greatest,
		'0e207c50-156b-11f1-8080-808080808080'::uuid AS min, '0e207c50-156b-11f1-bf7f-7f7f7f7f7f7f'::uuid AS max, timestamptz '2026-03-01 12:34:56.789+00' AS time) AS a}),
	'f|t|f|t', 'the bounds of Cassandra exclude v6 UUIDs of their time, those of the page include them');

# --- refused texts ----------------------------------------------------------------------

# Return what becomes of a text, or nothing if it raises an error.
sub converted { my ($status, $out) = $node->psql('extension', "SELECT uuid_from_id('$_[0]', '$_[1]')"); return $out }
foreach my $file (grep { $_->{type} eq 'text' && $_->{row}{statement} =~ /uuid_from_id/ } @files)
{
	my ($argument) = $file->{row}{statement} =~ /'(.*)'/;
	my $id = (split /\t/, $file->{lines}[0])[0];

	is(converted($id =~ s/.$/!/r, $argument), '', "$argument: other digits are refused");
	next if $argument =~ /^(?:appwrite|dbus|short-unique-id)$/;	# which have no fixed length
	is(converted(substr($id, 1), $argument), '', "$argument: a shorter ID is refused");
	is(converted("0$id", $argument), '', "$argument: a longer ID is refused");
}
is(converted('60b57880005d334255eb6c62', 'objectID'), '', 'an unknown argument is refused');

# --- the check --------------------------------------------------------------------------

my ($check) = $page =~ /^(SELECT variant, version, count.*?;)$/ms;
sub checked
{
	my ($name, $new_id) = @_;
	my ($file) = grep { $_->{name} eq $name } @files;
	my $n = 0;

	$node->safe_psql('extension', "DROP TABLE IF EXISTS other; CREATE TABLE other (id $file->{type});\nCOPY other FROM STDIN;\n"
		. join('', map { ($file->{type} eq 'bytea' ? '\\\\x' : '') . (split /\t/)[0] . "\n" } @{ $file->{lines} }) . "\\.\n");
	return split /\n/, $node->safe_psql('extension', "\\set table other\n\\set new_id '" . $new_id =~ s/'/''/gr . "'\n$check");
}
foreach my $case ([ 'clickhouse-rowbinary.tsv', 'uuid_from_java(id)', "encode(id, 'hex')::uuid", 'uuid_from_dotnet(id)', 'uuid_from_mysql(id)' ],
	[ 'python-bson-csharp-legacy.tsv', 'uuid_from_dotnet(id)', "encode(id, 'hex')::uuid", 'uuid_from_java(id)' ],
	[ 'ruby-bson.tsv', 'uuid_from_ruby(id)', 'uuid_from_java(id)', "encode(id, 'hex')::uuid" ],
	[ 'data-uuid.tsv', 'uuid_from_dotnet(id)', "encode(id, 'hex')::uuid" ],
	[ 'ordered-uuid.tsv', "uuid_from_mysql(decode(id, 'hex'))", 'id::uuid' ])
{
	my ($name, $right, @wrong) = @$case;
	my @right = checked($name, $right);

	is(scalar(@right), 1, "$name: with $right, the check shows one version");
	like($right[0], qr/^rfc9562\|\d+\|\d+\|.*\|0$/, 'and no implausible time');
	foreach my $wrong (@wrong)
	{
		my @rows = checked($name, $wrong);
		my ($version) = $right[0] =~ /^(rfc9562\|\d+)/;

		ok(@rows > 1 || $rows[0] !~ /^\Q$version\E\|.*\|0$/, "$name: with $wrong, the check shows other versions or implausible times");
	}
}
foreach my $case ([ 'ksuid.tsv', 'ksuid', 'nocobase' ], [ 'sonyflake.tsv', 'sonyflake-npm', 'sonyflake-2', 'sonyflake-1' ], [ 'xid-js.tsv', 'xid-js', 'xid' ], [ 'tsid-ts-number.tsv', 'tsid-bigint', 'snowflake', 'simple-flakeid', 'nocobase' ])
{
	my ($name, $right, @wrong) = @$case;

	foreach my $argument ($right, @wrong)
	{
		my ($status, $out) = (0, '');
		my @rows = eval { checked($name, "uuid_from_id(id::text, '$argument')") };
		my $is_right = @rows == 1 && $rows[0] =~ /^rfc9562\|7\|\d+\|.*\|0$/;

		ok($argument eq $right ? $is_right : !$is_right, "$name: the check " . ($argument eq $right ? 'accepts' : 'refuses') . " $argument");
	}
}
$node->stop;
done_testing();
